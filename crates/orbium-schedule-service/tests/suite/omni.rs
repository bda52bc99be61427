// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client of omniORB. Without omniidl, g++ or the headers the test says that it was skipped, unless
//! `ORBIUM_REQUIRE_PEERS=1` makes that a failure.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::served::Served;

/// Runs a program to its end, with what it printed.
fn run(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let ran = command
        .output()
        .map_err(|error| format!("{shown}: {error}"))?;
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    match ran.status.success() {
        true => Ok(text),
        false => {
            let errors = String::from_utf8_lossy(&ran.stderr);
            Err(format!("{shown}: {}\n{text}{errors}", ran.status))
        }
    }
}

/// What a program that is not part of this project says; none if it is missing.
fn tool(name: &str, arguments: &[&str]) -> Option<String> {
    run(Command::new(name).args(arguments)).ok()
}

/// The client, built anew, or why it cannot be built here.
fn client() -> Result<PathBuf, String> {
    let flags = tool("pkg-config", &["--cflags", "--libs", "omniORB4"]);
    let (Some(flags), Some(_), Some(_)) =
        (flags, tool("omniidl", &["-V"]), tool("g++", &["--version"]))
    else {
        return Err("omniORB's headers, omniidl or g++ are missing".to_owned());
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("omni-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let idl = here.join("idl/RTScheduler.idl");
    let generated = run(Command::new("omniidl")
        .arg("-bcxx")
        .arg(idl)
        .current_dir(&folder));
    generated.unwrap();
    let program = folder.join("schedule");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-w", "-I.", "RTSchedulerSK.cc"]);
    compiler.arg(here.join("tests/suite/schedule.cc"));
    compiler
        .args(flags.split_whitespace())
        .args(["-lpthread", "-o"]);
    run(compiler.arg(&program).current_dir(&folder)).unwrap();
    Ok(program)
}

/// Conformance: RT 6 - the Scheduling Service: called by a client of omniORB
#[test]
fn a_client_of_omniorb_registers_computes_and_catches_every_exception() {
    let program = match client() {
        Ok(program) => program,
        Err(why) => {
            let is_required = std::env::var_os("ORBIUM_REQUIRE_PEERS").is_some_and(|it| it == "1");
            assert!(!is_required, "{why}");
            return orbium_testkit::skipped(&why);
        }
    };
    let served = Served::new();
    let privileged = served.orb.object_to_string(&served.service.privileged());
    let printed = run(Command::new(&program).arg(served.address()).arg(privileged));
    let printed = printed.unwrap();
    assert_eq!(printed.matches("ok ").count(), 12, "{printed}");
    assert!(!printed.contains("FAILED"), "{printed}");
    let _ = std::fs::remove_dir_all(program.parent().unwrap());
}
