// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium host`: plans, what they change, and that it is undone.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{Folder, Ran, run, run_with};

const BUSY_POLL: &str = "proc/sys/net/core/busy_poll";
const HUGE_PAGES: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const LIMITS: &str = "etc/security/limits.d/orbium-host.conf";

/// Writes a file and creates the folders above it.
fn put(folder: &Folder, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.path(name);
    fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
    folder.file(name, text);
}

/// The copy of a host that three checks complain of.
fn host() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        (BUSY_POLL, "0\n"),
        ("proc/sys/net/core/busy_read", "50\n"),
        (HUGE_PAGES, "[always] madvise never\n"),
        (
            "proc/swaps",
            "Filename Type Size Used\n/dev/a partition 100 9\n",
        ),
        (
            "proc/self/limits",
            "Limit Soft Hard\nMax open files  256  4096  files\n",
        ),
    ] {
        put(&folder, name, text);
    }
    folder
}

fn content(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap_or_default()
}

fn plan(folder: &Folder, more: &[&str]) -> String {
    let root = folder.path("");
    let mut arguments = vec!["host", "plan", "--root", &root];
    arguments.extend(more);
    let ran = run(arguments);
    ran.assert_done();
    ran.stdout
}

fn apply(folder: &Folder, plan: &str) -> Ran {
    run_with(["host", "apply", "--root", &folder.path(""), "-"], plan)
}

fn undo(folder: &Folder) -> Ran {
    run(["host", "undo", "--root", &folder.path("")])
}

