// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection with a dedicated thread, with any strategy of its lane: the thread reads, and runs
//! the servants itself, at a separate priority.
//!
//! A gate may delay requests. They are queued here, in order, while reading goes on, so that
//! requests are refused when the queue is full.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sync::role::Role;

use crate::connections::receiving::{self, Receiving};
use crate::hand_off::hand_off;
use crate::intake::{Answering, HandOver, Intake, Queued, Sink, Source};
use crate::lane::nested_calls::Refusing;
use crate::message_outcome::Outcome;
use crate::{LaneCore, ServerConnection};
use orbium_invocation::dedication::{Admittance, Gate};
use orbium_lane::thread::{self, Setup};
use orbium_request::Dispatcher;
use orbium_sys::Scheduling;

/// State shared by the threads that serve the connection: one reads, others may wait in nested
/// calls.
struct Own {
    lane: Arc<LaneCore>,
    connection: Arc<ServerConnection>,
    /// Replaced when the gate changes it.
    setup: Mutex<Arc<Setup>>,
    gate: Option<Arc<dyn Gate>>,
    waiting: Mutex<VecDeque<Kept>>,
}

/// A queued request, and whether it is exempt from the gate.
struct Kept {
    request: Queued,
    may_begin: bool,
}

impl LaneCore {
    /// Has the thread granted to a connection continue reading with `intake`; returns that if there
    /// is no thread, and the connection has to be served like any other.
    #[cold]
    pub(crate) fn dedicate(
        self: &Arc<Self>,
        connection: &Arc<ServerConnection>,
        mut intake: Box<Intake>,
    ) -> Result<(), Box<Intake>> {
        intake.put_marked_back();
        let Some(thread) = connection.thread() else {
            connection.refuse_thread();
            return Err(intake);
        };
        let own = Arc::new(Own {
            setup: Mutex::new(Arc::new(self.setup.for_thread(&thread))),
            lane: Arc::clone(self),
            connection: Arc::clone(connection),
            gate: thread.gate,
            waiting: Mutex::default(),
        });
        own.read_elsewhere(intake).inspect_err(|_| {
            crate::log::warn!(target: "orbium::conn", "no thread for a connection that was to have its own");
            connection.refuse_thread();
        })
    }
}

impl Own {
    fn setup(&self) -> Arc<Setup> {
        Arc::clone(&self.setup.lock())
    }

    /// Applies a priority change by the gate to the calling thread.
    fn follow_gate(&self) {
        let Some(changed) = self.gate.as_ref().and_then(|it| it.changed()) else {
            return;
        };
        let granted = &self.lane.setup;
        let setup = Arc::new(granted.for_thread(&changed));
        thread::resume(&setup);
        self.connection.change_priority(setup.priority);
        *self.setup.lock() = setup;
        self.connection.change_thread(|thread| {
            thread.priority = changed.priority;
            thread.scheduling = changed.scheduling.and_then(|_| scheduling_in_force());
            // A reservation refused by the host is not in force now either.
            thread.reservation = thread.reservation.and(changed.reservation);
        });
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.waiting.lock()
    }

    /// The number of queued requests, and their total size.
    fn load(&self) -> (usize, usize) {
        let waiting = self.waiting();
        (
            waiting.len(),
            waiting.iter().map(|it| it.request.len()).sum(),
        )
    }

    fn read_elsewhere(self: &Arc<Self>, intake: Box<Intake>) -> Result<(), Box<Intake>> {
        let own = Arc::clone(self);
        hand_off(&self.lane.threads, intake, move |intake| own.read(*intake))
    }

    /// As `read_elsewhere`, for a thread that waits in a nested call.
    fn hand_over(self: &Arc<Self>, intake: Box<Intake>) -> Result<(), Box<Intake>> {
        let nested = &self.lane.nested;
        nested.begin(|| self.read_elsewhere(intake))
    }

    /// Whether as many threads as may wait in nested calls, and one of them has a request of the
    /// connection.
    fn is_to_refuse(&self) -> bool {
        self.lane.nested.is_full() && self.connection.serves_more_than(self.waiting().len())
    }

    /// Reads the connection to its end, or until another thread reads it; then this is a thread of
    /// the lane again.
    fn read(self: Arc<Self>, intake: Intake) {
        let setup = self.setup();
        setup.begin();
        let refused = setup.begin_serving();
        self.connection.change_thread(|thread| {
            thread.scheduling = thread.scheduling.and_then(|_| scheduling_in_force());
            thread.reservation = thread.reservation.filter(|_| refused.is_none());
        });
        if let Some(gate) = &self.gate {
            gate.begun(refused.as_ref());
        }
        let dispatcher = self.lane.host.dispatcher();
        let ended = dispatcher.is_none_or(|dispatcher| {
            let reading = Reading {
                own: &self,
                dispatcher: &*dispatcher,
                intake: RefCell::new(None),
                verdict: Cell::new(None),
            };
            reading.read(intake)
        });
        if ended {
            // Dropped requests were not begun: the end of the connection implies that.
            let waiting = std::mem::take(&mut *self.waiting());
            drop(waiting);
            self.connection.end();
            self.connection.release_dedication();
            self.lane.forget(&self.connection);
        }
        thread::resume(&self.lane.setup);
    }
}

/// The scheduling of the calling thread set by the host, which may be less than granted.
fn scheduling_in_force() -> Option<Scheduling> {
    Scheduling::of_this_thread().ok()
}

/// The reading thread.
struct Reading<'a> {
    own: &'a Arc<Own>,
    dispatcher: &'a dyn Dispatcher,
    /// The receive state, while a delayed request is served.
    intake: RefCell<Option<Intake>>,
    /// The decision of the gate about the request that is being queued.
    verdict: Cell<Option<Admittance>>,
}

