// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of CPUs in the kernel's format.

use std::fmt;

/// A set of CPUs such as `0-3,8`, stored as ranges: a hostile list needs no more memory than its
/// text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuList {
    /// First and last of each range, ascending and disjoint.
    ranges: Vec<(u32, u32)>,
}

impl CpuList {
    /// Parses a list; none if it is invalid. The empty list and the kernel's `(null)` are empty
    /// sets.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if matches!(text, "" | "(null)") {
            return Some(Self::default());
        }
        let mut ranges = vec![];
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if first > last {
                return None;
            }
            ranges.push((first, last));
        }
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = vec![];
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        Some(Self { ranges: merged })
    }

    /// The number of CPUs.
    pub(crate) fn count(&self) -> u64 {
        let length = |(first, last): &(u32, u32)| u64::from(last - first) + 1;
        self.ranges.iter().map(length).sum()
    }

    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the sets intersect.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.ranges.iter().any(|(first, last)| {
            other
                .ranges
                .iter()
                .any(|(begin, end)| first <= end && begin <= last)
        })
    }

    /// Whether it is a subset of the other.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.ranges.iter().all(|(first, last)| {
            other
                .ranges
                .iter()
                .any(|(begin, end)| begin <= first && last <= end)
        })
    }

    /// The difference of the sets.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut ranges = vec![];
        for (first, last) in &self.ranges {
            let mut next = Some(*first);
            for (begin, end) in &other.ranges {
                let Some(from) = next.filter(|from| from <= end && begin <= last) else {
                    continue;
                };
                if from < *begin {
                    ranges.push((from, begin - 1));
                }
                next = end.checked_add(1).filter(|after| after <= last);
            }
            ranges.extend(next.map(|from| (from, *last)));
        }
        Self { ranges }
    }

    /// The greatest CPU number.
    pub(crate) fn last(&self) -> Option<u32> {
        self.ranges.last().map(|(_, last)| *last)
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CpuList;

    fn list(text: &str) -> CpuList {
        CpuList::parse(text).unwrap()
    }

    #[test]
    fn lists_are_read_and_written() {
        for (text, again, count) in [
            ("0-3", "0-3", 4),
            ("8,0-3\n", "0-3,8", 5),
            ("0-3,2-5,6", "0-6", 7),
            ("", "", 0),
            ("(null)", "", 0),
            ("0-4294967295", "0-4294967295", 1 << 32),
        ] {
            assert_eq!(list(text).to_string(), again);
            assert_eq!(list(text).count(), count);
        }
        for text in ["3-1", "a", "1,,2", "-1", "1-", "4294967296"] {
            assert_eq!(CpuList::parse(text), None, "{text}");
        }
    }

    #[test]
    fn lists_are_sets() {
        assert!(list("0-3").meets(&list("3,9")) && !list("0-3").meets(&list("4")));
        assert!(list("2,9").is_within(&list("1-3,9")) && !list("2-4").is_within(&list("1-3")));
        assert!(list("").is_within(&list("")));
        for (all, some, rest) in [
            ("0-7", "2-3,6", "0-1,4-5,7"),
            ("0-3", "", "0-3"),
            ("0-3", "0-9", ""),
            ("0-4294967295", "4-4294967295", "0-3"),
            ("0-1,6-7", "1-6", "0,7"),
        ] {
            assert_eq!(list(all).without(&list(some)).to_string(), rest);
        }
        assert_eq!(list("0-3,8").last(), Some(8));
    }
}
