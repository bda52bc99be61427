// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call costs nothing for what it does not use: instructions by callgrind, as ratios of programs of one
//! build, so that no bound depends on the compiler's version.

use std::fmt::Debug;
use std::ops::Div;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium_testkit::{eventually, skipped_peer};
use rustix::process::{Pid, Signal, kill_process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_orbium-bench-scale");

/// Within three parts in a hundred.
const SAME: f64 = 1.03;

/// One object of five operations, without interceptors.
static PLAIN: LazyLock<Cost> = LazyLock::new(|| Cost::of("narrow", "1", &[]));

/// Instructions of a call.
#[derive(Clone, Copy, Debug)]
struct Cost {
    client: f64,
    server: f64,
}

impl Div for Cost {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self {
            client: self.client / other.client,
            server: self.server / other.server,
        }
    }
}

impl Cost {
    /// What calls of an interface cost, with the same arguments behind the reference on both sides.
    fn of(interface: &str, objects: &str, more: &[&str]) -> Self {
        // Multiples of five, so that each operation has its turn as often.
        let [few, many] = ["500", "1500"].map(|it| whole_run(interface, objects, it, more));
        let per_call = |few: u64, many: u64| (many - few) as f64 / 1000.0;
        Self {
            client: per_call(few.0, many.0),
            server: per_call(few.1, many.1),
        }
    }
}

impl Cost {
    /// Of a ratio.
    #[track_caller]
    fn is_within(self, bound: f64, of: impl Debug) {
        let is_within = self.client <= bound && self.server <= bound;
        assert!(is_within, "{of:?}: {self:?}, bound {bound}");
    }
}

/// The instructions of a client with so many calls, and of its server.
fn whole_run(interface: &str, objects: &str, calls: &str, more: &[&str]) -> (u64, u64) {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let file = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{number}.{name}"));
    let (reference, serving, calling) = (file("ior"), file("server"), file("client"));
    // Of an earlier run, if it is there.
    let _ = std::fs::remove_file(&reference);
    let run = |role, count, out: &Path| {
        let mut command = under_callgrind(out);
        command.args([role, interface, count]).arg(&reference);
        command.args(more);
        Running(command.spawn().unwrap())
    };
    let server = run("serve", objects, &serving);
    eventually("it serves", || reference.exists());
    run("call", calls, &calling).succeed();
    server.end();
    (total(&calling), total(&serving))
}

fn under_callgrind(out: &Path) -> Command {
    let mut command = Command::new("valgrind");
    let mut option = std::ffi::OsString::from("--callgrind-out-file=");
    option.push(out);
    command
        .arg("--tool=callgrind")
        .arg(option)
        .arg(PROGRAM)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// A process that ends with the test.
struct Running(Child);

impl Running {
    fn succeed(mut self) {
        eventually("the calls are made", || {
            self.0.try_wait().unwrap().is_some()
        });
        assert!(self.0.wait().unwrap().success());
    }

    /// Callgrind writes what it has counted.
    fn end(mut self) {
        // Background jobs ignore SIGINT.
        kill_process(Pid::from_child(&self.0), Signal::TERM).unwrap();
        eventually("it ends", || self.0.try_wait().unwrap().is_some());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or there is nothing more to be done.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn total(file: &PathBuf) -> u64 {
    let text = std::fs::read_to_string(file).unwrap();
    let of_line = |line: &str| line.strip_prefix("totals: ").and_then(|it| it.parse().ok());
    text.lines().find_map(of_line).expect("totals")
}

fn is_ready() -> bool {
    let found = Command::new("valgrind").arg("--version").output().is_ok();
    if !found {
        skipped_peer("instructions of calls: valgrind is missing");
    }
    found
}

/// 500 operations take callgrind six seconds to instrument: `cargo xtask bench scale` has their figure.
#[test]
fn a_call_costs_the_same_with_many_objects_and_by_a_lane() {
    if !is_ready() {
        return;
    }
    for (interface, objects) in [("narrow", "1000"), ("lanes", "4")] {
        let ratio = Cost::of(interface, objects, &[]) / *PLAIN;
        ratio.is_within(SAME, (interface, objects));
    }
}

#[test]
fn interceptors_cost_what_they_implement() {
    if !is_ready() {
        return;
    }
    let of_four = |more: &[&str]| Cost::of("narrow", "1", more) / *PLAIN;
    of_four(&["4"]).is_within(1.15, "without points");
    of_four(&["4", "empty"]).is_within(1.7, "with all points of a call with results");
}

/// Five operations in turn: in `fixed` each has its number.
#[test]
fn a_call_with_short_headers_costs_no_more_than_one_of_giop() {
    if !is_ready() {
        return;
    }
    for messaging in ["messaging=giop-lite", "messaging=fixed"] {
        let ratio = Cost::of("narrow", "1", &[messaging]) / *PLAIN;
        ratio.is_within(SAME, messaging);
    }
}
