// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processors that never sleep. A processor without work sleeps, and takes time to wake up: the
//! fewer calls others make, the more often an occasional caller is affected. A thread on each
//! processor that has no other work to displace (SCHED_IDLE) removes this from a measurement.

use std::io::Read;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Args;
use orbium_cli::stage::child::Process;
use orbium_cli::stage::pin::PinArgs;
use orbium_cli::{Failure, output};

use super::real_time::usable_processors;

#[derive(Debug, Args)]
pub(crate) struct AwakeArgs {
    #[command(flatten)]
    pin: PinArgs,
}

/// `orbium-bench awake`: keeps its processor busy until its input ends.
pub(crate) fn run(args: &AwakeArgs) -> Result<(), Failure> {
    static ENDS: AtomicBool = AtomicBool::new(false);
    args.pin.apply()?;
    let spinning = thread::spawn(|| {
        while !ENDS.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    output::print("READY\n")?;
    let ended = std::io::stdin().lock().read_to_end(&mut Vec::new());
    ENDS.store(true, Ordering::Relaxed);
    let _ = spinning.join();
    let failed = |error: std::io::Error| Failure::because(error.to_string());
    ended.map(drop).map_err(failed)
}

/// The processes that keep all processors awake, as long as this value exists.
#[derive(Debug)]
pub(crate) struct Awake(Vec<Process>);

impl Awake {
    /// Starts one for each processor that this process may use.
    pub(crate) fn start() -> Result<Self, Failure> {
        let own = std::env::current_exe().map_err(|error| {
            Failure::because(format!("this program is not to be found: {error}"))
        })?;
        let start = |processor: usize| {
            let mut command = Command::new("chrt");
            command.args(["--idle", "0"]).arg(&own);
            command.args(["awake", "--pin", &processor.to_string()]);
            let mut process = Process::spawn("awake", &mut command)?;
            process.lines_until_ready()?;
            Ok(process)
        };
        let started = usable_processors().into_iter().map(start);
        started.collect::<Result<_, _>>().map(Self)
    }

    /// Ends the processes.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.0.into_iter().try_for_each(Process::end)
    }
}
