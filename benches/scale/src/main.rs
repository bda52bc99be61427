// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server of many objects, of many operations, or of lanes, and its client.
//!
//! ```text
//! orbium-bench-scale serve narrow|wide OBJECTS FILE    writes the last object's reference to FILE
//! orbium-bench-scale serve lanes LANES FILE            the same, with a narrow object for each lane
//! orbium-bench-scale call narrow|wide CALLS FILE       calls its operations in turn
//! orbium-bench-scale time narrow|wide CALLS FILE       the same, and prints the median of their times as JSON
//! orbium-bench-scale flood octets|structs MESSAGES FILE BYTES [BUFFER [LIMIT]]    to the receiver of `orbium demo serve`
//! ```
//!
//! A number behind FILE registers so many interceptors that implement no point; with `empty` behind
//! it, points with empty bodies. `timeout` behind FILE sets a time-out of a minute for each call. A
//! server uses GIOP; `messaging=NAME` behind FILE selects another protocol.
#![forbid(unsafe_code)]

mod flood;
mod interceptors;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use orbium::interceptor::Interceptors;
use orbium::{
    Call, Interface, ObjectRef, Orb, SystemException,
    config::Limits,
    lane::{LaneConfig, Priority},
    poa::{Poa, Policies},
};

orbium::include_idl!("scale");

/// One operation of a reference.
type Stub<I> = fn(&I) -> Result<(), SystemException>;

/// Serves both interfaces without work.
struct Nothing;

include!(concat!(env!("OUT_DIR"), "/servants.rs"));

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The served objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Served {
    Narrow,
    Wide,
    /// As `Narrow`, with a lane for each object.
    Lanes,
}

fn serve(
    served: Served,
    count: usize,
    file: &str,
    messaging: Option<&str>,
    all: Interceptors,
) -> Outcome<()> {
    let endpoint = "iiop://127.0.0.1:0";
    let orb = match messaging {
        None => Orb::builder().endpoint(endpoint)?,
        Some(messaging) => Orb::builder().endpoint(&format!("{endpoint}?{messaging}"))?,
    };
    let orb = orb.interceptors(all).build()?;
    let poa = orb.root_poa();
    poa.manager().activate()?;
    let mut last = None;
    for number in 0..count {
        last = Some(match served {
            Served::Narrow => orb.object_to_string(&poa.activate::<scale::Narrow, _>(Nothing)?),
            Served::Wide => orb.object_to_string(&poa.activate::<scale::Wide, _>(Nothing)?),
            Served::Lanes => {
                let of_lane = lane(&orb, number)?;
                orb.object_to_string(&of_lane.activate::<scale::Narrow, _>(Nothing)?)
            }
        });
    }
    let reference = last.ok_or("no objects")?;
    // Renamed, so that a reader never sees a partial file.
    let unfinished = format!("{file}.tmp");
    std::fs::write(&unfinished, reference)?;
    std::fs::rename(&unfinished, file)?;
    orb.run()?;
    Ok(())
}

/// A lane with a thread per connection, and its adapter.
fn lane(orb: &Orb, number: usize) -> Outcome<Poa> {
    let name = format!("lane-{number}");
    let lane = orb.add_lane(&LaneConfig {
        name: name.clone(),
        priority: Priority::new(i16::try_from(number)?),
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        ..LaneConfig::default()
    })?;
    let policies = Policies {
        lanes: vec![lane],
        ..Policies::default()
    };
    let poa = orb.root_poa().create_poa(&name, None, policies)?;
    poa.manager().activate()?;
    Ok(poa)
}

fn call<I: Interface>(
    object: Option<ObjectRef>,
    operations: &[Stub<I>],
    calls: usize,
) -> Outcome<()> {
    let object: I = orbium::narrow(object)?;
    for operation in operations.iter().cycle().take(calls) {
        operation(&object)?;
    }
    Ok(())
}

/// As [`call`], with the clock read at every call.
fn time<I: Interface>(
    object: Option<ObjectRef>,
    operations: &[Stub<I>],
    calls: usize,
) -> Outcome<()> {
    let object: I = orbium::narrow(object)?;
    let mut samples = Vec::with_capacity(calls);
    let mut before = Instant::now();
    for operation in operations.iter().cycle().take(calls) {
        operation(&object)?;
        let after = Instant::now();
        samples.push(after.duration_since(before).as_nanos());
        before = after;
    }
    samples.sort_unstable();
    let median = samples.get(calls / 2).ok_or("no calls")?;
    println!("{{\"calls\":{calls},\"median_ns\":{median}}}");
    Ok(())
}

fn run(arguments: &[String]) -> Outcome<()> {
    if let [role, kind, messages, file, size, buffer @ ..] = arguments
        && role == "flood"
    {
        let held = buffer.get(1).map(|it| it.parse()).transpose()?;
        let buffer = buffer.first().map(|it| it.parse()).transpose()?;
        let mut limits = Limits::default();
        limits.buffered_oneways = held.unwrap_or(limits.buffered_oneways);
        let orb = Orb::builder().limits(limits).build()?;
        let object = orb.string_to_object(std::fs::read_to_string(file)?.trim())?;
        flood::flood(object, kind, messages.parse()?, size.parse()?, buffer)?;
        return Ok(orb.shutdown(true)?);
    }
    let (mut timeout, mut messaging) = (None, None);
    let (file, all) = match arguments {
        [_, _, _, file] => (file, Interceptors::new()),
        [_, _, _, file, word] if word == "timeout" => {
            timeout = Some(Duration::from_secs(60));
            (file, Interceptors::new())
        }
        [_, _, _, file, word] if word.starts_with("messaging=") => {
            messaging = Some(word.as_str());
            (file, Interceptors::new())
        }
        [_, _, _, file, count] => (file, interceptors::idle(count.parse()?)?),
        [_, _, _, file, count, empty] if empty == "empty" => {
            (file, interceptors::empty(count.parse()?)?)
        }
        _ => {
            let usage = "serve|call|time narrow|wide|lanes COUNT FILE [timeout|messaging=NAME|INTERCEPTORS [empty]]";
            return Err(format!("usage: orbium-bench-scale {usage}").into());
        }
    };
    let [role, interface, count] = [0, 1, 2].map(|at: usize| arguments[at].as_str());
    let served = match interface {
        "narrow" => Served::Narrow,
        "wide" => Served::Wide,
        "lanes" => Served::Lanes,
        other => return Err(format!("no interface {other}").into()),
    };
    let count = count.parse()?;
    match role {
        "serve" => serve(served, count, file, messaging, all),
        "call" | "time" => {
            let mut builder = Orb::builder().interceptors(all);
            if let Some(timeout) = timeout {
                builder = builder.call_timeout(timeout);
            }
            let orb = builder.build()?;
            let object = orb.string_to_object(std::fs::read_to_string(file)?.trim())?;
            match (served, role) {
                (Served::Wide, "time") => time(object, &WIDE, count)?,
                (Served::Wide, _) => call(object, &WIDE, count)?,
                (_, "time") => time(object, &NARROW, count)?,
                _ => call(object, &NARROW, count)?,
            }
            orb.shutdown(true)?;
            Ok(())
        }
        other => Err(format!("no role {other}").into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orbium-bench-scale: {error}");
            ExitCode::FAILURE
        }
    }
}
