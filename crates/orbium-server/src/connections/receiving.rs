// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiving by a thread that has a connection for itself: each receive is bounded, so that a
//! peer which leaves a message unfinished is found out, and one that is silent for too long.

use std::io;
use std::time::{Duration, Instant};

use orbium_transport::Deadline;

use crate::ServerConnection;
use crate::connections::idle::{self, Quiet};
use crate::intake::Intake;
use orbium_config::Limits;
use orbium_metrics::Closing;

/// The least time that a receive is bounded by.
const MIN_RECEIVE_TIMEOUT: Duration = Duration::from_micros(100);

/// How long a receive may last while the thread waits for nothing else.
pub(crate) fn bound(limits: &Limits) -> Duration {
    let looks = limits.server_idle_time.map(idle::pause);
    looks.map_or(limits.message_time, |it| it.min(limits.message_time))
}

/// As `bound`, for a stream over which nothing came yet.
pub(crate) fn first_bound(limits: &Limits) -> Duration {
    let usual = bound(limits);
    limits.initial_idle_time.map_or(usual, |it| it.min(usual))
}

/// What is known of the peer's silence from one receive to the next.
pub(crate) struct Receiving<'c> {
    connection: &'c ServerConnection,
    message_time: Duration,
    idle_time: Option<Duration>,
    /// The bound of a receive: usually, and the one that the stream has.
    usual: Duration,
    set: Duration,
    quiet: Quiet,
    /// Until when the message that has begun must be complete.
    unfinished: Option<Deadline>,
    /// Whether the stream keeps part of what comes next to itself.
    midway: bool,
}

impl<'c> Receiving<'c> {
    /// On a stream that has the bound of a first receive, or the usual one.
    pub(crate) fn new(connection: &'c ServerConnection, limits: &Limits) -> Self {
        let usual = bound(limits);
        Self {
            connection,
            message_time: limits.message_time,
            idle_time: limits.server_idle_time,
            usual,
            set: first_bound(limits),
            quiet: Quiet::default(),
            unfinished: None,
            midway: false,
        }
    }

    /// A message was dealt with: the next has all its time.
    #[inline]
    pub(crate) fn message_ends(&mut self) {
        self.unfinished = None;
    }

    /// Whether the peer has not completed a message in time. No clock is read
    /// while messages arrive whole.
    #[inline]
    pub(crate) fn is_late(&mut self, intake: &Intake) -> bool {
        (intake.giop.is_partial() || self.midway)
            && self.is_unfinished_for_long()
            && !self.connection.stream.has_buffered()
    }

    #[cold]
    fn is_unfinished_for_long(&mut self) -> bool {
        let limit = || Deadline::after(Some(self.message_time));
        let late = self.unfinished.get_or_insert_with(limit).has_passed();
        if late {
            crate::log::debug!(target: "orbium::conn", peer = %self.connection.peer(), "message not completed in time");
        }
        late
    }

    /// Bounds the next receive by `wait`, or as usual; `false` if the connection
    /// is of no use any more.
    pub(crate) fn wait_at_most(&mut self, wait: Option<Duration>) -> bool {
        let next = wait.map_or(self.usual, |it| it.clamp(MIN_RECEIVE_TIMEOUT, self.usual));
        if next != self.set {
            let bounded = self.connection.stream.set_timeouts(Some(Some(next)), None);
            if bounded.is_err() {
                return false;
            }
            self.set = next;
        }
        true
    }

    /// Receives once; `false` if the connection is to end.
    #[inline(always)]
    pub(crate) fn receive(&mut self, intake: &mut Intake) -> bool {
        match intake.giop.receive(&*self.connection.stream) {
            Ok(0) => false,
            Ok(_) => {
                self.connection.note_octets();
                self.midway = false;
                self.quiet.disturb();
                true
            }
            Err(error) => self.goes_on_after(error, intake),
        }
    }

    /// Nothing was received; whether the connection stays.
    #[cold]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "dropped here, off the hot path"
    )]
    fn goes_on_after(&mut self, error: io::Error, intake: &Intake) -> bool {
        match error.kind() {
            io::ErrorKind::Interrupted => true,
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.goes_on(intake),
            _ => false,
        }
    }

    /// Nothing came for as long as a receive lasts; whether the connection stays.
    #[cold]
    fn goes_on(&mut self, intake: &Intake) -> bool {
        self.midway = self.connection.note_midway();
        if self.connection.is_fresh() {
            return (self.midway || !self.is_idle()) && self.opens_in_time();
        }
        if !self.wait_at_most(None) {
            return false;
        }
        if self.midway || intake.giop.is_partial() {
            return true;
        }
        self.unfinished = None;
        if self.connection.may_be_silent() {
            // Somebody is still to answer.
            self.quiet.disturb();
            return true;
        }
        !self.is_idle()
    }

    /// Nothing came since the last look; whether that is so for the idle time now.
    #[cold]
    fn is_idle(&mut self) -> bool {
        let lasts = |time| self.quiet.lasts(Instant::now(), time);
        let is_idle = self.idle_time.is_some_and(lasts);
        if is_idle {
            self.connection.tracked.note_closing(Closing::Idle);
        }
        is_idle
    }

    /// Whether there is time left until the first octet, as long as which the next receive
    /// lasts.
    #[cold]
    fn opens_in_time(&mut self) -> bool {
        if let Ok(left) = self.connection.opening().remaining() {
            return self.wait_at_most(left);
        }
        self.connection.tracked.note_closing(Closing::Idle);
        crate::log::debug!(target: "orbium::conn", peer = %self.connection.peer(), "nothing came over a new connection");
        false
    }
}
