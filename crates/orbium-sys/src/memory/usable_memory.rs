// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that this process may use.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Octets of memory that this process may use: the minimum of the host's memory, the limits of its
/// control groups (version 2 and 1, including all ancestors), and the limit of its address space.
/// `None` if the system does not provide it. Determined once.
#[must_use]
pub fn usable_memory() -> Option<usize> {
    static USABLE: OnceLock<Option<usize>> = OnceLock::new();
    *USABLE.get_or_init(|| {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let bounds = [
            total_of(&fs::read_to_string("/proc/meminfo").unwrap_or_default()),
            allowed_by(&groups, Path::new("/sys/fs/cgroup")),
            address_space_of(&fs::read_to_string("/proc/self/limits").unwrap_or_default()),
        ];
        bounds.into_iter().flatten().min()
    })
}

/// `MemTotal` of `/proc/meminfo`.
fn total_of(meminfo: &str) -> Option<usize> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The minimum limit of the groups in `/proc/self/cgroup` and their ancestors. If the group is not
/// visible, as in many containers, the visible root is the process's own group.
fn allowed_by(groups: &str, root: &Path) -> Option<usize> {
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (top, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            list if list.split(',').any(|it| it == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let path = path.trim_start_matches('/');
        for group in top.join(path).ancestors() {
            if !group.starts_with(&top) {
                break;
            }
            let limit = fs::read_to_string(group.join(file)).ok();
            // "max" means no limit.
            let limit = limit.and_then(|text| text.trim().parse::<usize>().ok());
            least = least.into_iter().chain(limit).min();
        }
    }
    least
}

/// The limit of the address space in `/proc/self/limits`.
fn address_space_of(limits: &str) -> Option<usize> {
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_the_host_is_read() {
        let meminfo = "MemTotal:       16384000 kB\nMemFree:          100 kB\n";
        assert_eq!(total_of(meminfo), Some(16_384_000 * 1024));
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn the_limit_of_the_address_space_is_read() {
        let limits =
            "Limit  Soft  Hard  Units\nMax address space    1073741824   unlimited  bytes\n";
        assert_eq!(address_space_of(limits), Some(1 << 30));
        let limits = "Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(address_space_of(limits), None);
    }

    /// A folder laid out as the two versions of control groups are.
    #[test]
    fn the_least_limit_of_a_group_and_those_above_it_counts() {
        let root = std::env::temp_dir().join(format!("orbium-groups-{}", std::process::id()));
        let inner = root.join("a/b");
        let old = root.join("memory/c");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(&old).unwrap();
        fs::write(root.join("a/memory.max"), "1000\n").unwrap();
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        fs::write(old.join("memory.limit_in_bytes"), "500\n").unwrap();
        assert_eq!(allowed_by("0::/a/b\n", &root), Some(1000));
        assert_eq!(allowed_by("0::/a/b\n4:cpu,memory:/c\n", &root), Some(500));
        assert_eq!(allowed_by("3:cpu:/a\nnonsense\n", &root), None);
        // A container that sees its own group as the root.
        fs::write(root.join("memory.max"), "70\n").unwrap();
        assert_eq!(allowed_by("0::/not/to/be/seen\n", &root), Some(70));
        fs::remove_dir_all(&root).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_host_says_what_it_has() {
        assert!(usable_memory().is_some_and(|memory| memory > 1 << 20));
    }
}
