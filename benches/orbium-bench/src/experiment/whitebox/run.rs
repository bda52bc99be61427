// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a server and a client with probes for each protocol and size.

use orbium_cli::stage::child::Process;
use orbium_cli::stage::pin;
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::realm::Realm;
use orbium_cli::stage::scratch::Scratch;
use orbium_cli::{Failure, output};
use serde_json::{Value, json};

use super::args::WhiteboxArgs;
use super::measured::Measured;
use super::profile::Profile;
use super::{figures, tables};
use crate::experiment::protocols::{PROTOCOLS, Protocol};
use crate::report::file::write;

/// Octets of the sequences of figure 8.
pub(super) const SIZES: [u32; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

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
    write(&args.svg, &figures::draw(&by_protocol, &by_size)?)?;
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
        write(path, &format!("{whole:#}\n"))?;
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
    /// Whether a protocol can be measured: a spinning one needs a CPU for each side, but here both
    /// share one.
    fn has(&self, protocol: &Protocol) -> bool {
        let carrier = protocol.carrier;
        carrier.is_here() && carrier.on_one_cpu(true) == carrier
    }

    fn measure(&self, protocol: &'static Protocol, size: Option<u32>) -> Result<Measured, Failure> {
        let name = size.map_or_else(|| "whitebox".to_owned(), |size| format!("whitebox-{size}"));
        let files = ["client", "server"].map(|side| self.scratch.path(&format!("{name}-{side}")));
        let [client, server] = &files;
        let place = (&self.scratch, &self.realm);
        let probed = ["probed", "server", server, "demo"];
        let (serving, cube) = protocol.serve(&probed, place, &name, &self.pin())?;
        let (operation, size_text) = match size {
            None => ("noop", "0".to_owned()),
            Some(size) => ("echo_octets", size.to_string()),
        };
        let calls = self.calls.to_string();
        let probed = ["probed", "client", client, "demo"];
        let arguments = ["call", "--untimed", "--json", "--ref", &cube];
        let arguments = probed.into_iter().chain(arguments);
        let arguments = arguments.chain(["--op", operation]);
        let arguments = arguments.chain(["--size", &size_text, "--calls", &calls]);
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
