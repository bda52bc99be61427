// SPDX-License-Identifier: MIT OR Apache-2.0
//! The peers, with their command lines for serving and calling.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::peer::built::Programs;
use crate::peer::contender::Peer;
use crate::peer::server::{Server, Under};
use crate::peer::way::Way;
use xtask::outcome::Outcome;

/// A closed loop of one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// The operation.
    pub(crate) operation: &'static str,
    /// The number of its elements.
    pub(crate) size: u32,
    /// Octets of its request and of its reply as GIOP 1.2 messages, with an object key of 20
    /// octets; 0 for the reply of a oneway. The raw peer moves the same numbers.
    octets: (u64, u64),
}

impl Work {
    /// A loop of that operation.
    pub(crate) const fn new(operation: &'static str, size: u32, octets: (u64, u64)) -> Self {
        Self {
            operation,
            size,
            octets,
        }
    }

    /// The exchange of the raw peer in place of so many outstanding calls.
    pub(crate) const fn batch_of(mut self, calls: u64) -> Self {
        self.octets = (self.octets.0 * calls, self.octets.1 * calls);
        self
    }

    fn is_oneway(&self) -> bool {
        self.octets.1 == 0
    }

    /// The object with the operation.
    fn object(&self) -> &'static str {
        let ttcp = self.operation.ends_with("_structs") || self.operation.starts_with("send_");
        if ttcp { "receiver" } else { "cube" }
    }
}

/// The length of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    /// The number of measured calls.
    pub(crate) calls: u64,
    /// Whether the clock is read at every call.
    pub(crate) timed: bool,
}

/// The measurements of a client.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Nanoseconds of the median call.
    pub(crate) median: f64,
    /// Nanoseconds that one call in a hundred exceeds.
    pub(crate) p99: f64,
    /// Nanoseconds of all calls.
    pub(crate) total: f64,
}

/// A serving peer.
pub(crate) struct Serving<'a> {
    programs: &'a Programs,
    peer: Peer,
    server: Server,
    /// The folder of its references.
    folder: PathBuf,
    /// The address of the raw server.
    address: String,
    way: Way<'a>,
}

impl<'a> Serving<'a> {
    /// Starts the server of a peer, over TCP.
    pub(crate) fn start(programs: &'a Programs, peer: Peer, under: &Under) -> Outcome<Self> {
        Self::start_over(programs, peer, Way::TCP, under)
    }

    /// Starts the server of a peer, over a transport that it supports.
    pub(crate) fn start_over(
        programs: &'a Programs,
        peer: Peer,
        way: Way<'a>,
        under: &Under,
    ) -> Outcome<Self> {
        let folder = programs.scratch.join(peer.name());
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut address = String::new();
        // Both write this file last.
        let ready = folder.join("receiver.ior");
        let server = match peer {
            Peer::Raw => {
                let mut command = under.command(&programs.orbium);
                way.remove_raw();
                command
                    .args(["demo", "raw", "serve", "--listen", &way.raw_address()])
                    .args(way.options());
                let (server, line) = Server::ready_by_output(&mut command)?;
                address = line;
                server
            }
            Peer::Orbium => {
                let mut command = under.command(&programs.orbium);
                command
                    .args(["demo", "serve", "--endpoint", &way.endpoint()])
                    .args(way.options())
                    .arg("--ior-dir")
                    .arg(&folder);
                Server::ready_by_file(&mut command, &ready)?
            }
            Peer::Omni => {
                way.remove_raw();
                let endpoint = way.omni_endpoint();
                let endpoint = endpoint.ok_or("omniORB has no such transport")?;
                let mut command = under.command(&omni(programs, "omni-server")?);
                command
                    .arg(&folder)
                    .args(["-ORBendPoint", &endpoint])
                    // Otherwise several threads serve the oneways of one connection, which is
                    // slower and loses their order.
                    .args(["-ORBmaxServerThreadPerConnection", "1"]);
                Server::ready_by_file(&mut command, &ready)?
            }
        };
        Ok(Self {
            programs,
            peer,
            server,
            folder,
            address,
            way,
        })
    }

