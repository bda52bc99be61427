// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched serve`: the Scheduling Service.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use orbium::{Config, Endpoint, Orb};
use orbium_schedule_service::ScheduleService;

use crate::failure::Failure;
use crate::serving::Ending;
use crate::{output, reference};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Keep the operations in this file, which is made if there is none [default: in memory]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Where clients come in; may be repeated
    #[arg(
        long = "endpoint",
        value_name = "URL",
        default_value = "iiop://localhost:0"
    )]
    endpoints: Vec<Endpoint>,
    /// Write the reference for applications to this file too
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,
    /// Write the privileged reference to this file, for its owner alone, and do not print it
    #[arg(long, value_name = "FILE")]
    privileged_file: Option<PathBuf>,
    /// End when standard input ends, as it does with the process that holds it.
    #[arg(long, hide = true)]
    until_input_ends: bool,
}

fn because(error: impl std::fmt::Display) -> Failure {
    Failure::because(error.to_string())
}

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let ending = Ending::new()?;
    let config = Config {
        endpoints: args.endpoints.clone(),
        protocols: reference::protocols(),
        ..Config::default()
    };
    let orb = Orb::new(config).map_err(because)?;
    let service = match &args.state {
        Some(file) => ScheduleService::open(&orb, file),
        None => ScheduleService::in_memory(&orb),
    };
    let service = service.map_err(because)?;
    let public = orb.object_to_string(&service.reference());
    let privileged = orb.object_to_string(&service.privileged());
    if let Some(file) = &args.ior_file {
        let failed = |error| Failure::because(format!("{}: {error}", file.display()));
        std::fs::write(file, &public).map_err(failed)?;
    }
    let shown = match &args.privileged_file {
        Some(file) => {
            write_secret(file, &privileged)?;
            format!("{public}\nREADY\n")
        }
        None => format!("{public}\nprivileged {privileged}\nREADY\n"),
    };
    match output::print(&shown) {
        Ok(()) | Err(Failure::OutputClosed) => {}
        Err(failure) => return Err(failure),
    }
    ending.wait(args.until_input_ends)?;
    orb.shutdown(true).map_err(because)
}

/// Writes a file that its owner alone can read; one that exists is replaced.
fn write_secret(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let failed = |error| Failure::because(format!("{shown}: {error}"));
    // The permissions of an existing file would remain.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}
