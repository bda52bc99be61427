// SPDX-License-Identifier: MIT OR Apache-2.0
//! The demonstration: server, raw peer and client, checked and measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;

use super::announcement::reference_of;
use super::client::CASES;
use super::event::Event;
use super::oneways::oneway_stage;
use super::place::Place;
use super::plot;
use super::report::{Finding, Report, Section};
use super::wake_up::WakeUp;
use crate::failure::Failure;
use crate::output;
use crate::serving::Ending;
use crate::stage::carrier::Carrier;
use crate::stage::child::Process;
use crate::stage::progress::Progress;
use crate::stage::realm::Realm;
use crate::stage::scratch::Scratch;

/// A protocol to call over.
struct Protocol {
    name: &'static str,
    carrier: Carrier,
}

/// Every protocol for twoway calls. Each entry is checked, measured, printed and drawn.
const PROTOCOLS: &[Protocol] = &[
    Protocol {
        name: "IIOP",
        carrier: Carrier::Tcp,
    },
    Protocol {
        name: "UIOP",
        carrier: Carrier::Unix,
    },
    Protocol {
        name: "SHMIOP",
        carrier: Carrier::Shm { spin: 20 },
    },
    Protocol {
        name: "TLS",
        carrier: Carrier::Tls,
    },
    Protocol {
        name: "in process",
        carrier: Carrier::InProcess,
    },
];

// No documentation comment: it would become the help of the whole command.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Measure for a few seconds only
    #[arg(long)]
    quick: bool,
    /// The file for the plot
    #[arg(long, value_name = "FILE", default_value = "orbium-demo.svg")]
    svg: PathBuf,
    /// Write all results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The duration of the measurements.
#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    /// Milliseconds for which one peer is measured per round.
    slice: usize,
}

impl Effort {
    /// So many rounds, and slices that add up to that time, for so many contests of two.
    fn new(rounds: usize, time: Duration, contests: usize) -> Self {
        let slices = (2 * rounds * contests).max(1);
        let slice = time.as_millis() as usize / slices;
        Self {
            rounds,
            slice: slice.max(5),
        }
    }
}

/// Rounds of a quick run and of a full one, and the time of their measurements. Checks and warming
/// up take additional time.
const QUICK: (usize, Duration) = (5, Duration::from_millis(3500));
const WHOLE: (usize, Duration) = (15, Duration::from_secs(20));

/// The status after a signal, as that of SIGINT in a shell.
const INTERRUPTED: i32 = 130;

/// The additional part of that time for oneways, as a divisor.
const ONEWAYS: u32 = 10;

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let time = if args.quick { QUICK } else { WHOLE };
    for path in [Some(&args.svg), args.json.as_ref()].into_iter().flatten() {
        check_folder(path)?;
    }
    let report = find_out(time)?;
    output::announce(&report.to_text())?;
    write(&args.svg, &plot::draw(&report.sections)?)?;
    output::announce(&format!("\nThe plot is in {}.\n", args.svg.display()))?;
    if let Some(path) = &args.json {
        write(path, &format!("{:#}\n", report.to_json()))?;
    }
    match report.failures() {
        0 => Ok(()),
        1 => Err(Failure::because("a check failed, see above")),
        n => Err(Failure::because(format!("{n} checks failed, see above"))),
    }
}

/// Checks before half a minute of measuring that the folder exists.
fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Failure::because(format!(
            "cannot write `{}`: there is no such folder",
            path.display()
        ))),
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    orbium_sys::write_whole(path, text.as_bytes())
        .map_err(|error| Failure::because(format!("cannot write `{}`: {error}", path.display())))
}

fn find_out(effort: (usize, Duration)) -> Result<Report, Failure> {
    let ending = Ending::new()?;
    let scratch = Scratch::new()?;
    let folder = scratch.folder().to_owned();
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&is_interrupted);
    ending.then(move || {
        interrupted.store(true, Ordering::Release);
        // The child processes end with this one.
        remove(&folder);
        std::process::exit(INTERRUPTED);
    })?;
    let measured = measure(&scratch, effort);
    while measured.is_err() && is_interrupted.load(Ordering::Acquire) {
        // The failure follows from the removed folder: the thread that removed it ends the process.
        std::thread::park();
    }
    measured
}

fn measure(scratch: &Scratch, (rounds, time): (usize, Duration)) -> Result<Report, Failure> {
    let realm = Realm::new(scratch.folder())?;
    let mut report = Report::default();
    let protocols = PROTOCOLS
        .iter()
        .filter(|protocol| protocol.carrier.is_here());
    let protocols: Vec<_> = protocols.collect();
    let (places, note) = Place::all();
    report.notes.extend(note);
    report.wake_up = WakeUp::measure(&places)?;
    let contests = protocols.len() * places.len() * CASES.len();
    let effort = Effort::new(rounds, time, contests);
    let steps = 1 + places.len() * (1 + CASES.len() * effort.rounds);
    let mut progress = Progress::new(protocols.len() * steps + oneway_stage::STEPS);
    for protocol in protocols {
        let mut checks = Vec::new();
        for (turn, place) in places.iter().enumerate() {
            let stage = Stage {
                protocol,
                name: format!("{}-{turn}", protocol.carrier.scheme()),
                scratch,
                realm: &realm,
                place: *place,
                effort,
                is_first: turn == 0,
            };
            let rows = stage.play(&mut progress, &mut checks)?;
            report.sections.push(rows);
        }
        report.checks.push((protocol.name, checks));
    }
    let slice = time / ONEWAYS / oneway_stage::SLICES;
    // Sender and receivers run concurrently: on separate processors if there are two.
    let place = places.last().copied().unwrap_or(Place::Free);
    oneway_stage::play(place, slice, &mut progress, &mut report)?;
    Ok(report)
}

