// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects that can be reached in several ways.

use orbium::giop::TaggedComponent;
use orbium::{Config, ExceptionKind};
use orbium_testkit::{Served, client, dead_port, each_strategy, reach, reference, within};

/// Conformance: references - alternate addresses, several profiles, tried in order
/// Conformance: TAO 26 - the first reachable of several addresses
#[test]
fn the_first_profile_that_answers_is_used() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let ports = [dead_port(), dead_port(), served.port()];
        let client = client();
        let target = reach(&client, &reference(2, &ports, b"Target", &[]).to_string());
        for v in 0..10 {
            assert_eq!(target.echo_long(v), Ok(v));
        }
        served.end();
    });
}

/// Conformance: references - alternate addresses, several profiles, tried in order
/// Conformance: TAO 26 - the first reachable of several addresses
#[test]
fn alternate_addresses_of_a_profile_are_tried() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let components = [
            TaggedComponent::alternate_address("127.0.0.1", dead_port()),
            TaggedComponent::alternate_address("127.0.0.1", served.port()),
        ];
        let client = client();
        let ior = reference(2, &[dead_port()], b"Target", &components);
        let target = reach(&client, &ior.to_string());
        assert_eq!(target.echo_long(1), Ok(1));
        assert_eq!(orbium::Interface::as_object(&target).locate(), Ok(true));
        served.end();
    });
}

/// Conformance: references - alternate addresses, several profiles, tried in order
/// Conformance: TAO 27 - the next profile when one fails; back to base after a forward target dies
/// Conformance: complaint 32 - reasons to leave CORBA: TLS, load balancers, the ORB left the JDK
#[test]
fn another_address_takes_over_when_the_server_at_the_first_ends() {
    each_strategy(|strategy| {
        let (first, second) = (Served::new(strategy), Served::new(strategy));
        let client = client();
        let ports = [first.port(), second.port()];
        let target = reach(&client, &reference(2, &ports, b"Target", &[]).to_string());
        assert_eq!(target.echo_long(1), Ok(1));
        assert_eq!((first.state.calls(), second.state.calls()), (1, 0));
        first.end();
        assert_eq!(target.echo_long(2), Ok(2));
        assert_eq!(second.state.calls(), 1);
        second.end();
    });
}

/// Conformance: references - endpoints, several published
#[test]
fn several_endpoints_are_published_and_each_serves() {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            endpoints: vec![
                "iiop://127.0.0.1:0".parse().unwrap(),
                "iiop://127.0.0.1:0".parse().unwrap(),
            ],
            strategy,
            ..Config::default()
        });
        let addresses = served.orb.addresses().unwrap();
        assert_eq!(addresses.len(), 2);
        let client = client();
        for address in &addresses {
            let target = reach(
                &client,
                &format!("corbaloc::127.0.0.1:{}/Target", address.port),
            );
            assert_eq!(target.echo_long(1), Ok(1));
        }
        let several = format!(
            "corbaloc::127.0.0.1:{},:127.0.0.1:{}/Target",
            dead_port(),
            addresses[1].port
        );
        assert_eq!(reach(&client, &several).echo_long(2), Ok(2));
        served.end();
    });
}

/// Conformance: references - alternate addresses, several profiles, tried in order
#[test]
fn without_a_listener_at_any_address_the_call_is_transient() {
    let client = client();
    let ports = [dead_port(), dead_port()];
    let target = reach(&client, &reference(2, &ports, b"x", &[]).to_string());
    let exception = within("the call", move || target.noop()).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Transient);
}
