// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads of forked children.
//!
//! A thread of the standard library registers its stack under a lock when it begins and when it
//! ends. If one did so in the parent at the instant of the fork, no thread of the child could ever
//! begin. These threads take no such lock; a stack overflow ends the process without the message of
//! the standard library.
#![expect(unsafe_code, reason = "threads are the standard library's elsewhere")]

use std::ffi::{CString, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::thread::thread_limits::no_thread;

/// Default stack size in bytes, that of the standard library's threads.
const DEFAULT_STACK_SIZE: usize = 2 << 20;

pub(crate) type Job = Box<dyn FnOnce() + Send>;

struct Work {
    name: CString,
    job: Job,
}

/// A thread that is detached when this is dropped.
#[derive(Debug)]
pub(crate) struct Pthread(libc::pthread_t, bool);

extern "C" fn run(work: *mut c_void) -> *mut c_void {
    // SAFETY: the box that `spawn` has given to this thread alone.
    let Work { name, job } = *unsafe { Box::from_raw(work.cast::<Work>()) };
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the name ends with a zero and is only read.
    unsafe {
        libc::pthread_setname_np(libc::pthread_self(), name.as_ptr())
    };
    drop(name);
    // The panic has been reported by the hook.
    drop(catch_unwind(AssertUnwindSafe(job)));
    ptr::null_mut()
}

/// Starts a thread, as [`spawn`](crate::spawn) does.
pub(crate) fn spawn(name: &str, stack: Option<usize>, job: Job) -> io::Result<Pthread> {
    // The kernel's limit of a name: fifteen octets, even if the last one is within a character.
    let name = &name.as_bytes()[..name.len().min(15)];
    let name = CString::new(name).unwrap_or_default();
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let work = Box::into_raw(Box::new(Work { name, job }));
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: there is room for what is written, and the attributes are used between
    // their beginning and their end only. A size that cannot be is an error, and then
    // the system's own stays. The new thread has the work for itself.
    let made = unsafe {
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstacksize(
            attributes.as_mut_ptr(),
            stack.unwrap_or(DEFAULT_STACK_SIZE),
        );
        let made = libc::pthread_create(
            thread.as_mut_ptr(),
            attributes.as_ptr(),
            run,
            work.cast::<c_void>(),
        );
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        made
    };
    if made != 0 {
        // SAFETY: no thread was made that could have it.
        drop(unsafe { Box::from_raw(work) });
        return Err(no_thread(&io::Error::from_raw_os_error(made), stack));
    }
    // SAFETY: written, for the call has succeeded.
    Ok(Pthread(unsafe { thread.assume_init() }, false))
}

impl Pthread {
    pub(crate) fn join(mut self) {
        self.1 = true;
        // SAFETY: neither joined nor detached yet.
        unsafe { libc::pthread_join(self.0, ptr::null_mut()) };
    }

    pub(crate) fn is_current(&self) -> bool {
        // SAFETY: numbers of threads, of which this one is neither joined nor detached.
        unsafe { libc::pthread_equal(self.0, libc::pthread_self()) != 0 }
    }
}

impl Drop for Pthread {
    fn drop(&mut self) {
        if !self.1 {
            // SAFETY: neither joined nor detached yet.
            unsafe { libc::pthread_detach(self.0) };
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::fs;
    use std::sync::mpsc::channel;

    use super::*;

    /// Regression: a name with its fifteenth octet within a character was not shortened, and the
    /// system refused it.
    #[test]
    fn a_name_ends_after_fifteen_octets() {
        let (send, named) = channel();
        let job = move || send.send(fs::read("/proc/thread-self/comm")).unwrap();
        let thread = spawn("fourteen-bytes\u{e9}", None, Box::new(job)).unwrap();
        let name = named.recv().unwrap().unwrap();
        assert_eq!(name, b"fourteen-bytes\xc3\n");
        thread.join();
    }

    /// Regression: a forked child got the error of slow sockets.
    #[test]
    fn a_refused_thread_is_an_exhausted_resource() {
        // More than a process can address.
        let refused = spawn("never", Some(1 << 47), Box::new(|| ())).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory);
        assert!(crate::is_exhausted(&refused));
    }
}
