// SPDX-License-Identifier: MIT OR Apache-2.0
//! orbium's checks against the servers of other ORBs.

use orbium::{Config, GiopMinor, Orb};
use orbium_demo::check::{self, Check, Facts, Outcome};
use orbium_demo::cubit::Cube;
use orbium_demo::kitchen::Peer;
use orbium_demo::ttcp::Receiver;

use crate::expected::Expected;
use crate::programs::{Server, available};
use crate::{Line, Tested, judge};

/// How one run differs from the plain one.
#[derive(Default)]
struct Run {
    /// `1.0` or `1.1`: what the server is told to speak at most.
    server_giop: Option<&'static str>,
    /// What orbium is told to speak at most.
    giop_minor: GiopMinor,
    /// Octets above which orbium sends fragments.
    fragment_size: Option<usize>,
    /// Octets of the fragments that a relay makes of every message.
    relay: Option<&'static str>,
}

impl From<Check> for Line {
    fn from(check: Check) -> Self {
        let (failure, skip) = match check.outcome {
            Outcome::Passed => (None, None),
            Outcome::Failed(why) => (Some(why), None),
            Outcome::Skipped(why) => (None, Some(why)),
        };
        Self {
            name: check.name.to_owned(),
            failure,
            skip,
        }
    }
}

fn against(peer: &str, run: &Run) -> Tested {
    let program = format!("{peer}-server");
    let needed: &[&str] = match run.relay {
        Some(_) => &[&program, "refragment"],
        None => &[&program],
    };
    if !available(needed) {
        return Ok(());
    }
    let server = match run.server_giop {
        Some(version) => Server::start(&program, &["--giop", version, "--ior-dir"])?,
        None => Server::start(&program, &["--ior-dir"])?,
    };
    let relay = match run.relay {
        Some(size) => {
            let from = server.references.to_str().ok_or("a strange directory")?;
            Some(Server::start("refragment", &["--size", size, from])?)
        }
        None => None,
    };
    let front = relay.as_ref().unwrap_or(&server);
    let orb = Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        giop_minor: run.giop_minor,
        fragment_size: run.fragment_size,
        ..Config::default()
    })?;
    let cube: Cube = orbium::narrow(orb.string_to_object(front.reference("cube")?.trim())?)?;
    let receiver: Receiver =
        orbium::narrow(orb.string_to_object(front.reference("receiver")?.trim())?)?;
    let target: Peer = orbium::narrow(orb.string_to_object(front.reference("peer")?.trim())?)?;

    let facts = Facts::of(&target);
    let mut checks = check::receiver(&receiver, &facts);
    checks.extend(check::peer(&orb, &target, &facts));
    checks.extend(check::cube(&cube, &facts));
    checks.push(check::shutdown(&cube));
    let lines: Vec<Line> = checks.into_iter().map(Line::from).collect();

    let giop = format!("1.{}", facts.giop_minor);
    let name = format!("orbium → {peer}, GIOP {giop}");
    let judged = judge(&name, &lines, &Expected::read("orbium", peer, &giop)?, 100);
    drop(relay);
    orb.shutdown(true)?;
    judged?;
    server.ends_well()
}

/// GIOP 1.0 or 1.1 on our side.
fn speaking(minor: u8) -> GiopMinor {
    GiopMinor::new(minor).unwrap_or_default()
}

macro_rules! against {
    ($($test:ident: $peer:literal, $run:expr;)*) => {
        $(#[test]
        fn $test() -> Tested {
            against($peer, &$run)
        })*
    };
}

against! {
    omniorb: "omni", Run::default();
    omniorb_told_to_speak_1_1: "omni", Run { server_giop: Some("1.1"), ..Run::default() };
    omniorb_told_to_speak_1_0: "omni", Run { server_giop: Some("1.0"), ..Run::default() };
    omniorb_while_we_speak_1_1: "omni", Run { giop_minor: speaking(1), ..Run::default() };
    omniorb_while_we_speak_1_0: "omni", Run { giop_minor: speaking(0), ..Run::default() };
    omniorb_while_we_send_fragments: "omni", Run { fragment_size: Some(1024), ..Run::default() };
    omniorb_in_tiny_fragments: "omni", Run { relay: Some("8"), ..Run::default() };
    jacorb: "jacorb", Run::default();
    jacorb_told_to_speak_1_1: "jacorb", Run { server_giop: Some("1.1"), ..Run::default() };
    jacorb_told_to_speak_1_0: "jacorb", Run { server_giop: Some("1.0"), ..Run::default() };
    jacorb_while_we_speak_1_1: "jacorb", Run { giop_minor: speaking(1), ..Run::default() };
    jacorb_while_we_speak_1_0: "jacorb", Run { giop_minor: speaking(0), ..Run::default() };
    jacorb_while_we_send_fragments: "jacorb", Run { fragment_size: Some(1024), ..Run::default() };
    jacorb_in_small_fragments: "jacorb", Run { relay: Some("64"), ..Run::default() };
}
