// SPDX-License-Identifier: MIT OR Apache-2.0
//! The three forms, and what comes out of them.

use orbium::giop::MessageKind;
use orbium_testkit::{Served, each_strategy, within};

use super::*;

#[test]
fn each_form_gives_the_results() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let object = reach(&client, &served.target.as_object().ior().to_string());
        let object = object.as_object();
        within("the calls", {
            let object = object.clone();
            move || {
                assert_eq!(block_on(echo(&object, 1)), Ok(1));
                assert_eq!(echo(&object, 2).wait(), Ok(2));
                let (result, thread) = handled(echo(&object, 3)).recv().unwrap();
                assert_eq!(result, Ok(3));
                assert_eq!(thread.name(), Some("orbium-handler"));
                let octets = vec![7; 300_000];
                assert_eq!(echo_octets(&object, octets.clone()).wait(), Ok(octets));
            }
        });
        assert_eq!(served.state.calls(), 4);
    });
}

#[test]
fn many_calls_share_one_connection_and_are_answered_in_any_order() {
    let scripted = Scripted::new();
    let calls: Vec<_> = (0..50).map(|v| echo(&scripted.object, v)).collect();
    let mut peer = scripted.server.accept();
    answer(&mut peer, 50);
    for (v, call) in (0..).zip(calls) {
        assert_eq!(within("the call", move || call.wait()), Ok(v));
    }
    assert!(scripted.server.accept_at_once().is_none());
    scripted.end();
    peer.expect(MessageKind::CloseConnection);
    peer.expect_end();
}
