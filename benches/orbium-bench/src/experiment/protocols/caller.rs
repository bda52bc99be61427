// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client process: calls the servers of all protocols alternately, and prints one line of JSON
//! for each type of data and protocol.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use orbium::ObjectRef;
use orbium_demo::load::Load;
use serde_json::{Value, json};

use orbium_cli::Failure;
use orbium_cli::stage::contest::{Contestant, Runner};
use orbium_cli::stage::pin::PinArgs;
use orbium_cli::{output, ping, reference};

/// Types of data: a name for people, the operation, its elements.
pub(crate) const DATA: [(&str, Load, usize); 10] = [
    ("void", Load::Noop, 0),
    ("octet", Load::CubeOctet, 0),
    ("short", Load::CubeShort, 0),
    ("long", Load::CubeLong, 0),
    ("struct", Load::CubeMany, 0),
    ("4 octets", Load::EchoOctets, 4),
    ("1 long", Load::EchoLongs, 1),
    ("4096 octets", Load::EchoOctets, 4096),
    ("1024 longs", Load::EchoLongs, 1024),
    ("256 structs", Load::EchoManys, 256),
];

/// Time-out of checked calls.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Args)]
pub(crate) struct CallerArgs {
    /// JSON: name, options of shared memory and reference of each server
    #[arg(long, value_name = "FILE")]
    servers: PathBuf,
    /// Number of rounds, in each of which all are called
    #[arg(long, value_name = "N")]
    rounds: u32,
    /// Milliseconds for which each is called per round
    #[arg(long, value_name = "MS")]
    slice: u64,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
    #[command(flatten)]
    pin: PinArgs,
}

/// The results of one protocol with one type of data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The protocol.
    pub(crate) protocol: String,
    /// The type of data.
    pub(crate) data: String,
    /// Calls per second of each round, if all took as long as the median: a call that other work
    /// delays must not count for hundreds.
    pub(crate) rates: Vec<f64>,
}

impl Found {
    fn to_json(&self) -> Value {
        json!({ "protocol": self.protocol, "data": self.data, "rates": self.rates })
    }

    /// Parses a line of the client process; `None` for any other line.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let rates = value["rates"].as_array()?.iter().map(Value::as_f64);
        Some(Self {
            protocol: value["protocol"].as_str()?.to_owned(),
            data: value["data"].as_str()?.to_owned(),
            rates: rates.collect::<Option<_>>()?,
        })
    }
}

pub(crate) fn run(args: &CallerArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    let servers = servers(args)?;
    for (name, load, size) in DATA {
        let mut contest = Vec::new();
        for (protocol, object) in &servers {
            let failed =
                move |reason| Failure::because(format!("{name} over {protocol}: {reason}"));
            load.verify(&object.with_timeout(PATIENCE), size)
                .map_err(failed)?;
            let run: Runner<'_> = Box::new(move |calls, sample| {
                load.run(object, size, calls, Some(sample))
                    .map_err(|exception| failed(exception.to_string()))
            });
            let slice = Duration::from_millis(args.slice);
            contest.push((protocol, Contestant::new(run, slice)?));
        }
        for round in 0..args.rounds as usize {
            let count = contest.len();
            // Each one inherits the caches of its predecessor, so the order rotates.
            for turn in 0..count {
                contest[(turn + round) % count].1.take_turn()?;
            }
        }
        for (protocol, contestant) in contest {
            let found = Found {
                protocol: protocol.clone(),
                data: name.to_owned(),
                rates: contestant
                    .medians
                    .iter()
                    .map(|median| 1e9 / median)
                    .collect(),
            };
            output::print(&format!("{}\n", found.to_json()))?;
        }
    }
    Ok(())
}

/// The names and objects of all servers.
fn servers(args: &CallerArgs) -> Result<Vec<(String, ObjectRef)>, Failure> {
    let unreadable =
        |reason: String| Failure::because(format!("`{}`: {reason}", args.servers.display()));
    let text =
        std::fs::read_to_string(&args.servers).map_err(|error| unreadable(error.to_string()))?;
    let all: Value = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    let mut servers = Vec::new();
    for server in all.as_array().into_iter().flatten() {
        let field = |name: &str| server[name].as_str().unwrap_or_default();
        let protocols = args.protocols.with_spin(field("spin"))?;
        // Measured calls have no deadline.
        let object = reference::object(field("cube"), &protocols, None)?;
        if let Err(exception) = object.with_timeout(PATIENCE).locate() {
            return Err(Failure::because(ping::explain(
                &object, PATIENCE, exception,
            )));
        }
        servers.push((field("name").to_owned(), object));
    }
    Ok(servers)
}
