// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ends of connections over which both sides call.

use orbium::{ExceptionKind, config::ServerStrategy};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_strategy, eventually, within};

use crate::common::{seen_by, unreachable, with};

/// A server and a client that have called one another, and what each calls.
fn pair(strategy: ServerStrategy) -> [(Served, Target); 2] {
    let (server, client) = (Served::with(with(strategy)), unreachable(with(strategy)));
    let target = server.seen_by(&client.orb);
    let first = target.clone();
    within("the first call", move || first.noop()).unwrap();
    let back = seen_by(&server.orb, &client);
    let first = back.clone();
    within("the first call-back", move || first.noop()).unwrap();
    [(server, back), (client, target)]
}

/// The side that ends answers what it has begun; the other cannot call it any more, and goes on
/// by itself.
///
/// Conformance: connections - bidirectional GIOP: either side ends in order, with a call of the
/// other open
#[test]
fn either_side_ends_in_order() {
    each_strategy(|strategy| {
        for is_server in [true, false] {
            let [server, client] = pair(strategy);
            let ((ending, _), (other, to_ending)) = if is_server {
                (server, client)
            } else {
                (client, server)
            };
            let open = to_ending.clone();
            let open = std::thread::spawn(move || open.gate());
            ending.state.gate.await_waiting(1);
            let orb = ending.orb.clone();
            let end = std::thread::spawn(move || orb.shutdown(true));
            eventually("the end has begun", || !ending.orb.is_running());
            ending.state.gate.open();
            let answered = within("the open call", move || open.join().unwrap());
            assert_eq!(answered, Ok(()));
            within("the end", move || end.join().unwrap()).unwrap();
            let refused = within("another call", move || to_ending.noop()).unwrap_err();
            assert_eq!(refused.kind, ExceptionKind::Transient, "{refused}");
            other.end();
        }
    });
}
