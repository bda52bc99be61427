// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work for the main thread (CORBA 3.3 Part 1, clauses 8.2.3.1 to 8.2.3.3).

use std::sync::{PoisonError, mpsc};

use orbium_giop::codeset::Negotiated;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::role;

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
        drop(ending.lock.lock().unwrap_or_else(PoisonError::into_inner));
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

    /// Performs a call within the process, on the main thread if the object asks for that.
    pub(super) fn perform_local(
        &self,
        message: Vec<u8>,
        negotiated: Negotiated,
    ) -> Result<Option<LocalReply>, SystemException> {
        let main = &self.core().adapters.main;
        let lane = main.lane().filter(|_| !main.is_this());
        let Some(lane) = lane.filter(|_| self.is_for_main_thread(&message)) else {
            return local::perform(self, message, negotiated);
        };
        let (send, receive) = mpsc::channel();
        let orb = self.clone();
        lane.run(Box::new(move || {
            // The caller may have given up.
            let _ = send.send(local::perform(&orb, message, negotiated));
        }));
        role::about_to_block();
        // The job is dropped if the lane ends.
        receive.recv().unwrap_or_else(|_| Err(not_served()))
    }

    fn is_for_main_thread(&self, message: &[u8]) -> bool {
        let Some(key) = local::key_of(message) else {
            return false;
        };
        let found = self.core().adapters.registry.find(&key);
        found.is_ok_and(|object| object.policies().thread_model == ThreadModel::MainThread)
    }
}
