// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo call`: one operation in a closed loop.

use std::time::{Duration, Instant};

use clap::Args;
use orbium::{Interface, ObjectRef, policy::BufferingConstraint};
use orbium_demo::load::{Load, pipelined};
use serde_json::json;

use crate::failure::Failure;
use crate::object::{ping, reference};
use crate::output;
use crate::stage::pin::PinArgs;
use crate::stage::timing::{Samples, Timing, latency, rate, thousands};
use crate::stage::together::by_threads;

/// Time-out of the first contact with the server; the calls of the loop have no time-out.
const CONTACT: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    #[arg(long = "ref", value_name = "REF", help = reference::HELP)]
    reference: String,
    /// The operation: noop, post, cube_octet, cube_short, cube_long,
    /// cube_many, echo_octets, echo_longs, echo_manys (of Cubit::Cube), echo_structs,
    /// send_shorts, send_chars, send_longs, send_octets, send_doubles,
    /// send_structs (of Ttcp::Receiver)
    #[arg(long, value_name = "OP")]
    op: Load,
    /// Number of calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// Elements of the sequence that is sent, if the operation has one
    #[arg(long, value_name = "ELEMENTS", default_value_t = 1)]
    size: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Read the clock before and after the loop only, not around each call
    #[arg(long)]
    untimed: bool,
    /// Call from so many threads at once, each as often; the clock is read before the first and
    /// after the last call
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Invoke noop asynchronously, with so many invocations at once over one
    /// connection; the clock is read before and after all of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096), conflicts_with = "threads")]
    outstanding: Option<u16>,
    /// Buffer oneways (SYNC_NONE), and send them once so many octets are buffered
    #[arg(long, value_name = "OCTETS", value_parser = clap::value_parser!(u32).range(1..))]
    buffer: Option<u32>,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
    #[command(flatten)]
    pin: PinArgs,
}

pub(crate) fn run(args: &CallArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    let mut object = reference::object(&args.reference, &args.protocols, None)?;
    verify(&object, args.op, args.size)?;
    if let Some(octets) = args.buffer {
        object = buffering(&object, octets);
    }
    let failed = |exception| Failure::because(format!("{} failed: {exception}", args.op));
    if let Some(outstanding) = args.outstanding {
        if args.op != Load::Noop {
            return Err(Failure::wrong_usage("--outstanding is for noop only"));
        }
        let pipelined = |calls| pipelined(&object, calls, outstanding.into()).map_err(failed);
        // The connection is made.
        pipelined(u64::from(outstanding))?;
        let start = Instant::now();
        pipelined(args.calls)?;
        return print_total(args, start.elapsed());
    }
    if args.threads > 1 {
        let elapsed = by_threads(args.threads, || {
            args.op.run(&object, args.size, 1, None).map_err(failed)?;
            Ok(|| {
                args.op
                    .run(&object, args.size, args.calls, None)
                    .map_err(failed)
            })
        })?;
        return print_total(args, elapsed);
    }
    if args.untimed {
        let start = Instant::now();
        args.op
            .run(&object, args.size, args.calls, None)
            .map_err(failed)?;
        let elapsed = start.elapsed();
        return print_total(args, elapsed);
    }
    let mut samples = Samples::default();
    let mut sample = |nanoseconds| samples.push(nanoseconds);
    let start = Instant::now();
    args.op
        .run(&object, args.size, args.calls, Some(&mut sample))
        .map_err(failed)?;
    let elapsed = start.elapsed();
    print_timing(args, &Timing::new(&samples, args.calls, elapsed), elapsed)
}

/// The object with a buffering constraint: oneways are sent together once so many octets are
/// buffered.
fn buffering(object: &ObjectRef, octets: u32) -> ObjectRef {
    let constraint = BufferingConstraint {
        message_bytes: Some(octets as usize),
        ..BufferingConstraint::default()
    };
    object.with_buffering(constraint)
}

fn print_timing(args: &CallArgs, timing: &Timing, elapsed: Duration) -> Result<(), Failure> {
    if args.json {
        let mut value = timing.to_json();
        value["op"] = json!(args.op.name());
        value["calls"] = json!(args.calls);
        value["size"] = json!(args.size);
        value["seconds"] = json!(elapsed.as_secs_f64());
        return output::print_json(&value);
    }
    output::print(&format!(
        "{}  median {}  p99 {}  {} calls/s\n",
        subject(args),
        latency(timing.median),
        latency(timing.p99),
        thousands(timing.rate)
    ))
}

/// Contacts the object and verifies the answers of the operation.
fn verify(object: &ObjectRef, op: Load, size: usize) -> Result<(), Failure> {
    let there = object.with_timeout(CONTACT).locate();
    match there {
        Ok(true) => {}
        Ok(false) => {
            return Err(Failure::because(format!(
                "no such object: the server at {} does not know it",
                reference::address(object)
            )));
        }
        Err(exception) => {
            return Err(Failure::because(ping::explain(object, CONTACT, exception)));
        }
    }
    op.verify(object, size)
        .map_err(|reason| Failure::because(format!("{op} does not do what it should: {reason}")))
}

/// The operation, with its size for operations that have one.
fn subject(args: &CallArgs) -> String {
    if args.op.has_size() {
        format!("{} of {}", args.op, args.size)
    } else {
        args.op.to_string()
    }
}

fn print_total(args: &CallArgs, elapsed: Duration) -> Result<(), Failure> {
    let calls = args.calls * u64::from(args.threads);
    let rate = rate(calls, elapsed);
    if args.json {
        return output::print_json(&json!({
            "op": args.op.name(),
            "calls": calls,
            "size": args.size,
            "seconds": elapsed.as_secs_f64(),
            "calls_per_second": rate,
        }));
    }
    output::print(&format!(
        "{}  {} calls in {:.3} s  {} calls/s\n",
        subject(args),
        calls,
        elapsed.as_secs_f64(),
        thousands(rate)
    ))
}