/// Removes the folder of the run, which contains a private key; processes of the run may still
/// create sockets there.
fn remove(folder: &Path) {
    while let Err(error) = std::fs::remove_dir_all(folder) {
        if error.kind() != std::io::ErrorKind::DirectoryNotEmpty {
            break;
        }
    }
}

/// One server, one raw peer and one client, all with one placement; or one process that is all of
/// them.
struct Stage<'a> {
    protocol: &'a Protocol,
    /// The base name of its sockets.
    name: String,
    scratch: &'a Scratch,
    realm: &'a Realm,
    place: Place,
    effort: Effort,
    /// The first one also checks.
    is_first: bool,
}

impl Stage<'_> {
    fn play(&self, progress: &mut Progress, checks: &mut Vec<Finding>) -> Result<Section, Failure> {
        let place = self.place.name();
        progress.step(&format!("{}, {place}: starting", self.protocol.name));
        let carrier = self.carrier();
        let servers = match carrier {
            Carrier::InProcess => None,
            _ => Some(self.start_servers()?),
        };
        let mut client = self.start_client(servers.as_ref())?;
        let mut rows = Vec::new();
        while let Some(line) = client.line()? {
            match Event::from_line(&line) {
                Some(Event::Step(what)) => {
                    progress.step(&format!("{}, {place}: {what}", self.protocol.name));
                }
                Some(Event::Checked(finding)) => checks.push(finding),
                Some(Event::Measured(row)) => rows.push(row),
                Some(Event::Sent(_)) | None => {
                    return Err(Failure::because(format!(
                        "the client process said `{line}`, which means nothing"
                    )));
                }
            }
        }
        client.end()?;
        if let Some(Servers { server, raw, .. }) = servers {
            raw.end()?;
            if self.is_first {
                // The client has shut it down, which has to end it.
                let ended = server.join();
                let ended = ended.map_err(|failure| failure.sentence().to_owned());
                checks.push(Finding::ended(ended));
            } else {
                server.end()?;
            }
        }
        Ok(Section {
            protocol: self.protocol.name,
            raw: carrier.raw_name(),
            place: self.place,
            rows,
        })
    }

    fn start_servers(&self) -> Result<Servers, Failure> {
        let carrier = self.carrier();
        let endpoint = carrier.endpoint(self.scratch, &self.name);
        let serve = ["demo", "serve", "--until-input-ends", "--endpoint"];
        let serve: Vec<_> = serve.into_iter().chain([endpoint.as_str()]).collect();
        let mut server = self.start("server", self.place.server(), &serve)?;
        let references = server.lines_until_ready()?;
        let listen = carrier.raw_address(self.scratch, &self.name);
        let serve = ["demo", "raw", "serve", "--until-input-ends", "--listen"];
        let serve: Vec<_> = serve.into_iter().chain([listen.as_str()]).collect();
        let mut raw = self.start("raw peer", self.place.server(), &serve)?;
        let raw_address = raw.lines_until_ready()?.concat();
        Ok(Servers {
            server,
            references,
            raw,
            raw_address,
        })
    }

    fn start(
        &self,
        what: &'static str,
        cpu: Option<usize>,
        arguments: &[&str],
    ) -> Result<Process, Failure> {
        let mut arguments: Vec<_> = arguments.iter().map(|&text| text.to_owned()).collect();
        arguments.extend(self.carrier().options(self.realm));
        if let Some(cpu) = cpu {
            arguments.extend(["--pin".to_owned(), cpu.to_string()]);
        }
        Process::start(what, &arguments)
    }

    fn carrier(&self) -> Carrier {
        let together = matches!(self.place, Place::Together(_));
        self.protocol.carrier.on_one_cpu(together)
    }

    fn start_client(&self, servers: Option<&Servers>) -> Result<Process, Failure> {
        let rounds = self.effort.rounds.to_string();
        let slice = self.effort.slice.to_string();
        let call_back = format!("{}-back", self.name);
        let call_back = self.carrier().endpoint(self.scratch, &call_back);
        let options = self.carrier().client_options();
        let own_raw = self.carrier().raw_address(self.scratch, &self.name);
        let raw = servers.map_or(&own_raw, |servers| &servers.raw_address);
        let mut arguments = vec!["demo", "client", "--raw", raw, "--endpoint", &call_back];
        arguments.extend(options.iter().map(String::as_str));
        arguments.extend(["--rounds", &rounds, "--slice", &slice]);
        match servers {
            Some(servers) => {
                for (key, option) in [
                    ("Cube", "--cube"),
                    ("Receiver", "--receiver"),
                    ("Peer", "--peer"),
                ] {
                    arguments.extend([option, servers.server_reference(key)?]);
                }
            }
            None => arguments.extend(["--serve", &call_back]),
        }
        let server = self.place.server().map(|cpu| cpu.to_string());
        if let (Some(cpu), None) = (&server, servers) {
            arguments.extend(["--pin-server", cpu]);
        }
        if self.is_first {
            arguments.extend(["--check", "--shutdown"]);
        }
        self.start("client", self.place.client(), &arguments)
    }
}

/// The processes that a client calls.
struct Servers {
    server: Process,
    /// The lines with the references of the server.
    references: Vec<String>,
    raw: Process,
    raw_address: String,
}

impl Servers {
    fn server_reference(&self, key: &str) -> Result<&str, Failure> {
        reference_of(&self.references, key)
    }
}
