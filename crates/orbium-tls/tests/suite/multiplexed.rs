// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that share a connection over which the server takes nothing for a while.

use std::time::Duration;

use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb,
    config::ClientStrategy,
    transport::{ProtocolProperties, Transport},
};
use orbium_testkit::{PATIENCE, Relay, Served, calling_by, eventually, reach};
use orbium_tls::{Tls, TlsConfig};

use crate::realm::{About, Realm};

fn config(tls: TlsConfig, mut config: Config) -> Config {
    let tls = Tls::new(tls).unwrap();
    config.protocols.register(Transport::stream(tls));
    config
}

/// The stream had encrypted the request of the call that ended first, and sent it in place of the
/// next one of the same length: that one was never sent, and its caller waited for the reply.
#[test]
fn requests_that_were_encrypted_before_their_deadline_go_out_before_the_next() {
    let realm = Realm::new("Authority");
    for strategy in [ClientStrategy::LeaderFollowers, ClientStrategy::IoThread] {
        let served = Served::with(Config {
            endpoints: vec!["ssliop://127.0.0.1:0".parse().unwrap()],
            ..config(realm.config(&About::named("server")), Config::default())
        });
        let relay = Relay::new(&format!(
            "ssliop://{}",
            served.orb.channels().unwrap()[0].address
        ));
        let client = Orb::new(Config {
            call_timeout: Some(PATIENCE),
            properties: ProtocolProperties {
                send_buffer: Some(1),
                ..ProtocolProperties::default()
            },
            ..config(realm.trusting(), calling_by(strategy))
        })
        .unwrap();
        let at = relay.url().trim_start_matches("ssliop://");
        let target = reach(&client, &format!("corbaloc:ssliop:1.2@{at}/Target"));
        assert_eq!(target.echo_octets(&[1; 100]), Ok(vec![1; 100]));
        relay.cut();
        let hurried = target.with_timeout(Duration::from_millis(20));
        let mut perhaps_sent = 0;
        eventually("a request is not sent", || {
            let exception = hurried.echo_octets(&[2; 100_000]).unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::Timeout);
            perhaps_sent += u64::from(exception.completed == Completion::Maybe);
            exception.completed == Completion::No
        });
        relay.heal();
        let expected = vec![3; 100_000];
        assert!(target.echo_octets(&expected).unwrap() == expected);
        // A request that comes with its cancellation is not served.
        assert!(served.state.calls() <= perhaps_sent + 2);
        served.end();
    }
}
