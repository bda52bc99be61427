// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time probes: the duration of each step of a call, as in the white-box benchmark of the paper on
//! pluggable protocols (its figure 6).
//!
//! `probe!(Step)` is placed at the end of a step and reads the clock once; the time since the
//! previous probe in the same thread is that of the step. Without the feature `probes` the compiler
//! removes every probe completely.
//!
//! ```
//! use orbium_trace::probe::{self, Role};
//!
//! probe::clear();
//! // … calls, or requests served …
//! let calls = probe::calls(Role::Client);
//! assert!(calls.is_empty());
//! ```

use std::cell::RefCell;
use std::time::{Duration, Instant};

use orbium_sync::lock::Mutex;

/// Presence of the feature `probes` in this program.
pub const ENABLED: bool = cfg!(feature = "probes");

/// A step of a call, on either side. [`ClientStart`](Self::ClientStart) and
/// [`ServerStart`](Self::ServerStart) begin a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Point {
    /// A client begins a call.
    ClientStart,
    /// A server is ready for a request.
    ServerStart,
    /// Client: preparation before the call begins.
    Initialisation,
    /// Client: the binding, and an exclusive connection.
    ObjectReference,
    /// Values written: arguments at the client, results at the server.
    Marshal,
    /// A message header created, a message finished.
    MessagingSend,
    /// The system call that sends.
    TransportSend,
    /// Sending.
    IoSend,
    /// Receiving, with the wait for data.
    IoReceive,
    /// A message found in the received bytes.
    TransportReceive,
    /// Its header read.
    MessagingReceive,
    /// Server: the object key parsed.
    ObjectKey,
    /// Server: adapter and object found, in one step if the key has a hint.
    PoaDemux,
    /// Server: the object entered, its adapter being active.
    ServantDemux,
    /// Server: the operation found by its name.
    OperationDemux,
    /// Values read: arguments at the server, results at the client.
    Unmarshal,
    /// Server: the servant itself.
    Upcall,
    /// Client: the connection released.
    Release,
}

impl Point {
    /// All steps, in order.
    pub const ALL: [Self; 18] = [
        Self::ClientStart,
        Self::ServerStart,
        Self::Initialisation,
        Self::ObjectReference,
        Self::Marshal,
        Self::MessagingSend,
        Self::TransportSend,
        Self::IoSend,
        Self::IoReceive,
        Self::TransportReceive,
        Self::MessagingReceive,
        Self::ObjectKey,
        Self::PoaDemux,
        Self::ServantDemux,
        Self::OperationDemux,
        Self::Unmarshal,
        Self::Upcall,
        Self::Release,
    ];
}

const POINTS: usize = Point::ALL.len();

/// Maximum number of recorded calls, after which the oldest are discarded.
const MAX_RECORDED_CALLS: usize = 1 << 16;

/// Side on which a call was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The client's side.
    Client,
    /// The server's side.
    Server,
}

/// The steps of one call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    role: Role,
    nanoseconds: [u32; POINTS],
    probes: [u8; POINTS],
}

impl Call {
    /// Nanoseconds of a step, which may have several parts, and its probes.
    #[must_use]
    pub fn step(&self, point: Point) -> (u32, u8) {
        let index = point as usize;
        (self.nanoseconds[index], self.probes[index])
    }
}

/// The call in progress on this thread.
struct Current {
    call: Option<Call>,
    last: Instant,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// All calls that have ended, and the position of the next one.
static CALLS: Mutex<(Vec<Call>, usize)> = Mutex::new((Vec::new(), 0));

/// Ends a step of the call of this thread, or begins a call.
pub fn mark(point: Point) {
    let now = Instant::now();
    CURRENT.with_borrow_mut(|current| match point {
        Point::ClientStart => *current = begin(current.take(), Role::Client),
        Point::ServerStart => *current = begin(current.take(), Role::Server),
        _ => {
            if let Some(Current {
                call: Some(call),
                last,
            }) = current
            {
                let index = point as usize;
                let passed = now.duration_since(*last).as_nanos();
                let passed = u32::try_from(passed).unwrap_or(u32::MAX);
                call.nanoseconds[index] = call.nanoseconds[index].saturating_add(passed);
                call.probes[index] = call.probes[index].saturating_add(1);
                *last = now;
            }
        }
    });
}

/// Records the previous call, and reads the clock last.
fn begin(before: Option<Current>, role: Role) -> Option<Current> {
    if let Some(call) = before.and_then(|before| before.call) {
        keep(call);
    }
    let call = Call {
        role,
        nanoseconds: [0; POINTS],
        probes: [0; POINTS],
    };
    Some(Current {
        call: Some(call),
        last: Instant::now(),
    })
}

fn keep(call: Call) {
    let mut calls = CALLS.lock();
    let (kept, next) = &mut *calls;
    if kept.len() < MAX_RECORDED_CALLS {
        kept.push(call);
    } else {
        kept[*next % MAX_RECORDED_CALLS] = call;
        *next += 1;
    }
}

/// Discards all calls that have ended.
pub fn clear() {
    let mut calls = CALLS.lock();
    *calls = (Vec::new(), 0);
}

/// The calls that have ended since `clear`, the last [2¹⁶](clear) of them. A call ends when the
/// next one of its thread begins.
#[must_use]
pub fn calls(role: Role) -> Vec<Call> {
    let calls = CALLS.lock();
    let all = calls.0.iter();
    all.filter(|call| call.role == role).copied().collect()
}

/// The overhead of a probe itself: the minimum of several means.
#[must_use]
pub fn overhead() -> Duration {
    const MARKS: u32 = 2000;
    mark(Point::ClientStart);
    let batch = || {
        let start = Instant::now();
        for _ in 0..MARKS {
            mark(Point::Release);
        }
        start.elapsed() / MARKS
    };
    let least = (0..20).map(|_| batch()).min().unwrap_or_default();
    CURRENT.with_borrow_mut(|current| *current = None);
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_kept_once_the_next_call_begins() {
        mark(Point::IoSend);
        mark(Point::ClientStart);
        mark(Point::Marshal);
        mark(Point::Marshal);
        mark(Point::Release);
        let of_this_thread = |calls: &[Call]| {
            let own = calls.iter().filter(|call| call.step(Point::Marshal).1 == 2);
            own.count()
        };
        assert_eq!(of_this_thread(&calls(Role::Client)), 0);
        mark(Point::ClientStart);
        let calls = calls(Role::Client);
        assert_eq!(of_this_thread(&calls), 1);
        assert!(calls.iter().all(|call| call.step(Point::IoSend).1 == 0));
    }

    #[test]
    fn points_are_in_their_order() {
        for (index, point) in Point::ALL.into_iter().enumerate() {
            assert_eq!(point as usize, index);
        }
    }
}
