// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bench`, which runs the harness of the benches.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::Folder;

/// A copy of the program in a folder of its own, run with an empty search path.
fn run(folder: &Folder, arguments: &[&str]) -> Output {
    let copy = folder.path("orbium");
    if !Path::new(&copy).exists() {
        let built = env!("CARGO_BIN_EXE_orbium");
        let linked = std::fs::hard_link(built, &copy);
        linked
            .or_else(|_| std::fs::copy(built, &copy).map(drop))
            .unwrap();
    }
    Command::new(copy)
        .args(arguments)
        .env("PATH", "")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn the_harness_in_the_folder_of_the_program_gets_the_arguments_and_gives_the_status() {
    let folder = Folder::new();
    let harness = folder.file("orbium-bench", "#!/bin/sh\necho \"$@\"\nexit 3\n");
    let executable = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(harness, executable).unwrap();
    for arguments in [
        ["bench", "protocols", "--quick", "--json=a b"],
        ["bench", "threads", "--only", "--help"],
    ] {
        let output = run(&folder, &arguments);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let passed = arguments[1..].join(" ");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), passed);
    }
}

#[test]
fn without_the_harness_the_error_says_what_builds_it() {
    let output = run(&Folder::new(), &["bench", "inversion"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("cargo install --path benches/orbium-bench"),
        "{error}"
    );
}
