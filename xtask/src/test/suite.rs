// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of all tests, with a retry of failed ones.
//!
//! On a loaded machine one test of thousands occasionally misses its deadline. A failed test is run
//! again, alone: if it passes then it is flaky, which the summary reports; if it fails twice the
//! run fails.

use std::cmp::Reverse;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use super::programs::{self, Built, Job};
use super::tally::{Failure, Tally};
use xtask::outcome::Outcome;
use xtask::shell;

/// Number of failures beyond which the tests are broken rather than flaky.
const MAX_RETRIES: usize = 20;

/// The arguments and the environment of a run of `cargo test`.
#[derive(Clone, Default)]
pub(super) struct Suite {
    /// Packages and features: the arguments that determine the build.
    pub(super) build: Vec<String>,
    /// Further arguments of the user for `cargo test`.
    pub(super) extra: Vec<String>,
    pub(super) environment: Vec<(&'static str, std::ffi::OsString)>,
}

/// The result of a run and its retries.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Names or sentences.
    pub(super) failures: Vec<String>,
    /// Tests that failed among others and passed alone; they count as passed.
    pub(super) flaky: Vec<String>,
}

impl Suite {
    /// Runs the built programs, and runs failed tests again, alone.
    ///
    /// # Errors
    /// Cargo cannot be started, or its output cannot be read.
    pub(super) fn run(&self, programs: Option<Vec<Built>>) -> Outcome<Verdict> {
        let Some(programs) = programs else {
            return Ok(Verdict {
                failed: 1,
                failures: vec!["the tests do not compile, see above".to_owned()],
                ..Verdict::default()
            });
        };
        let (tally, succeeded) = if self.extra.is_empty() {
            self.side_by_side(programs)?
        } else {
            run(self.command(&[], &self.extra))?
        };
        let mut verdict = self.retry(tally)?;
        if !succeeded && verdict.failed == 0 && verdict.flaky.is_empty() {
            verdict.failed = 1;
            verdict
                .failures
                .push("cargo test itself, see above".to_owned());
        }
        Ok(verdict)
    }

    /// Builds, with the progress of Cargo; returns the test programs, or `None` if they do not
    /// compile.
    ///
    /// # Errors
    /// Cargo cannot be started.
    pub(super) fn build(&self) -> Outcome<Option<Vec<Built>>> {
        let mut build = self.command(&[], &self.extra_before_dashes());
        build.args(["--no-run", "--message-format=json-render-diagnostics"]);
        shell::announce(&build);
        let output = build
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cargo: {error}"))?;
        let messages = String::from_utf8_lossy(&output.stdout);
        let programs = messages.lines().filter_map(Built::parse).collect();
        Ok(output.status.success().then_some(programs))
    }

    /// Runs the programs, the largest first, and the tests in documentation.
    fn side_by_side(&self, mut programs: Vec<Built>) -> Outcome<(Tally, bool)> {
        programs.sort_by_key(|program| Reverse(program.size()));
        let documentation = self.command(&["--doc".to_owned()], &[]);
        let mut jobs = vec![Job::of_cargo(documentation)];
        jobs.extend(programs.iter().map(Job::of_program));
        let jobs = jobs.into_iter().map(|job| job.envs(&self.environment));
        programs::run(jobs.collect(), io::stdout())
    }

    fn extra_before_dashes(&self) -> Vec<String> {
        let own = self.extra.iter().take_while(|it| *it != "--");
        own.cloned().collect()
    }

    fn command(&self, programs: &[String], extra: &[String]) -> Command {
        let mut command = shell::cargo();
        command
            .args(["test", "--no-fail-fast"])
            .args(&self.build)
            .args(programs)
            .args(extra)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn retry(&self, tally: Tally) -> Outcome<Verdict> {
        let mut verdict = Verdict {
            passed: tally.passed,
            failed: tally.failed,
            failures: tally.crashed,
            flaky: Vec::new(),
        };
        let worth_it = tally.failures.len() <= MAX_RETRIES;
        for failure in tally.failures {
            if worth_it && !failure.selector.is_empty() && self.passes_alone(&failure)? {
                verdict.failed -= 1;
                verdict.passed += 1;
                verdict.flaky.push(failure.name);
            } else {
                verdict.failures.push(failure.name);
            }
        }
        Ok(verdict)
    }

    fn passes_alone(&self, failure: &Failure) -> Outcome<bool> {
        println!("\n== Again, alone: {}", failure.name);
        let alone = ["--", "--exact", &failure.name, "--include-ignored"].map(str::to_owned);
        let (tally, succeeded) = run(self.command(&failure.selector, &alone))?;
        // A run without tests succeeds too.
        Ok(succeeded && tally.passed > 0)
    }
}

/// Runs Cargo, shows its output, and counts; returns whether Cargo succeeded.
fn run(command: Command) -> Outcome<(Tally, bool)> {
    shell::announce(&command);
    let started = programs::spawn(command);
    let (reader, mut child) = started.map_err(|error| format!("cargo: {error}"))?;
    let mut tally = Tally::default();
    let mut screen = io::stdout();
    // Not `lines()`: the output of a test may not be UTF-8.
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.map_err(|error| format!("cargo test: {error}"))?;
        // A closed standard output does not end the tests.
        let _ = screen.write_all(&line);
        let _ = screen.write_all(b"\n");
        let _ = screen.flush();
        tally.read(&String::from_utf8_lossy(&line));
    }
    tally.end();
    let status = child
        .wait()
        .map_err(|error| format!("cargo test: {error}"))?;
    Ok((tally, status.success()))
}
