// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched` as its users meet it.

use std::process::Child;

use crate::program::{Folder, run, serving};

const RUDDER: &str = r#"interface Gyro {
    @rt(wcet="2 ms") long read();
};
interface Rudder {
    @rt(period="50 ms", wcet="10 ms", criticality=HIGH)
    @calls(operation="Gyro::read", times=2)
    void steer();
};
interface Log {
    @rt(period="100 ms", wcet="30 ms") void write();
};
"#;

/// Conformance: RT 6 - `orbium sched check`: table, calls and Gantt chart of IDL
#[test]
fn idl_is_checked_with_table_calls_and_chart() {
    let folder = Folder::new();
    let file = folder.file("rudder.idl", RUDDER);
    let (svg, dot, rust) = (
        folder.path("a.svg"),
        folder.path("a.dot"),
        folder.path("a.rs"),
    );
    let ran = run([
        "sched", "check", &file, "--width", "20", "--svg", &svg, "--dot", &dot, "--rust", &rust,
    ]);
    ran.assert_done();
    assert_eq!(ran.stderr, "");
    assert!(
        ran.stdout.starts_with("strategy rms, utilization 0.580"),
        "{ran:?}"
    );
    let calls = "\nRudder::steer, 10 ms\n  2 x Gyro::read, 2 ms\nLog::write, 30 ms\n";
    assert!(ran.stdout.contains(calls), "{ran:?}");
    // 14 ms at 0 and 50; 30 ms from 14 to 44: a column is 5 ms.
    let chart = "Rudder::steer |###       ###       |\nLog::write    |--#######           |\n";
    assert!(ran.stdout.contains(chart), "{}", ran.stdout);
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert!(read(&svg).starts_with("<svg ") && read(&svg).contains("Rudder::steer"));
    assert!(read(&dot).starts_with("digraph schedule {"));
    assert!(read(&rust).contains("pub const RUDDER_STEER: usize = 1;"));
}

/// Conformance: RT 6 - `orbium sched check`: anomalies with line and caret, exit status
#[test]
fn a_deadline_that_does_not_hold_is_shown_and_is_the_exit_status() {
    let folder = Folder::new();
    let file = folder.file("rudder.idl", RUDDER.replace("30 ms", "80 ms"));
    let ran = run(["sched", "check", &file]);
    assert_eq!(ran.status, Some(1));
    let expected = format!("{file}:10:5: error: `Log::write` can miss its deadline, 100 ms");
    assert!(ran.stderr.starts_with(&expected), "{ran:?}");
    assert!(ran.stderr.contains("^^^^^^^^"), "{ran:?}");
    assert!(
        ran.stdout.contains("overload") || ran.stdout.contains("no"),
        "{ran:?}"
    );
    // What a program runs by is not replaced by it, as in a configuration run.
    let rust = folder.file("schedule.rs", "// the last one");
    let ran = run(["sched", "check", &file, "--rust", &rust]);
    assert_eq!(ran.status, Some(1));
    assert_eq!(std::fs::read_to_string(&rust).unwrap(), "// the last one");
    // MUF promises the critical set alone.
    let ran = run([
        "sched",
        "check",
        &file,
        "--strategy",
        "muf",
        "--rust",
        &rust,
    ]);
    ran.assert_done();
    assert!(
        std::fs::read_to_string(&rust)
            .unwrap()
            .contains("RUDDER_STEER")
    );
    assert!(
        ran.stderr.contains("warning: `Log::write` can miss"),
        "{ran:?}"
    );
}

/// It was written with the exit status of an error.
#[test]
fn a_schedule_with_an_error_is_not_written() {
    let folder = Folder::new();
    let text = "operation steer period=\"50 ms\" wcet=\"10 ms\"\n\
                operation read period=\"200 ms\" wcet=\"2 ms\" threads=1\ncalls steer operation=read times=2\n";
    let file = folder.file("rudder.txt", text);
    let rust = folder.file("schedule.rs", "// the last one");
    let ran = run(["sched", "check", &file, "--rust", &rust]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("has threads of its own and is called"),
        "{ran:?}"
    );
    assert_eq!(std::fs::read_to_string(&rust).unwrap(), "// the last one");
}

#[test]
fn a_table_is_checked_as_idl_is() {
    let folder = Folder::new();
    let text = "operation steer period=\"50 ms\" wcet=\"10 ms\"\noperation read wcet=\"2 ms\"\n\
                calls steer operation=read times=2\n";
    let file = folder.file("rudder.txt", text);
    let ran = run(["sched", "check", &file, "--width", "0"]);
    ran.assert_done();
    assert!(
        ran.stdout.ends_with("steer, 10 ms\n  2 x read, 2 ms\n"),
        "{ran:?}"
    );

    let wrong = folder.file("wrong.txt", "operation steer period=soon\n");
    let ran = run(["sched", "check", &wrong]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr
            .starts_with(&format!("{wrong}:1:17: error: `soon` is no")),
        "{ran:?}"
    );
}

