// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads what test programs print.

/// What was counted so far.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// Tests that passed.
    pub(super) passed: u64,
    /// Tests that failed.
    pub(super) failed: u64,
    /// The names of those.
    pub(super) failures: Vec<String>,
}

impl Tally {
    /// Takes one line of the output of `cargo test`.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, " passed");
            self.failed += count(counts, " failed");
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failures.push(name.to_owned());
        }
    }
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
    use super::Tally;

    fn of(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.read(line);
        }
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
            "test oneway::is_not_answered ... FAILED",
            "test oneway::is_served ... ok",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ]);
        assert_eq!((tally.passed, tally.failed), (1, 1));
        assert_eq!(tally.failures, ["oneway::is_not_answered"]);
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(of(&["", "test result", "12 passed"]), Tally::default());
    }
}
