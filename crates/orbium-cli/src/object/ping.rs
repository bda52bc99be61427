// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium ping`: checks whether an object exists, and measures round-trip times.

use std::time::{Duration, Instant};

use clap::Args;
use orbium::giop::minor;
use orbium::{ExceptionKind, ObjectRef, SystemException};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::object::reference;
use crate::output::{self, printable};

#[derive(Debug, Args)]
pub(crate) struct PingArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    reference: String,
    /// Number of requests of each of the two kinds
    #[arg(short = 'c', long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Seconds that each answer may take
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    timeout: Duration,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A positive number of seconds up to a century, optionally with a fraction.
pub fn seconds(text: &str) -> Result<Duration, String> {
    const CENTURY: u64 = 36_525 * 86_400;
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(number) {
        Ok(duration) if !duration.is_zero() && duration.as_secs() <= CENTURY => Ok(duration),
        _ => Err("expected a positive number of seconds up to a century".to_owned()),
    }
}

pub(crate) fn run(args: &PingArgs) -> Result<(), Failure> {
    let object = reference::object(&args.reference, &args.protocols, Some(args.timeout))?;
    let failed = |exception| Failure::because(explain(&object, args.timeout, exception));

    // The first request also opens the connection, which is reported separately.
    let (here, first) = timed(|| object.locate()).map_err(failed)?;
    let mut located = vec![];
    let mut asked = vec![];
    let mut exists = true;
    for _ in 0..args.count {
        located.push(timed(|| object.locate()).map_err(failed)?.1);
    }
    for _ in 0..args.count {
        let (non_existent, latency) = timed(|| object.non_existent()).map_err(failed)?;
        exists = !non_existent;
        asked.push(latency);
    }
    let (located, asked) = (Spread::of(located), Spread::of(asked));
    if args.json {
        let object = json!({
            "type_id": object.ior().type_id,
            "address": reference::address(&object),
            "exists": here && exists,
            "first_ns": nanoseconds(first),
            "locate": located.to_json("here", here),
            "non_existent": asked.to_json("answer", !exists),
        });
        output::announce(&output::json_text(&object))?;
    } else {
        let located = (
            if here { "here" } else { "unknown" },
            located.to_text(args.count),
        );
        let asked = (!exists, asked.to_text(args.count));
        output::announce(&table(&subject(&object), &located, &asked, first))?;
    }
    if here && exists {
        return Ok(());
    }
    Err(Failure::because(format!(
        "no such object: the server at {} does not know it",
        reference::address(&object)
    )))
}

fn table(
    subject: &str,
    (here, located): &(&str, String),
    (non_existent, asked): &(bool, String),
    first: Duration,
) -> String {
    format!(
        "{subject}\n{:14} {here:8} {located}\n{:14} {non_existent:8} {asked}\n\
         {:14} {:8} {first:.1?}, connecting included\n",
        "LocateRequest", "_non_existent", "first answer", "",
    )
}

fn subject(object: &ObjectRef) -> String {
    let type_id = match object.ior().type_id.as_str() {
        "" => "object of unknown type",
        id => id,
    };
    printable(&format!("{type_id} at {}", reference::address(object)))
}

fn timed<T>(
    ask: impl FnOnce() -> Result<T, SystemException>,
) -> Result<(T, Duration), SystemException> {
    let start = Instant::now();
    let answer = ask()?;
    Ok((answer, start.elapsed()))
}

/// The reason why the object was not reached, in one sentence.
pub fn explain(object: &ObjectRef, timeout: Duration, exception: SystemException) -> String {
    unreached(object, timeout, exception).unwrap_or_else(|| {
        let at = reference::address(object);
        match exception.kind {
            ExceptionKind::ObjectNotExist => {
                format!("no such object: the server at {at} says {exception}")
            }
            _ => format!("the object at {at} cannot be asked: {exception}"),
        }
    })
}

/// The reason why the object did not reply, in one sentence; `None` for an exception of the object.
pub(crate) fn unreached(
    object: &ObjectRef,
    timeout: Duration,
    exception: SystemException,
) -> Option<String> {
    let at = reference::address(object);
    let own = |code| minor::ORBIUM_VMCID | code;
    let limit = timeout.as_secs_f64();
    Some(match (exception.kind, exception.minor) {
        (ExceptionKind::Transient, code) if code == own(minor::CONNECT_REFUSED) => {
            format!("connection refused: nothing listens at {at}")
        }
        (ExceptionKind::Transient, code) if code == own(minor::HOST_UNKNOWN) => {
            format!("unknown host: the name in {at} does not resolve")
        }
        (ExceptionKind::Transient, code) if code == own(minor::CONNECT_TIMEOUT) => {
            format!("timed out: no connection to {at} within {limit} s")
        }
        (ExceptionKind::NoPermission, code) if code == own(minor::PEER_NOT_TRUSTED) => {
            match reference::refusals(exception) {
                Some(failure) => format!("no trust between us and {at}: {failure}"),
                None => format!("no trust between us and {at}"),
            }
        }
        (ExceptionKind::Timeout, _) => {
            format!("timed out: no answer from {at} within {limit} s")
        }
        (ExceptionKind::InvPolicy, code) if code == own(minor::NO_USABLE_PROTOCOL) => {
            let refusals = reference::refusals(exception)?;
            format!("no protocol of the reference can be used: {refusals}")
        }
        _ => return None,
    })
}

/// Least, middle and greatest of some latencies.
struct Spread {
    least: Duration,
    median: Duration,
    greatest: Duration,
}

impl Spread {
    /// Zero without latencies.
    fn of(mut latencies: Vec<Duration>) -> Self {
        latencies.sort_unstable();
        let at = |index: usize| latencies.get(index).copied().unwrap_or_default();
        Self {
            least: at(0),
            median: at(latencies.len() / 2),
            greatest: at(latencies.len().saturating_sub(1)),
        }
    }

    fn to_text(&self, count: u32) -> String {
        let times = if count == 1 { "time" } else { "times" };
        let Self {
            least,
            median,
            greatest,
        } = self;
        format!("min {least:.1?}  median {median:.1?}  max {greatest:.1?}  (asked {count} {times})")
    }

    fn to_json(&self, key: &str, answer: bool) -> Value {
        json!({
            key: answer,
            "min_ns": nanoseconds(self.least),
            "median_ns": nanoseconds(self.median),
            "max_ns": nanoseconds(self.greatest),
        })
    }
}

/// Whole nanoseconds, saturating after five centuries.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
