// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limits of the control groups of this process, of version 1 and version 2, its own group's
//! and those of the groups above it.

use super::cpu_list::CpuList;
use super::tree::Tree;

/// Maximum number of groups above ours that are read.
const DEPTH: usize = 64;
/// The value of version 1 for no limit, which is also the threshold for one.
const UNLIMITED: u64 = 1 << 62;

/// The limits of the groups. A limit has the file that sets it.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    /// The tightest share of CPU time.
    pub(crate) cpu: Option<Quota>,
    /// The CPUs of our group.
    pub(crate) cpus: Option<CpuList>,
    /// The smallest amount of memory, in bytes.
    pub(crate) memory: Option<Bytes>,
    /// Microseconds that the real-time threads of our group may run in each
    /// period; none if groups do not limit them.
    pub(crate) real_time: Option<RealTime>,
}

/// CPU time in each period, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) quota: u64,
    pub(crate) period: u64,
    pub(crate) file: String,
    /// The value to write into the file for no limit.
    pub(crate) none: &'static str,
}

/// An amount of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub(crate) limit: u64,
    pub(crate) file: String,
    /// The value to write into the file for no limit.
    pub(crate) none: &'static str,
}

/// Time for real-time threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RealTime {
    pub(crate) runtime: i64,
    pub(crate) file: String,
}

impl Cgroups {
    /// None if the groups of this process are unknown, or are not mounted.
    pub(crate) fn collect(tree: &Tree) -> Option<Self> {
        let groups = tree.text("/proc/self/cgroup")?;
        let mounts = tree.text("/proc/self/mountinfo")?;
        let mut found = Self::default();
        let mut is_mounted = false;
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if controllers.is_empty() {
                if let Some(above) = directories(&mounts, None, path) {
                    is_mounted = true;
                    found.unified(tree, &above);
                }
                continue;
            }
            for controller in controllers.split(',') {
                if let Some(above) = directories(&mounts, Some(controller), path) {
                    is_mounted = true;
                    found.version_1(tree, controller, &above);
                }
            }
        }
        is_mounted.then_some(found)
    }

    /// Reads the groups of version 2, ours first.
    fn unified(&mut self, tree: &Tree, directories: &[String]) {
        for directory in directories {
            let file = format!("{directory}/cpu.max");
            if let Some((quota, period)) = tree.text(&file).as_deref().and_then(quota) {
                self.offer_cpu(Quota {
                    quota,
                    period,
                    file,
                    none: "max",
                });
            }
            for name in ["memory.max", "memory.high"] {
                let file = format!("{directory}/{name}");
                if let Some(limit) = tree.number(&file) {
                    self.offer_memory(Bytes {
                        limit,
                        file,
                        none: "max",
                    });
                }
            }
            let file = format!("{directory}/cpuset.cpus.effective");
            self.offer_cpus(tree, &file);
        }
    }

    /// Reads the groups of one controller of version 1, ours first.
    fn version_1(&mut self, tree: &Tree, controller: &str, directories: &[String]) {
        for directory in directories {
            match controller {
                "cpu" => {
                    let file = format!("{directory}/cpu.cfs_quota_us");
                    let period = tree.number(&format!("{directory}/cpu.cfs_period_us"));
                    if let (Some(quota), Some(period)) = (tree.number(&file), period) {
                        self.offer_cpu(Quota {
                            quota,
                            period,
                            file,
                            none: "-1",
                        });
                    }
                    let file = format!("{directory}/cpu.rt_runtime_us");
                    if let (None, Some(runtime)) = (&self.real_time, tree.number(&file)) {
                        self.real_time = Some(RealTime { runtime, file });
                    }
                }
                "cpuset" => {
                    for name in ["cpuset.effective_cpus", "cpuset.cpus"] {
                        self.offer_cpus(tree, &format!("{directory}/{name}"));
                    }
                }
                "memory" => {
                    let file = format!("{directory}/memory.limit_in_bytes");
                    if let Some(limit) = tree.number(&file) {
                        self.offer_memory(Bytes {
                            limit,
                            file,
                            none: "-1",
                        });
                    }
                }
                _ => {}
            }
        }
    }

    fn offer_cpu(&mut self, offer: Quota) {
        if offer.period == 0 {
            return;
        }
        // Compared as fractions: quota / period.
        let tighter = |a: &Quota, b: &Quota| {
            u128::from(a.quota) * u128::from(b.period) < u128::from(b.quota) * u128::from(a.period)
        };
        if self.cpu.as_ref().is_none_or(|known| tighter(&offer, known)) {
            self.cpu = Some(offer);
        }
    }

    fn offer_memory(&mut self, offer: Bytes) {
        let is_limit = offer.limit < UNLIMITED;
        let is_least = |known: &Bytes| offer.limit < known.limit;
        if is_limit && self.memory.as_ref().is_none_or(is_least) {
            self.memory = Some(offer);
        }
    }

    /// The first known list is that of the nearest group.
    fn offer_cpus(&mut self, tree: &Tree, file: &str) {
        if self.cpus.is_none() {
            let cpus = tree.text(file).and_then(|text| CpuList::parse(&text));
            self.cpus = cpus.filter(|cpus| !cpus.is_empty());
        }
    }
}

/// The quota and the period of `cpu.max`, if there is a limit.
fn quota(text: &str) -> Option<(u64, u64)> {
    let mut fields = text.split_whitespace();
    let quota = fields.next()?.parse().ok()?;
    let period = fields
        .next()
        .map_or(Some(100_000), |text| text.parse().ok())?;
    Some((quota, period))
}

