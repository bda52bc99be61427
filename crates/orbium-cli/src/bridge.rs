// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bridge`: relays requests from one protocol to another.

use clap::Args;
use orbium::{Bridge, Config, protocol::Channel, transport::Endpoint};

use crate::failure::Failure;
use crate::load::LoadArgs;
use crate::object::reference;
use crate::output::announce;
use crate::serving::{Ending, because};
use crate::tls::TlsArgs;

#[derive(Debug, Args)]
pub(crate) struct BridgeArgs {
    /// Endpoint for clients: iiop://HOST:PORT, uiop:///PATH …; may be repeated
    #[arg(long = "listen", value_name = "URL", required = true)]
    listen: Vec<Endpoint>,
    /// Endpoint of the server, written in the same way
    #[arg(long, value_name = "URL")]
    to: Channel,
    /// A reference to an object of the server: printed as clients of the bridge need it; may be
    /// repeated
    #[arg(long = "ref", value_name = "REF")]
    references: Vec<String>,
    /// End at the end of standard input, as it ends with the parent process.
    #[arg(long, hide = true)]
    until_input_ends: bool,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    tls: TlsArgs,
}

pub(crate) fn run(args: &BridgeArgs) -> Result<(), Failure> {
    let ending = Ending::new()?;
    let mut config = Config {
        endpoints: args.listen.clone(),
        ..Config::default()
    };
    args.load.add_to(&mut config)?;
    args.tls.add_to(&mut config)?;
    args.load.choose(&mut config)?;
    let bridge = Bridge::start(&config, args.to.clone()).map_err(because)?;
    let mut text = String::new();
    for channel in bridge.channels() {
        text.push_str(&format!("{channel} -> {}\n", args.to));
    }
    for argument in &args.references {
        let ior = reference::ior(argument)?;
        let rewritten = bridge.rewrite(&ior);
        if rewritten == ior {
            return Err(Failure::because(format!(
                "nothing in the reference leads to {}",
                args.to
            )));
        }
        text.push_str(&format!("{rewritten}\n"));
    }
    text.push_str("READY\n");
    announce(&text)?;
    ending.wait(args.until_input_ends)
}
