// SPDX-License-Identifier: MIT OR Apache-2.0
//! Call-backs over the connection that the client has opened.

use orbium::{Config, config::BidirectionalPolicy};
use orbium_testkit::{Served, each_strategy, within};

use crate::common::{both, seen_by, unreachable, with};

/// Conformance: TAO 33 - bidirectional GIOP: within a call and after it
/// Conformance: connections - bidirectional GIOP: within a call and after it
#[test]
fn a_client_is_called_back_within_a_call_and_after_it() {
    each_strategy(|strategy| {
        let (server, client) = (Served::with(with(strategy)), unreachable(with(strategy)));
        let target = server.seen_by(&client.orb);
        let own = client.target.clone();
        assert_eq!(within("a call", move || target.nest(Some(&own), 1)), Ok(1));
        assert_eq!((server.state.calls(), client.state.calls()), (1, 1));
        let back = seen_by(&server.orb, &client);
        assert_eq!(within("a call-back", move || back.echo_long(77)), Ok(77));
        assert_eq!(client.state.calls(), 2);
        client.end();
        server.end();
    });
}

/// The client connects as ever, and cannot be called back.
///
/// Conformance: connections - bidirectional GIOP: NORMAL on either side
#[test]
fn nothing_goes_both_ways_unless_both_sides_say_so() {
    let normal = || Config {
        bidirectional: BidirectionalPolicy::Normal,
        ..Config::default()
    };
    for (of_server, of_client) in [(normal(), both()), (both(), normal())] {
        let (server, client) = (Served::with(of_server), unreachable(of_client));
        let target = server.seen_by(&client.orb);
        assert_eq!(within("a call", move || target.echo_long(3)), Ok(3));
        let back = seen_by(&server.orb, &client);
        let refused = within("a call-back", move || back.noop()).unwrap_err();
        assert_eq!(refused.kind, orbium::ExceptionKind::Transient);
        client.end();
        server.end();
    }
}

/// Conformance: TAO 33 - bidirectional GIOP: nested calls in both directions
/// Conformance: connections - bidirectional GIOP: nested calls in both directions
#[test]
fn calls_nest_in_both_directions() {
    each_strategy(|strategy| {
        let (server, client) = (Served::with(with(strategy)), unreachable(with(strategy)));
        let target = server.seen_by(&client.orb);
        let own = client.target.clone();
        let nested = within("a chain", move || target.nest(Some(&own), 10));
        assert_eq!(nested, Ok(10));
        assert_eq!(server.state.calls() + client.state.calls(), 11);
        client.end();
        server.end();
    });
}
