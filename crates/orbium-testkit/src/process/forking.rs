// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests in a forked process.
#![expect(unsafe_code, reason = "fork is unsafe to call")]

use std::fs::File;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::process::{Pid, WaitOptions, kill_process, waitpid};

use crate::waiting::PATIENCE;

/// A child of this process, a copy without its other threads.
#[derive(Debug)]
pub struct Child {
    process: Pid,
    said: File,
}

/// Forks. `work` runs in the child, which then ends immediately: values of the test are neither
/// dropped nor flushed there.
///
/// # Panics
/// The system cannot create a process.
#[must_use]
pub fn in_child(work: impl FnOnce()) -> Child {
    let (said, says) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
    // SAFETY: the child uses the parts of the C library that are usable after a fork (its heap),
    // and otherwise values of this process. No thread holds a lock of Rust's standard library at
    // the time: the tests do not print.
    match unsafe { fork() } {
        0 => {
            let said = match catch_unwind(AssertUnwindSafe(work)) {
                Ok(()) => "done".to_owned(),
                Err(panic) => why(&*panic),
            };
            // If this fails, the parent notices the missing output.
            let _ = File::from(says).write_all(said.as_bytes());
            // SAFETY: no handlers run at the exit of the child.
            unsafe { _exit(0) }
        }
        process => {
            drop(says);
            let process = Pid::from_raw(process).expect("a child");
            let said = File::from(said);
            Child { process, said }
        }
    }
}

fn why(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "panicked".to_owned())
}

impl Child {
    /// Waits for the end of the child.
    ///
    /// # Panics
    /// The child panicked, or does not end.
    #[track_caller]
    pub fn join(mut self) {
        let ready = orbium_sys::wait_for(
            [(&self.said, orbium_sys::Interest::Read)],
            Some(2 * PATIENCE),
        );
        let hangs = ready.expect("poll") == [false];
        if hangs {
            kill_process(self.process, rustix::process::Signal::KILL).expect("to kill it");
        }
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("a pipe");
        waitpid(Some(self.process), WaitOptions::empty()).expect("a child");
        assert!(!hangs, "the child hangs");
        assert_eq!(said, "done", "the child");
    }
}

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(status: i32) -> !;
}
