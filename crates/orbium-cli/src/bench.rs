// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bench`: runs the harness of the benches, a program of its own.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use clap::Args;

use crate::failure::Failure;

/// The harness.
const PROGRAM: &str = "orbium-bench";

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// protocols, whitebox, inversion, threads, locks, os, flooded or schedule, and its options
    #[arg(
        value_name = "WHAT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<OsString>,
}

/// Runs the harness with the same arguments; its exit status is the program's.
pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode, Failure> {
    let status = Command::new(program()).args(&args.arguments).status();
    match status {
        Ok(status) => Ok(exit_code(status)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::because(format!(
            "there is no {PROGRAM}, neither beside this program nor in the search path: \
             build it from a clone with `cargo install --path benches/orbium-bench`"
        ))),
        Err(error) => Err(Failure::because(format!("cannot run {PROGRAM}: {error}"))),
    }
}

/// The harness in the folder of this program, or else that of the search path.
fn program() -> PathBuf {
    let own = std::env::current_exe().ok();
    let folder = own.as_deref().and_then(Path::parent);
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let sibling = folder.map(|folder| folder.join(&name));
    let sibling = sibling.filter(|program| program.is_file());
    sibling.unwrap_or_else(|| PathBuf::from(name))
}

/// The same status; 1 for a process that a signal ended.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
