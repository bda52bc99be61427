// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways over datagrams: to one receiver over UDP, and to a group of two.

use std::time::Duration;

use super::flood::Flood;
use crate::demo::announcement::reference_of;
use crate::demo::event::Event;
use crate::demo::place::Place;
use crate::demo::report::Report;
use crate::failure::Failure;
use crate::stage::child::Process;
use crate::stage::progress::Progress;

/// Operations that are sent for a slice of time, over both protocols.
pub(crate) const SLICES: u32 = 6;

/// Steps of the progress.
pub(crate) const STEPS: usize = 2 + SLICES as usize;

/// An address of the organisation-local scope, and the interface that does not leave the host.
const GROUP: &str = "239.255.0.7";
const LOOPBACK: &str = "lo";

/// Sends over both protocols, and adds the results to the report.
pub(crate) fn play(
    place: Place,
    slice: Duration,
    progress: &mut Progress,
    report: &mut Report,
) -> Result<(), Failure> {
    progress.step("UDP: starting");
    let server = Member::start(place, "diop://127.0.0.1:0", &[])?;
    let stage = Stage {
        protocol: "UDP",
        to: server.receiver()?.to_owned(),
        options: vec!["--protocols".into(), "diop".into()],
        members: vec![server],
        place,
        slice,
    };
    stage.play(progress, report)?;
    if !cfg!(target_os = "linux") {
        let note = "Multicast is not measured: the loopback interface has another name here.";
        report.notes.push(note.into());
        return Ok(());
    }
    progress.step("multicast: starting");
    // A group of this run alone; the port is that of the first member.
    let group = format!("orbium-{}", std::process::id());
    let join = ["--join", &group];
    let first = format!("miop://{GROUP}:0?interface={LOOPBACK}");
    let first = Member::start(place, &first, &join)?;
    let to = reference_of(&first.lines, "Group")?.to_owned();
    let at = to.rsplit_once('/').map_or("", |(_, at)| at);
    let second = format!("miop://{at}?interface={LOOPBACK}");
    let second = Member::start(place, &second, &join)?;
    let stage = Stage {
        protocol: "multicast",
        to,
        options: vec!["--interface".into(), LOOPBACK.into()],
        members: vec![first, second],
        place,
        slice,
    };
    stage.play(progress, report)
}

/// A server process that can be asked for its counts.
struct Member {
    process: Process,
    lines: Vec<String>,
}

impl Member {
    fn start(place: Place, endpoint: &str, options: &[&str]) -> Result<Self, Failure> {
        let serve = ["demo", "serve", "--until-input-ends"];
        let endpoints = ["--endpoint", "iiop://127.0.0.1:0", "--endpoint", endpoint];
        let arguments = serve.iter().chain(&endpoints).chain(options);
        let mut arguments: Vec<_> = arguments.map(|&text| text.to_owned()).collect();
        arguments.extend(place.server().map(pinned).into_iter().flatten());
        let mut process = Process::start("server", &arguments)?;
        let lines = process.lines_until_ready()?;
        Ok(Self { process, lines })
    }

    fn receiver(&self) -> Result<&str, Failure> {
        reference_of(&self.lines, "Receiver")
    }
}

/// The option that pins a process to a CPU.
fn pinned(cpu: usize) -> [String; 2] {
    ["--pin".to_owned(), cpu.to_string()]
}

/// A sender and its receivers.
struct Stage {
    protocol: &'static str,
    to: String,
    /// Options of the sender.
    options: Vec<String>,
    members: Vec<Member>,
    /// The CPUs of the sender, as client, and of the receivers.
    place: Place,
    slice: Duration,
}

impl Stage {
    fn play(self, progress: &mut Progress, report: &mut Report) -> Result<(), Failure> {
        let slice = self.slice.as_millis().max(5).to_string();
        let mut arguments = vec!["demo", "oneways", "--slice", &slice, "--to", &self.to];
        arguments.extend(self.options.iter().map(String::as_str));
        for member in &self.members {
            arguments.extend(["--ask", member.receiver()?]);
        }
        let mut arguments: Vec<_> = arguments.into_iter().map(str::to_owned).collect();
        arguments.extend(self.place.client().map(pinned).into_iter().flatten());
        let mut sender = Process::start("sender", &arguments)?;
        let (mut checks, mut rows) = (Vec::new(), Vec::new());
        while let Some(line) = sender.line()? {
            match Event::from_line(&line) {
                Some(Event::Step(what)) => progress.step(&format!("{}: {what}", self.protocol)),
                Some(Event::Checked(finding)) => checks.push(finding),
                Some(Event::Sent(sent)) => rows.push(sent),
                Some(Event::Measured(_)) | None => {
                    return Err(Failure::because(format!(
                        "the sender process said `{line}`, which means nothing"
                    )));
                }
            }
        }
        sender.end()?;
        for member in self.members {
            member.process.end()?;
        }
        report.checks.push((self.protocol, checks));
        report.floods.push(Flood {
            protocol: self.protocol,
            place: self.place,
            rows,
        });
        Ok(())
    }
}
