// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a server and a client with probes for each protocol and size.

use orbium::probe::Point;
use serde_json::{Value, json};

use super::profile::Profile;
use super::{WhiteboxArgs, figures, tables};
use crate::bench::protocols::{self, PROTOCOLS, Protocol};
use crate::demo::child::Process;
use crate::demo::pin;
use crate::demo::progress::Progress;
use crate::demo::realm::Realm;
use crate::demo::scratch::Scratch;
use crate::failure::Failure;
use crate::output;

/// Octets of the sequences of figure 8.
pub(super) const SIZES: [u32; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

/// What was found of one protocol with one operation.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) protocol: &'static str,
    /// Octets of the sequence; `None` for no parameter at all.
    pub(super) size: Option<u32>,
    pub(super) client: Profile,
    pub(super) server: Profile,
}

/// The parts of a round trip, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) orb: f64,
    pub(super) transport: f64,
    pub(super) messaging: f64,
    pub(super) system: f64,
}

const ORB: [Point; 10] = [
    Point::Initialisation,
    Point::ObjectReference,
    Point::Marshal,
    Point::Unmarshal,
    Point::Release,
    Point::ObjectKey,
    Point::PoaDemux,
    Point::ServantDemux,
    Point::OperationDemux,
    Point::Upcall,
];
const TRANSPORT: [Point; 2] = [Point::TransportSend, Point::TransportReceive];
const MESSAGING: [Point; 2] = [Point::MessagingSend, Point::MessagingReceive];

impl Measured {
    /// Both sides together. What the client waits for and the server does not
    /// need is the system's.
    pub(super) fn parts(&self) -> Parts {
        let both = |points: &[Point]| self.client.steps(points) + self.server.steps(points);
        let (orb, transport, messaging) = (both(&ORB), both(&TRANSPORT), both(&MESSAGING));
        let waiting = self.client.steps(&[Point::IoSend, Point::IoReceive]);
        let serving =
            self.server.steps(&ORB) + self.server.steps(&TRANSPORT) + self.server.steps(&MESSAGING);
        Parts {
            orb,
            transport,
            messaging,
            system: (waiting - serving).max(0.0),
        }
    }

    fn to_json(&self) -> Value {
        let parts = self.parts();
        json!({
            "protocol": self.protocol,
            "octets": self.size,
            "client": self.client.to_json(),
            "server": self.server.to_json(),
            "orb": parts.orb,
            "transport": parts.transport,
            "messaging": parts.messaging,
            "os_and_io": parts.system,
        })
    }
}

pub(crate) fn run(args: &WhiteboxArgs) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let stage = Stage {
        realm: Realm::new(scratch.folder())?,
        scratch,
        cpu: pin::choose(),
        calls: if args.quick { 500 } else { 10_000 },
    };
    let here: Vec<_> = PROTOCOLS.iter().filter(|known| stage.has(known)).collect();
    let mut progress = Progress::new(here.len() + SIZES.len());
    let mut by_protocol = Vec::new();
    for protocol in &here {
        progress.step(protocol.name);
        by_protocol.push(stage.measure(protocol, None)?);
    }
    let mut by_size = Vec::new();
    for size in SIZES {
        progress.step(&format!("{size} octets"));
        by_size.push(stage.measure(here[0], Some(size))?);
    }
    progress.clear();
    output::print(&tables::to_text(&by_protocol))?;
    output::print(&figures::to_text(&by_protocol, &by_size))?;
    protocols::write(&args.svg, &figures::draw(&by_protocol, &by_size))?;
    output::print(&format!("\nThe figures are in {}.\n", args.svg.display()))?;
    if let Some(path) = &args.json {
        let all = |of: &[Measured]| of.iter().map(Measured::to_json).collect::<Value>();
        let whole = json!({
            "orbium": env!("CARGO_PKG_VERSION"),
            "quick": args.quick,
            "pinned_to_cpu": stage.cpu,
            "by_protocol": all(&by_protocol),
            "by_size": all(&by_size),
        });
        protocols::write(path, &format!("{whole:#}\n"))?;
    }
    Ok(())
}

struct Stage {
    scratch: Scratch,
    realm: Realm,
    cpu: Option<usize>,
    calls: u32,
}

impl Stage {
    /// Whoever spins needs a CPU of its own, and here is one for all.
    fn has(&self, protocol: &Protocol) -> bool {
        let carrier = protocol.carrier;
        carrier.is_here() && carrier.on_one_cpu(true) == carrier
    }

    fn measure(&self, protocol: &'static Protocol, size: Option<u32>) -> Result<Measured, Failure> {
        let name = size.map_or_else(|| "whitebox".to_owned(), |size| format!("whitebox-{size}"));
        let files = ["client", "server"].map(|side| self.scratch.path(&format!("{name}-{side}")));
        let [client, server] = &files;
        let mut more = self.pin();
        more.extend(["--probes".to_owned(), server.clone()]);
        let (serving, cube) = protocol.serve(&self.scratch, &self.realm, &name, &more)?;
        let (operation, size_text) = match size {
            None => ("noop", "0".to_owned()),
            Some(size) => ("echo_octets", size.to_string()),
        };
        let calls = self.calls.to_string();
        let arguments = ["demo", "call", "--untimed", "--json", "--ref", &cube];
        let arguments = arguments.into_iter().chain(["--op", operation]);
        let arguments = arguments.chain(["--size", &size_text, "--calls", &calls]);
        let arguments = arguments.chain(["--probes", client.as_str()]);
        let mut arguments: Vec<_> = arguments.map(str::to_owned).collect();
        arguments.extend(protocol.carrier.options(&self.realm));
        arguments.extend(protocol.carrier.client_options());
        arguments.extend(self.pin());
        let mut calling = Process::start("client", &arguments)?;
        while calling.line()?.is_some() {}
        calling.join()?;
        serving.end()?;
        Ok(Measured {
            protocol: protocol.name,
            size,
            client: Profile::read(client)?,
            server: Profile::read(server)?,
        })
    }

    fn pin(&self) -> Vec<String> {
        let cpu = self.cpu.map(|cpu| ["--pin".to_owned(), cpu.to_string()]);
        cpu.into_iter().flatten().collect()
    }
}
