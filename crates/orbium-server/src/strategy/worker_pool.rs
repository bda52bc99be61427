// SPDX-License-Identifier: MIT OR Apache-2.0
//! Half-sync/half-async: one thread reads all connections; workers run the servants of
//! the requests in the lane's queue.
//!
//! The reading thread runs no foreign code, so it never waits for a worker.

use std::cell::Cell;
use std::io;
use std::sync::Arc;

use orbium_channel::accepting::Accepting;

use crate::LaneCore;
use crate::connections::connection::ServerConnection;
use crate::connections::ending::refuse_remaining;
use crate::intake::{HandOver, Intake, Queued, Sink, Source};
use crate::lane::pool::Pool;
use crate::message_outcome::Outcome;
use crate::strategy::reactor::{Reactor, Turn};
use orbium_lane::Order;
use orbium_sync::StartBarrier;
use orbium_sys::Waker;

/// Starts the reader and the workers.
pub(crate) fn start(
    lane: &Arc<LaneCore>,
    accepting: Accepting,
    waker: &Arc<Waker>,
) -> io::Result<()> {
    if accepting.is_nowhere() {
        // All its requests are handed off to it.
        return lane.pool.start();
    }
    let mut reactor = Reactor::new(lane, accepting, waker, false)?;
    reactor.pool = Some(Arc::clone(&lane.pool));
    lane.pool.start()?;
    let reader = Reader {
        pool: Arc::clone(&lane.pool),
        room: Cell::default(),
    };
    let barrier = StartBarrier::default();
    let guard = barrier.guard();
    lane.threads.run(move || {
        drop(guard);
        reader.read(reactor);
    })?;
    barrier.wait();
    Ok(())
}

/// The reading thread.
struct Reader {
    pool: Arc<Pool>,
    /// A buffer for the next request: exchanged for the previous one, so that the queue's lock is
    /// taken once for each.
    room: Cell<Vec<u8>>,
}

impl Reader {
    fn read(&self, mut reactor: Reactor) {
        let mut ready = Vec::new();
        while let Some(id) = reactor.next(&mut ready) {
            let Some((dispatcher, connection, mut intake)) = reactor.take(id) else {
                continue;
            };
            let source = Source::new(&*dispatcher, &connection, self);
            let (mut turn, mut any) = (Turn::usual(), false);
            let mut last;
            loop {
                last = intake.take_for(&source, self);
                any |= last == Outcome::Dispatched;
                // No request is begun while replies cannot be sent.
                if last != Outcome::Dispatched || connection.has_pending() || !turn.goes_on() {
                    break;
                }
            }
            reactor.put_back(&connection, intake, last, any);
        }
        let serves_the_rest = reactor.shared.draining.has_begun();
        if !serves_the_rest {
            // Remaining requests will not be begun: the end of each connection implies that.
            self.pool.close();
        }
        let left = reactor.close_all();
        drop(reactor);
        if serves_the_rest {
            // Requests that waited for a peer to receive replies can begin.
            self.pool.look_again();
        }
        if let Some(left) = left {
            refuse_remaining(left);
        }
    }
}

impl HandOver for Reader {
    fn hand_over(&self, _: &Arc<ServerConnection>, _: Intake) -> bool {
        // The reading thread runs nothing that could block.
        false
    }

    fn sink(&self) -> Option<&dyn Sink> {
        Some(self)
    }
}

impl Sink for Reader {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        let (put, room) = self.pool.put_for_room(request);
        self.room.set(room.unwrap_or_default());
        put
    }

    fn order(&self) -> Order {
        self.pool.order
    }

    fn room(&self) -> Vec<u8> {
        let room = self.room.take();
        match room.capacity() {
            // Workers that were busy may have returned their buffers.
            0 => self.pool.room(),
            _ => room,
        }
    }

    fn cancel(&self, connection: u64, request_id: u32) -> bool {
        self.pool.cancel(connection, request_id)
    }
}
