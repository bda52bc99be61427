// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched serve`: the Scheduling Service.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use orbium::Interface as _;
use orbium_schedule_service::ScheduleService;

use crate::failure::Failure;
use crate::serving::{Served, ServingArgs, because, serve};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Keep the operations in this file, which is made if there is none [default: in memory]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write the privileged reference to this file, for its owner alone, and do not print it
    #[arg(long, value_name = "FILE")]
    privileged_file: Option<PathBuf>,
    #[command(flatten)]
    serving: ServingArgs,
}

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    serve(&args.serving, |orb| {
        let service = match &args.state {
            Some(file) => ScheduleService::open(orb, file),
            None => ScheduleService::in_memory(orb),
        };
        let service = service.map_err(because)?;
        let privileged = orb.object_to_string(&service.privileged());
        let further = match &args.privileged_file {
            Some(file) => {
                write_secret(file, &privileged)?;
                String::new()
            }
            None => format!("privileged {privileged}\n"),
        };
        let object = service.reference().as_object().clone();
        Ok(Served {
            service,
            object,
            further,
        })
    })
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
