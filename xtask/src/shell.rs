// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starting other programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::outcome::Outcome;

/// The root of the workspace: that of the Cargo that runs this task, since the program may have
/// been built in a copy of it.
pub fn root() -> PathBuf {
    let of_this_package = std::env::var("CARGO_PKG_NAME").is_ok_and(|it| it == "xtask");
    let run_in = std::env::var_os("CARGO_MANIFEST_DIR").filter(|_| of_this_package);
    let here = run_in.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().unwrap_or(&here).to_path_buf()
}

/// A command of the Cargo that runs this task, in the root of the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // Cargo's variables for this package would make the build scripts of some others, ring's for
    // instance, build them again.
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| is_of_this_package(name)) {
        command.env_remove(name);
    }
    command
}

fn is_of_this_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Cargo's target directory.
pub fn target_directory() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Whether the search path has this program.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether the program starts and ends with 0; its output is discarded.
pub fn succeeds<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether this process may install packages.
pub fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Shows the command, runs it with this process's output, and returns its exit code.
///
/// # Errors
/// It could not be started, or a signal ended it.
pub fn exit_code(command: &mut Command) -> Outcome<i32> {
    announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    status
        .code()
        .ok_or_else(|| format!("{}: {status}", command.get_program().display()))
}

/// As [`exit_code`], and requires that it is 0.
///
/// # Errors
/// It was not.
pub fn must(command: &mut Command) -> Outcome<()> {
    match exit_code(command)? {
        0 => Ok(()),
        code => Err(format!(
            "{} ended with {code}",
            command.get_program().display()
        )),
    }
}

/// Shows a command before it runs.
pub fn announce(command: &Command) {
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    eprintln!("$ {} {}", name.display(), arguments.join(" "));
}
