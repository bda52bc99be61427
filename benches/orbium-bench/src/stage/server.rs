// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench server`: the server process of the experiments. In each lane there are objects
//! that cube an octet: one does only that (`NAME`), one is also busy for a millisecond
//! (`busy-NAME`), one for long (`long-NAME`), and one checks the priority at which it is served
//! (`checked-NAME`). Each line of its input is a query:
//!
//! * `locks`: the operations on locks so far.
//! * `memory`: bytes of memory of the process.
//! * `order`: the lanes of the busy calls in the order of their completion, since the last query.
//! * `served`: the number of checked calls, and of those at a wrong priority.

use std::io::BufRead;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;
use orbium::{
    Config, Orb,
    config::{Limits, ServerStrategy},
    lane::{LaneConfig, Priority},
    poa::{Poa, Policies},
    transport::Endpoint,
};
use orbium_demo::CubeServant;
use orbium_demo::cubit::Cube;
use serde_json::{Value, json};

use super::class::Class;
use super::idle;
use super::lock_counts::LockCounts;
use super::network::transport::Transport;
use super::real_time::{own_priority, raise_descriptor_limit};
use super::work::{BUSY, LONG, burn};
use orbium_cli::Failure;
use orbium_cli::stage::pin::PinArgs;
use orbium_cli::{output, reference};

#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Server strategy
    #[arg(long, value_name = "NAME", default_value_t)]
    strategy: ServerStrategy,
    /// NAME=PRIORITY of each lane, the priority being that of its class or 0
    /// [default: the objects high and low in one lane]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = lane)]
    lanes: Vec<(String, i32)>,
    /// Scheduling class of the lanes with a priority
    #[arg(long, value_name = "CLASS", value_enum, default_value_t)]
    class: Class,
    /// Listen at this address of the host
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Listen with this transport
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    transport: Transport,
    /// Folder of the sockets of transports other than TCP
    #[arg(long, value_name = "DIR", default_value = ".")]
    sockets: PathBuf,
    #[command(flatten)]
    pin: PinArgs,
}

fn lane(text: &str) -> Result<(String, i32), String> {
    let parts = text.split_once('=').ok_or("expected NAME=PRIORITY")?;
    let priority = parts.1.parse().map_err(|_| "expected a number")?;
    Ok((parts.0.to_owned(), priority))
}

/// The records of the servants.
#[derive(Debug, Default)]
struct Log {
    completed: Mutex<Vec<i32>>,
    served: AtomicU64,
    wrong: AtomicU64,
}

