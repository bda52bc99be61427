// SPDX-License-Identifier: MIT OR Apache-2.0
//! One thread that reads all connections; requests wait in the lane's queue for
//! workers that run the servants.
//!
//! The reading thread runs nobody's code, so it never waits for a worker.

use std::io;
use std::sync::Arc;

use crate::Orb;
use crate::accepting::Accepting;
use crate::server::LaneCore;
use crate::server::connection::ServerConnection;
use crate::server::intake::{HandOver, Intake, Sink, Source, Taken};
use crate::server::pool::Pool;
use crate::server::reactor::{Reactor, TURN};
use crate::server::starting::Roll;

/// Starts the reader and the workers.
pub(super) fn start(orb: &Orb, lane: &Arc<LaneCore>, accepting: Accepting) -> io::Result<()> {
    if accepting.is_nowhere() {
        // All that it serves is handed over.
        return lane.pool.start();
    }
    let mut reactor = Reactor::new(orb, lane, accepting, false)?;
    reactor.pool = Some(Arc::clone(&lane.pool));
    lane.pool.start()?;
    let reader = Reader(Arc::clone(&lane.pool));
    let roll = Roll::default();
    let called = roll.call();
    lane.threads.run(move || {
        drop(called);
        reader.read(reactor);
    })?;
    roll.await_all();
    Ok(())
}

/// The thread that reads.
struct Reader(Arc<Pool>);

impl Reader {
    fn read(&self, mut reactor: Reactor) {
        let mut ready = Vec::new();
        while let Some(id) = reactor.next(&mut ready) {
            let Some((orb, connection, mut intake)) = reactor.take(id) else {
                continue;
            };
            let source = Source {
                orb: &orb,
                connection: &connection,
                reader: self,
            };
            let (mut last, mut any) = (Taken::None, false);
            for _ in 0..TURN {
                last = intake.take_for(&source, &self.0);
                any |= last == Taken::Done;
                // Nothing more is asked while the answers are not taken.
                if last != Taken::Done || connection.has_pending() {
                    break;
                }
            }
            reactor.put_back(&connection, intake, last, any);
        }
        // Nothing that was not begun will be: the end of each connection says so.
        self.0.close();
        reactor.close_all();
    }
}

impl HandOver for Reader {
    fn hand_over(&self, _: &Arc<ServerConnection>, _: Intake) -> bool {
        // Who reads here serves nothing that could block.
        false
    }

    fn sink(&self) -> Option<&dyn Sink> {
        Some(&self.0)
    }
}
