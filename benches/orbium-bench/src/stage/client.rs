// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench client`: the client process of the experiments. Each line of
//! its input is a command:
//!
//! * `paced N MS [CLASS]`, `saturated N MS`: one high-priority client and N others for that time;
//!   `saturated` calls the servants that are busy for a millisecond.
//! * `ranks N MS CLASS`: a client for each of the N most urgent lanes `lane-…`, at its priority.
//! * `load N MS`, `calls N COUNT`: empty calls of N threads.
//! * `both N MS`: the same of one thread to the object `high`, and of the others to `low`.
//! * `burst EACH`: a long call to the lane `top`, and during it so many calls to each of the lanes
//!   `lane-…`.
//! * `mixed COUNT`: so many calls to each of these lanes, all at once.
//! * `siege N MS MICROSECONDS`: calls to the lane `top` with that pause between them, while N
//!   threads call each of the others.
//! * `idle N MS ADDRESS`: N connections that call once a second, and stay open.

use std::io::BufRead;
use std::time::Duration;

use clap::Args;
use orbium::{Config, ObjectRef, Orb, config::ClientStrategy};
use serde_json::Value;

use super::caller::Callee;
use super::class::Class;
use super::pacing::Pacing;
use super::ranks::Ranks;
use super::{burst, idle, load};
use orbium_cli::Failure;
use orbium_cli::stage::pin::PinArgs;
use orbium_cli::{output, reference};

#[derive(Debug, Args)]
pub(crate) struct ClientArgs {
    /// NAME=REFERENCE of an object; may be repeated
    #[arg(long = "object", value_name = "NAME=REF", value_parser = named)]
    objects: Vec<(String, String)>,
    /// Address of a raw server to call in place of objects
    #[arg(long, value_name = "ADDRESS")]
    raw: Option<String>,
    /// Client strategy
    #[arg(long, value_name = "NAME", default_value_t)]
    connections: ClientStrategy,
    #[command(flatten)]
    pin: PinArgs,
}

fn named(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').ok_or("expected NAME=REFERENCE")?;
    Ok((parts.0.to_owned(), parts.1.to_owned()))
}

/// The called objects, by name.
pub(super) struct Objects {
    all: Vec<(String, ObjectRef)>,
    raw: Option<String>,
    /// The connections of the last `idle` command.
    crowd: idle::Crowd,
}

impl Objects {
    fn new(args: &ClientArgs) -> Result<Self, Failure> {
        // One ORB for all of them, as in an application.
        let config = Config {
            client_strategy: args.connections,
            strategy: args.connections.needs().unwrap_or_default(),
            protocols: reference::protocols(),
            ..Config::default()
        };
        let orb = Orb::new(config).map_err(|error| Failure::because(error.to_string()))?;
        let bad = || Failure::because("a server has given a reference that is none");
        let object = |(name, text): &(String, String)| {
            let object = orb.string_to_object(text).ok().flatten();
            Ok((name.clone(), object.ok_or_else(bad)?))
        };
        Ok(Self {
            all: args
                .objects
                .iter()
                .map(object)
                .collect::<Result<_, Failure>>()?,
            raw: args.raw.clone(),
            crowd: Vec::new(),
        })
    }

    /// The object of that name.
    pub(super) fn named(&self, name: &str) -> Result<&ObjectRef, Failure> {
        let found = self.all.iter().find(|(known, _)| known == name);
        let found = found.map(|(_, object)| object);
        found.ok_or_else(|| Failure::because(format!("there is no object `{name}`")))
    }

    /// The objects of a kind in the lanes `lane-…`, the least urgent first.
    fn of_lanes(&self, kind: &str) -> Vec<&ObjectRef> {
        let prefix = format!("{kind}lane-");
        let all = self.all.iter();
        let lanes = all.filter(|(name, _)| name.starts_with(&prefix));
        lanes.map(|(_, object)| object).collect()
    }

    /// The target of empty calls.
    fn callee(&self) -> Result<Callee, Failure> {
        match &self.raw {
            Some(address) => Ok(Callee::Raw(address.clone())),
            None => Ok(Callee::Object(self.named("high")?.clone())),
        }
    }
}

pub(crate) fn run(args: &ClientArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    super::real_time::raise_descriptor_limit();
    let mut objects = Objects::new(args)?;
    output::print("READY\n")?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::because(error.to_string()))?;
        output::print(&format!("{}\n", obey(&mut objects, &line)?))?;
    }
    Ok(())
}

fn obey(objects: &mut Objects, line: &str) -> Result<Value, Failure> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| -> Result<u64, Failure> {
        let word = words.get(at).copied().unwrap_or_default();
        word.parse().map_err(|_| meaningless(line))
    };
    let count = |at: usize| number(at).map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let time = |at: usize| number(at).map(Duration::from_millis);
    let class = |at: usize| match words.get(at) {
        Some(word) => Class::parse(word).ok_or_else(|| meaningless(line)),
        None => Ok(Class::default()),
    };
    match words.first().copied() {
        Some(how @ ("paced" | "saturated")) => {
            let saturating = how == "saturated";
            let prefix = if saturating { "busy-" } else { "" };
            let pacing = Pacing {
                high: objects.named(&format!("{prefix}high"))?,
                low: objects.named(&format!("{prefix}low"))?,
                low_clients: count(1)?,
                class: class(3)?,
                saturating,
                time: time(2)?,
            };
            pacing.run()
        }
        Some("ranks") => {
            let ranks = Ranks {
                objects: &objects.of_lanes(""),
                clients: count(1)?,
                class: class(3)?,
                time: time(2)?,
            };
            ranks.run()
        }
        Some("load") => {
            let callee = objects.callee()?;
            load::for_time(&vec![&callee; count(1)?], time(2)?)
        }
        Some("both") => {
            let [high, low] = ["high", "low"].map(|name| objects.named(name).cloned());
            let (high, low) = (Callee::Object(high?), Callee::Object(low?));
            let mut callees = vec![&low; count(1)?];
            callees.push(&high);
            load::for_time(callees.get(1..).unwrap_or_default(), time(2)?)
        }
        Some("calls") => load::for_count(&objects.callee()?, count(1)?, number(2)?),
        Some("burst") => {
            let lanes = objects.of_lanes("busy-");
            burst::behind_a_long_call(objects.named("long-top")?, &lanes, count(1)?)
        }
        Some("mixed") => burst::mixed(&objects.of_lanes("checked-"), number(1)?),
        Some("siege") => {
            let pause = Duration::from_micros(number(3)?);
            let lanes = objects.of_lanes("busy-");
            burst::siege(objects.named("top")?, &lanes, count(1)?, (time(2)?, pause))
        }
        Some("idle") => match words.get(3) {
            Some(address) => {
                objects.crowd.clear();
                let (crowd, found) = idle::run(address, count(1)?, time(2)?)?;
                objects.crowd = crowd;
                Ok(found)
            }
            None => Err(meaningless(line)),
        },
        _ => Err(meaningless(line)),
    }
}

fn meaningless(line: &str) -> Failure {
    Failure::because(format!("`{line}` means nothing to a client"))
}
