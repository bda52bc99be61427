// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium doctor` as its users meet it.

use crate::program::{Folder, run};

/// A copy of a host with one problem, one note and one thing that is well.
fn host() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        ("proc/sys/kernel/version", "#1 SMP\n"),
        ("proc/self/timerslack_ns", "50000\n"),
        ("proc/swaps", "Filename Type Size Used Priority\n"),
    ] {
        let path = folder.path(name);
        std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        folder.file(name, text);
    }
    folder
}

#[test]
fn a_host_is_examined_as_text() {
    let folder = host();
    let ran = run(["doctor", "--root", &folder.path("")]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(3), ""), "{ran:?}");
    for start in [
        "problem   preemption ",
        "note      timer-slack ",
        "ok        swap ",
    ] {
        let found = ran.stdout.lines().filter(|line| line.starts_with(start));
        assert_eq!(found.count(), 1, "{start}: {ran:?}");
    }
    assert!(
        ran.stdout
            .contains("remedy: echo 1 > /proc/$$/timerslack_ns")
    );
    assert!(
        ran.stdout.contains("\n1 problem, 1 note, 1 ok, "),
        "{ran:?}"
    );
}

#[test]
fn a_host_is_examined_as_json() {
    let folder = host();
    let ran = run(["doctor", "--json", "--root", &folder.path("")]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["problems"], 1);
    let checks = json["checks"].as_array().unwrap();
    let preemption = &checks[0];
    assert_eq!(preemption["name"], "preemption");
    assert_eq!(preemption["severity"], "problem");
    for text in ["found", "why", "remedy"] {
        assert!(
            !preemption[text].as_str().unwrap().is_empty(),
            "{preemption}"
        );
    }
    let fine = checks.iter().find(|check| check["name"] == "swap").unwrap();
    assert_eq!(fine["severity"], "ok");
    assert!(fine["remedy"].is_null());
}

#[test]
fn checks_are_chosen_by_name() {
    let folder = host();
    let root = folder.path("");
    let ran = run(["doctor", "--root", &root, "--only", "swap,timer-slack"]);
    ran.assert_done();
    assert!(
        ran.stdout
            .ends_with("\n0 problems, 1 note, 1 ok, 0 unknown\n"),
        "{ran:?}"
    );

    let ran = run(["doctor", "--root", &root, "--only", "sawp"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("timer-slack"),
        "the names are found: {ran:?}"
    );
}

#[test]
fn without_proc_and_sys_nothing_can_be_said() {
    let folder = Folder::new();
    let ran = run(["doctor", "--root", &folder.path("")]);
    ran.assert_failed_saying("only Linux can be examined");
}

#[cfg(target_os = "linux")]
#[test]
fn this_host_is_examined() {
    let ran = run(["doctor", "--json"]);
    let json = ran.json();
    let problems = json["problems"].as_u64().unwrap();
    let expected = if problems == 0 { 0 } else { 3 };
    assert_eq!(ran.status, Some(expected), "{ran:?}");
    let checks = json["checks"].as_array().unwrap();
    let find = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
    // There is a limit for files on every Linux.
    assert_ne!(find("open-files")["severity"], "unknown", "{ran:?}");
    // Tried, whatever the outcome.
    let found = find("rt-priority")["found"].as_str().unwrap();
    assert!(!found.contains("not tried"), "{found}");
}
