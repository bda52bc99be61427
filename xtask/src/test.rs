// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask test`: every test of the workspace, with the other ORBs there.

pub(crate) mod peers;
mod tally;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use peers::Readiness;
use tally::Tally;

use crate::{Outcome, shell};

#[derive(Default)]
struct Options {
    no_install: bool,
    no_peers: bool,
    /// Handed to `cargo test` as they are.
    passed_on: Vec<String>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--no-install" => options.no_install = true,
                "--no-peers" => options.no_peers = true,
                "--" => options.passed_on = arguments.by_ref().collect(),
                other => return Err(format!("test: unknown option {other}")),
            }
        }
        Ok(options)
    }
}

/// Prepares the peers, runs the tests, and sums up; the last line is
/// `N passed, N failed`.
///
/// # Errors
/// A test failed, or something was skipped in CI.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let options = Options::parse(arguments)?;
    let mut readiness = if options.no_peers {
        Readiness::declined()
    } else {
        peers::prepare(!options.no_install)
    };

    let log = shell::target_directory().join("skipped.log");
    // What an earlier run skipped is not news.
    let _ = std::fs::remove_file(&log);
    let mut command = shell::cargo();
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(&options.passed_on)
        .env("ORBIUM_SKIPPED_LOG", &log)
        .env("ORBIUM_INTEROP_DIR", peers::directory());
    if readiness.complete() {
        command.env("ORBIUM_REQUIRE_PEERS", "1");
    }
    let mut tally = Tally::default();
    run_tests(&mut command, &mut tally)?;
    if options.passed_on.is_empty() {
        run_tests(&mut counted(), &mut tally)?;
    }

    if let Ok(lines) = std::fs::read_to_string(&log) {
        readiness.skipped_by_tests(&lines);
    }
    sum_up(&readiness, &tally)
}

/// The tests that count operations on locks: nothing else is built so.
fn counted() -> Command {
    let mut command = shell::cargo();
    command
        .args(["test", "-p", "orbium-sync", "-p", "orbium-testkit"])
        .args(["--features", "orbium-sync/counted,orbium-testkit/counted"])
        .args(["--no-fail-fast", "--test", "counted", "--test", "locks"]);
    command
}

/// Runs Cargo, shows what it prints as it comes, and counts.
fn run_tests(command: &mut Command, tally: &mut Tally) -> Outcome<()> {
    shell::announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo: {error}"))?;
    let failed_before = tally.failed;
    if let Some(stdout) = child.stdout.take() {
        let mut screen = std::io::stdout();
        // Not `lines()`: a test may print what is not UTF-8.
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|error| format!("cargo test: {error}"))?;
            // Nobody may be left to read it; the tests go on.
            let _ = screen.write_all(&line);
            let _ = screen.write_all(b"\n");
            let _ = screen.flush();
            tally.read(&String::from_utf8_lossy(&line));
        }
    }
    let status = child
        .wait()
        .map_err(|error| format!("cargo test: {error}"))?;
    if !status.success() && tally.failed == failed_before {
        // It did not compile, or a test program died before it could say so.
        tally.failed += 1;
        tally
            .failures
            .push(format!("cargo test itself ({status}), see above"));
    }
    Ok(())
}

fn sum_up(readiness: &Readiness, tally: &Tally) -> Outcome<()> {
    println!("\n== Summary");
    for line in &readiness.ready {
        println!("ready    {line}");
    }
    for line in &readiness.skipped {
        println!("SKIPPED  {line}");
    }
    for line in &readiness.broken {
        println!("BROKEN   {line}");
    }
    for line in &tally.failures {
        println!("FAILED   {line}");
    }
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let incomplete = in_ci && !readiness.skipped.is_empty();
    if incomplete {
        println!("In CI nothing may be skipped: this run counts as failed.");
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    if tally.failed > 0 || incomplete || !readiness.broken.is_empty() {
        return Err(String::new());
    }
    Ok(())
}
