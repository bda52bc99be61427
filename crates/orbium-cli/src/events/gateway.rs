// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events gateway`.

use std::time::Duration;

use clap::Args;
use orbium::{Config, Orb, transport::Endpoint};
use orbium_event::Pattern;
use orbium_event_gateway::{DatagramConfig, End, Forwards, Gateway, GatewayConfig, GroupConfig};

use crate::failure::Failure;
use crate::object::{ping, reference};
use crate::output::announce;
use crate::serving::{Ending, because};

#[derive(Debug, Args)]
pub(super) struct GatewayArgs {
    /// The source of events: the reference of a channel, udp:HOST:PORT, a table of such addresses
    /// udp:type:KEY@ADDRESS:PORT,*@ADDRESS:PORT, or a group
    /// corbaloc:miop:1.0@1.0-DOMAIN-NUMBER/GROUP:PORT
    #[arg(value_name = "FROM")]
    from: String,
    /// Their destination, likewise; a multicast address is a group for udp: too
    #[arg(value_name = "TO")]
    to: String,
    /// Forward events in the opposite direction too
    #[arg(long)]
    both: bool,
    /// Forward all events, not only those to which consumers of the other channel subscribe
    #[arg(long)]
    all: bool,
    /// Ignore the time to live of events: for channels that exclude loops themselves
    #[arg(long)]
    no_ttl: bool,
    /// Sets of events that may wait to be forwarded
    #[arg(long, value_name = "SETS", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    queue: u32,
    /// Bytes of a datagram
    #[arg(long, value_name = "BYTES", default_value = "1024", value_parser = clap::value_parser!(u32).range(40..=65_507))]
    mtu: u32,
    /// Datagrams carry a CRC-32, and are dropped if it is wrong
    #[arg(long)]
    crc: bool,
    /// The interface of a group: its name, index or address
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Networks that the packets of an object group pass: the time to live of IP
    #[arg(long, value_name = "HOPS", default_value = "1", value_parser = clap::value_parser!(u8).range(1..))]
    hops: u8,
    /// Endpoint of this program for the calls of channels; a host or address that they can reach
    #[arg(long, value_name = "URL", default_value = "iiop://localhost:0")]
    endpoint: Endpoint,
    /// Seconds that each call to a channel may take
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = ping::seconds)]
    timeout: Duration,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
    /// End at the end of standard input, as it ends with the parent process.
    #[arg(long, hide = true)]
    until_input_ends: bool,
}

pub(super) fn run(args: &GatewayArgs) -> Result<(), Failure> {
    let mut config = Config {
        endpoints: vec![args.endpoint.clone()],
        ..Config::default()
    };
    reference::complete(&mut config, &args.protocols, Some(args.timeout))?;
    let orb = Orb::new(config).map_err(because)?;
    let (from, to) = (end(&args.from)?, end(&args.to)?);
    let start = |from, to| Gateway::start(&orb, from, to, gateway_config(args)).map_err(because);
    let mut gateways = vec![start(&from, &to)?];
    if args.both {
        gateways.push(start(&to, &from)?);
    }
    let ending = Ending::new()?;
    announce("READY\n")?;
    ending.wait(args.until_input_ends)?;
    for gateway in gateways {
        let counts = gateway.statistics();
        let of_group = match (counts.own, counts.missing) {
            (0, 0) => String::new(),
            (own, missing) => format!(", {own} of the own channel, {missing} sets missing"),
        };
        announce(&format!(
            "{} events forwarded, {} expired, {} lost{of_group}; connected {} times\n",
            counts.forwarded, counts.expired, counts.lost, counts.connections
        ))?;
    }
    orb.shutdown(true).map_err(because)
}

/// The end that an argument names: a channel's reference may be in a file.
fn end(argument: &str) -> Result<End, Failure> {
    let Ok(end) = argument.parse();
    Ok(match end {
        End::Channel(argument) => End::Channel(reference::text(&argument)?),
        end => end,
    })
}

fn gateway_config(args: &GatewayArgs) -> GatewayConfig {
    GatewayConfig {
        forwards: if args.all {
            Forwards::Pattern(Pattern::Null)
        } else {
            Forwards::Subscribed
        },
        uses_ttl: !args.no_ttl,
        queue: args.queue as usize,
        datagrams: DatagramConfig {
            mtu: args.mtu as usize,
            crc: args.crc,
            interface: args.interface.clone(),
            ..DatagramConfig::default()
        },
        group: GroupConfig {
            hops: args.hops,
            interface: args.interface.clone(),
        },
        ..GatewayConfig::default()
    }
}
