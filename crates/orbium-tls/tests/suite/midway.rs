// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peer that leaves a record unfinished is not waited for for ever, and one
//! that has nothing to say is.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium::{
    Config, ExceptionKind, Orb,
    config::{Limits, ServerStrategy},
    transport::Transport,
};
use orbium_testkit::{PATIENCE, Served, each_strategy, reach, with_time_enough};
use orbium_tls::{Tls, TlsConfig, TlsVersion};

use crate::realm::{About, Realm, each_version, only};

/// Time that the server gives a message, and the handshake, at first.
const SHORT: Duration = Duration::from_millis(100);

fn config(tls: TlsConfig, version: TlsVersion) -> Config {
    let mut config = Config::default();
    let tls = Tls::new(only(tls, version)).unwrap();
    config.protocols.register(Transport::stream(tls));
    config
}

/// Carries what one client and the server say to each other; once `halve` is
/// set, the client's next octets by half, and then none.
fn relay(listener: TcpListener, server: &str, halve: &AtomicBool) {
    let (mut client, _) = listener.accept().unwrap();
    // No second connection is accepted.
    drop(listener);
    let mut server = TcpStream::connect(server).unwrap();
    // Longer than the client has patience.
    server.set_read_timeout(Some(2 * PATIENCE)).unwrap();
    thread::scope(|scope| {
        let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        scope.spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        let mut room = [0; 16 * 1024];
        while let Ok(count @ 1..) = client.read(&mut room) {
            if halve.load(Ordering::SeqCst) {
                server.write_all(&room[..count / 2]).unwrap();
                return;
            }
            server.write_all(&room[..count]).unwrap();
        }
        let _ = server.shutdown(Shutdown::Both);
    });
}

/// Calls with so much time for a message, is silent, and leaves half a record;
/// whether the handshake was done in that time.
fn half_a_record(
    realm: &Realm,
    version: TlsVersion,
    strategy: ServerStrategy,
    message_time: Duration,
) -> bool {
    let served = Served::with(Config {
        strategy,
        endpoints: vec!["ssliop://127.0.0.1:0".parse().unwrap()],
        limits: Limits {
            message_time,
            ..Limits::default()
        },
        ..config(realm.config(&About::named("server")), version)
    });
    let at = served.orb.channels().unwrap()[0].address.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let halve = AtomicBool::new(false);
    let in_time = thread::scope(|scope| {
        scope.spawn(|| relay(listener, &at, &halve));
        let client = Orb::new(Config {
            call_timeout: Some(PATIENCE),
            ..config(realm.trusting(), version)
        })
        .unwrap();
        let url = format!("corbaloc:ssliop:1.2@127.0.0.1:{port}/Target");
        let target = reach(&client, &url);
        let in_time = target.echo_long(1).is_ok();
        if in_time {
            thread::sleep(4 * message_time);
            assert_eq!(target.echo_long(2), Ok(2));
            halve.store(true, Ordering::SeqCst);
            let exception = target.echo_long(3).unwrap_err();
            assert_ne!(exception.kind, ExceptionKind::Timeout, "{version:?}");
            assert_eq!(served.state.calls(), 2);
        }
        client.shutdown(true).unwrap();
        in_time
    });
    served.end();
    in_time
}

/// Conformance: protocols - TLS: a record left unfinished
#[test]
fn half_a_record_ends_the_connection_and_silence_does_not() {
    let realm = Realm::new("Authority");
    each_version(|version| {
        each_strategy(|strategy| {
            with_time_enough(SHORT, |time| half_a_record(&realm, version, strategy, time));
        });
    });
}
