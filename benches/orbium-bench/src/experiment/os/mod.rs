// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench os`: figures 32 to 36 of the paper. One high-priority client and a few low-priority
//! ones, within a host and between two, over sockets and shared memory, under each scheduling
//! class.

mod drawing;
mod places;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::peer::architecture::{Architecture, Lanes, reactive};
use crate::peer::programs::Peers;
use crate::report::file::write;
use crate::report::results::{DocsArgs, ResultArgs, Results};
use crate::stage::class::Class;
use crate::stage::clock::{stolen, stolen_since};
use crate::stage::network::link::{self, Link};
use crate::stage::network::transport::Transport;
use crate::stage::pacing::HIGH_PERIOD;
use crate::stage::real_time::HIGH;
use crate::stage::test_bed::{How, TestBed};
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::scratch::Scratch;
use orbium_cli::{Failure, output};
use places::{Findings, Place};

#[derive(Debug, Args)]
pub(crate) struct OsArgs {
    /// Scheduling classes of the high-priority client and lane, all if none is named
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    class: Vec<Class>,
    /// Placements of client and server with the transport between them, all if none is named
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    only: Vec<Place>,
    /// Numbers of low-priority clients [default: 0 to 5; in a quick run 0, 5]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    clients: Vec<usize>,
    /// Calls of the high-priority client with each number of others, twenty a second
    /// [default: 400; in a quick run 4]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
    /// The rate of the link between two hosts
    #[arg(long, value_name = "RATE", value_parser = link::rate, default_value = "155mbit")]
    link: String,
    /// File for the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-os.svg")]
    svg: PathBuf,
    #[command(flatten)]
    docs: DocsArgs,
    #[command(flatten)]
    results: ResultArgs,
}

impl OsArgs {
    fn classes(&self) -> &[Class] {
        match self.class.as_slice() {
            [] => Class::value_variants(),
            own => own,
        }
    }

    fn places(&self) -> &[Place] {
        match self.only.as_slice() {
            [] => Place::value_variants(),
            own => own,
        }
    }

    fn points(&self) -> Vec<usize> {
        match (self.clients.as_slice(), self.results.quick) {
            ([], true) => vec![0, 5],
            ([], false) => (0..=5).collect(),
            (own, _) => own.to_vec(),
        }
    }

    fn time(&self) -> Duration {
        let calls = if self.results.quick { 4 } else { 400 };
        HIGH_PERIOD * self.calls.unwrap_or(calls)
    }
}

/// Server and client of a place and a class, with their findings.
struct Contender {
    found: Findings,
    test_bed: TestBed,
}

impl Contender {
    fn start(
        place: Place,
        class: Class,
        sockets: &Path,
        link: Option<&Link>,
    ) -> Result<Self, Failure> {
        class.can_have(HIGH).map_err(Failure::because)?;
        let how = How {
            link,
            ..How::default()
        };
        let folder = sockets.join(format!("{place}-{class}"));
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
        let server = architecture(place.transport(), class, &folder);
        Ok(Self {
            test_bed: TestBed::start(&server, &Peers::none(), how)?,
            found: Findings::new(place, class),
        })
    }

    fn measure(&mut self, clients: usize, time: Duration) -> Result<(), Failure> {
        let class = self.found.class;
        let question = format!("paced {clients} {} {class}", time.as_millis());
        let answer = self.test_bed.ask(&question, time)?;
        self.found.add(clients, &answer);
        Ok(())
    }

    /// Ends its processes, and returns its findings.
    fn end(self, notes: &mut Vec<String>) -> Findings {
        let name = self.found.name();
        self.test_bed.end_noting(&name, notes);
        notes.extend(
            self.found
                .refused
                .as_ref()
                .map(|reason| format!("{name}: the high-priority client: {reason}")),
        );
        self.found
    }
}

/// A reactor for each of two priorities.
fn architecture(transport: Transport, class: Class, sockets: &Path) -> Architecture {
    let mut own = reactive(Lanes::Each);
    own.server.extend(["--class".to_owned(), class.to_string()]);
    own.server
        .extend(["--transport".to_owned(), transport.to_string()]);
    own.server
        .extend(["--sockets".to_owned(), sockets.display().to_string()]);
    own
}

pub(crate) fn run(args: &OsArgs) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let mut notes: Vec<String> = kernel().into_iter().collect();
    let remote = args.places().contains(&Place::Remote);
    let link = match remote.then(|| Link::new(&args.link)).transpose() {
        Ok(link) => link,
        Err(failure) => {
            notes.push(failure.sentence().to_owned());
            None
        }
    };
    notes.extend(link.is_some().then(|| over_a_link(&args.link)));
    let begin = stolen();
    let mut contenders = start(args, scratch.folder(), link.as_ref(), &mut notes);
    let points = args.points();
    let mut progress = Progress::new(points.len() * contenders.len());
    for clients in points {
        // All of them alternately, so that a slow period of the machine affects all.
        contenders.retain_mut(|contender| {
            let name = contender.found.name();
            progress.step(&format!("{clients} low-priority clients: {name}"));
            let measured = contender.measure(clients, args.time());
            measured
                .inspect_err(|failure| notes.push(lost(&name, failure)))
                .is_ok()
        });
    }
    progress.clear();
    let end = |contender: Contender| contender.end(&mut notes);
    let found: Vec<_> = contenders.into_iter().map(end).collect();
    notes.extend(stolen_since(begin));
    write(&args.svg, &drawing::draw(&found)?)?;
    output::print(&format!("{}\n", places::to_text(&found)))?;
    let results = Results {
        rows: found.iter().flat_map(Findings::rows).collect(),
        notes,
        own: json!({ "systems": found.iter().map(Findings::to_json).collect::<Value>() }),
    };
    results.finish(&args.results, Some(&args.svg))?;
    results.publish(&args.docs, "os", args.results.quick)
}

/// Starts the systems that can be started, and notes the failures of the others.
fn start(
    args: &OsArgs,
    sockets: &Path,
    link: Option<&Link>,
    notes: &mut Vec<String>,
) -> Vec<Contender> {
    let mut contenders = Vec::new();
    for place in args.places() {
        let between = link.filter(|_| *place == Place::Remote);
        if *place == Place::Remote && between.is_none() {
            continue;
        }
        for class in args.classes() {
            match Contender::start(*place, *class, sockets, between) {
                Ok(contender) => contenders.push(contender),
                Err(failure) => {
                    let name = Findings::new(*place, *class).name();
                    notes.push(lost(&name, &failure));
                }
            }
        }
    }
    contenders
}

fn over_a_link(rate: &str) -> String {
    format!("Remote: two hosts (network name spaces of one kernel) with {rate} between them.")
}

/// The version of the kernel, with its preemption model.
fn kernel() -> Option<String> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok();
    let (release, version) = (read("osrelease")?, read("version")?);
    Some(format!("Kernel: {} {}.", release.trim(), version.trim()))
}

fn lost(name: &str, failure: &Failure) -> String {
    format!("{name} is left out: {}", failure.sentence())
}
