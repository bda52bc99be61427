// SPDX-License-Identifier: MIT OR Apache-2.0
//! Negotiation of a connection's dedicated thread.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use orbium_channel::dedication::{DedicationReply, DedicationRequest, Undedicated};
use orbium_channel::outgoing::{self, Patience};
use orbium_giop::{ServiceContexts, service_context};
use orbium_sys::Interest;

use crate::ServerConnection;
use crate::dedication::dedication_state::{Marker, State};
use crate::strategy::notifier::Notifier;
use orbium_invocation::dedication::{DedicatedThread, ThreadRequest};
use orbium_invocation::{Priority, priority};
use orbium_lane::SETTLED;
use orbium_request::{GrantedPlace, ServerContext};

impl ServerConnection {
    /// Decides whether the connection gets a dedicated thread, once.
    ///
    /// # Errors
    /// The reason for a refusal.
    pub(crate) fn settle(
        &self,
        context: &ServerContext,
        decide: impl FnOnce() -> Result<DedicatedThread, Undedicated>,
    ) -> Result<(), Undedicated> {
        let granted = if self.stream.has_many_peers() {
            Err(Undedicated::Shared)
        } else {
            // A place first: `decide` may reserve resources.
            context
                .dedications
                .place(context.limits().dedicated_threads)
                .and_then(|place| Ok((decide()?, place)))
        };
        self.settle_with(granted)
    }

    fn settle_with(
        &self,
        granted: Result<(DedicatedThread, GrantedPlace), Undedicated>,
    ) -> Result<(), Undedicated> {
        let settled = &self.dedication_state;
        let mut state = settled.state.lock();
        if !matches!(*state, State::Unasked | State::Refused(_)) {
            return Err(Undedicated::Policy);
        }
        match granted {
            Ok((thread, place)) => {
                *state = State::Granted(Box::new(thread), place);
                // Release, after the state: a thread that sees the flag (Acquire in `is_due`) sees
                // the grant.
                settled.is_due.store(true, Ordering::Release);
                Ok(())
            }
            Err(why) => {
                *state = State::Refused(why);
                Err(why)
            }
        }
    }

    /// The effect of the marker among the contexts of a request, if there is one and dedication is
    /// installed.
    pub(crate) fn marker(
        &self,
        context: &ServerContext,
        contexts: &ServiceContexts<'_>,
    ) -> Option<Marker> {
        let dedication = context.dedications.decides()?;
        let data = contexts.find(service_context::ORBIUM_DEDICATION)?;
        let unasked = matches!(*self.dedication_state.state.lock(), State::Unasked);
        if unasked {
            let asked = DedicationRequest::decode(data);
            let asked = asked.inspect_err(|error| {
                crate::log::debug!(target: "orbium::conn", peer = %self.peer(), %error, "a marker is passed over");
            });
            let priority = asked.ok()?.priority.and_then(Priority::new);
            let peer = self.peer();
            let settled = self.settle(context, || {
                dedication.decide(&ThreadRequest { priority, peer })
            });
            if settled.is_ok() {
                return Some(Marker::Due);
            }
        }
        let state = &self.dedication_state.state;
        match &*state.lock() {
            State::Granted(thread, _) => Some(Marker::Decided(DedicationReply::Granted {
                priority: thread.priority.map(Priority::number),
            })),
            State::Refused(why) => Some(Marker::Decided(DedicationReply::Refused(*why))),
            State::Unasked | State::Over => None,
        }
    }

    /// The thread granted to the connection, with the settings in force.
    pub(crate) fn thread(&self) -> Option<DedicatedThread> {
        let state = &self.dedication_state.state;
        match &*state.lock() {
            State::Granted(thread, _) => Some((**thread).clone()),
            _ => None,
        }
    }

    /// Records the actual settings of the thread instead of the granted ones.
    pub(crate) fn change_thread(&self, change: impl FnOnce(&mut DedicatedThread)) {
        let state = &self.dedication_state.state;
        if let State::Granted(thread, _) = &mut *state.lock() {
            change(thread);
        }
    }

    /// Records that no thread is available: the connection is served like any other.
    pub(crate) fn refuse_thread(&self) {
        self.dedication_state.is_due.store(false, Ordering::Release);
        self.dedication_state
            .set(State::Refused(Undedicated::NoThread));
    }

    /// Releases the grant; the connection is closed after the request in progress.
    pub(crate) fn release_dedication(&self) {
        self.dedication_state.set(State::Over);
    }

    /// Whether the grant was released.
    pub(crate) fn is_over(&self) -> bool {
        let state = &self.dedication_state.state;
        matches!(*state.lock(), State::Over)
    }

    /// Whether a dedicated thread is due to take the connection over.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.dedication_state.is_due.load(Ordering::Acquire)
    }

    /// Whether it has a dedicated thread.
    #[inline]
    pub(crate) fn has_dedicated_thread(&self) -> bool {
        self.dedication_state.has_begun.load(Ordering::Acquire)
    }

    /// Changes the priority at which the thread serves requests.
    pub(crate) fn change_priority(&self, priority: Option<Priority>) {
        let number = priority::number_of(priority);
        self.priority.store(number, Ordering::Relaxed);
    }

    /// Removes the connection from the poller: sends block from now on.
    pub(crate) fn leave(&self, notifier: &Notifier) {
        let mut pending = self.lock();
        self.dedication_state
            .has_begun
            .store(true, Ordering::Release);
        self.remove_sources(&mut pending, notifier);
    }

    /// Adds the connection to the poller again, since there is no thread.
    pub(crate) fn come_back(&self, notifier: &Notifier) -> io::Result<()> {
        let _pending = self.lock();
        self.dedication_state
            .has_begun
            .store(false, Ordering::Release);
        let interest = notifier.interest(Interest::Read);
        notifier
            .poller
            .add(&self.stream.source(), self.id, interest)
    }

    /// Makes the calling thread the dedicated one: from now on sends block, and requests are
    /// dispatched in place.
    pub(crate) fn begin_dedicated_thread(
        &self,
        priority: Option<Priority>,
        receive: Duration,
    ) -> bool {
        let mut pending = self.lock();
        let blocking = self.stream.set_nonblocking(false);
        let times = (Some(Some(receive)), Some(Some(self.send_time)));
        if blocking.is_err() || self.stream.set_timeouts(times.0, times.1).is_err() {
            return false;
        }
        self.lane.store(SETTLED, Ordering::Relaxed);
        self.change_priority(priority);
        self.dedication_state.is_due.store(false, Ordering::Release);
        self.dedication_state
            .has_begun
            .store(true, Ordering::Release);
        let kept = pending.octets.take();
        pending.give_back();
        self.has_pending.store(false, Ordering::Release);
        outgoing::send_octets(&*self.stream, &kept, Patience::For(self.send_time)).is_ok()
    }
}
