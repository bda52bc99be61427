// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reader of callgrind's files.

use std::collections::HashSet;
use std::path::Path;

use xtask::outcome::Outcome;

/// The profile of a program from start to end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Profile {
    /// Instructions in user mode.
    pub(crate) instructions: f64,
    /// Calls of the C library's allocator.
    pub(crate) allocations: f64,
}

const ALLOCATORS: [&str; 6] = [
    "malloc",
    "calloc",
    "realloc",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
];

impl Profile {
    /// Reads one file.
    pub(crate) fn read(file: &Path) -> Outcome<Self> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        Self::parse(&text).ok_or_else(|| format!("{} has no totals", file.display()))
    }

    /// The format is that of the Valgrind manual, "Callgrind Format Specification": names get a
    /// number at their first occurrence.
    fn parse(text: &str) -> Option<Self> {
        let mut allocators = HashSet::new();
        let mut allocations = 0.0;
        let mut callee_allocates = false;
        let mut instructions = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("fn=").or(line.strip_prefix("cfn=")) {
                let (identity, name) = name.split_once(' ').unwrap_or((name, ""));
                if ALLOCATORS.contains(&name) {
                    allocators.insert(identity);
                }
                callee_allocates = line.starts_with('c') && allocators.contains(identity);
            } else if let Some(counts) = line.strip_prefix("calls=") {
                if callee_allocates {
                    allocations += counts.split(' ').next()?.parse::<f64>().ok()?;
                }
            } else if let Some(total) = line
                .strip_prefix("totals:")
                .or(line.strip_prefix("summary:"))
            {
                instructions = total.trim().parse().ok();
            }
        }
        Some(Self {
            instructions: instructions?,
            allocations,
        })
    }

    /// The cost of each of so many calls, given a run without them.
    pub(crate) fn per_call(self, without: Self, calls: u64) -> Self {
        // Counts of calls are far below 2⁵³.
        #[expect(clippy::cast_precision_loss)]
        let calls = calls as f64;
        Self {
            instructions: (self.instructions - without.instructions) / calls,
            allocations: (self.allocations - without.allocations) / calls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;

    const FILE: &str = "\
events: Ir
fn=(1) main
16 400
cfn=(2) malloc
calls=3 0
16 90
cfn=(3) free
calls=3 0
16 30
fn=(4) loop
cfn=(2)
calls=2 0
9 60
totals: 580
";

    #[test]
    fn totals_and_calls_of_allocators_are_counted() {
        let profile = Profile::parse(FILE);
        let expected = Profile {
            instructions: 580.0,
            allocations: 5.0,
        };
        assert_eq!(profile, Some(expected));
    }

    #[test]
    fn a_file_cut_short_has_no_profile() {
        assert_eq!(Profile::parse("events: Ir\nfn=(1) main\n"), None);
    }
}
