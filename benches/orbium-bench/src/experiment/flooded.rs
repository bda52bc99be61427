// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench flooded`: the latency of the high-priority lane while UDP packets flood the port
//! of the low-priority one, before and after `orbium host apply`.
//!
//! A card's interrupts are handled on the processor of the lanes, where the kernel receives before
//! any thread runs. With threaded NAPI it receives in a thread, below the urgent lane.

use std::net::SocketAddr;
use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use comfy_table::{Table, presets};
use orbium::giop::Ior;
use orbium_cli::stage::child::Process;
use orbium_cli::stage::scratch::Scratch;
use orbium_cli::{Failure, output};
use orbium_host::{Journal, Napi, PlanRequest, Tree};
use serde_json::{Value, json};

use crate::report::results::{ResultArgs, Results};
use crate::report::row::Row;
use crate::stage::clock::{stolen, stolen_since};
use crate::stage::network::cable::{Cable, HERE};
use crate::stage::pacing::HIGH_PERIOD;
use crate::stage::real_time::{HIGH, can_be_real_time};
use crate::stage::test_bed::parse;
use crate::statistics::summary::{Summary, numbers, ratio};

#[derive(Debug, Args)]
pub(crate) struct FloodedArgs {
    /// Calls of the high-priority client in each state, twenty a second [default: 400; in a quick
    /// run 100]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
    #[command(flatten)]
    results: ResultArgs,
}

/// The processor of the lanes, and of the network card's interrupts.
const LANES: usize = 0;
/// The processor of the remote host: its client, and the sender of the flood.
const OUTSIDE: usize = 1;
/// The priority of the kernel's receiving thread: below the lane's.
const RECEIVES_AT: i32 = HIGH / 2;

/// The measured states, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Quiet,
    Flooded,
    Applied,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Quiet => "no flood",
            Self::Flooded => "flood",
            Self::Applied => "flood, after `orbium host apply`",
        }
    }
}

/// The results of a state.
#[derive(Clone, Copy, Debug)]
struct Found {
    state: State,
    high: Summary,
    failed: u64,
    packets_per_second: f64,
}

/// The processes, and the cable between them.
struct Stage {
    server: Process,
    client: Process,
    sender: Process,
    cable: Cable,
}

impl Stage {
    fn new() -> Result<Self, Failure> {
        let own = std::env::current_exe()
            .map_err(|error| Failure::because(format!("no path of this program: {error}")))?;
        let cable = Cable::new()?;
        let mut command = Command::new(&own);
        command.args(["server", "--strategy", "reactive", "--host", HERE]);
        command.args(["--lanes", &format!("high={HIGH},low=0")]);
        command.args(["--pin", &LANES.to_string()]);
        let mut server = Process::spawn("server", &mut command)?;
        let objects = server.lines_until_ready()?;
        let reference = |name: &str| {
            let line = objects.iter().find_map(|line| line.strip_prefix(name));
            line.ok_or_else(|| Failure::because(format!("the server has no object `{name}`")))
        };
        let (high, low) = (reference("high ")?, reference("low ")?);

        let mut command = cable.outside(own.as_ref());
        command.args(["client", "--pin", &OUTSIDE.to_string()]);
        command.args(["--object", &format!("high={high}")]);
        command.args(["--object", &format!("low={low}")]);
        let mut client = Process::spawn("client", &mut command)?;
        client.lines_until_ready()?;

        let mut command = cable.outside(own.as_ref());
        command.args(["packets", "--pin", &OUTSIDE.to_string()]);
        command.arg(address(low)?.to_string());
        let mut sender = Process::spawn("sender", &mut command)?;
        sender.lines_until_ready()?;
        Ok(Self {
            server,
            client,
            sender,
            cable,
        })
    }

    /// Calls so many times in a state, which the host is already in.
    fn measure(&mut self, state: State, calls: u32) -> Result<Found, Failure> {
        let time = HIGH_PERIOD * calls;
        if state != State::Quiet {
            self.sender.ask("on", Duration::ZERO)?;
        }
        let asked = format!("paced 0 {}", time.as_millis());
        let found = self.client.ask(&asked, 2 * time);
        let sent = parse(&self.sender.ask("off", Duration::ZERO)?)?;
        let found = parse(&found?)?;
        Ok(Found {
            state,
            high: Summary::of(&numbers(&found["high"])),
            failed: found["failed"].as_u64().unwrap_or_default(),
            packets_per_second: ratio(
                sent["packets"].as_f64().unwrap_or_default(),
                sent["seconds"].as_f64().unwrap_or_default(),
            )
            .unwrap_or_default(),
        })
    }

    fn end(self) -> Result<(), Failure> {
        self.client.end()?;
        self.sender.end()?;
        self.server.end()
    }
}

/// The address of a reference's object.
fn address(reference: &str) -> Result<SocketAddr, Failure> {
    let bad = || Failure::because("the server has given a reference without an address");
    let ior = Ior::from_str(reference).map_err(|_| bad())?;
    let profile = ior.iiop_profiles().next().ok_or_else(bad)?;
    let host = profile.host.parse().map_err(|_| bad())?;
    Ok(SocketAddr::new(host, profile.port))
}

