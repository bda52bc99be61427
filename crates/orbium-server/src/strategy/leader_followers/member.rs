// SPDX-License-Identifier: MIT OR Apache-2.0
//! Behaviour of a team member about to block in its servant, and the refusals by the last one.

use std::sync::Arc;

use super::Member;
use crate::connections::connection::ServerConnection;
use crate::intake::{HandOver, Intake, Queued, Sink};

impl HandOver for Member<'_> {
    /// Has a free thread continue reading.
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        let id = connection.id;
        let mut state = self.team.lock();
        state.reactor.enqueue_turn_first(id, intake);
        state.active -= 1;
        if state.active > 0 {
            self.team.wake_waiter(&state);
            return true;
        }
        if self.team.add_thread(&mut state, None).is_ok() {
            self.team.tell(&state);
            return true;
        }
        // No thread is available: this one retains the connection, and blocks.
        state.active += 1;
        state.reactor.withdraw_turn(id);
        self.team.tell(&state);
        false
    }

    fn sink(&self) -> Option<&dyn Sink> {
        self.refuse.then_some(self)
    }
}

impl Sink for Member<'_> {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        self.team.shared.pool.count_refused(1);
        Err(Box::new(request))
    }

    fn cancel(&self, _: u64, _: u32) -> bool {
        false
    }
}
