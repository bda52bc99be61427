// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client process of the demonstration: checks every operation, measures
//! some, and prints its findings.

use std::time::Duration;

use clap::Args;
use orbium::{Config, Interface, ObjectRef, Orb, transport::Endpoint};
use orbium_demo::check::{self, Check, Facts, Outcome};
use orbium_demo::load::Load;
use orbium_demo::raw::{Client as RawClient, Exchange};

use super::answers::{PATIENCE, print};
use super::event::Event;
use super::own_server::OwnServer;
use super::raw::RawAddress;
use super::report::{Finding, Row, Verdict};
use crate::failure::Failure;
use crate::object::{ping, reference};
use crate::stage::contest::{Contestant, Runner};
use crate::stage::pin::PinArgs;
use crate::stage::timing::median;

/// The measured calls: a name for people, the operation, its elements.
pub(crate) const CASES: [(&str, Load, usize); 6] = [
    ("noop", Load::Noop, 0),
    ("cube_long", Load::CubeLong, 0),
    ("echo of 1 KiB octets", Load::EchoOctets, 1 << 10),
    ("echo of 64 KiB octets", Load::EchoOctets, 64 << 10),
    ("echo of 256 BinStruct", Load::EchoStructs, 256),
    ("echo of 256 Many", Load::EchoManys, 256),
];

#[derive(Debug, Args)]
pub(crate) struct ClientArgs {
    #[command(flatten)]
    served: ServedArgs,
    /// Serve the objects too, with an ORB of its own, at this endpoint
    #[arg(long, value_name = "URL", conflicts_with = "ServedArgs")]
    serve: Option<Endpoint>,
    /// Check every operation
    #[arg(long)]
    check: bool,
    /// Compare with the raw peer at this address
    #[arg(long, value_name = "ADDRESS")]
    raw: Option<RawAddress>,
    /// Endpoint for call-backs
    #[arg(long, value_name = "URL", default_value = "iiop://127.0.0.1:0")]
    endpoint: Endpoint,
    /// Number of rounds, in each of which both peers are measured
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: u32,
    /// Milliseconds for which each peer is measured per round
    #[arg(long, value_name = "MS", default_value_t = 50)]
    slice: u64,
    /// Call Cube::shutdown() at the end
    #[arg(long)]
    shutdown: bool,
    #[command(flatten)]
    pin: PinArgs,
    /// Run the server in this process on this CPU (Linux)
    #[arg(long, value_name = "CPU", hide = true)]
    pin_server: Option<usize>,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
}

/// The references of the objects, unless this process serves them.
#[derive(Debug, Args)]
struct ServedArgs {
    /// Reference of the cube
    #[arg(long, value_name = "REF", required_unless_present = "serve")]
    cube: Option<String>,
    /// Reference of the receiver
    #[arg(long, value_name = "REF", required_unless_present = "serve")]
    receiver: Option<String>,
    /// Reference of the peer
    #[arg(long, value_name = "REF", required_unless_present = "serve")]
    peer: Option<String>,
}

struct Objects {
    cube: ObjectRef,
    receiver: ObjectRef,
    peer: ObjectRef,
}

pub(crate) fn run(args: &ClientArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    let object = |text: &str| {
        // Measured calls have no deadline, as the raw peer has none.
        let object = reference::object(text, &args.protocols, None)?;
        match object.with_timeout(PATIENCE).locate() {
            Ok(_) => Ok(object),
            Err(exception) => {
                let reason = ping::explain(&object, PATIENCE, exception);
                Err(Failure::because(reason))
            }
        }
    };
    let serve = || args.serve.as_ref().map(OwnServer::start).transpose();
    let own = args.pin.on_another(args.pin_server, serve)??;
    let [cube, receiver, peer] = match &own {
        Some(own) => own.references.each_ref().map(String::as_str),
        // Without a server in this process the command line has them.
        None => [&args.served.cube, &args.served.receiver, &args.served.peer]
            .map(|text| text.as_deref().unwrap_or_default()),
    };
    let objects = Objects {
        cube: object(cube)?,
        receiver: object(receiver)?,
        peer: object(peer)?,
    };
    if args.check {
        print(&Event::Step("checking every operation".into()))?;
        check_all(&objects, args)?;
    }
    if let Some(raw) = &args.raw {
        measure_all(args, &objects, raw)?;
    }
    if args.shutdown {
        let cube = orbium_demo::cubit::Cube::from_object(objects.cube);
        print(&Event::Checked(finding(check::shutdown(&cube))))?;
        if let Some(own) = &own {
            print(&Event::Checked(Finding::ended(own.ended())))?;
        }
    }
    Ok(())
}

