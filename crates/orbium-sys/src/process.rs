// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other processes.
#![expect(unsafe_code, reason = "asking for a process by its number")]

use std::io;

/// Whether a process of that number exists, as visible to this one: those of other containers are
/// not.
#[must_use]
pub fn is_process(number: u32) -> bool {
    let Ok(number @ 1..) = i32::try_from(number) else {
        return false;
    };
    // SAFETY: signal 0 is none: nothing is sent, to whatever process that is.
    let sent = unsafe { libc::kill(number, 0) };
    // A process that may not be signalled exists, too.
    sent == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_there_until_it_was_waited_for() {
        assert!(is_process(std::process::id()) && is_process(1));
        assert!(!is_process(0) && !is_process(u32::MAX));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let number = child.id();
        assert!(is_process(number));
        child.wait().unwrap();
        assert!(!is_process(number));
    }
}