#[test]
fn a_plan_names_what_changes_and_what_is_left_and_changes_nothing() {
    let folder = host();
    let text = plan(&folder, &[]);
    for part in [
        "file = \"/proc/sys/net/core/busy_poll\"",
        "from = \"0\"",
        "to = \"50\"",
        "file = \"/sys/kernel/mm/transparent_hugepage/enabled\"",
        "from = \"always\"",
        // No program brings back what swapoff has moved, and no user was named for limits.
        "[[left]]\ncheck = \"swap\"",
        "[[left]]\ncheck = \"open-files\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("busy_read"), "{text}");
    assert_eq!(content(&folder, BUSY_POLL), "0\n");
    let one = plan(&folder, &["--only", "huge-pages"]);
    assert!(one.contains("1 to change, 0 left"), "{one}");
}

#[test]
fn applied_steps_are_undone() {
    let folder = host();
    let text = plan(&folder, &["--user", "@pilots"]);
    let ran = apply(&folder, &text);
    ran.assert_done();
    assert_eq!(
        ran.stdout,
        "3 steps are done; orbium host undo undoes them\n"
    );
    assert_eq!(content(&folder, BUSY_POLL), "50");
    assert!(content(&folder, LIMITS).contains("@pilots - rtprio 99\n"));
    assert_eq!(content(&folder, HUGE_PAGES), "madvise");

    let again = apply(&folder, &text);
    again.assert_failed_saying("orbium host undo comes first");

    let ran = undo(&folder);
    ran.assert_done();
    assert_eq!(ran.stdout.lines().count(), 3, "{ran:?}");
    assert_eq!(content(&folder, BUSY_POLL), "0");
    assert_eq!(content(&folder, HUGE_PAGES), "always");
    assert!(!Path::new(&folder.path(LIMITS)).exists());
    undo(&folder).assert_failed_saying("nothing to undo");
}

/// Regression: root, which lacks no limit, got a plan without the limits of the named user.
#[test]
fn a_named_user_gets_limits_also_if_the_planner_has_them() {
    let folder = host();
    let limits = "Limit Soft Hard\nMax open files  unlimited  unlimited  files\n\
                  Max locked memory  unlimited  unlimited  bytes\n\
                  Max realtime priority  99  99\n";
    folder.file("proc/self/limits", limits);
    let text = plan(&folder, &["--user", "pilot"]);
    assert_eq!(text.matches("pilot - nofile").count(), 1, "{text}");
    assert_eq!(text.matches("pilot - rtprio").count(), 1, "{text}");
    assert!(!plan(&folder, &[]).contains("limits.d"));
    let text = plan(&folder, &["--user", "pilot", "--only", "busy-poll"]);
    assert!(!text.contains("limits.d"), "{text}");
}

#[test]
fn a_plan_for_another_state_changes_nothing() {
    let folder = host();
    let text = plan(&folder, &[]);
    folder.file(HUGE_PAGES, "always madvise [never]\n");
    let ran = apply(&folder, &text);
    ran.assert_failed_saying("it is never now, not always as planned");
    assert_eq!(content(&folder, BUSY_POLL), "0\n");
    undo(&folder).assert_failed_saying("nothing to undo");
}

#[test]
fn a_step_that_fails_takes_those_before_it_back() {
    let folder = host();
    let text = plan(&folder, &["--user", "pilot"]);
    // Where the folder of limits should be made stands a file.
    fs::create_dir_all(folder.path("etc")).unwrap();
    folder.file("etc/security", "");
    let ran = apply(&folder, &text);
    ran.assert_failed_saying("everything is as before");
    assert_eq!(content(&folder, BUSY_POLL).trim(), "0");
    undo(&folder).assert_failed_saying("nothing to undo");
}

/// Regression: a value that the kernel rewrites stayed, every undo left its step, and other plans were
/// refused.
#[test]
fn a_value_that_the_kernel_rewrites_is_taken_back() {
    let folder = host();
    let text = plan(&folder, &["--only", "huge-pages"]);
    // Of this line the chosen word is read.
    let text = text.replace("to = \"madvise\"", "to = \"a [madvise] b\"");
    let ran = apply(&folder, &text);
    ran.assert_failed_saying("the kernel made madvise of it; everything is as before");
    assert_eq!(content(&folder, HUGE_PAGES), "always");
    undo(&folder).assert_failed_saying("nothing to undo");

    let text = plan(&folder, &["--only", "busy-poll"]).replace("\"50\"", "\"50 \"");
    apply(&folder, &text).assert_failed_saying("neither begins nor ends with a blank");
    assert_eq!(content(&folder, BUSY_POLL), "0\n");
}

/// Regression: the status was that of a plan that had changed nothing.
#[test]
fn steps_that_cannot_be_undone_after_a_failure_give_status_3() {
    let folder = host();
    // Of a line with several words one is read if it is in brackets: this value cannot be restored.
    folder.file(HUGE_PAGES, "[a b] c\n");
    let write = format!("write = {{ file = '/{HUGE_PAGES}', from = 'a b', to = 'x [y] z' }}");
    let ran = apply(&folder, &format!("[[step]]\ncheck = 'x'\n{write}\n"));
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("still in the journal"), "{ran:?}");
    assert!(Path::new(&folder.path("var/lib/orbium/host-journal.toml")).exists());
}

/// Regression: a setting that could not be read counted as undone, and its step was lost with the journal.
#[test]
fn steps_of_settings_that_cannot_be_read_stay_in_the_journal() {
    let folder = host();
    apply(&folder, &plan(&folder, &[])).assert_done();
    let (mounted, unmounted) = (folder.path("sys"), folder.path("unmounted"));
    fs::rename(&mounted, &unmounted).unwrap();
    let ran = undo(&folder);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("left    huge-pages: "), "{ran:?}");
    assert_eq!(content(&folder, BUSY_POLL), "0");
    fs::rename(&unmounted, &mounted).unwrap();
    undo(&folder).assert_done();
    assert_eq!(content(&folder, HUGE_PAGES), "always");

    // A setting that the kernel does not have any more needs no undo.
    folder.file(HUGE_PAGES, "[always] madvise never\n");
    apply(&folder, &plan(&folder, &["--only", "huge-pages"])).assert_done();
    fs::remove_file(folder.path(HUGE_PAGES)).unwrap();
    undo(&folder).assert_done();
}

