// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other processes.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether there is a process of that number, as far as this one sees them: those of
/// other containers it does not.
#[must_use]
pub fn is_process(number: u32) -> bool {
    let number = i32::try_from(number).ok().and_then(Pid::from_raw);
    // One that may not be signalled is there too.
    number.is_some_and(|number| test_kill_process(number) != Err(Errno::SRCH))
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