/// Directories of our group and those above it, in the hierarchy of a controller
/// or the unified one; none if it is not mounted.
fn directories(mounts: &str, controller: Option<&str>, path: &str) -> Option<Vec<String>> {
    let (root, mount) = mounts
        .lines()
        .rev()
        .find_map(|line| mounted(line, controller))?;
    // In a container our group may be the root of the mount.
    let below = match path.strip_prefix(root.trim_end_matches('/')) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => "",
    };
    let mut directory = below.trim_end_matches('/');
    if directory.split('/').any(|part| part == "..") {
        directory = "";
    }
    let mount = mount.trim_end_matches('/');
    let mut found = vec![];
    while !directory.is_empty() && found.len() < DEPTH {
        found.push(format!("{mount}{directory}"));
        directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
    }
    found.push(mount.to_owned());
    Some(found)
}

/// Root and mount point of a line of `mountinfo`, if it is the hierarchy.
fn mounted(line: &str, controller: Option<&str>) -> Option<(String, String)> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let is_wanted = match (after.next()?, controller) {
        ("cgroup2", None) => true,
        ("cgroup", Some(controller)) => after.nth(1)?.split(',').any(|option| option == controller),
        _ => false,
    };
    if !is_wanted {
        return None;
    }
    let mut fields = before.split(' ').skip(3);
    let root = unescaped(fields.next()?);
    Some((root, unescaped(fields.next()?)))
}

/// A path of `mountinfo`, where a space is `\040`.
fn unescaped(path: &str) -> String {
    path.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeHost;
    use super::{directories, quota};

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn limits_are_quotas_with_periods() {
        assert_eq!(quota("50000 100000\n"), Some((50_000, 100_000)));
        assert_eq!(quota("50000"), Some((50_000, 100_000)));
        assert_eq!(quota("max 100000"), None);
        assert_eq!(quota(""), None);
        assert_eq!(quota("5 x"), None);
    }

    #[test]
    fn directories_are_those_of_our_group_and_above() {
        let all = directories(UNIFIED, None, "/a/b").unwrap();
        assert_eq!(
            all,
            ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"]
        );
        // In a container: the group is the mounted one.
        let own = "30 23 0:26 /a/b /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        assert_eq!(directories(own, None, "/a/b").unwrap(), ["/sys/fs/cgroup"]);
        assert_eq!(directories(own, None, "/a/bc").unwrap(), ["/sys/fs/cgroup"]);
        assert_eq!(
            directories(UNIFIED, None, "/../x").unwrap(),
            ["/sys/fs/cgroup"]
        );
        let spaced = "31 1 0:1 / /my\\040groups rw shared:1 - cgroup none rw,cpu,cpuacct";
        assert_eq!(
            directories(spaced, Some("cpu"), "/").unwrap(),
            ["/my groups"]
        );
        assert_eq!(directories(spaced, Some("memory"), "/"), None);
        for nonsense in ["", " - ", "a b - cgroup2", "1 2 3 4 - cgroup2 x rw"] {
            assert_eq!(directories(nonsense, None, "/"), None, "{nonsense}");
        }
    }

    #[test]
    fn the_tightest_limit_counts() {
        let host = FakeHost::with(&[
            ("/proc/self/cgroup", "0::/a/b\n"),
            ("/proc/self/mountinfo", UNIFIED),
            ("/sys/fs/cgroup/a/b/cpu.max", "300000 100000"),
            ("/sys/fs/cgroup/a/cpu.max", "20000 10000"),
            ("/sys/fs/cgroup/a/b/memory.max", "max"),
            ("/sys/fs/cgroup/a/memory.max", "1000000"),
            ("/sys/fs/cgroup/a/b/memory.high", "2000000"),
            ("/sys/fs/cgroup/a/cpuset.cpus.effective", "0-1"),
            ("/sys/fs/cgroup/cpuset.cpus.effective", "0-3"),
        ]);
        let found = host.facts().cgroups.unwrap();
        assert_eq!(found.cpu.unwrap().file, "/sys/fs/cgroup/a/cpu.max");
        assert_eq!(found.memory.unwrap().limit, 1_000_000);
        assert_eq!(found.cpus.unwrap().to_string(), "0-1");
        assert_eq!(found.real_time, None);
    }

    #[test]
    fn version_1_has_a_hierarchy_for_each_controller() {
        let host = FakeHost::with(&[
            (
                "/proc/self/cgroup",
                "4:memory:/m\n2:cpu,cpuacct:/c\n1:cpuset:/\nnonsense\n",
            ),
            (
                "/proc/self/mountinfo",
                "1 1 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                 1 1 0:1 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n\
                 1 1 0:1 / /cg/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("/cg/cpu/c/cpu.cfs_quota_us", "50000"),
            ("/cg/cpu/c/cpu.cfs_period_us", "100000"),
            ("/cg/cpu/cpu.cfs_quota_us", "-1"),
            ("/cg/cpu/cpu.cfs_period_us", "100000"),
            ("/cg/cpu/c/cpu.rt_runtime_us", "0"),
            ("/cg/cpu/cpu.rt_runtime_us", "950000"),
            ("/cg/cpuset/cpuset.cpus", "2"),
            ("/cg/memory/m/memory.limit_in_bytes", "9223372036854771712"),
        ]);
        let found = host.facts().cgroups.unwrap();
        assert_eq!(found.cpu.unwrap().quota, 50_000);
        assert_eq!(found.real_time.unwrap().runtime, 0);
        assert_eq!(found.cpus.unwrap().to_string(), "2");
        assert_eq!(found.memory, None);
    }
}