#[test]
fn settings_that_others_have_changed_since_stay_and_are_named() {
    let folder = host();
    apply(&folder, &plan(&folder, &[])).assert_done();
    folder.file(BUSY_POLL, "77\n");
    let ran = undo(&folder);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("left    busy-poll: "), "{ran:?}");
    assert!(ran.stdout.contains("it is 77, which is neither"), "{ran:?}");
    assert_eq!(content(&folder, BUSY_POLL), "77\n");
    assert_eq!(content(&folder, HUGE_PAGES), "always");

    // Once it is as applied again, the rest of the journal is undone.
    folder.file(BUSY_POLL, "50\n");
    undo(&folder).assert_done();
    assert_eq!(content(&folder, BUSY_POLL), "0");
}

/// Values were cut after 80 characters: applying failed, and an undo would have given the kernel a part
/// of the list.
#[test]
fn long_lists_of_processors_are_applied_and_undone_whole() {
    let list = |first: u32| {
        let all: Vec<_> = (first..64).step_by(2).map(|it| it.to_string()).collect();
        all.join(",")
    };
    let (even, odd) = (list(0), list(1));
    assert!(even.len() > 80 && odd.len() > 80);
    let folder = Folder::new();
    const INTERRUPT: &str = "proc/irq/17/smp_affinity_list";
    for (name, text) in [
        (INTERRUPT, &odd),
        ("sys/devices/system/cpu/online", &"0-63".to_owned()),
        ("sys/devices/system/cpu/isolated", &odd),
    ] {
        put(&folder, name, format!("{text}\n"));
    }
    let text = plan(&folder, &["--only", "interrupts"]);
    apply(&folder, &text).assert_done();
    assert_eq!(content(&folder, INTERRUPT), even);
    undo(&folder).assert_done();
    assert_eq!(content(&folder, INTERRUPT), odd);
}

/// Regression: one interrupt that the kernel manages itself made every plan with it fail.
#[test]
fn interrupts_that_the_kernel_does_not_move_are_left() {
    let folder = Folder::new();
    let of_irq = |irq: u32| format!("proc/irq/{irq}/smp_affinity_list");
    for (name, text) in [
        (of_irq(17), "0-3"),
        (of_irq(18), "0-3"),
        (of_irq(19), "0-3"),
        ("sys/devices/system/cpu/online".to_owned(), "0-3"),
        ("sys/devices/system/cpu/isolated".to_owned(), "2-3"),
    ] {
        put(&folder, &name, format!("{text}\n"));
    }
    let read_only = std::os::unix::fs::PermissionsExt::from_mode(0o444);
    fs::set_permissions(folder.path(&of_irq(18)), read_only).unwrap();
    let text = plan(&folder, &["--only", "interrupts"]);
    assert!(text.contains("2 to change, 1 left"), "{text}");
    assert!(text.contains("does not move these: 18"), "{text}");
    assert!(!text.contains("irq/18"), "{text}");
    apply(&folder, &text).assert_done();
    assert_eq!(content(&folder, &of_irq(19)), "0-1");
}

#[test]
fn hostile_plans_are_refused_whole() {
    let folder = host();
    let text = format!(
        "{}\n[[step]]\ncheck = 'x'\nwrite = {{ file = '/etc/shadow', from = 'a', to = 'b' }}\n",
        plan(&folder, &["--only", "busy-poll"])
    );
    apply(&folder, &text).assert_failed_saying("no setting that this program changes");
    apply(&folder, "[[step]").assert_failed_saying("line 1 of the plan");
    assert_eq!(content(&folder, BUSY_POLL), "0\n");
    for wrong in ["eth0", "eth0=", "eth0=99", "a/b=5", "=5"] {
        let ran = run(["host", "plan", "--napi", wrong]);
        assert_eq!(ran.status, Some(2), "{wrong}: {ran:?}");
    }
    for wrong in ["eth0=1", "eth0:x=1", "eth0:65536=1", "-N:1=1"] {
        let ran = run(["host", "plan", &format!("--steer={wrong}")]);
        assert_eq!(ran.status, Some(2), "{wrong}: {ran:?}");
    }
    let root = folder.path("");
    run(["host", "plan", "--root", &root, "--napi", "eth0=50"])
        .assert_failed_saying("no such interface");
}