impl Reading<'_> {
    /// Returns whether the connection has ended; otherwise another thread reads it.
    fn read(&self, mut intake: Intake) -> bool {
        let connection = &self.own.connection;
        let limits = self.dispatcher.context().limits();
        if !connection
            .begin_dedicated_thread(self.own.setup().priority, receiving::first_bound(limits))
        {
            return true;
        }
        let source = Source::new(self.dispatcher, connection, self);
        let mut receiving = Receiving::new(connection, limits);
        loop {
            self.own.follow_gate();
            let (back, wait) = match self.serve_waiting(intake) {
                Ok(served) => served,
                Err(HandedOver) => return false,
            };
            intake = back;
            match self.take(&source, &mut intake) {
                Outcome::Dispatched
                | Outcome::Forwarded
                | Outcome::QueueFull
                | Outcome::ThreadGranted
                | Outcome::Dedicated => {
                    receiving.message_ends();
                    if connection.is_over() {
                        return true;
                    }
                }
                Outcome::HandedOff => return false,
                Outcome::Close => return true,
                Outcome::Incomplete if self.receive(&mut receiving, &mut intake, wait) => {}
                Outcome::Incomplete => return true,
            }
        }
    }

    /// Receives once, or until the next queued request may begin; `false` if the connection has to
    /// be closed.
    fn receive(
        &self,
        receiving: &mut Receiving<'_>,
        intake: &mut Intake,
        wait: Option<Duration>,
    ) -> bool {
        let ends = receiving.is_late(intake)
            || self.own.connection.is_over()
            || self.own.lane.is_stopping()
            || intake.is_assembly_late();
        !ends && receiving.wait_at_most(wait) && receiving.receive(intake)
    }

    /// Processes the next message: in place, unless it has to be queued.
    fn take(&self, source: &Source<'_>, intake: &mut Intake) -> Outcome {
        if self.own.is_to_refuse() {
            return intake.take_for(source, &Refusing(&self.own.lane.pool));
        }
        let Some(gate) = &self.own.gate else {
            return intake.take(source);
        };
        let load = self.own.load();
        let verdict = intake.at_gate(source.connection, &**gate, load);
        let in_place = match verdict {
            Some(Admittance::Overtake) => true,
            Some(Admittance::Begin) => load.0 == 0,
            _ => false,
        };
        if in_place {
            return intake.take(source);
        }
        self.verdict.set(verdict);
        let taken = intake.take_for(source, self);
        self.verdict.set(None);
        taken
    }

    /// Serves the queued requests that may begin; then returns the intake and the time until the
    /// next may.
    fn serve_waiting(&self, intake: Intake) -> Result<(Intake, Option<Duration>), HandedOver> {
        let Some(gate) = &self.own.gate else {
            return Ok((intake, None));
        };
        let mut storage = Vec::new();
        *self.intake.borrow_mut() = Some(intake);
        let mut wait = None;
        loop {
            let next = {
                let mut waiting = self.own.waiting();
                let Some(first) = waiting.front() else { break };
                if !first.may_begin
                    && let Err(time) = gate.begin()
                {
                    wait = Some(time);
                    break;
                }
                waiting.pop_front()
            };
            let Some(Kept { request, .. }) = next else {
                break;
            };
            let connection = request.connection();
            if connection.is_broken() || connection.is_over() || request.was_cancelled() {
                continue;
            }
            let priority = self.own.setup().priority;
            request.serve(self.dispatcher, priority, self, &mut storage);
            if self.intake.borrow().is_none() {
                self.own.lane.nested.end();
                return Err(HandedOver);
            }
        }
        let intake = self.intake.borrow_mut().take();
        intake.map(|intake| (intake, wait)).ok_or(HandedOver)
    }
}

/// Another thread reads.
struct HandedOver;

impl HandOver for Reading<'_> {
    fn hand_over(&self, _: &Arc<ServerConnection>, intake: Intake) -> bool {
        self.own.hand_over(Box::new(intake)).is_ok()
    }

    fn returns(&self) {
        self.own.lane.nested.end();
    }

    fn sink(&self) -> Option<&dyn Sink> {
        self.own.gate.as_ref().map(|_| self as &dyn Sink)
    }
}

impl Sink for Reading<'_> {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        let Some(gate) = &self.own.gate else {
            return Err(Box::new(request));
        };
        let verdict = self.verdict.take();
        let verdict = verdict.unwrap_or_else(|| request.at_gate(&**gate, self.own.load()));
        if let Admittance::Refuse(exception) = verdict {
            self.own.lane.pool.count_refused(1);
            request.refuse_with(exception);
            return Ok(());
        }
        // Without capacity for overtaking, it waits only for the requests before it.
        let may_begin = verdict != Admittance::Wait;
        self.own.waiting().push_back(Kept { request, may_begin });
        Ok(())
    }

    fn cancel(&self, connection: u64, request_id: u32) -> bool {
        let mut waiting = self.own.waiting();
        let which = |kept: &Kept| kept.request.is(connection, request_id);
        let place = waiting.iter().position(which);
        let removed = place.and_then(|place| waiting.remove(place));
        drop(waiting);
        removed.is_some()
    }
}

impl Answering for Reading<'_> {
    fn answers(&self) {}
}

impl Role for Reading<'_> {
    fn hand_over(&self) {
        let Some(intake) = self.intake.borrow_mut().take() else {
            return;
        };
        if let Err(intake) = self.own.hand_over(Box::new(intake)) {
            // No thread is available: the connection is read when this one has finished.
            *self.intake.borrow_mut() = Some(*intake);
        }
    }
}
