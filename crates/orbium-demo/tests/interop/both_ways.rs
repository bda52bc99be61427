// SPDX-License-Identifier: MIT OR Apache-2.0
//! omniORB and orbium over bidirectional connections: each as client and as server. The
//! references of the clients lead to addresses at which nothing answers.

use std::fs;

use orbium::giop::codeset::NativeCharSet;
use orbium::{BidirectionalPolicy, Config, Orb, ServerStrategy};
use orbium_demo::serve;
use orbium_testkit::dead_port;

use crate::as_client::all_checks;
use crate::as_server::line;
use crate::expected::Expected;
use crate::programs::{self, Scratch, Server, available};
use crate::{Line, Tested, judge};

fn both(strategy: ServerStrategy, endpoint: &str) -> Result<Config, Box<dyn std::error::Error>> {
    Ok(Config {
        endpoints: vec![endpoint.parse()?],
        strategy,
        // As the programs of omniORB have it.
        native_char_code_set: NativeCharSet::Utf8,
        bidirectional: BidirectionalPolicy::Both,
        ..Config::default()
    })
}

/// orbium's checks against omniORB's server.
fn calling(strategy: ServerStrategy) -> Tested {
    if !available(&["omni-server"]) {
        return Ok(());
    }
    let server = Server::start("omni-server", &["--bidirectional", "--ior-dir"])?;
    let endpoint = format!("iiop://127.0.0.1:0?publish=127.0.0.1:{}", dead_port());
    let orb = Orb::new(both(strategy, &endpoint)?)?;
    let (_, lines) = all_checks(&orb, &server)?;
    let name = format!("orbium → omni, {strategy}, bidirectional");
    let judged = judge(
        &name,
        &lines,
        &Expected::read("orbium", "omni", "1.2")?,
        100,
    );
    orb.shutdown(true)?;
    judged?;
    server.ends_well()
}

/// omniORB's client against orbium's server.
fn serving(strategy: ServerStrategy) -> Tested {
    if !available(&["omni-client"]) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let orb = Orb::new(both(strategy, "iiop://127.0.0.1:0")?)?;
    let served = serve(&orb)?;
    let publish = format!("giop:tcp:127.0.0.1:{}", dead_port());
    // Not `--shutdown`: see "Other things to know" in `interop/EXPECTED.md`.
    let mut arguments = ["--bidirectional", "-ORBendPointPublish", &publish]
        .map(str::to_owned)
        .to_vec();
    for (name, reference) in [
        ("cube", orb.object_to_string(&served.cube)),
        ("receiver", orb.object_to_string(&served.receiver)),
        ("peer", orb.object_to_string(&served.peer)),
    ] {
        let file = scratch.path(name)?;
        fs::write(&file, reference)?;
        arguments.extend([format!("--{name}"), file]);
    }
    let (_, output) = programs::run("omni-client", &arguments)?;
    let lines: Vec<Line> = output.lines().filter_map(line).collect();
    let name = format!("omni → orbium, {strategy}, bidirectional");
    judge(
        &name,
        &lines,
        &Expected::read("omni", "orbium", "1.2")?,
        100,
    )?;
    Ok(orb.shutdown(true)?)
}

/// Conformance: connections - bidirectional GIOP: with omniORB, as client
#[test]
fn omniorb_calls_back_over_the_connection_of_orbium() -> Tested {
    calling(ServerStrategy::ThreadPerConnection)?;
    calling(ServerStrategy::Reactive)?;
    calling(ServerStrategy::LeaderFollowers { threads: 2 })
}

/// Conformance: connections - bidirectional GIOP: with omniORB, as server
#[test]
fn orbium_calls_back_over_the_connection_of_omniorb() -> Tested {
    serving(ServerStrategy::ThreadPerConnection)?;
    serving(ServerStrategy::Reactive)?;
    serving(ServerStrategy::LeaderFollowers { threads: 2 })
}
