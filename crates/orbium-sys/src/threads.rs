// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads for a single job. Every job is one type to the standard library's
//! thread, much of which would else be compiled for each.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::RealTimeError;

/// Runs a job on a new thread of that name, with a stack of so many octets.
///
/// # Errors
/// The system refuses another thread; the job is dropped.
pub fn spawn(
    name: &str,
    stack_size: Option<usize>,
    job: Box<dyn FnOnce() + Send>,
) -> io::Result<JoinHandle<()>> {
    let mut builder = Builder::new().name(name.to_owned());
    if let Some(octets) = stack_size {
        builder = builder.stack_size(octets);
    }
    builder.spawn(job)
}

/// As [`spawn`], of a thread for whose end nobody waits.
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

/// Tries something out on a thread that ends then.
///
/// # Errors
/// What the attempt says; [`RealTimeError::System`]: there is no thread for it, or
/// it panicked.
pub fn try_on_thread(
    stack_size: Option<usize>,
    attempt: Box<dyn FnOnce() -> Result<(), RealTimeError> + Send>,
) -> Result<(), RealTimeError> {
    let told = Arc::new(Mutex::new(None));
    let tell = Arc::clone(&told);
    let job = move || {
        let said = attempt();
        *tell.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    };
    let _panicked = spawn("orbium-try", stack_size, Box::new(job))?.join();
    let said = told.lock().unwrap_or_else(PoisonError::into_inner).take();
    match said {
        Some(said) => said,
        None => Err(io::Error::other("the thread failed").into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    #[test]
    fn what_was_tried_out_is_told() {
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
        spawn("orbium-test", None, Box::new(job))
            .unwrap()
            .join()
            .unwrap();
        assert_eq!(named.get(), Some(&Some("orbium-test".to_owned())));
    }
}
