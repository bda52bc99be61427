// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of pages that the kernel moves.

use crate::facts::Facts;
use crate::finding::Finding;

/// Whether pages may be swapped to disk.
pub(super) fn swap(facts: &Facts) -> Finding {
    let remedy = "sudo swapoff -a, and take swap out of /etc/fstab; or lock memory";
    match facts.memory.swap {
        None => Finding::unknown("no /proc/swaps"),
        Some((0, _)) => Finding::ok("none"),
        Some((_, 0)) => Finding::note("there is swap, not in use", remedy),
        Some((_, kibibytes)) => Finding::problem(
            format!("{} MiB are swapped out", kibibytes.div_ceil(1024)),
            remedy,
        ),
    }
}

/// Whether the kernel creates huge pages without a request.
pub(super) fn huge_pages(facts: &Facts) -> Finding {
    match facts.memory.huge_pages.as_deref() {
        Some("always") => Finding::problem(
            "transparent huge pages for everybody",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Some("madvise") => Finding::ok("for programs that ask"),
        Some("never") => Finding::ok("never"),
        Some(_) => Finding::unknown("the kernel says what is not known here"),
        None if facts.memory.has_huge_pages => Finding::unknown("the kernel does not tell"),
        None => Finding::unknown("the kernel has no transparent huge pages, or hides them"),
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::FakeHost;
    use crate::finding::Severity::{Note, Ok, Problem, Unknown};

    #[test]
    fn swap_is_worse_when_in_use() {
        let header = "Filename Type Size Used Priority\n";
        for (lines, severity, found) in [
            ("", Ok, "none"),
            ("/dev/a partition 100 0 -2\n", Note, "not in use"),
            (
                "/dev/a partition 100 0 -2\n/b file 9000 2049 -3\n",
                Problem,
                "3 MiB",
            ),
            ("nonsense\n", Note, "not in use"),
            ("a b c 18446744073709551615\na b c 5", Problem, "MiB"),
        ] {
            let host = FakeHost::with(&[("/proc/swaps", &format!("{header}{lines}"))]);
            host.assert("swap", severity, found);
        }
    }

    #[test]
    fn huge_pages_are_optional() {
        for (text, severity) in [
            ("[always] madvise never", Problem),
            ("always [madvise] never", Ok),
            ("always madvise [never]", Ok),
            ("always [perhaps]", Unknown),
            ("always", Unknown),
        ] {
            let path = "/sys/kernel/mm/transparent_hugepage/enabled";
            FakeHost::with(&[(path, text)]).assert("huge-pages", severity, "");
        }
    }
}
