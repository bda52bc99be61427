// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a connection goes to who serves it, and comes back.

use std::sync::Arc;

use super::Reactor;
use super::times::completion;
use crate::Orb;
use crate::server::connection::ServerConnection;
use crate::server::intake::{Intake, Taken};

impl Reactor {
    /// What is needed to serve a connection.
    pub(in crate::server) fn take(
        &mut self,
        id: u64,
    ) -> Option<(Orb, Arc<ServerConnection>, Box<Intake>)> {
        let served = self.served.get_mut(id)?;
        if served.connection.has_pending() {
            return None;
        }
        served.quiet.disturb();
        let mut intake = served.intake().take()?;
        if served.connection.is_due() {
            let connection = Arc::clone(&served.connection);
            intake = self.dedicate(&connection, intake)?;
        }
        let served = self.served.get_mut(id)?;
        match self.orb.upgrade().map(Orb::from) {
            Some(orb) => Some((orb, Arc::clone(&served.connection), intake)),
            None => {
                served.intake = Some(intake);
                None
            }
        }
    }

    /// Takes back what was received; `any` says that a message was dealt with.
    pub(in crate::server) fn put_back(
        &mut self,
        connection: &ServerConnection,
        intake: Box<Intake>,
        last: Taken,
        any: bool,
    ) {
        let id = connection.id;
        let Some(intake) = self.unless_granted(id, intake, last) else {
            return;
        };
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        let close = last == Taken::Close || intake.is_assembly_late();
        if close && !connection.is_broken() && !connection.may_end() {
            // The answers of other threads go first. They have a deadline.
            served.closing = true;
            return;
        }
        if close || connection.is_broken() {
            self.drop_connection(id);
            return;
        }
        let unfinished =
            last == Taken::None && (intake.is_unfinished() || connection.note_midway());
        if served.newcomer.is_some() && !connection.is_fresh() {
            self.forget_newcomer(id);
        }
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        if any {
            served.unfinished = None;
        }
        served.intake = Some(intake);
        let more = matches!(last, Taken::Done | Taken::Granted | Taken::Marked);
        if more && !connection.has_pending() {
            self.todo.push_back(id);
        }
        let buffered = last == Taken::None && connection.stream.has_buffered();
        if unfinished && served.unfinished.is_none() {
            served.unfinished = Some(completion(&self.orb));
        }
        if served.unfinished.is_some() {
            self.note_timed(id);
        }
        // The poller does not know of it.
        if buffered {
            self.progress(id);
        }
    }

    /// What was received, unless the connection is gone, or was just granted a
    /// thread, which has it now.
    fn unless_granted(&mut self, id: u64, intake: Box<Intake>, last: Taken) -> Option<Box<Intake>> {
        let connection = &self.served.get(id)?.connection;
        let granted = matches!(last, Taken::Granted | Taken::Marked);
        if !granted || connection.has_pending() {
            return Some(intake);
        }
        let connection = Arc::clone(connection);
        self.dedicate(&connection, intake)
    }

    /// Has a connection read by the thread that it was granted; gives what was
    /// received back if there is none.
    #[cold]
    fn dedicate(
        &mut self,
        connection: &Arc<ServerConnection>,
        intake: Box<Intake>,
    ) -> Option<Box<Intake>> {
        connection.leave(&self.bell);
        let Err(back) = self.shared.dedicate(connection, intake) else {
            self.remove(connection.id);
            return None;
        };
        if orbium_sys::if_done(connection.come_back(&self.bell)).is_some() {
            return Some(back);
        }
        self.drop_connection(connection.id);
        None
    }
}