/// A name space with an interface with a driver that has NAPI, gone when dropped.
struct Network {
    name: String,
}

impl Network {
    const INTERFACE: &'static str = "cable";

    /// `None` without the privileges.
    fn new() -> Option<Self> {
        let name = format!("orbium-host-{}", std::process::id());
        if !succeeds("ip", &["netns", "add", &name]) {
            return None;
        }
        let network = Self { name };
        let ends = ["type", "veth", "peer", "name", "far"];
        let cable = ["-n", &network.name, "link", "add", Self::INTERFACE];
        // A pair of virtual interfaces receives by NAPI where it puts packets together.
        let gro = [
            "netns",
            "exec",
            &network.name,
            "ethtool",
            "-K",
            Self::INTERFACE,
            "gro",
            "on",
        ];
        let up = ["-n", &network.name, "link", "set", Self::INTERFACE, "up"];
        let is_ready = succeeds("ip", &[&cable[..], &ends[..]].concat())
            && succeeds("ip", &gro)
            && succeeds("ip", &up);
        assert!(is_ready, "the package ethtool is missing");
        Some(network)
    }

    /// Runs the program in it, with a folder before all others in the search path.
    fn orbium(&self, programs: &str, arguments: &[&str]) -> Ran {
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        let output = Command::new("ip")
            .args([
                "netns",
                "exec",
                &self.name,
                env!("CARGO_BIN_EXE_orbium"),
                "host",
            ])
            .args(arguments)
            .env("PATH", path)
            .output()
            .unwrap();
        Ran {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Whether the kernel's own threads receive for it.
    fn is_threaded(&self) -> bool {
        let file = format!("/sys/class/net/{}/threaded", Self::INTERFACE);
        let output = Command::new("ip")
            .args(["netns", "exec", &self.name, "cat", &file])
            .output()
            .unwrap();
        output.stdout == b"1\n"
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        succeeds("ip", &["netns", "delete", &self.name]);
    }
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let run = Command::new(program).args(arguments).output();
    run.is_ok_and(|output| output.status.success())
}

/// The scheduling policies and priorities of the threads that receive for the interface: fields 41
/// and 40 of `stat`.
fn receiving_threads() -> Vec<(String, String)> {
    let processes = fs::read_dir("/proc").unwrap();
    let threads = processes.filter_map(|entry| {
        let folder = entry.ok()?.path();
        let name = fs::read_to_string(folder.join("comm")).ok()?;
        name.starts_with(&format!("napi/{}-", Network::INTERFACE))
            .then_some(())?;
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        // The first of them is the third.
        Some((fields[41 - 3].to_owned(), fields[40 - 3].to_owned()))
    });
    threads.collect()
}

/// Row 3.16 of `docs/papers.md`: the kernel's work for an interface at the priority of the threads
/// that wait for it.
#[test]
fn threads_that_receive_have_the_priority_that_was_applied_until_it_is_undone() {
    let Some(network) = Network::new() else {
        println!("SKIPPED: a network name space: not permitted");
        return;
    };
    let folder = Folder::new();
    let (file, journal) = (folder.path("plan.toml"), folder.path("journal.toml"));
    let programs = folder.path("bin");
    fs::create_dir(&programs).unwrap();

    let ran = network.orbium(&programs, &["plan", "--napi", "cable=41", "-o", &file]);
    ran.assert_done();
    assert!(!network.is_threaded());
    let ran = network.orbium(&programs, &["apply", &file, "--journal", &journal]);
    ran.assert_done();
    assert!(network.is_threaded());
    let threads = receiving_threads();
    assert!(!threads.is_empty());
    // SCHED_FIFO is 1.
    assert!(
        threads
            .iter()
            .all(|thread| *thread == ("1".to_owned(), "41".to_owned())),
        "{threads:?}"
    );

    let ran = network.orbium(&programs, &["undo", "--journal", &journal]);
    ran.assert_done();
    assert!(!network.is_threaded());
    let threads = receiving_threads();
    assert!(
        threads.iter().all(|(policy, _)| policy == "0"),
        "{threads:?}"
    );

    filters_are_set_and_removed(&network, &folder, &programs);
}

/// The driver of virtual interfaces has no filters: a program in the place of `ethtool` notes what
/// it is asked for.
fn filters_are_set_and_removed(network: &Network, folder: &Folder, programs: &str) {
    let journal = folder.path("journal.toml");
    let steer = ["plan", "--steer", "cable:10020=0"];
    let ran = network.orbium(programs, &steer);
    ran.assert_failed_saying("cable has no filters by port");

    let (log, rules) = (folder.path("asked"), folder.path("rules"));
    fs::create_dir(&rules).unwrap();
    let stand_in = format!(
        "#!/bin/sh\necho \"$*\" >> {log}\ncase $1 in\n-k) echo 'ntuple-filters: off' ;;\n\
         -n) cat {rules}/$4 2>/dev/null && exit\n\
         echo 'rmgr: Cannot get RX class rule: No such file or directory' >&2; exit 1 ;;\n\
         -N) [ \"$3\" = delete ] && {{ rm {rules}/$4; exit; }}\n\
         rule=10$(grep -c flow {log})\n\
         printf 'Filter: %s\\n\\tDest port: %s mask: 0x0\\n\\tAction: Direct to queue %s\\n' \
         $rule $6 $8 > {rules}/$rule\necho \"Added rule with ID $rule\" ;;\nesac\n"
    );
    let program = folder.file("bin/ethtool", stand_in);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(program, mode).unwrap();
    let file = folder.path("steer.toml");
    let ran = network.orbium(programs, &[&steer[..], &["-o", &file]].concat());
    ran.assert_done();
    network
        .orbium(programs, &["apply", &file, "--journal", &journal])
        .assert_done();
    network
        .orbium(programs, &["undo", "--journal", &journal])
        .assert_done();
    let asked = || {
        let asked = fs::read_to_string(&log).unwrap();
        let changes = asked
            .lines()
            .filter(|it| !it.starts_with("-k") && !it.starts_with("-n"));
        changes.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        asked(),
        [
            "-K cable ntuple on",
            "-N cable flow-type tcp4 dst-port 10020 action 0",
            "-N cable flow-type udp4 dst-port 10020 action 0",
            "-N cable delete 101",
            "-N cable delete 102",
            "-K cable ntuple off",
        ]
    );

    // A restart of the host removes filters; a number may be another's then. An undo once failed at the
    // first of them, each time, and no other plan could be applied.
    network
        .orbium(programs, &["apply", &file, "--journal", &journal])
        .assert_done();
    fs::remove_file(format!("{rules}/103")).unwrap();
    let another = "Filter: 104\n\tDest port: 22 mask: 0x0\n\tAction: Direct to queue 0\n";
    fs::write(format!("{rules}/104"), another).unwrap();
    fs::remove_file(&log).unwrap();
    network
        .orbium(programs, &["undo", "--journal", &journal])
        .assert_done();
    assert_eq!(asked(), ["-K cable ntuple off"]);
    assert!(Path::new(&format!("{rules}/104")).exists());
    assert!(!Path::new(&journal).exists());
}
