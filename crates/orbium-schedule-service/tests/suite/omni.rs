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
    if ran.status.success() {
        Ok(text)
    } else {
        let errors = String::from_utf8_lossy(&ran.stderr);
        Err(format!("{shown}: {}\n{text}{errors}", ran.status))
    }
}

/// What a program that is not part of this project says; none if it is missing.
fn tool(name: &str, arguments: &[&str]) -> Option<String> {
    run(Command::new(name).args(arguments)).ok()
}

/// A client of that interface, built anew, or why it cannot be built here.
fn client(interface: &str, source: &str) -> Result<PathBuf, String> {
    let flags = tool("pkg-config", &["--cflags", "--libs", "omniORB4"]);
    let (Some(flags), Some(_), Some(_)) =
        (flags, tool("omniidl", &["-V"]), tool("g++", &["--version"]))
    else {
        return Err("omniORB's headers, omniidl or g++ are missing".to_owned());
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("omni-{interface}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let idl = here.join(format!("idl/{interface}.idl"));
    let generated = run(Command::new("omniidl")
        .arg("-bcxx")
        .arg(idl)
        .current_dir(&folder));
    generated.unwrap();
    let program = folder.join("schedule");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-w", "-I.", &format!("{interface}SK.cc")]);
    compiler.arg(here.join("tests/suite").join(source));
    compiler
        .args(flags.split_whitespace())
        .args(["-lpthread", "-o"]);
    run(compiler.arg(&program).current_dir(&folder)).unwrap();
    Ok(program)
}

/// Runs a client with the reference for applications and the privileged one: how many of its checks
/// hold, if it can be built here.
fn passed(
    interface: &str,
    source: &str,
    references: impl FnOnce(&Served) -> [String; 2],
) -> Option<usize> {
    let program = match client(interface, source) {
        Ok(program) => program,
        Err(why) => {
            orbium_testkit::skipped_peer(&why);
            return None;
        }
    };
    let served = Served::new();
    let printed = run(Command::new(&program).args(references(&served)));
    let printed = printed.unwrap();
    assert!(!printed.contains("FAILED"), "{printed}");
    let _ = std::fs::remove_dir_all(program.parent().unwrap());
    Some(printed.matches("ok ").count())
}

/// Conformance: RT 6 - the Scheduling Service: called by a client of omniORB
#[test]
fn a_client_of_omniorb_registers_computes_and_catches_every_exception() {
    let passed = passed("RTScheduler", "schedule.cc", |served| {
        let privileged = served.orb.object_to_string(&served.service.privileged());
        [served.address(), privileged]
    });
    assert!(passed.is_none_or(|it| it == 12), "{passed:?}");
}

/// Conformance: RT 6 - the Scheduling Service by TAO's `RtecScheduler`: called by a client of omniORB
#[test]
fn a_client_of_omniorb_schedules_by_the_interface_of_tao() {
    let passed = passed("RtecScheduler", "rtec.cc", |served| {
        let text = |it| served.orb.object_to_string(&it);
        [
            text(served.service.rtec()),
            text(served.service.rtec_privileged()),
        ]
    });
    assert!(passed.is_none_or(|it| it == 12), "{passed:?}");
}
