// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work for the main thread (CORBA 3.3 Part 1, clauses 8.2.3.1 to 8.2.3.3).

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};

use orbium_giop::codeset::Negotiated;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::exceptions::deadline_passed;
use orbium_invocation::{CancellationToken, QueueableCall, QueuedCall, priority};
use orbium_sync::lock::Mutex;
use orbium_sync::role;
use orbium_transport::Deadline;

use super::Orb;
use super::state::Ending;
use crate::client::LocalReply;
use crate::{Lane, LaneConfig, ServerStrategy, ThreadModel, local};

/// The exception for what the main thread will not serve any more.
fn not_served() -> SystemException {
    SystemException::omg(ExceptionKind::Transient, 1, Completion::No)
}

impl Orb {
    /// Starts the lane of the main thread, unless it is there.
    pub(crate) fn main_lane(&self) -> Result<(), SystemException> {
        let main = &self.core().adapters.main;
        if main.lane().is_some() {
            return Ok(());
        }
        let lane = self.add_lane(&LaneConfig {
            name: "orbium-main".into(),
            strategy: ServerStrategy::WorkerPool {
                workers: 0,
                queue: self.config().limits.held_requests,
            },
            replaces_waiting: false,
            served_by_callers: true,
            ..LaneConfig::default()
        });
        let lane = lane.map_err(|_| SystemException::from(ExceptionKind::NoResources))?;
        if !main.set_lane(lane.clone()) {
            return lane.stop();
        }
        // `run` may wait for the end alone.
        let ending = self.core().ending.get_or_init(Ending::default);
        drop(ending.lock.lock());
        ending.changed.notify_all();
        Ok(())
    }

    /// The lane that this thread serves as the main one.
    pub(super) fn lane_of_main_thread(&self) -> Option<&Lane> {
        let main = &self.core().adapters.main;
        main.lane().filter(|_| main.is_this())
    }

    /// Whether there is work for the main thread, and this is it. The first thread that
    /// calls this, [`Orb::perform_work`] or [`Orb::run`] is the main thread.
    ///
    /// # Errors
    /// BAD_INV_ORDER after shutdown.
    pub fn work_pending(&self) -> Result<bool, SystemException> {
        self.check_running()?;
        let _ = self.core().adapters.main.claim();
        Ok(self.lane_of_main_thread().is_some_and(Lane::has_work))
    }

    /// Serves one request of the main thread, if this is the main thread and there is one.
    ///
    /// # Errors
    /// BAD_INV_ORDER after shutdown.
    pub fn perform_work(&self) -> Result<(), SystemException> {
        self.check_running()?;
        let _ = self.core().adapters.main.claim();
        if let Some(lane) = self.lane_of_main_thread() {
            let _ = lane.serve_one(false);
        }
        Ok(())
    }

    /// The lane of the main thread, if that is another one and the object of the message asks
    /// for it.
    pub(super) fn lane_for_main_thread(&self, message: &[u8]) -> Option<&Lane> {
        let main = &self.core().adapters.main;
        let lane = main.lane().filter(|_| !main.is_this())?;
        let key = local::key_of(message)?;
        let object = self.core().adapters.registry.find(&key).ok()?;
        (object.policies().thread_model == ThreadModel::MainThread).then_some(lane)
    }

    /// Has the main thread perform a call within the process, and waits for it until the
    /// deadline, or until the token is cancelled.
    pub(super) fn perform_on_main_thread(
        &self,
        lane: &Lane,
        request: (Vec<u8>, Negotiated),
        until: Deadline,
        token: Option<&CancellationToken>,
    ) -> Result<Option<LocalReply>, SystemException> {
        let queue = lane.serving().call_queue();
        let octets = match queue.bounds_octets() {
            true => request.0.len(),
            false => 0,
        };
        let (done, performed) = mpsc::channel();
        let call = Arc::new(MainThreadCall {
            orb: self.clone(),
            request: Mutex::new(Some(request)),
            done,
        });
        let waiting = Arc::downgrade(&call);
        let number = self.core().adapters.main.next_call();
        queue.put(QueuedCall {
            number,
            priority: priority::current(),
            deadline: until.instant(),
            octets,
            call,
        })?;
        role::about_to_block();
        let given_up = match await_end(&performed, until, token) {
            Ok(performed) => return performed,
            Err(given_up) => given_up,
        };
        let call = waiting.upgrade();
        let begun = call.is_none_or(|call| call.take_request().is_none());
        queue.withdraw(number);
        Err(SystemException {
            completed: match begun {
                true => Completion::Maybe,
                false => Completion::No,
            },
            ..given_up
        })
    }
}

type Performed = Result<Option<LocalReply>, SystemException>;

/// Waits for the end of a call that the main thread performs; fails if the caller gives it up.
fn await_end(
    performed: &mpsc::Receiver<Performed>,
    until: Deadline,
    token: Option<&CancellationToken>,
) -> Result<Performed, SystemException> {
    loop {
        let end = match CancellationToken::next_check(token, until).remaining() {
            Ok(None) => performed.recv().map_err(RecvTimeoutError::from),
            Ok(Some(left)) => performed.recv_timeout(left),
            Err(_) => Err(RecvTimeoutError::Timeout),
        };
        match end {
            Ok(performed) => return Ok(performed),
            // The call was dropped with the lane.
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(not_served())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(token) = token {
            token.check(Completion::Maybe)?;
        }
        if until.has_passed() {
            return Err(deadline_passed());
        }
    }
}

/// A call from within the process that waits for the main thread.
struct MainThreadCall {
    orb: Orb,
    /// Taken by the main thread, or by the caller that waits no longer.
    request: Mutex<Option<(Vec<u8>, Negotiated)>>,
    done: mpsc::Sender<Performed>,
}

impl MainThreadCall {
    fn take_request(&self) -> Option<(Vec<u8>, Negotiated)> {
        let mut request = self.request.lock();
        request.take()
    }

    fn end(&self, performed: Performed) {
        // The caller may have given up.
        let _ = self.done.send(performed);
    }
}

impl QueueableCall for MainThreadCall {
    fn serve(self: Arc<Self>, answers: &dyn Fn()) {
        if let Some((message, negotiated)) = self.take_request() {
            let performed = local::perform(&self.orb, message, negotiated);
            answers();
            self.end(performed);
        }
    }

    fn refuse(self: Arc<Self>, exception: SystemException) {
        self.end(Err(exception));
    }
}
