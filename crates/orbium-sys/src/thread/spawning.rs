// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads for a single job. Every job has one type for the standard library's thread, much of
//! which would otherwise be compiled for each.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, JoinHandle};

use crate::thread::pthread::{self, Pthread};
use crate::thread::thread_limits::no_thread;
use crate::{RealTimeError, fork};

/// A thread, which is detached when this is dropped.
#[derive(Debug)]
pub struct Thread(Made);

#[derive(Debug)]
enum Made {
    Std(JoinHandle<()>),
    Pthread(Pthread),
}

impl Thread {
    /// Waits for its end, normal or not.
    pub fn join(self) {
        match self.0 {
            Made::Std(thread) => drop(thread.join()),
            Made::Pthread(thread) => thread.join(),
        }
    }

    /// Whether it is the calling thread.
    #[must_use]
    pub fn is_current(&self) -> bool {
        match &self.0 {
            Made::Std(thread) => thread.thread().id() == thread::current().id(),
            Made::Pthread(thread) => thread.is_current(),
        }
    }
}

/// Runs a job on a new thread of that name, with a stack of that many octets.
///
/// # Errors
/// The system refuses another thread; the job is dropped. Of kind `OutOfMemory`; the text names the
/// limits that may be the cause.
pub fn spawn(
    name: &str,
    stack_size: Option<usize>,
    job: Box<dyn FnOnce() + Send>,
) -> io::Result<Thread> {
    if fork::generation() > 0 {
        // Locks of the standard library may be held by a thread of the parent forever.
        let thread = pthread::spawn(name, stack_size, job)?;
        return Ok(Thread(Made::Pthread(thread)));
    }
    let mut builder = Builder::new().name(name.to_owned());
    if let Some(octets) = stack_size {
        builder = builder.stack_size(octets);
    }
    match builder.spawn(job) {
        Ok(thread) => Ok(Thread(Made::Std(thread))),
        Err(error) => Err(no_thread(&error, stack_size)),
    }
}

/// As [`spawn`], for a detached thread.
///
/// # Errors
/// As [`spawn`].
pub fn spawn_detached(
    name: &str,
    stack_size: Option<usize>,
    job: Box<dyn FnOnce() + Send>,
) -> io::Result<()> {
    spawn(name, stack_size, job).map(drop)
}

/// Tries an operation on a thread that ends afterwards.
///
/// # Errors
/// The error of the attempt; [`RealTimeError::System`]: no thread is available, or it panicked.
pub fn try_on_thread(
    stack_size: Option<usize>,
    attempt: Box<dyn FnOnce() -> Result<(), RealTimeError> + Send>,
) -> Result<(), RealTimeError> {
    let result = Arc::new(Mutex::new(None));
    let sender = Arc::clone(&result);
    let job = move || {
        let outcome = attempt();
        *sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    };
    spawn("orbium-try", stack_size, Box::new(job))?.join();
    let tried = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    match tried {
        Some(outcome) => outcome,
        None => Err(io::Error::other("the thread failed").into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    #[test]
    fn the_result_of_a_trial_is_returned() {
        assert!(try_on_thread(None, Box::new(|| Ok(()))).is_ok());
        let refused = try_on_thread(
            Some(1 << 20),
            Box::new(|| Err(RealTimeError::MemoryLockLimit)),
        );
        assert!(matches!(refused, Err(RealTimeError::MemoryLockLimit)));
        let failed = try_on_thread(None, Box::new(|| panic!("as it should")));
        assert!(matches!(failed, Err(RealTimeError::System(_))));
    }

    #[test]
    fn a_thread_has_its_name() {
        let named = Arc::new(OnceLock::new());
        let tell = Arc::clone(&named);
        let job = move || {
            let name = std::thread::current().name().map(str::to_owned);
            let _ = tell.set(name);
        };
        spawn("orbium-test", None, Box::new(job)).unwrap().join();
        assert_eq!(named.get(), Some(&Some("orbium-test".to_owned())));
    }
}
