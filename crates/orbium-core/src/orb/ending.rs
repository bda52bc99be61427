// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shutdown of the ORB.

use std::sync::atomic::Ordering;

use orbium_adapter::before_waiting;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::role;

use super::Orb;
use super::state::{ENDED, ENDING, Ending, RUNNING};
use crate::client::notice;

/// Marks the ORB as ended when it is dropped, also by a panic.
struct Ended<'o>(&'o Orb);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.change_state(ENDING, ENDED);
    }
}

impl Orb {
    /// Blocks until the ORB was shut down; the main thread serves its own requests in the meantime.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the ORB was shut down before.
    pub fn run(&self) -> Result<(), SystemException> {
        self.check_running()?;
        self.check_process()?;
        let started = self.core().adapters.registry.started();
        if !started.load(Ordering::Acquire) {
            crate::log::warn!(
                target: "orbium::poa", "the ORB runs, but no POA manager was activated: requests are held or refused \
                 until poa.manager().activate() is called"
            );
        }
        if role::is_serving(self.number()) {
            // This same request has to end before the ORB can.
            role::about_to_block();
            self.wait_while(|state| state == RUNNING);
        } else {
            let main = &self.core().adapters.main;
            if main.claim() {
                self.wait_while(|state| state == RUNNING && main.lane().is_none());
            }
            if let Some(lane) = self.lane_of_main_thread() {
                while lane.serve_one(true) {}
            }
            self.wait_while(|state| state != ENDED);
        }
        Ok(())
    }

    fn wait_while(&self, waiting: impl Fn(u8) -> bool) {
        let ending = self.core().ending.get_or_init(Ending::default);
        let mut guard = ending.lock.lock();
        while waiting(self.core().state.load(Ordering::Acquire)) {
            guard = ending.changed.wait(guard);
        }
    }

    /// Shuts down: requests in progress are completed and answered, other peers receive
    /// CloseConnection. With `wait`, returns when all threads and descriptors of the ORB are
    /// released. A second call only waits.
    ///
    /// # Errors
    ///
    /// BAD_INV_ORDER for waiting from within a request, which would never return.
    pub fn shutdown(&self, wait: bool) -> Result<(), SystemException> {
        before_waiting(self.number(), wait)?;
        if self.change_state(RUNNING, ENDING) {
            let orb = self.clone();
            // Servants may block when they are dropped, but not on this same thread.
            let end = move || {
                let _ended = Ended(&orb);
                role::while_serving_own_thread(orb.number(), || orb.end());
            };
            if wait {
                end();
            } else if let Err(error) =
                orbium_sys::spawn_detached("orbium-shutdown", None, Box::new(end))
            {
                crate::log::error!(target: "orbium::poa", %error, "no thread to shut down on");
                self.change_state(ENDING, RUNNING);
                return Err(SystemException::new(
                    ExceptionKind::NoResources,
                    0,
                    Completion::No,
                ));
            }
        }
        if wait {
            self.wait_while(|state| state != ENDED);
        }
        Ok(())
    }

    /// Whether shutdown has not begun.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.core().state.load(Ordering::Acquire) == RUNNING
    }

    /// Whether this call, and no earlier one, has changed the state.
    fn change_state(&self, from: u8, to: u8) -> bool {
        let ending = self.core().ending.get_or_init(Ending::default);
        let _guard = ending.lock.lock();
        // Under the lock, so that no waiter misses it. Release: everything before it happens-before
        // a thread that loads the new state without the lock.
        let state = &self.core().state;
        let changed = state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok();
        if changed && to == ENDED {
            self.core().client.set_notice(notice::ENDED);
        }
        ending.changed.notify_all();
        changed
    }

    fn end(&self) {
        if self.is_left_behind() {
            return self.end_copy();
        }
        let mut lanes = self.core().adapters.lanes.halt();
        if let Some(Ok(server)) = self.core().server.get() {
            server.0.halt();
            lanes.push(server.0.clone());
        }
        let root = self.root_poa();
        // Held requests would never end.
        root.deactivate_managers();
        self.core().serving.settle_open_requests(None);
        for lane in lanes {
            lane.await_end();
        }
        self.end_asynchronous();
        if let Some(real_time) = self.real_time() {
            real_time.end();
        }
        root.deactivate_managers();
        root.end_with_orb();
        self.core().client.close_connections();
        self.core().initial.clear();
        self.core().adapters.table.set_locator(None);
        self.core().watching.end();
        self.core().client.config().interceptors.destroy();
    }

    fn end_asynchronous(&self) {
        if let Some(readers) = self.core().reply_readers.get() {
            readers.end();
        }
    }

    /// Ends, in a forked child, the activities started by the child. The rest belongs to the
    /// parent: its threads may have been changing it.
    fn end_copy(&self) {
        self.end_asynchronous();
        self.core().client.close_connections();
    }
}
