// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiving by a thread that reads a single connection: each receive has a time-out, so that
//! unfinished messages and silent peers are detected.

use std::io;
use std::time::{Duration, Instant};

use orbium_transport::Deadline;

use crate::ServerConnection;
use crate::connections::idle::{self, Quiet};
use crate::intake::Intake;
use orbium_config::Limits;
use orbium_metrics::Closing;

/// The minimum time-out of a receive.
const MIN_RECEIVE_TIMEOUT: Duration = Duration::from_micros(100);

/// The time-out of a receive while the thread waits for no other event.
pub(crate) fn bound(limits: &Limits) -> Duration {
    let looks = limits.server_idle_time.map(idle::pause);
    looks.map_or(limits.message_time, |it| it.min(limits.message_time))
}

/// As `bound`, for a stream without received data.
pub(crate) fn first_bound(limits: &Limits) -> Duration {
    let usual = bound(limits);
    limits.initial_idle_time.map_or(usual, |it| it.min(usual))
}

/// The silence of the peer, across receives.
pub(crate) struct Receiving<'c> {
    connection: &'c ServerConnection,
    message_time: Duration,
    idle_time: Option<Duration>,
    /// The time-out of a receive: the usual one, and the one set on the stream.
    usual: Duration,
    set: Duration,
    quiet: Quiet,
    /// The deadline of the unfinished message.
    unfinished: Option<Deadline>,
    /// Whether the stream buffers a part of the next data.
    midway: bool,
}

impl<'c> Receiving<'c> {
    /// For a stream with the time-out of a first receive, or the usual one.
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

    /// Resets the deadline: a message was processed.
    #[inline]
    pub(crate) fn message_ends(&mut self) {
        self.unfinished = None;
    }

    /// Whether the peer has not completed a message in time. No clock is read while messages arrive
    /// complete.
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

    /// Sets the time-out of the next receive to `wait`, or to the usual one; `false` if the
    /// connection is unusable.
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

    /// Receives once; `false` if the connection has to be closed.
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

    /// Handles a receive without data; returns whether the connection stays open.
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

    /// Handles a receive that has timed out; returns whether the connection stays open.
    #[cold]
    fn goes_on(&mut self, intake: &Intake) -> bool {
        self.midway = self.connection.note_partial_message();
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
            // A reply is still pending.
            self.quiet.disturb();
            return true;
        }
        !self.is_idle()
    }

    /// Records silence since the last check; returns whether it has lasted for the idle time.
    #[cold]
    fn is_idle(&mut self) -> bool {
        let lasts = |time| self.quiet.lasts(Instant::now(), time);
        let is_idle = self.idle_time.is_some_and(lasts);
        if is_idle {
            self.connection.tracked.note_closing(Closing::Idle);
        }
        is_idle
    }

    /// Whether there is time left until the deadline of the first octet; bounds the next receive by
    /// it.
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