/// Conformance: RT 6 - a dynamic queue is judged without preemption within it, as it is dispatched - `orbium sched check`
#[test]
fn a_queue_by_deadline_is_judged_without_preemption() {
    let folder = Folder::new();
    let table = |time: &str| {
        let log = format!("operation \"Log::write\" period=\"70 ms\" wcet=\"{time}\"\n");
        let steer = "operation \"Rudder::steer\" period=\"50 ms\" wcet=\"20 ms\"\n";
        folder.file(&format!("{time}.txt"), &(steer.to_owned() + &log))
    };
    let check = |file: &str, more: &[&str]| {
        let edf = ["sched", "check", file, "--strategy", "edf"];
        run(edf.into_iter().chain(more.iter().copied()))
    };
    let (long, short) = (table("42 ms"), table("30 ms"));
    let refused = check(&long, &[]);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    let first = "strategy edf, non-preemptive within a queue, utilization 1.000";
    assert!(refused.stdout.starts_with(first), "{refused:?}");
    assert!(!refused.stdout.contains("guaranteed"), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("`Rudder::steer` can miss its deadline, 50 ms")
    );
    let held = check(&short, &[]);
    held.assert_done();
    assert!(
        held.stdout
            .contains("guaranteed by non-preemptive processor demand")
    );
    let preemptive = check(&long, &["--preemption", "preemptive"]);
    preemptive.assert_done();
    assert!(
        preemptive
            .stdout
            .contains("guaranteed by preemptive processor demand")
    );
    let wrong = check(&long, &["--preemption", "sometimes"]);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
}

#[test]
fn operations_that_cannot_be_scheduled_are_refused_with_their_place() {
    let folder = Folder::new();
    let text = "operation a wcet=\"1 ms\"\noperation b wcet=\"1 ms\"\n\
                calls a operation=b\ncalls b operation=a\n";
    let ran = run(["sched", "check", &folder.file("cycle.txt", text)]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr
            .contains("cycle.txt:1:1: error: operations depend on one another: a -> b -> a")
    );

    let file = folder.file("rudder.idl", RUDDER);
    let ran = run([
        "sched",
        "check",
        &file,
        "--min-priority",
        "7",
        "--max-priority",
        "7",
    ]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr
            .contains("2 queues, and there are 1 native priorities"),
        "{ran:?}"
    );

    let plain = folder.file("plain.idl", "interface A { void f(); };");
    run(["sched", "check", &plain]).assert_failed_saying("no operation has timing requirements");
    let table = folder.file("t.txt", "");
    let ran = run(["sched", "check", &plain, &table]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let absent = folder.path("absent.txt");
    run(["sched", "check", &absent]).assert_failed_saying("cannot read");
}

#[test]
fn mistakes_of_annotations_are_those_of_the_compiler() {
    let folder = Folder::new();
    let file = folder.file("a.idl", "interface A { @rt(wcet=\"soon\") void f(); };");
    for command in [["sched", "check", &file], ["idl", "check", &file]] {
        let ran = run(command);
        assert_eq!(ran.status, Some(1), "{ran:?}");
        assert!(
            ran.stderr
                .starts_with(&format!("{file}:1:24: error: `soon` is no")),
            "{ran:?}"
        );
    }
    let ran = run(["idl", "gen", &file, "-o", &folder.path("out")]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("error: `soon` is no"), "{ran:?}");
}

/// Conformance: RT 6 - `orbium sched serve`: the Scheduling Service, state kept in a file
#[test]
fn a_served_schedule_is_there_again() {
    let folder = Folder::new();
    let (state, secret) = (folder.path("state"), folder.path("secret"));
    let idl = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../orbium-schedule-service/idl/RTScheduler.idl"
    );
    let call = |reference: &str, arguments: &[&str]| {
        let command = ["call", "--idl", idl, reference];
        run(command.into_iter().chain(arguments.iter().copied()))
    };
    let service = Service::start(&state, &secret);
    let created = call(&service.reference, &["create", "\"Rudder::steer\""]);
    created.assert_done();
    let timing = [
        "100000",
        "0",
        "0",
        "500000",
        "\"HIGH_IMPORTANCE\"",
        "0",
        "0",
    ];
    let set = ["set", "1"].into_iter().chain(timing).collect::<Vec<_>>();
    call(&service.reference, &set).assert_done();
    let refused = call(&service.reference, &["compute_scheduling", "1", "9"]);
    assert!(refused.stderr.contains("NO_PERMISSION"), "{refused:?}");
    let privileged = format!("@{secret}");
    call(&privileged, &["compute_scheduling", "1", "9"]).assert_done();
    let rtec = format!("@{secret}.rtec");
    let idl = idl.replace("RTScheduler.idl", "RtecScheduler.idl");
    let computed = ["call", "--idl", &idl, &rtec, "compute_scheduling", "1", "9"];
    let computed = run(computed);
    computed.assert_done();
    assert!(
        computed.stdout.contains("DEADLINE_DISPATCHING"),
        "{computed:?}"
    );
    let mode = std::fs::metadata(&secret).unwrap().permissions();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777,
        0o600
    );
    drop(service);

    let service = Service::start(&state, &secret);
    let priority = call(
        &service.reference,
        &["entry_point_priority", "\"Rudder::steer\""],
    );
    priority.assert_done();
    assert!(priority.stdout.contains('9'), "{priority:?}");
}

/// A running `sched serve`, ended with the test.
struct Service {
    child: Child,
    reference: String,
}

impl Service {
    fn start(state: &str, secret: &str) -> Self {
        let more = ["--until-input-ends", "--endpoint", "iiop://127.0.0.1:0"];
        let files = [
            "sched",
            "serve",
            "--state",
            state,
            "--privileged-file",
            secret,
            "--rtec-privileged-file",
            &format!("{secret}.rtec"),
            "--strategy",
            "edf",
        ];
        let (child, lines) = serving(files.into_iter().chain(more));
        let [reference] = lines.try_into().unwrap();
        Self { child, reference }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
