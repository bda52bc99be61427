// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls per second over every protocol, by type of data.

pub(crate) mod caller;
mod chart;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::report::file::write;
use caller::{DATA, Found};
use table::{Place, Protocols};

use orbium_cli::Failure;
use orbium_cli::output;
use orbium_cli::stage::carrier::Carrier;
use orbium_cli::stage::child::Process;
use orbium_cli::stage::pin;
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::realm::Realm;
use orbium_cli::stage::scratch::Scratch;

/// A transport and a messaging protocol.
pub(super) struct Protocol {
    pub(super) name: &'static str,
    pub(super) carrier: Carrier,
    /// The value of `?messaging=`; GIOP alone if empty.
    messaging: &'static str,
}

const fn protocol(name: &'static str, carrier: Carrier, messaging: &'static str) -> Protocol {
    Protocol {
        name,
        carrier,
        messaging,
    }
}

/// Longer than any reply for which spinning is useful.
const LONG: u16 = 500;

/// The compared protocols; gains are relative to GIOP over the same transport, those of transports
/// to the first.
pub(super) const PROTOCOLS: &[Protocol] = &[
    protocol("IIOP", Carrier::Tcp, ""),
    protocol("IIOP/giop-lite", Carrier::Tcp, "giop-lite"),
    protocol("UIOP", Carrier::Unix, ""),
    protocol("UIOP/giop-lite", Carrier::Unix, "giop-lite"),
    protocol("SHMIOP futex", Carrier::Shm { spin: 0 }, ""),
    protocol("SHMIOP spin", Carrier::Shm { spin: LONG }, ""),
    protocol("TLS", Carrier::Tls, ""),
    protocol("IIOP/fixed", Carrier::Tcp, "fixed"),
    protocol("IIOP/ziop", Carrier::Tcp, "ziop"),
    protocol("IIOP/native", Carrier::Tcp, "native"),
    protocol("UIOP/native", Carrier::Unix, "native"),
    protocol("UIOP/fixed", Carrier::Unix, "fixed"),
];

#[derive(Debug, Args)]
pub(crate) struct ProtocolsArgs {
    /// Measure for a few seconds only
    #[arg(long)]
    quick: bool,
    /// Measure these protocols alone
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = protocol_name)]
    only: Vec<String>,
    /// Run all processes on one CPU, without the other measurement
    #[arg(long)]
    pinned: bool,
    /// Number of rounds, in each of which all protocols are called
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// File for the chart
    #[arg(long, value_name = "FILE", default_value = "orbium-protocols.svg")]
    svg: PathBuf,
    /// Write all results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Rounds, and the time for which each protocol is called per round.
const QUICK: (u32, Duration) = (3, Duration::from_millis(5));
const WHOLE: (u32, Duration) = (7, Duration::from_millis(25));

fn protocol_name(name: &str) -> Result<String, String> {
    let known = PROTOCOLS.iter().map(|protocol| protocol.name);
    if known.clone().any(|known| known == name) {
        Ok(name.to_owned())
    } else {
        Err(format!(
            "known are {}",
            known.collect::<Vec<_>>().join(", ")
        ))
    }
}

pub(crate) fn run(args: &ProtocolsArgs) -> Result<(), Failure> {
    let (rounds, slice) = if args.quick { QUICK } else { WHOLE };
    let effort = (args.rounds.unwrap_or(rounds), slice);
    let scratch = Scratch::new()?;
    let realm = Realm::new(scratch.folder())?;
    let mut places = Vec::new();
    places.extend(pin::choose().map(Some));
    if !args.pinned || places.is_empty() {
        places.push(None);
    }
    let mut progress = Progress::new(places.len() * (1 + DATA.len()));
    let mut found = Vec::new();
    for (number, cpu) in places.into_iter().enumerate() {
        let stage = Stage {
            scratch: &scratch,
            realm: &realm,
            number,
            cpu,
            effort,
            only: &args.only,
        };
        let place = Place {
            cpu,
            protocols: stage.play(&mut progress)?,
        };
        found.push(place);
    }
    progress.clear();
    for place in &found {
        output::print(&place.to_text())?;
    }
    write(&args.svg, &chart::draw(&found)?)?;
    output::print(&format!("\nThe chart is in {}.\n", args.svg.display()))?;
    if let Some(path) = &args.json {
        let places: Vec<_> = found.iter().map(Place::to_json).collect();
        let whole = json!({
            "orbium": env!("CARGO_PKG_VERSION"),
            "quick": args.quick,
            "places": places,
        });
        write(path, &format!("{whole:#}\n"))?;
    }
    Ok(())
}

