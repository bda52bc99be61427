// SPDX-License-Identifier: MIT OR Apache-2.0
//! More priorities than have threads of their own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;

use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

use super::{act_at, handled, result};
use crate::common::{adapter, client, propagated, seen_by, server};

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: a connection for each priority: an urgent
/// reply waits for no other - more priorities than have threads
#[test]
fn more_than_sixty_four_priorities_are_each_kept() {
    let (server_orb, server_rt) = server();
    let ports = Arc::new(Mutex::new(BTreeSet::new()));
    let state = Arc::new(TargetState::default());
    let seen = Arc::clone(&ports);
    state.on_act(move |call, _| {
        seen.lock()
            .unwrap()
            .insert(call.peer().unwrap().to_string());
        Ok(call.priority().map_or(-1, |it| it.number().into()))
    });
    let object: Target = adapter(&server_orb, &server_rt, "a", &propagated(3))
        .activate(state)
        .unwrap();
    let (orb, rt) = client();
    let target = seen_by(&orb, &server_orb, &object);
    for round in 0..2 {
        for step in 0..99 {
            // All, out of order.
            let priority = (step * 37 + round) % 99;
            let call = act_at(&rt, &target, priority);
            let own = i32::from(priority);
            if step % 2 == 0 {
                assert_eq!(result(call), Ok(own));
                continue;
            }
            let (current, nested) = (rt.current(), target.clone());
            let seen = handled(call, move |it| {
                (it, current.the_priority().unwrap().number(), nested.act(0))
            });
            assert_eq!(seen, (Ok(own), priority, Ok(own)));
        }
    }
    // 64 for calls, and what the handlers waited with.
    let connections = ports.lock().unwrap().len();
    assert!(connections <= 64 + 8, "{connections} connections");
    orb.shutdown(true).unwrap();
}