fn check_all(objects: &Objects, args: &ClientArgs) -> Result<(), Failure> {
    let mut config = Config {
        endpoints: vec![args.endpoint.clone()],
        call_timeout: Some(PATIENCE),
        protocols: reference::protocols(),
        ..Config::default()
    };
    args.protocols.add_to(&mut config)?;
    let orb = Orb::new(config).map_err(|error| Failure::because(error.to_string()))?;
    let again = |object: &ObjectRef| {
        let text = object.orb().object_to_string(object);
        let object = orb.string_to_object(&text).ok().flatten();
        object.ok_or_else(|| Failure::because("the reference is nil: it leads to no object"))
    };
    let facts = Facts::of_giop(orb.config().giop_minor.number());
    let cube = orbium_demo::cubit::Cube::from_object(again(&objects.cube)?);
    let receiver = orbium_demo::ttcp::Receiver::from_object(again(&objects.receiver)?);
    let peer = orbium_demo::kitchen::Peer::from_object(again(&objects.peer)?);
    let mut checks = check::cube(&cube, &facts);
    checks.extend(check::receiver(&receiver, &facts));
    checks.extend(check::peer(&orb, &peer, &facts));
    for check in checks {
        print(&Event::Checked(finding(check)))?;
    }
    orb.shutdown(true)
        .map_err(|exception| Failure::because(exception.to_string()))
}

fn finding(check: Check) -> Finding {
    Finding {
        name: check.name.to_owned(),
        verdict: match check.outcome {
            Outcome::Passed => Verdict::Passed,
            Outcome::Failed(reason) => Verdict::Failed(reason),
            Outcome::Skipped(reason) => Verdict::Skipped(reason),
        },
    }
}

fn measure_all(args: &ClientArgs, objects: &Objects, raw: &RawAddress) -> Result<(), Failure> {
    for (name, load, size) in CASES {
        let object = match load.object_key() {
            "Cube" => &objects.cube,
            _ => &objects.receiver,
        };
        let row = measure(args, name, load, size, object, raw)?;
        print(&Event::Measured(row))?;
    }
    Ok(())
}

/// Measures an operation and the raw peer alternately.
fn measure(
    args: &ClientArgs,
    name: &str,
    load: Load,
    size: usize,
    object: &ObjectRef,
    raw: &RawAddress,
) -> Result<Row, Failure> {
    load.verify(object, size)
        .map_err(|reason| Failure::because(format!("{name}: {reason}")))?;
    let connect = || raw.connect(&args.protocols.tls);
    let connected = args.pin.on_another(args.pin_server, connect)?;
    let mut socket = connected
        .and_then(|stream| RawClient::over(stream, exchange(load, size, object)))
        .map_err(|error| Failure::because(format!("cannot reach the raw peer: {error}")))?;
    let slice = Duration::from_millis(args.slice);
    let through_orb: Runner<'_> = Box::new(|calls, sample| {
        load.run(object, size, calls, Some(sample))
            .map_err(|exception| Failure::because(format!("{name}: {exception}")))
    });
    let past_orb: Runner<'_> = Box::new(|calls, sample| {
        socket
            .run(calls, Some(sample))
            .map_err(|error| Failure::because(format!("the raw peer failed: {error}")))
    });
    let mut orbium = Contestant::new(through_orb, slice)?;
    let mut raw = Contestant::new(past_orb, slice)?;
    for round in 0..args.rounds {
        print(&Event::Step(name.to_owned()))?;
        // The second peer inherits the caches of the first.
        if round % 2 == 0 {
            orbium.take_turn()?;
            raw.take_turn()?;
        } else {
            raw.take_turn()?;
            orbium.take_turn()?;
        }
    }
    Ok(row(name, &orbium, &raw))
}

fn row(name: &str, orbium: &Contestant<'_>, raw: &Contestant<'_>) -> Row {
    let rounds = orbium.medians.iter().zip(&raw.medians);
    let ratios: Vec<f64> = rounds.map(|(orbium, raw)| orbium / raw.max(1.0)).collect();
    Row {
        call: name.to_owned(),
        orbium: orbium.timing(),
        raw: raw.timing(),
        ratio: median(&ratios),
        least_ratio: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        greatest_ratio: ratios.iter().copied().fold(0.0, f64::max),
    }
}

/// The octets of the operation's messages to this object.
fn exchange(load: Load, size: usize, object: &ObjectRef) -> Exchange {
    let mut keys = object.ior().profiles.iter();
    let key_len = keys
        .find_map(orbium::giop::TaggedProfile::object_key)
        .map_or(0, |key| key.len());
    let (request, reply) = load.message_sizes(size, key_len);
    let octets = |size| u32::try_from(size).unwrap_or(u32::MAX);
    Exchange::twoway(octets(request), octets(reply))
}
