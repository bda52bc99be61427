// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on locks that reach the kernel: futex calls, which strace records.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether strace is installed and permitted here.
pub(super) fn can_trace() -> bool {
    let tried = Command::new("strace")
        .args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=futex", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// The number of futex calls in a file of strace so far.
pub(super) fn futex_calls(file: &Path) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    count(&text)
}

/// A call that waits has two lines: at its beginning, and when it is resumed.
fn count(text: &str) -> u64 {
    let calls = text.lines().filter(|line| line.contains(" futex("));
    calls.count() as u64
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn a_call_that_waits_counts_once() {
        let text = "17 futex(0x7f01, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>\n\
                    18 futex(0x7f01, FUTEX_WAKE_PRIVATE, 1) = 1\n\
                    17 <... futex resumed>)             = 0\n\
                    17 +++ exited with 0 +++\n";
        assert_eq!(count(text), 2);
        assert_eq!(count(""), 0);
    }
}
