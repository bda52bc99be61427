// SPDX-License-Identifier: MIT OR Apache-2.0
//! orbium against omniORB and JacORB, each as client and as server.
//!
//! The peers are built by `interop/build.sh`; without them, or without tshark,
//! these tests say that they were skipped, unless `ORBIUM_REQUIRE_PEERS=1` makes
//! that a failure.
//! What fails through no fault of orbium is listed, with the reason, in
//! `interop/EXPECTED.md`.

mod as_client;
mod as_server;
mod both_ways;
mod code_bases;
mod components;
mod contexts;
mod credentials;
mod definitions;
mod dissected;
mod dynamic;
mod expected;
mod forwarders;
mod forwarding;
mod handlers;
mod interceptors;
mod late;
mod markers;
mod over_tls;
mod pcap;
mod programs;
mod quality;
mod relay;
mod templates;
mod through_dynamic;
mod values;

use std::error::Error;

use expected::Expected;
use orbium::{Config, Orb};

type Tested = Result<(), Box<dyn Error>>;

/// An ORB with that configuration that listens at a port of the system's choice.
fn listening(config: Config) -> Result<Orb, Box<dyn Error>> {
    let endpoints = vec!["iiop://127.0.0.1:0".parse()?];
    Ok(Orb::new(Config {
        endpoints,
        ..config
    })?)
}

/// One check of a run, whoever made it.
#[derive(Debug)]
struct Line {
    name: String,
    /// Why it failed, if it did.
    failure: Option<String>,
    /// Why it was not made, if it was not.
    skip: Option<String>,
}

/// Fails unless enough checks passed and all that failed are expected to.
fn judge(run: &str, lines: &[Line], expected: &Expected, at_least: usize) -> Tested {
    let unexpected = |line: &&Line| line.failure.is_some() && !expected.contains(&line.name);
    let bad: Vec<String> = lines
        .iter()
        .filter(unexpected)
        .map(|line| format!("{}: {}", line.name, line.failure.as_deref().unwrap_or("")))
        .collect();
    let made = |line: &&Line| line.failure.is_none() && line.skip.is_none();
    let passed = lines.iter().filter(made).count();
    let failed = lines.iter().filter(|line| line.failure.is_some()).count();
    let skipped = lines.iter().filter(|line| line.skip.is_some());
    let skipped: Vec<&str> = skipped.map(|line| line.name.as_str()).collect();
    eprintln!(
        "{run}: {passed} passed, {} failed as expected, {} skipped: {}",
        failed - bad.len(),
        skipped.len(),
        skipped.join(" ")
    );
    if !bad.is_empty() {
        return Err(format!("{run}: {} unexpected\n{}", bad.len(), bad.join("\n")).into());
    }
    if passed < at_least {
        return Err(format!("{run}: only {passed} passed of at least {at_least}").into());
    }
    Ok(())
}
