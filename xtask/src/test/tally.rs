// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parser of the output of `cargo test`.

/// The counts and failures of a run of `cargo test`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// Tests that passed.
    pub(super) passed: u64,
    /// Tests that failed.
    pub(super) failed: u64,
    /// The tests that failed, by name.
    pub(super) failures: Vec<Failure>,
    /// Test programs that ended without a result.
    pub(super) crashed: Vec<String>,
    /// The program with the present output.
    program: Option<Program>,
}

/// A failed test, and Cargo's arguments that select its program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) name: String,
    /// Such as `--test oneway`.
    pub(super) selector: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Program {
    /// The title shown by Cargo.
    title: String,
    selector: Vec<String>,
}

impl Tally {
    /// Reads one line of the output, standard error included.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(program) = Program::begun_by(line) {
            self.end_program();
            self.program = Some(program);
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, " passed");
            self.failed += count(counts, " failed");
            self.program = None;
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            let selector = self
                .program
                .as_ref()
                .map(|program| program.selector.clone())
                .unwrap_or_default();
            self.failures.push(Failure {
                name: name.to_owned(),
                selector,
            });
        }
    }

    /// Ends the output.
    pub(super) fn end(&mut self) {
        self.end_program();
    }

    /// Ends a program, which prints its result before the next one begins, unless it crashed.
    fn end_program(&mut self) {
        if let Some(program) = self.program.take() {
            self.failed += 1;
            self.crashed.push(program.title);
        }
    }
}

impl Program {
    /// Reads `Running tests/oneway.rs (target/debug/deps/oneway-0123)` and
    /// `Doc-tests orbium`.
    fn begun_by(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let selector = if let Some(running) = line.strip_prefix("Running ") {
            let (source, _executable) = running.strip_suffix(')')?.rsplit_once(" (")?;
            selector(source)?
        } else {
            line.strip_prefix("Doc-tests ")?;
            vec!["--doc".to_owned()]
        };
        Some(Self {
            title: line.to_owned(),
            selector,
        })
    }
}

/// Cargo's arguments that select the program built from this source, which is relative to its
/// package.
fn selector(source: &str) -> Option<Vec<String>> {
    if let Some(source) = source.strip_prefix("unittests ") {
        let target = if source == "src/lib.rs" {
            "--lib"
        } else {
            "--bins"
        };
        return Some(vec![target.to_owned()]);
    }
    let name = source.strip_prefix("tests/")?.strip_suffix(".rs")?;
    let name = name.strip_suffix("/main").unwrap_or(name);
    Some(vec!["--test".to_owned(), name.to_owned()])
}

/// The number before `what` in `ok. 3 passed; 0 failed; …`.
fn count(counts: &str, what: &str) -> u64 {
    counts
        .split([';', '.'])
        .find_map(|part| part.trim().strip_suffix(what)?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Failure, Tally};

    fn of(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.read(line);
        }
        tally.end();
        tally
    }

    #[test]
    fn the_counts_of_all_programs_are_summed() {
        let tally = of(&[
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: ok. 41 passed; 0 failed; 2 ignored; 0 measured; 7 filtered out; finished in 1.50s",
        ]);
        assert_eq!((tally.passed, tally.failed), (44, 0));
    }

    #[test]
    fn failures_are_counted_and_named() {
        let tally = of(&[
            "     Running tests/oneway.rs (target/debug/deps/oneway-7b84f2d1)",
            "test oneway::is_not_answered ... FAILED",
            "test oneway::is_served ... ok",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ]);
        assert_eq!((tally.passed, tally.failed), (1, 1));
        let failure = Failure {
            name: "oneway::is_not_answered".to_owned(),
            selector: vec!["--test".to_owned(), "oneway".to_owned()],
        };
        assert_eq!(tally.failures, [failure]);
    }

    #[test]
    fn every_kind_of_program_is_selected() {
        for (line, selector) in [
            (
                "Running unittests src/lib.rs (target/debug/deps/a-1)",
                "--lib",
            ),
            (
                "Running unittests src/main.rs (target/debug/deps/a-1)",
                "--bins",
            ),
            (
                "Running unittests src/bin/server.rs (target/debug/deps/a-1)",
                "--bins",
            ),
            (
                "Running tests/lanes/main.rs (target/debug/deps/lanes-1)",
                "--test lanes",
            ),
            ("Doc-tests orbium", "--doc"),
        ] {
            let tally = of(&[line, "test a ... FAILED", "test result: FAILED. 1 failed"]);
            assert_eq!(tally.failures[0].selector.join(" "), selector);
            assert_eq!(tally.failed, 1);
        }
    }

    #[test]
    fn a_program_without_a_result_has_crashed() {
        let tally = of(&[
            "     Running tests/first.rs (target/debug/deps/first-1)",
            "running 2 tests",
            "     Running tests/second.rs (target/debug/deps/second-1)",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "   Doc-tests orbium",
        ]);
        assert_eq!((tally.passed, tally.failed), (2, 2));
        assert_eq!(
            tally.crashed,
            [
                "Running tests/first.rs (target/debug/deps/first-1)",
                "Doc-tests orbium"
            ]
        );
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(
            of(&["", "test result", "12 passed", "Running out of words"]),
            Tally::default()
        );
    }
}
