// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server process and a client process that calls it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::peer::architecture::{Architecture, Kind};
use crate::peer::programs::Peers;
use crate::stage::network::link::{self, Link};
use crate::statistics::recorder;
use orbium_cli::Failure;
use orbium_cli::stage::child::Process;

/// The manner of starting the processes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How<'a> {
    /// Whether omniORB's processes count operations on locks.
    pub(crate) counted: bool,
    /// Files into which strace writes the futex calls of server and client.
    pub(crate) strace: Option<(&'a Path, &'a Path)>,
    /// Files into which perf samples server and client.
    pub(crate) samples: Option<(&'a Path, &'a Path)>,
    /// The hosts of the processes; without a link, this host.
    pub(crate) link: Option<&'a Link>,
}

/// Both processes, ready for commands.
#[derive(Debug)]
pub(crate) struct TestBed {
    server: Process,
    client: Process,
    /// The announcements of the server: names and values.
    announced: Vec<(String, String)>,
}

impl TestBed {
    /// Starts both.
    pub(crate) fn start(
        architecture: &Architecture,
        peers: &Peers,
        how: How<'_>,
    ) -> Result<Self, Failure> {
        let mut command = program(architecture.kind, "server", peers, how)?;
        command.args(&architecture.server);
        if how.link.is_some() {
            command.args(listening_at(architecture.kind, link::SERVER)?);
        }
        let mut server = Process::spawn("server", &mut command)?;
        let lines = server.lines_until_ready()?;
        let announced: Vec<_> = lines
            .iter()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, what)| (name.to_owned(), what.to_owned()))
            .collect();
        let mut command = program(architecture.kind, "client", peers, how)?;
        command.args(&architecture.client);
        if architecture.kind == Kind::Raw {
            command.args(["--raw", lines.first().map_or("", String::as_str)]);
        }
        for (name, reference) in &announced {
            if reference.starts_with("IOR:") {
                command.args(["--object", &format!("{name}={reference}")]);
            }
        }
        let mut client = Process::spawn("client", &mut command)?;
        client.lines_until_ready()?;
        Ok(Self {
            server,
            client,
            announced,
        })
    }

    /// The values that the server announced under a name.
    pub(crate) fn announced(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self
            .announced
            .iter()
            .filter(move |(known, _)| known == name);
        found.map(|(_, what)| what.as_str())
    }

    /// Sends the client a command and returns its findings, for which it waits for `patience`.
    pub(crate) fn ask(&mut self, what: &str, patience: Duration) -> Result<Value, Failure> {
        parse(&self.client.ask(what, patience)?)
    }

    /// Sends the server a query.
    pub(crate) fn ask_server(&mut self, what: &str) -> Result<Value, Failure> {
        parse(&self.server.ask(what, Duration::ZERO)?)
    }

    /// Ends both.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.client.end()?;
        self.server.end()
    }

    /// Ends both, and notes under a name the announcements of the server, and failures to end.
    pub(crate) fn end_noting(self, name: &str, notes: &mut Vec<String>) {
        let own = self.announced("note");
        notes.extend(own.map(|note| format!("{name}: {note}")));
        if let Err(failure) = self.end() {
            notes.push(format!("{name}, at its end: {}", failure.sentence()));
        }
    }
}

/// Parses the reply of a process.
pub(crate) fn parse(line: &str) -> Result<Value, Failure> {
    serde_json::from_str(line)
        .map_err(|_| Failure::because(format!("a process said `{line}`, which means nothing")))
}

/// The options with which a server of that kind listens at an address.
fn listening_at(kind: Kind, address: &str) -> Result<[String; 2], Failure> {
    match kind {
        Kind::Orbium => Ok(["--host".to_owned(), address.to_owned()]),
        Kind::Omni => Ok(["-ORBendPoint".to_owned(), format!("giop:tcp:{address}:")]),
        Kind::Raw | Kind::Jacorb => Err(Failure::because("listens on the loopback interface only")),
    }
}

/// The command that starts a program in a role.
fn start<'a>(role: &str, program: &OsStr, how: How<'a>) -> Command {
    let own = |files: Option<(&'a Path, &'a Path)>| {
        let (server, client) = files.unzip();
        if role == "server" { server } else { client }
    };
    match (own(how.strace), own(how.samples), how.link) {
        (Some(file), _, _) => {
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "--seccomp-bpf"]);
            strace.args(["-e", "trace=futex", "-e", "signal=none", "-o"]);
            strace.arg(file).arg(program);
            strace
        }
        (None, Some(file), _) => {
            let mut perf = recorder::command(file);
            perf.arg(program);
            perf
        }
        (None, None, Some(link)) => link.on_host(role, program),
        (None, None, None) => Command::new(program),
    }
}

/// Makes Java write its compiled symbols at the end, in the file that perf reads.
const JAVA_SYMBOLS: &str = "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";

/// The program of an architecture in a role.
fn program(kind: Kind, role: &str, peers: &Peers, how: How<'_>) -> Result<Command, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::because(format!("this program is not to be found: {error}")))?;
    let gone = || Failure::because("the program of a peer is gone");
    let program = match kind {
        Kind::Raw | Kind::Orbium => own,
        Kind::Omni if how.counted => peers.omni_counted().ok_or_else(gone)?,
        Kind::Omni => peers.omni().ok_or_else(gone)?,
        Kind::Jacorb => peers.jacorb().ok_or_else(gone)?,
    };
    let mut command = start(role, program.as_ref(), how);
    match (kind, role) {
        (Kind::Raw, "server") => command.args(["demo", "raw", "serve", "--until-input-ends"]),
        (_, role) => command.arg(role),
    };
    if kind == Kind::Jacorb {
        // Its logging complains about missing outputs.
        command.stderr(Stdio::null());
        if how.samples.is_some() {
            command.env("JAVA_TOOL_OPTIONS", JAVA_SYMBOLS);
        }
    }
    Ok(command)
}
