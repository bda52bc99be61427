// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time policies of threads.
#![expect(unsafe_code, reason = "a system call that no safe crate offers")]

use std::io;
use std::mem::zeroed;
use std::thread;

/// Whether a thread of this process may have the policy SCHED_FIFO at a native
/// priority (1 to 99): tried on a thread made for it, which ends at once.
///
/// # Errors
/// What the system says: EPERM if RLIMIT_RTPRIO, CAP_SYS_NICE or a control group
/// does not allow it, EINVAL if there is no such priority.
pub fn try_fifo(priority: i32) -> io::Result<()> {
    let thread = thread::Builder::new().spawn(move || become_fifo(priority))?;
    thread
        .join()
        .map_err(|_| io::Error::other("the thread failed"))?
}

/// Gives the calling thread the policy.
fn become_fifo(priority: i32) -> io::Result<()> {
    // SAFETY: a `sched_param` is integers, for which zero is a value.
    let mut parameters: libc::sched_param = unsafe { zeroed() };
    parameters.sched_priority = priority;
    // Not `sched_setscheduler`, which musl does not implement.
    // SAFETY: the handle is that of the calling thread, which runs; one
    // `sched_param` is read, which lives until the call has returned.
    let result = unsafe {
        libc::pthread_setschedparam(
            libc::pthread_self(),
            libc::SCHED_FIFO,
            &raw const parameters,
        )
    };
    match result {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::mem::zeroed;

    use super::try_fifo;

    #[test]
    fn there_is_no_priority_beyond_the_highest() {
        let error = try_fifo(1000).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn it_is_given_or_refused_and_the_caller_keeps_its_policy() {
        if let Err(error) = try_fifo(1) {
            assert_eq!(error.raw_os_error(), Some(libc::EPERM));
        }
        let mut policy = -1;
        // SAFETY: as for setting; policy and parameters are written.
        unsafe {
            let mut parameters: libc::sched_param = zeroed();
            libc::pthread_getschedparam(libc::pthread_self(), &raw mut policy, &raw mut parameters);
        }
        assert_eq!(policy, libc::SCHED_OTHER);
    }
}
