// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test binary as a child process.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::Subject;

/// The variable with the role of a child.
pub(super) const ROLE: &str = "ORBIUM_SUITE_ROLE";
/// Prefix of the lines for the parent, among those of the harness.
const MARK: &str = "suite: ";

/// A process that is killed at the end of a test.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    /// The child ends at the end of its input.
    _input: ChildStdin,
}

impl Process {
    /// Starts the test binary of the subject in a role; `None` for a transport within one process.
    #[track_caller]
    pub(super) fn start(subject: &Subject, role: &str) -> Option<Self> {
        subject
            .other_processes
            .then(|| Self::start_alone(subject, role))
    }

    /// The same for a role that needs no other process.
    #[track_caller]
    pub(super) fn start_alone(subject: &Subject, role: &str) -> Self {
        let module = subject.module.split_once("::").expect("a module").1;
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .arg(format!("{module}::as_a_child"))
            .args(["--exact", "--nocapture", "--test-threads=1"])
            .envs(subject.environment.iter().cloned())
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        Self {
            output: BufReader::new(child.stdout.take().expect("a pipe")),
            _input: child.stdin.take().expect("a pipe"),
            child,
        }
    }

    /// The next line of the child.
    #[track_caller]
    pub(super) fn said(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.output.read_line(&mut line).expect("a pipe");
            assert_ne!(read, 0, "the child ended without a word");
            if let Some((_, said)) = line.split_once(MARK) {
                return said.trim_end().to_owned();
            }
        }
    }

    /// Kills the child.
    pub(super) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Prints a line for the parent.
pub(super) fn say(what: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "\n{MARK}{what}").expect("a pipe");
    out.flush().expect("a pipe");
}

/// Waits for the end of the parent, or to be killed by it.
pub(super) fn linger() {
    let _ = io::stdin().read_to_end(&mut Vec::new());
}
