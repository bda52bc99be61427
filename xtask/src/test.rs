// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask test`: runs every test of the workspace, with the other ORBs as peers.

pub(crate) mod peers;
mod programs;
mod suite;
mod tally;

use peers::Readiness;
use suite::{Suite, Verdict};

use xtask::outcome::Outcome;
use xtask::shell;

#[derive(Default)]
struct Options {
    no_install: bool,
    no_peers: bool,
    /// Passed to `cargo test` unchanged.
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
/// A test failed twice, or a test was skipped in CI.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let options = Options::parse(arguments)?;
    let log = shell::target_directory().join("skipped.log");
    // The log of an earlier run.
    let _ = std::fs::remove_file(&log);
    let mut environment = vec![
        ("ORBIUM_SKIPPED_LOG", log.clone().into_os_string()),
        ("ORBIUM_INTEROP_DIR", peers::directory().into_os_string()),
    ];
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        environment.push(("RUST_TEST_THREADS", test_threads().to_string().into()));
    }
    let whole_workspace = options.passed_on.is_empty();
    let (mut build, extra) = split_packages(options.passed_on);
    if whole_workspace {
        build.extend(words(COUNTED));
    }
    let mut suite = Suite {
        build,
        extra,
        environment,
    };
    // The peers are built by programs with one thread, one after the other.
    let (readiness, programs) = std::thread::scope(|scope| {
        let readiness = scope.spawn(|| {
            if options.no_peers {
                Readiness::declined()
            } else {
                peers::prepare(!options.no_install)
            }
        });
        let programs = suite.build();
        (readiness.join(), programs)
    });
    let mut readiness = readiness.map_err(|_| "test: preparing the peers panicked")?;
    if readiness.complete() {
        suite.environment.push(("ORBIUM_REQUIRE_PEERS", "1".into()));
    }
    let verdict = suite.run(programs?)?;

    if let Ok(lines) = std::fs::read_to_string(&log) {
        readiness.skipped_by_tests(&lines);
    }
    sum_up(&readiness, &verdict)
}

/// Some tests count operations on locks. The others run in the same build: building everything
/// twice takes longer than counting.
const COUNTED: &str = "--features orbium-sync/counted,orbium-testkit/counted,orbium-bench/counted";

/// Number of concurrent tests in each of the programs that allow them: most of them wait for a peer
/// or a limit rather than for a processor.
fn test_threads() -> usize {
    const PER_PROCESSOR: usize = 3;
    std::thread::available_parallelism().map_or(2, usize::from) * PER_PROCESSOR
}

/// The packages that arguments for `cargo test` select, or else all, and the other
/// arguments.
fn split_packages(arguments: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut packages = Vec::new();
    let mut others = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-p" | "--package" => {
                packages.push(argument);
                packages.extend(arguments.next());
            }
            "--" => {
                others.push(argument);
                others.extend(arguments.by_ref());
            }
            _ => others.push(argument),
        }
    }
    if packages.is_empty() {
        packages = words("--workspace");
    }
    (packages, others)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn sum_up(readiness: &Readiness, verdict: &Verdict) -> Outcome<()> {
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
    let known = known_flaky();
    for name in &verdict.flaky {
        let advice = if known.contains(name.as_str()) {
            "known, see CONTRIBUTING.md"
        } else {
            "new: CONTRIBUTING.md lists flaky tests with their story"
        };
        println!("FLAKY    {name} (failed among others, passed alone; {advice})");
    }
    for line in &verdict.failures {
        println!("FAILED   {line}");
    }
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let incomplete = in_ci && !readiness.skipped.is_empty();
    if incomplete {
        println!("In CI nothing may be skipped: this run counts as failed.");
    }
    if !verdict.flaky.is_empty() {
        println!("{} flaky", verdict.flaky.len());
    }
    println!("{} passed, {} failed", verdict.passed, verdict.failed);
    if verdict.failed > 0 || incomplete || !readiness.broken.is_empty() {
        return Err(String::new());
    }
    Ok(())
}

/// The page that lists the flaky tests.
fn known_flaky() -> String {
    std::fs::read_to_string(shell::root().join("CONTRIBUTING.md")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{split_packages, words};

    #[test]
    fn packages_are_distinguished_from_other_arguments() {
        let split = |text| split_packages(words(text));
        assert_eq!(split(""), (words("--workspace"), Vec::new()));
        assert_eq!(
            split("-p a --test t --package b -- -p c"),
            (words("-p a --package b"), words("--test t -- -p c"))
        );
    }
}
