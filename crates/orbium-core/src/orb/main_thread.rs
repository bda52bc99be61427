// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work for the main thread (CORBA 3.3 Part 1, clauses 8.2.3.1 to 8.2.3.3).

use orbium_giop::codeset::Negotiated;
use orbium_giop::{ExceptionKind, SystemException};
use orbium_invocation::CancellationToken;
use orbium_request::key_of;
use orbium_transport::Deadline;

use super::Orb;
use super::state::Ending;
use crate::client::LocalReply;
use crate::{Lane, LaneConfig, ServerStrategy, ThreadModel, local};

impl Orb {
    /// Starts the lane of the main thread, unless it exists.
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
        // `run` may be waiting for the end only: it is notified.
        let ending = self.core().ending.get_or_init(Ending::default);
        drop(ending.lock.lock());
        ending.changed.notify_all();
        Ok(())
    }

    /// The lane of the main thread, if this is the main thread.
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

    /// The lane of the main thread, if this is another thread and the adapter of the object called
    /// requires the main one.
    pub(super) fn lane_for_main_thread(&self, message: &[u8]) -> Option<&Lane> {
        let main = &self.core().adapters.main;
        let lane = main.lane().filter(|_| !main.is_this())?;
        let key = key_of(message)?;
        let object = self.core().adapters.registry.find(&key).ok()?;
        (object.policies().thread_model == ThreadModel::MainThread).then_some(lane)
    }

    /// Has the main thread perform a collocated call, and waits for it until the deadline, or until
    /// the token is cancelled.
    pub(super) fn perform_on_main_thread(
        &self,
        lane: &Lane,
        (message, negotiated): (Vec<u8>, Negotiated),
        until: Deadline,
        token: Option<&CancellationToken>,
    ) -> Result<Option<LocalReply>, SystemException> {
        let orb = self.clone();
        let main = &self.core().adapters.main;
        main.perform(lane, message, until, token, move |message| {
            local::perform(&orb, message, negotiated)
        })
    }
}