pub(crate) fn run(args: &FloodedArgs) -> Result<(), Failure> {
    can_be_real_time(HIGH).map_err(Failure::because)?;
    let calls = args
        .calls
        .unwrap_or(if args.results.quick { 100 } else { 400 });
    let begin = stolen();
    let mut stage = Stage::new()?;
    stage.cable.receive_on(Some(LANES))?;
    let mut found = Vec::new();
    for state in [State::Quiet, State::Flooded] {
        found.push(stage.measure(state, calls)?);
    }
    found.push(applied(&mut stage, calls)?);
    stage.end()?;
    output::print(&format!("{}\n", table(&found)))?;
    let results = Results {
        rows: rows(&found),
        notes: NOTES
            .iter()
            .map(|note| (*note).to_owned())
            .chain(stolen_since(begin))
            .collect(),
        own: json!({ "states": found.iter().map(to_json).collect::<Value>() }),
    };
    results.finish(&args.results, None)
}

const NOTES: [&str; 2] = [
    "The lanes and the interrupts of their card share a processor; the client (SCHED_FIFO at 50) and \
     the flood share another, on a host of their own (a network name space).",
    "Applied is `--napi DEVICE=25`: the kernel receives in a thread under SCHED_FIFO at 25, kept on the \
     processor of the lanes; the urgent lane has 50.",
];

/// The same with the plan applied to the host, which is then undone.
fn applied(stage: &mut Stage, calls: u32) -> Result<Found, Failure> {
    let scratch = Scratch::new()?;
    let journal = Journal::at(scratch.path("journal.toml").into());
    let tree = Tree::at("/".as_ref());
    let napi = format!("{}={RECEIVES_AT}", stage.cable.device());
    let napi = [Napi::from_str(&napi).map_err(Failure::because)?];
    let request = PlanRequest {
        only: &[],
        napi: &napi,
        steer: &[],
        user: None,
    };
    let plan = orbium_host::plan(&tree, &request).map_err(Failure::because)?;
    stage.cable.receive_on(None)?;
    orbium_host::apply(&plan, &tree, &journal)
        .map_err(|refusal| Failure::because(refusal.to_string()))?;
    let found = stage
        .cable
        .keep_thread_on(LANES)
        .and_then(|()| stage.measure(State::Applied, calls));
    orbium_host::undo(&tree, &journal).map_err(Failure::because)?;
    found
}

/// Ratios of medians and 99th percentiles to those without a flood.
fn rows(found: &[Found]) -> Vec<Row> {
    let Some(quiet) = found.iter().find(|one| one.state == State::Quiet) else {
        return Vec::new();
    };
    let flooded = found.iter().filter(|one| one.state != State::Quiet);
    let row = |one: &Found| {
        [
            ("median", one.high.median, quiet.high.median),
            ("99th percentile", one.high.p99, quiet.high.p99),
        ]
        .map(|(what, own, without)| {
            let figure = format!("high-priority {what}, over that without a flood");
            Row::new(&figure, one.state.name(), ratio(own, without))
        })
    };
    flooded.flat_map(row).collect()
}

fn table(found: &[Found]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "high-priority calls, µs",
        "median",
        "p99",
        "greatest",
        "failed",
        "packets/s",
    ]);
    for one in found {
        let microseconds = |nanoseconds: f64| format!("{:.1}", nanoseconds / 1e3);
        table.add_row([
            one.state.name().to_owned(),
            microseconds(one.high.median),
            microseconds(one.high.p99),
            microseconds(one.high.greatest),
            one.failed.to_string(),
            format!("{:.0}", one.packets_per_second),
        ]);
    }
    table
}

fn to_json(found: &Found) -> Value {
    json!({
        "state": found.state.name(),
        "high": found.high.to_json(),
        "failed": found.failed,
        "packets_per_second": found.packets_per_second,
    })
}

#[cfg(test)]
mod tests {
    use orbium::giop::{IiopProfile, Version};

    use super::*;

    fn found(state: State, latency: f64) -> Found {
        Found {
            state,
            high: Summary::of(&[latency]),
            failed: 0,
            packets_per_second: 0.0,
        }
    }

    #[test]
    fn floods_are_compared_with_the_latency_without_one() {
        let all = [
            found(State::Quiet, 100.0),
            found(State::Flooded, 300.0),
            found(State::Applied, 110.0),
        ];
        let values: Vec<_> = rows(&all).iter().filter_map(|row| row.value).collect();
        assert_eq!(values, [3.0, 3.0, 1.1, 1.1]);
        assert!(rows(&all[1..]).is_empty());
    }

    #[test]
    fn the_flood_goes_to_the_port_of_the_reference() {
        let profile = IiopProfile {
            version: Version::V1_2,
            host: "10.79.0.1".to_owned(),
            port: 4711,
            object_key: vec![7],
            components: Vec::new(),
        };
        let reference = Ior::with_profile("IDL:Cube:1.0", &profile).to_string();
        let to = address(&reference).unwrap();
        assert_eq!(to.to_string(), "10.79.0.1:4711");
        for wrong in ["IOR:00", "corbaloc::10.79.0.1:4711/a", ""] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