    /// Runs a client to its end.
    pub(crate) fn call(&self, work: &Work, length: Length, under: &Under) -> Outcome<Sample> {
        let reference = self.reference(work);
        let command = match self.peer {
            Peer::Raw => self.raw_client(work, length, under),
            Peer::Orbium => self.orbium_client(work, length, under, &reference),
            Peer::Omni => self.omni_client(work, length, under, &reference)?,
        };
        self.run(command, work)
    }

    /// Invokes an operation asynchronously in orbium's client, with so many outstanding
    /// invocations.
    pub(crate) fn call_outstanding(
        &self,
        work: &Work,
        (calls, outstanding): (u64, u64),
        under: &Under,
    ) -> Outcome<Sample> {
        let length = Length {
            calls,
            timed: false,
        };
        let mut command = self.orbium_client(work, length, under, &self.reference(work));
        command.args(["--outstanding", &outstanding.to_string()]);
        self.run(command, work)
    }

    /// Sends oneways in batches of so many octets in orbium's client.
    pub(crate) fn call_buffered(
        &self,
        work: &Work,
        length: Length,
        octets: u32,
        under: &Under,
    ) -> Outcome<Sample> {
        let mut command = self.orbium_client(work, length, under, &self.reference(work));
        command.args(["--buffer", &octets.to_string()]);
        self.run(command, work)
    }

    fn reference(&self, work: &Work) -> PathBuf {
        self.folder.join(work.object()).with_extension("ior")
    }

    fn run(&self, mut command: Command, work: &Work) -> Outcome<Sample> {
        let output = command
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        if !output.status.success() {
            return Err(format!(
                "the client of {} ended with {} at {}",
                self.peer.name(),
                output.status,
                work.operation
            ));
        }
        parse(&String::from_utf8_lossy(&output.stdout))
    }

    /// Ends the server, so that the tool under which it runs writes its file.
    pub(crate) fn end(self) -> Outcome<()> {
        self.server.end()
    }

    fn raw_client(&self, work: &Work, length: Length, under: &Under) -> Command {
        // A flood is one exchange of many requests and a single octet as reply.
        let (reply, every, calls) = if work.is_oneway() {
            (1, length.calls, 1)
        } else {
            (work.octets.1, 1, length.calls)
        };
        let mut command = under.command(&self.programs.orbium);
        command
            .args(["demo", "raw", "call", "--json", "--to", &self.address])
            .args(["--request", &work.octets.0.to_string()])
            .args(["--reply", &reply.to_string()])
            .args(["--every", &every.to_string()])
            .args(["--calls", &calls.to_string()])
            .args(self.way.options());
        command
    }

    fn orbium_client(
        &self,
        work: &Work,
        length: Length,
        under: &Under,
        reference: &Path,
    ) -> Command {
        let mut command = under.command(&self.programs.orbium);
        command
            .args(["demo", "call", "--json", "--ref"])
            .arg(reference)
            .args(["--op", work.operation])
            .args(["--calls", &length.calls.to_string()])
            .args(self.way.options())
            .args(self.way.client_options());
        if work.size > 0 {
            command.args(["--size", &work.size.to_string()]);
        }
        if !length.timed {
            command.arg("--untimed");
        }
        command
    }

    fn omni_client(
        &self,
        work: &Work,
        length: Length,
        under: &Under,
        reference: &Path,
    ) -> Outcome<Command> {
        let mut command = under.command(&omni(self.programs, "omni-client")?);
        command
            .arg(reference)
            .arg(work.operation)
            .args([length.calls, u64::from(work.size)].map(|n| n.to_string()));
        if !length.timed {
            command.arg("untimed");
        }
        Ok(command)
    }
}

fn omni(programs: &Programs, program: &str) -> Outcome<PathBuf> {
    let folder = programs.omni.as_ref().ok_or("omniORB is not there")?;
    Ok(folder.join(program))
}

fn parse(json: &str) -> Outcome<Sample> {
    let value: Value =
        serde_json::from_str(json.trim()).map_err(|error| format!("{error} in {json:?}"))?;
    let number = |key: &str| value.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    // A raw flood is one exchange, with the time of all calls.
    let total = match number("seconds") {
        0.0 => number("median_ns"),
        seconds => seconds * 1e9,
    };
    Ok(Sample {
        median: number("median_ns"),
        p99: number("p99_ns"),
        total,
    })
}
