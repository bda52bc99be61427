// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refusal of late requests, over connections that stay open for the last replies.
//!
//! A lane that ends begins nothing more, and ends each connection when its last
//! request is answered. Over a connection that many calls share, or a peer calls
//! back by, requests may come before that; what is being served may even wait for
//! them. So they are refused one by one, until CloseConnection says it for all. A lane that ends
//! while its ORB runs on sends them elsewhere instead, or serves them.

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
/// Polling, since readiness says nothing: a stream that was shut down for receiving is
/// always ready. A notification of the last reply would only spare the last pause.
const POLLING_INTERVALS: (Duration, Duration) =
    (Duration::from_micros(500), Duration::from_millis(20));

/// Connections that are not closed yet, and what was received on each.
pub(crate) struct Left {
    pub(crate) lane: Arc<LaneCore>,
    pub(crate) dispatcher: Arc<dyn Dispatcher>,
    pub(crate) connections: Vec<(Arc<ServerConnection>, Box<Intake>)>,
}

/// Refuses what comes, as long as requests of those connections are served.
pub(crate) fn refuse_the_rest(left: Left) {
    let Left {
        lane,
        dispatcher,
        connections: mut left,
    } = left;
    for (connection, _) in &left {
        // Dispatching threads that still send wait by themselves.
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
                && refuse_what_came((&*dispatcher, sink), connection, intake, &mut any)
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

/// Gives what is there to `sink`, and says so in `any`; whether more may come.
fn refuse_what_came(
    (dispatcher, sink): (&dyn Dispatcher, &dyn Sink),
    connection: &Arc<ServerConnection>,
    intake: &mut Intake,
    any: &mut bool,
) -> bool {
    let source = Source::new(dispatcher, connection, &Refusing);
    loop {
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
            // Not the end: more can come after receiving was shut down.
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
}

/// Has no room for anything.
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

/// Sends clients to where their objects are served from now on; what cannot be sent elsewhere is
/// served.
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
        // By this lane, whichever others serve the object.
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