impl Log {
    fn look(&self, priority: i32) {
        self.served.fetch_add(1, Ordering::Relaxed);
        if own_priority() != priority {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn complete(&self, priority: i32) {
        self.completed().push(priority);
    }

    fn take_completed(&self) -> Vec<i32> {
        std::mem::take(&mut self.completed())
    }

    fn completed(&self) -> MutexGuard<'_, Vec<i32>> {
        self.completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn run(args: &ServerArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    raise_descriptor_limit();
    let log = Arc::new(Log::default());
    let orb = new_orb(args)?;
    let mut lines = String::new();
    if args.lanes.is_empty() {
        for name in ["high", "low"] {
            lines.push_str(&activate(&orb, &orb.root_poa(), name, 0, &log)?);
        }
        // For thousands of connections.
        lines.push_str(&bind_idle(&orb)?);
    }
    for (name, priority) in &args.lanes {
        let (poa, refused) = add_lane(&orb, args, name, *priority)?;
        let has_priority = refused.is_none() && args.class == Class::Fifo;
        let expected = if has_priority { *priority } else { 0 };
        lines.push_str(&activate(&orb, &poa, name, expected, &log)?);
        if let Some(reason) = refused {
            lines.push_str(&format!("note lane {name}: {reason}\n"));
        }
    }
    output::print(&format!("{lines}READY\n"))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::because(error.to_string()))?;
        output::print(&format!("{}\n", answer(&line, &log)?))?;
    }
    // Fails only within a request, which this is not.
    let _ = orb.shutdown(true);
    Ok(())
}

fn answer(line: &str, log: &Log) -> Result<Value, Failure> {
    Ok(match line {
        "locks" => LockCounts::here().map_or(Value::Null, LockCounts::to_json),
        "memory" => json!({ "resident": resident()? }),
        "order" => json!({ "completed": log.take_completed() }),
        "served" => json!({
            "served": log.served.load(Ordering::Relaxed),
            "wrong": log.wrong.load(Ordering::Relaxed),
        }),
        _ => {
            return Err(Failure::because(format!(
                "`{line}` means nothing to a server"
            )));
        }
    })
}

/// Bytes of resident memory of this process.
fn resident() -> Result<u64, Failure> {
    let unknown = || Failure::because("this system does not tell how much memory a process has");
    let status = std::fs::read_to_string("/proc/self/status").map_err(|_| unknown())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    let kibibytes: u64 = kibibytes
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(unknown)?;
    Ok(kibibytes * 1024)
}

/// An endpoint of a lane of that name.
fn endpoint(args: &ServerArgs, lane: &str) -> Result<Endpoint, Failure> {
    let text = args.transport.endpoint(args.host, &args.sockets, lane);
    text.parse()
        .map_err(|error: orbium::transport::EndpointError| Failure::because(error.to_string()))
}

fn new_orb(args: &ServerArgs) -> Result<Orb, Failure> {
    let failed = |reason: String| Failure::because(format!("cannot serve: {reason}"));
    let config = Config {
        endpoints: vec![endpoint(args, "orb")?],
        strategy: args.strategy,
        limits: Limits {
            connections: 1 << 16,
            ..Limits::default()
        },
        protocols: reference::protocols(),
        ..Config::default()
    };
    Orb::new(config).map_err(|error| failed(error.to_string()))
}

/// A lane, and an adapter for its objects; a soft lane if the host refuses its priority, with the
/// reason.
fn add_lane(
    orb: &Orb,
    args: &ServerArgs,
    name: &str,
    priority: i32,
) -> Result<(Poa, Option<String>), Failure> {
    let failed = |reason: String| Failure::because(format!("cannot serve: {reason}"));
    let refused = args.class.can_have(priority).err();
    let lane = LaneConfig {
        name: name.to_owned(),
        priority: i16::try_from(priority).ok().and_then(Priority::new),
        scheduling: args.class.scheduling(priority),
        reservation: args.class.reservation(priority),
        soft: true,
        strategy: args.strategy,
        endpoints: vec![endpoint(args, name)?],
        ..LaneConfig::default()
    };
    let lane = orb
        .add_lane(&lane)
        .map_err(|error| failed(error.to_string()))?;
    let policies = Policies {
        lanes: vec![lane],
        ..Policies::default()
    };
    let poa = orb.root_poa().create_poa(name, None, policies);
    let poa = poa.map_err(|error| failed(error.to_string()))?;
    Ok((poa, refused))
}

/// Activates the objects of a lane; returns a line for each.
fn activate(
    orb: &Orb,
    poa: &Poa,
    name: &str,
    priority: i32,
    log: &Arc<Log>,
) -> Result<String, Failure> {
    let (busy_log, checked_log) = (Arc::clone(log), Arc::clone(log));
    let busy = CubeServant::with_work(move || {
        burn(BUSY);
        busy_log.complete(priority);
    });
    let checked = CubeServant::with_work(move || checked_log.look(priority));
    let mut lines = String::new();
    for (prefix, servant) in [
        ("", CubeServant::default()),
        ("busy-", busy),
        ("long-", CubeServant::with_work(|| burn(LONG))),
        ("checked-", checked),
    ] {
        let object: Cube = poa
            .activate(servant)
            .map_err(|error| Failure::because(format!("cannot serve: {error}")))?;
        lines.push_str(&format!(
            "{prefix}{name} {}\n",
            orb.object_to_string(&object)
        ));
    }
    poa.manager()
        .activate()
        .map_err(|error| Failure::because(format!("cannot serve: {error}")))?;
    Ok(lines)
}

/// Binds the key of [`idle`], and returns the address.
fn bind_idle(orb: &Orb) -> Result<String, Failure> {
    let failed = |error: String| Failure::because(format!("cannot serve: {error}"));
    let object: Cube = orb
        .root_poa()
        .activate(CubeServant::default())
        .map_err(|error| failed(error.to_string()))?;
    orb.bind_key_in_place(idle::KEY, &object)
        .map_err(|error| failed(error.to_string()))?;
    let channels = orb.channels().map_err(|error| failed(error.to_string()))?;
    let address = channels.first().map(|channel| channel.address.clone());
    Ok(format!("address {}\n", address.unwrap_or_default()))
}
