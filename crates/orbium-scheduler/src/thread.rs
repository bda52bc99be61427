// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that run once the host has given them their scheduling.

use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};

use orbium::{Scheduling, give_scheduling};

use crate::error::SchedulerError;

/// A thread that is to be started.
pub(crate) struct Scheduled {
    pub(crate) name: String,
    /// None for that of the thread that starts it.
    pub(crate) scheduling: Option<Scheduling>,
    /// It goes on if the host refuses the scheduling.
    pub(crate) soft: bool,
}

impl Scheduled {
    /// Starts the thread, and waits until it has its scheduling.
    ///
    /// # Errors
    /// [`SchedulerError::Thread`]; [`SchedulerError::Host`] if the host refuses the scheduling. No
    /// thread remains then.
    pub(crate) fn start(
        self,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<JoinHandle<()>, SchedulerError> {
        let Self {
            name,
            scheduling,
            soft,
        } = self;
        let (ready, started) = sync_channel(1);
        let thread = Builder::new().name(name.clone()).spawn(move || {
            let given = scheduling.map_or(Ok(()), give_scheduling);
            let given = if soft { Ok(()) } else { given };
            let runs = given.is_ok();
            // The thread that starts this one waits for it.
            let _ = ready.send(given);
            if runs {
                body();
            }
        });
        let thread = thread.map_err(|cause| SchedulerError::Thread {
            name: name.clone(),
            cause,
        })?;
        let error = match started.recv() {
            Ok(Ok(())) => return Ok(thread),
            Ok(Err(cause)) => SchedulerError::Host { name, cause },
            Err(_) => SchedulerError::Panicked(name),
        };
        // What it has come to is known.
        let _ = thread.join();
        Err(error)
    }
}