impl Protocol {
    /// Starts a server, by a command of this program, and returns the reference of
    /// its cube.
    pub(super) fn serve(
        &self,
        command: &[&str],
        (scratch, realm): (&Scratch, &Realm),
        name: &str,
        more: &[String],
    ) -> Result<(Process, String), Failure> {
        let mut endpoint = self.carrier.endpoint(scratch, name);
        if !self.messaging.is_empty() {
            let separator = if endpoint.contains('?') { '&' } else { '?' };
            endpoint.push_str(&format!("{separator}messaging={}", self.messaging));
        }
        let serve = ["serve", "--until-input-ends", "--endpoint"];
        let words = command.iter().chain(&serve).map(|it| (*it).to_owned());
        let mut arguments: Vec<_> = words.collect();
        arguments.push(endpoint);
        arguments.extend(self.carrier.options(realm));
        arguments.extend_from_slice(more);
        let mut server = Process::start("server", &arguments)?;
        let lines = server.lines_until_ready()?;
        let cube = lines.iter().find_map(|line| line.strip_prefix("Cube IOR:"));
        let cube = cube.ok_or_else(|| Failure::because("the server process gave no reference"))?;
        Ok((server, format!("IOR:{cube}")))
    }
}

/// All servers and the client with one placement.
struct Stage<'a> {
    scratch: &'a Scratch,
    realm: &'a Realm,
    number: usize,
    cpu: Option<usize>,
    effort: (u32, Duration),
    /// Names of protocols; all if there are none.
    only: &'a [String],
}

impl Stage<'_> {
    /// The protocols that can be measured here: a spinning side needs a separate CPU.
    fn protocols(&self) -> impl Iterator<Item = &'static Protocol> {
        let one_cpu = self.cpu.is_some();
        let here = move |protocol: &&Protocol| {
            let carrier = protocol.carrier;
            let is_asked_for =
                self.only.is_empty() || self.only.iter().any(|name| name == protocol.name);
            is_asked_for && carrier.is_here() && carrier.on_one_cpu(one_cpu) == carrier
        };
        PROTOCOLS.iter().filter(here)
    }

    fn play(&self, progress: &mut Progress) -> Result<Protocols, Failure> {
        let place = if self.cpu.is_some() { "pinned" } else { "free" };
        progress.step(&format!("{place}: starting"));
        let mut servers = Vec::new();
        let mut known = Vec::new();
        for (index, protocol) in self.protocols().enumerate() {
            let name = format!("{}-{index}", self.number);
            let (server, cube) =
                protocol.serve(&["demo"], (self.scratch, self.realm), &name, &self.pin())?;
            servers.push(server);
            let spin = match protocol.carrier {
                Carrier::Shm { spin } => spin.to_string(),
                _ => String::new(),
            };
            known.push(json!({ "name": protocol.name, "spin": spin, "cube": cube }));
        }
        let file = self.scratch.path(&format!("servers-{}", self.number));
        write(Path::new(&file), &json!(known).to_string())?;
        let mut client = self.call(&file)?;
        let mut found = Protocols::default();
        let mut data = String::new();
        while let Some(line) = client.line()? {
            let Some(one) = Found::from_line(&line) else {
                return Err(Failure::because(format!(
                    "the client process said `{line}`, which means nothing"
                )));
            };
            if one.data != data {
                data.clone_from(&one.data);
                progress.step(&format!("{place}: {data}"));
            }
            found.add(one);
        }
        client.end()?;
        servers.into_iter().try_for_each(Process::end)?;
        Ok(found)
    }

    fn call(&self, servers: &str) -> Result<Process, Failure> {
        let (rounds, slice) = self.effort;
        let (rounds, slice) = (rounds.to_string(), slice.as_millis().to_string());
        let arguments = ["caller", "--servers", servers];
        let arguments = arguments
            .into_iter()
            .chain(["--rounds", &rounds, "--slice", &slice]);
        let mut arguments: Vec<_> = arguments.map(str::to_owned).collect();
        arguments.extend(self.realm.options());
        arguments.extend(self.pin());
        Process::start("client", &arguments)
    }

    fn pin(&self) -> Vec<String> {
        let cpu = self.cpu.map(|cpu| ["--pin".to_owned(), cpu.to_string()]);
        cpu.into_iter().flatten().collect()
    }
}
