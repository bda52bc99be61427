// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that the program was asked for, on a disk without room.

use std::path::Path;
use std::process::Command;

use crate::program::{Folder, project_idl};

const REQUIREMENTS: &str = r#"interface A {
    @rt(period="50 ms", wcet="10 ms") void f();
};
"#;

/// Runs the program where no file may have an octet; what it says of that.
fn without_room(arguments: &[&str]) -> String {
    // A write fails with EFBIG then, as it fails with ENOSPC on a full disk.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_orbium")])
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("File too large"), "{said}");
    said
}

/// An empty file was left behind, which hindered the next attempt.
#[test]
fn nothing_is_left_of_a_file_that_cannot_be_written() {
    let folder = Folder::new();
    let cubit = project_idl("cubit.idl");
    let (stub, out) = (folder.path("servants.rs"), folder.path("out"));
    without_room(&["idl", "stub", &cubit, "-o", &stub]);
    assert!(!Path::new(&stub).exists());
    without_room(&["idl", "gen", &cubit, "-o", &out]);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
    let new = folder.path("new");
    without_room(&["new", &new]);
    assert!(!Path::new(&new).exists());
}

/// It was empty afterwards.
#[test]
fn a_file_that_cannot_be_replaced_stays() {
    let folder = Folder::new();
    let stub = folder.file("servants.rs", "filled in");
    let table = folder.file("table.rs", "of before");
    let idl = folder.file("own.idl", REQUIREMENTS);
    without_room(&["idl", "stub", &idl, "-o", &stub, "--force"]);
    without_room(&["sched", "check", &idl, "--rust", &table]);
    let plan = folder.file("plan.toml", "planned");
    without_room(&["host", "plan", "--root", &folder.path(""), "-o", &plan]);
    let kept = [
        (&stub, "filled in"),
        (&table, "of before"),
        (&plan, "planned"),
    ];
    for (file, content) in kept {
        assert_eq!(std::fs::read_to_string(file).unwrap(), content);
    }
    let files = std::fs::read_dir(folder.path("")).unwrap();
    assert_eq!(files.count(), 4);
}
