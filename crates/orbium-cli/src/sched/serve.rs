// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched serve`: the Scheduling Service.

use std::path::{Path, PathBuf};

use clap::Args;
use orbium::Interface as _;

use orbium_sched::Strategy;
use orbium_schedule_service::ScheduleService;

use crate::failure::Failure;
use crate::serving::{Served, ServingArgs, because, serve};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Keep the operations in this file, which is created if it does not exist [default: in memory]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write the privileged reference to this file, readable by its owner alone, and do not print
    /// it
    #[arg(long, value_name = "FILE")]
    privileged_file: Option<PathBuf>,
    /// As --privileged-file, for the privileged reference of the interface of TAO's releases
    #[arg(long, value_name = "FILE")]
    rtec_privileged_file: Option<PathBuf>,
    /// Strategy of schedules that clients compute: rms, edf, mlf, muf or rms+mlf
    #[arg(long, value_name = "STRATEGY", default_value_t = Strategy::Rms)]
    strategy: Strategy,
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
        service.set_strategy(args.strategy);
        let privileged = [
            (
                "privileged",
                orb.object_to_string(&service.privileged()),
                &args.privileged_file,
            ),
            (
                "rtec-privileged",
                orb.object_to_string(&service.rtec_privileged()),
                &args.rtec_privileged_file,
            ),
        ];
        let mut further = String::new();
        for (name, reference, file) in privileged {
            match file {
                Some(file) => write_secret(file, &reference)?,
                None => further += &format!("{name} {reference}\n"),
            }
        }
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
    orbium_sys::write_secret(path, text.as_bytes()).map_err(failed)
}
