// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refusal of late requests, over connections that stay open for the last replies.
//!
//! A lane that ends begins no more requests, and closes each connection after its last request is
//! answered. Over a connection shared by many calls, or used for call-backs, requests may arrive
//! before that; requests in progress may even wait for them. So they are refused one by one, until
//! CloseConnection. A lane that ends while its ORB continues forwards them instead, or serves them.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_transport::ByteStream;

use crate::connections::connection::ServerConnection;
use crate::intake::{HandOver, Intake, Queued, Sink, Source};
use crate::lane::lane_core::LaneCore;
use crate::lane::pool::Pool;
use crate::message_outcome::Outcome;
use orbium_lane::Order;
use orbium_request::Dispatcher;

/// Polling intervals at shutdown: the first, and the longest.
///
/// Polling, since readiness has no meaning here: a stream that was shut down for receiving is
/// always ready. A notification of the last reply would only save the last pause.
const POLLING_INTERVALS: (Duration, Duration) =
    (Duration::from_micros(500), Duration::from_millis(20));

/// Maximum number of messages and receives of a connection before the others are checked, and
/// whether its own last request was answered.
const MAX_STEPS: usize = 256;

/// Connections that are not closed yet, and their receive state.
pub(crate) struct Left {
    pub(crate) lane: Arc<LaneCore>,
    pub(crate) dispatcher: Arc<dyn Dispatcher>,
    pub(crate) connections: Vec<(Arc<ServerConnection>, Box<Intake>)>,
}

/// Refuses received requests while requests of these connections are served.
pub(crate) fn refuse_remaining(left: Left) {
    let Left {
        lane,
        dispatcher,
        connections: mut left,
    } = left;
    for (connection, _) in &left {
        // Dispatching threads that still send wait themselves.
        let _ = connection.stream.set_nonblocking(true);
    }
    let mut pause = POLLING_INTERVALS.0;
    loop {
        let elsewhere = Elsewhere {
            dispatcher: &*dispatcher,
            pool: &lane.pool,
            forwards: !lane.draining.keeps_clients(),
        };
        let sink: &dyn Sink = if lane.draining.goes_on() {
            &elsewhere
        } else {
            &Refusing
        };
        let mut any = false;
        let mut place = 0;
        while let Some((connection, intake)) = left.get_mut(place) {
            if connection.is_shared()
                && refuse_received((&*dispatcher, sink), connection, intake, &mut any)
            {
                place += 1;
            } else {
                left.swap_remove(place);
            }
        }
        if left.is_empty() {
            return;
        }
        pause = if any {
            POLLING_INTERVALS.0
        } else {
            POLLING_INTERVALS.1.min(pause * 2)
        };
        thread::sleep(pause);
    }
}

/// Passes some of the received messages to `sink`, and sets `any` if there are some; returns
/// whether more may come.
fn refuse_received(
    (dispatcher, sink): (&dyn Dispatcher, &dyn Sink),
    connection: &Arc<ServerConnection>,
    intake: &mut Intake,
    any: &mut bool,
) -> bool {
    let source = Source::new(dispatcher, connection, &Refusing);
    for _ in 0..MAX_STEPS {
        match intake.take_for(&source, sink) {
            Outcome::Incomplete => {}
            Outcome::Close => return false,
            _ => {
                *any = true;
                continue;
            }
        }
        let stream: &dyn ByteStream = &*connection.stream;
        match intake.giop.receive(stream) {
            // Not the end: more data can arrive after receiving was shut down.
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                let kind = error.kind();
                return matches!(
                    kind,
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted
                );
            }
        }
    }
    true
}

/// Refuses all requests.
struct Refusing;

impl HandOver for Refusing {
    fn hand_over(&self, _: &Arc<ServerConnection>, _: Intake) -> bool {
        false
    }

    fn sink(&self) -> Option<&dyn Sink> {
        Some(self)
    }
}

impl Sink for Refusing {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        Err(Box::new(request))
    }

    fn routes(&self) -> bool {
        false
    }

    fn cancel(&self, _: u64, _: u32) -> bool {
        false
    }
}

/// Forwards clients to the lanes that serve their objects from now on; requests that cannot be
/// forwarded are served.
struct Elsewhere<'a> {
    dispatcher: &'a dyn Dispatcher,
    pool: &'a Arc<Pool>,
    forwards: bool,
}

impl Sink for Elsewhere<'_> {
    fn put(&self, mut request: Queued) -> Result<(), Box<Queued>> {
        if self.forwards && request.forward(self.dispatcher) {
            return Ok(());
        }
        // By this lane, even if another lane serves the object.
        request.decided.get_or_insert_default();
        self.pool.put(request)
    }

    fn routes(&self) -> bool {
        false
    }

    fn order(&self) -> Order {
        self.pool.order
    }

    fn cancel(&self, connection: u64, request_id: u32) -> bool {
        self.pool.cancel(connection, request_id)
    }
}
