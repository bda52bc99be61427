// SPDX-License-Identifier: MIT OR Apache-2.0
//! Concurrent execution of the workspace's test programs: `cargo test` runs one after the other,
//! and while the last tests of one wait for a peer or a limit, the processors would be idle.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::ScopedJoinHandle;

use serde::Deserialize;

use super::tally::Tally;
use xtask::outcome::Outcome;
use xtask::shell;

/// Number of concurrent programs: one more than CI has processors, as all tests of one often wait
/// for a peer.
const AT_ONCE: usize = 3;

/// A program to run; `Tally` reads its output.
pub(super) struct Job {
    /// The line with which Cargo announces the program; none for a command that announces programs
    /// itself.
    heading: Option<String>,
    command: Command,
}

impl Job {
    /// A run of Cargo, which announces its programs.
    pub(super) fn of_cargo(command: Command) -> Self {
        Self {
            heading: None,
            command,
        }
    }

    /// A test program built by Cargo, in the folder of its package, as run by Cargo.
    pub(super) fn of_program(program: &Built) -> Self {
        let folder = program.manifest_path.parent().unwrap_or(Path::new("."));
        let mut command = Command::new(&program.executable);
        command
            .current_dir(folder)
            .env("CARGO", shell::cargo().get_program())
            .env("CARGO_MANIFEST_DIR", folder)
            .env("CARGO_PKG_NAME", program.package());
        Self {
            heading: Some(program.heading(folder)),
            command,
        }
    }

    pub(super) fn envs(mut self, variables: &[(&'static str, std::ffi::OsString)]) -> Self {
        self.command
            .envs(variables.iter().map(|(name, value)| (name, value)));
        self
    }

    /// Runs the program; returns its output, and whether it succeeded.
    fn run(self) -> io::Result<(String, bool)> {
        let heading = self.heading.map(|line| line + "\n");
        let mut output = heading.unwrap_or_default().into_bytes();
        let (mut reader, mut child) = spawn(self.command)?;
        reader.read_to_end(&mut output)?;
        let succeeded = child.wait()?.success();
        Ok((String::from_utf8_lossy(&output).into_owned(), succeeded))
    }
}

/// Starts a program; returns its output, including standard error, in order.
pub(super) fn spawn(mut command: Command) -> io::Result<(PipeReader, Child)> {
    let (reader, writer) = io::pipe()?;
    let child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        // Cargo names each test program here.
        .stderr(writer)
        .spawn()?;
    // The writing ends are dropped with the command: the pipe ends with the child.
    Ok((reader, child))
}

/// A test program in Cargo's messages.
#[derive(Debug, Deserialize)]
pub(super) struct Built {
    executable: PathBuf,
    manifest_path: PathBuf,
    target: Target,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
}

impl Built {
    /// Parses a line of `cargo test --message-format json`; `None` for all except test programs.
    pub(super) fn parse(line: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Message {
            profile: Profile,
            #[serde(flatten)]
            built: Built,
        }
        #[derive(Deserialize)]
        struct Profile {
            test: bool,
        }
        let message: Message = serde_json::from_str(line).ok()?;
        message.profile.test.then_some(message.built)
    }

    /// Bytes of the program: an estimate of its run time.
    pub(super) fn size(&self) -> u64 {
        self.executable.metadata().map_or(0, |it| it.len())
    }

    fn package(&self) -> &std::ffi::OsStr {
        let folder = self.manifest_path.parent().and_then(Path::file_name);
        folder.unwrap_or_default()
    }

    /// The line with which Cargo announces it.
    fn heading(&self, folder: &Path) -> String {
        let unit = if self.target.kind.iter().any(|kind| kind == "test") {
            ""
        } else {
            "unittests "
        };
        let source = &self.target.src_path;
        let source = source.strip_prefix(folder).unwrap_or(source);
        let executable = &self.executable;
        let executable = executable.strip_prefix(shell::root()).unwrap_or(executable);
        format!(
            "     Running {unit}{} ({})",
            source.display(),
            executable.display()
        )
    }
}

/// Runs the jobs, [`AT_ONCE`] at a time in this order, shows the output of each on `screen` when it
/// has ended, and counts; returns whether all succeeded.
///
/// # Errors
/// A program cannot be started or read.
pub(super) fn run(jobs: Vec<Job>, screen: impl Write + Send) -> Outcome<(Tally, bool)> {
    let waiting = Mutex::new(VecDeque::from(jobs));
    let counted = Mutex::new((screen, Tally::default(), true));
    let work = || -> io::Result<()> {
        loop {
            let next = waiting.lock().map_or(None, |mut jobs| jobs.pop_front());
            let Some(job) = next else { return Ok(()) };
            let (output, succeeded) = job.run()?;
            let Ok(mut counted) = counted.lock() else {
                return Ok(());
            };
            // A closed standard output does not end the tests.
            let _ = counted.0.write_all(output.as_bytes());
            output.lines().for_each(|line| counted.1.read(line));
            counted.1.end();
            counted.2 &= succeeded;
        }
    };
    let ended = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(ScopedJoinHandle::join);
        ended.collect::<Vec<_>>()
    });
    for end in ended {
        end.map_err(|_| "a thread that runs tests panicked".to_owned())?
            .map_err(|error| format!("a test program: {error}"))?;
    }
    counted
        .into_inner()
        .map(|(_, tally, succeeded)| (tally, succeeded))
        .map_err(|_| "a thread that runs tests panicked".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Built, Job, run};
    use std::process::Command;

    fn message(test: bool, kind: &str, source: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml",
            "target":{{"kind":["{kind}"],"name":"suite","src_path":"/w/crates/a/{source}"}},
            "profile":{{"test":{test}}},"executable":"/t/deps/suite-0"}}"#
        )
    }

    fn heading(line: &str) -> Option<String> {
        Job::of_program(&Built::parse(line)?).heading
    }

    #[test]
    fn test_programs_are_announced_as_cargo_does() {
        assert_eq!(
            heading(&message(true, "test", "tests/suite/main.rs")).as_deref(),
            Some("     Running tests/suite/main.rs (/t/deps/suite-0)")
        );
        assert_eq!(
            heading(&message(true, "lib", "src/lib.rs")).as_deref(),
            Some("     Running unittests src/lib.rs (/t/deps/suite-0)")
        );
    }

    #[test]
    fn programs_without_tests_are_left_out() {
        assert!(Built::parse(&message(false, "bin", "src/main.rs")).is_none());
        assert!(Built::parse(r#"{"reason":"build-finished","success":true}"#).is_none());
        assert!(Built::parse("no message").is_none());
    }

    fn shell_job(script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job {
            heading: Some("     Running tests/a.rs (target/debug/deps/a-0)".to_owned()),
            command,
        }
    }

    #[test]
    fn programs_at_once_are_counted_one_by_one() {
        let passing = "echo 'test result: ok. 2 passed; 0 failed'";
        let failing =
            "echo 'test b ... FAILED'; echo 'test result: FAILED. 1 passed; 1 failed'; exit 101";
        let crashing = "echo 'running 1 test'; exit 101";
        let jobs = [passing, failing, crashing, passing].map(shell_job);
        let (tally, succeeded) = run(Vec::from(jobs), Vec::new()).unwrap();
        assert!(!succeeded);
        assert_eq!((tally.passed, tally.failed), (5, 2));
        assert_eq!(tally.failures[0].name, "b");
        assert_eq!(
            tally.crashed,
            ["Running tests/a.rs (target/debug/deps/a-0)"]
        );
        assert!(run(vec![shell_job(passing)], Vec::new()).unwrap().1);
    }
}
