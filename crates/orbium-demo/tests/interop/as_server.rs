// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clients of other ORBs against orbium's server.

use std::fs;

use orbium::{Config, GiopMinor, Orb, ServerStrategy};
use orbium_demo::serve;

use crate::expected::Expected;
use crate::programs::{self, Server, available, scratch_directory};
use crate::{Line, Tested, judge};

/// How one run differs from the plain one.
#[derive(Default)]
struct Run {
    strategy: ServerStrategy,
    /// `1.0` or `1.1`: what the client is told to speak.
    client_giop: Option<&'static str>,
    /// What orbium publishes and speaks at most.
    giop_minor: GiopMinor,
    /// Octets above which orbium sends fragments.
    fragment_size: Option<usize>,
    /// Octets of the fragments that a relay makes of every message.
    relay: Option<&'static str>,
    /// More for the client's command line.
    options: &'static [&'static str],
}

/// What a client printed about a check.
pub(crate) fn line(text: &str) -> Option<Line> {
    let (verdict, rest) = text.split_once(' ')?;
    let (name, why) = match rest.split_once(": ") {
        Some((name, why)) => (name, Some(why.to_owned())),
        None => (rest, None),
    };
    let (failure, skip) = match verdict {
        "ok" => (None, None),
        "FAIL" => (Some(why.unwrap_or_default()), None),
        "skip" => (None, Some(why.unwrap_or_default())),
        _ => return None,
    };
    Some(Line {
        name: name.to_owned(),
        failure,
        skip,
    })
}

fn against(peer: &str, run: &Run) -> Tested {
    let program = format!("{peer}-client");
    let needed: &[&str] = match run.relay {
        Some(_) => &[&program, "refragment"],
        None => &[&program],
    };
    if !available(needed) {
        return Ok(());
    }
    let orb = Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        strategy: run.strategy,
        giop_minor: run.giop_minor,
        fragment_size: run.fragment_size,
        ..Config::default()
    })?;
    let served = serve(&orb)?;
    let own = scratch_directory()?;
    fs::write(own.join("cube.ior"), orb.object_to_string(&served.cube))?;
    fs::write(
        own.join("receiver.ior"),
        orb.object_to_string(&served.receiver),
    )?;
    fs::write(own.join("peer.ior"), orb.object_to_string(&served.peer))?;
    let relay = match run.relay {
        Some(size) => {
            let from = own.to_str().ok_or("a strange directory")?;
            Some(Server::start("refragment", &["--size", size, from])?)
        }
        None => None,
    };
    let front = relay.as_ref().map_or(&own, |relay| &relay.references);

    let mut arguments = vec!["--shutdown".to_owned()];
    for name in ["cube", "receiver", "peer"] {
        let file = front.join(name).with_extension("ior");
        arguments.push(format!("--{name}"));
        arguments.push(file.to_str().ok_or("a strange directory")?.to_owned());
    }
    let giop = match run.client_giop {
        Some(version) => version.to_owned(),
        None => format!("1.{}", run.giop_minor.number()),
    };
    if giop != "1.2" {
        arguments.extend(["--giop".to_owned(), giop.clone()]);
    }
    arguments.extend(run.options.iter().map(|option| (*option).to_owned()));
    let (_, output) = programs::run(&program, &arguments)?;
    drop(relay);
    fs::remove_dir_all(own)?;

    let lines: Vec<Line> = output.lines().filter_map(line).collect();
    let name = format!("{peer} → orbium, {}, GIOP {giop}", run.strategy);
    judge(&name, &lines, &Expected::read(peer, "orbium", &giop)?, 100)?;
    // `Cube::shutdown` may have been faster, which is an exception here.
    let _ = orb.run();
    Ok(())
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

const REACTIVE: Run = Run {
    strategy: ServerStrategy::Reactive,
    client_giop: None,
    giop_minor: match GiopMinor::new(2) {
        Some(minor) => minor,
        None => panic!("1.2 exists"),
    },
    fragment_size: None,
    relay: None,
    options: &[],
};

against! {
    omniorb: "omni", Run::default();
    omniorb_reactive: "omni", REACTIVE;
    omniorb_told_to_speak_1_1: "omni", Run { client_giop: Some("1.1"), ..Run::default() };
    omniorb_told_to_speak_1_0: "omni", Run { client_giop: Some("1.0"), ..REACTIVE };
    omniorb_while_we_speak_1_1: "omni", Run { giop_minor: speaking(1), ..Run::default() };
    omniorb_while_we_speak_1_0: "omni", Run { giop_minor: speaking(0), ..Run::default() };
    omniorb_while_we_send_fragments: "omni", Run { fragment_size: Some(1024), ..Run::default() };
    omniorb_in_tiny_fragments: "omni", Run { relay: Some("8"), ..Run::default() };
    omniorb_in_small_fragments_reactive: "omni", Run { relay: Some("64"), ..REACTIVE };
    omniorb_addressing_by_profile: "omni",
        Run { options: &["-ORBgiopTargetAddressMode", "1"], ..Run::default() };
    omniorb_addressing_by_reference: "omni",
        Run { options: &["-ORBgiopTargetAddressMode", "2"], ..REACTIVE };
    omniorb_many_calls_on_one_connection: "omni",
        Run { options: &["-ORBoneCallPerConnection", "0"], ..Run::default() };
    omniorb_in_latin_1: "omni",
        Run { options: &["-ORBnativeCharCodeSet", "ISO-8859-1"], ..Run::default() };
    jacorb: "jacorb", Run::default();
    jacorb_reactive: "jacorb", REACTIVE;
    jacorb_told_to_speak_1_1: "jacorb", Run { client_giop: Some("1.1"), ..Run::default() };
    jacorb_told_to_speak_1_0: "jacorb", Run { client_giop: Some("1.0"), ..REACTIVE };
    jacorb_while_we_speak_1_1: "jacorb", Run { giop_minor: speaking(1), ..Run::default() };
    jacorb_while_we_speak_1_0: "jacorb", Run { giop_minor: speaking(0), ..Run::default() };
    jacorb_while_we_send_fragments: "jacorb", Run { fragment_size: Some(1024), ..Run::default() };
    jacorb_in_small_fragments: "jacorb", Run { relay: Some("64"), ..REACTIVE };
}
