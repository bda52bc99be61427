// SPDX-License-Identifier: MIT OR Apache-2.0
//! omniORB and orbium over bidirectional connections: each as client and as server. The
//! references of the clients lead to addresses at which nothing answers.

use std::fs;
use std::sync::Arc;

use orbium::giop::codeset::NativeCharSet;
use orbium::{
    BidirectionalPolicy, Config, Interface, LaneConfig, Orb, Poa, PoaError, Policies,
    ServerStrategy,
};
use orbium_demo::cubit::Cube;
use orbium_demo::kitchen::Peer;
use orbium_demo::ttcp::Receiver;
use orbium_demo::{CubeServant, PeerServant, ReceiverServant, serve};
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

/// An adapter with that policy below the root, under the root's manager.
fn adapter(orb: &Orb, policy: BidirectionalPolicy) -> Result<Poa, PoaError> {
    let root = orb.root_poa();
    let policies = Policies {
        bidirectional: Some(policy),
        ..Policies::default()
    };
    root.create_poa(&policy.to_string(), Some(root.manager()), policies)
}

/// In an ORB with NORMAL, omniORB's server reaches an object only where its adapter and the
/// reference that it was sent through have BOTH.
///
/// Conformance: connections - bidirectional GIOP: BidirectionalPolicy of references and adapters,
/// with omniORB as server
#[test]
fn omniorb_calls_back_objects_of_adapters_that_go_both_ways() -> Tested {
    if !available(&["omni-server"]) {
        return Ok(());
    }
    let server = Server::start("omni-server", &["--bidirectional", "--ior-dir"])?;
    let endpoint = format!("iiop://127.0.0.1:0?publish=127.0.0.1:{}", dead_port());
    let orb = Orb::new(Config {
        bidirectional: BidirectionalPolicy::Normal,
        bidirectional_overrides: true,
        ..both(ServerStrategy::ThreadPerConnection, &endpoint)?
    })?;
    orb.root_poa().manager().activate()?;
    let peer: Peer = orb.resolve(server.reference("peer")?.trim())?;
    let cube: Cube = orb.resolve(server.reference("cube")?.trim())?;
    let open = peer.with_bidirectional(BidirectionalPolicy::Both);
    let [normal, both] = [BidirectionalPolicy::Normal, BidirectionalPolicy::Both];
    for (policy, calls, reaches) in [
        (both, &peer, false),
        (normal, &open, false),
        (both, &open, true),
        (normal, &open, false),
    ] {
        let adapter = adapter(&orb, policy)?;
        let servant = Arc::new(PeerServant::default());
        let target: Peer = adapter.activate(Arc::clone(&servant))?;
        let called = calls.call_back(Some(&target), 1);
        assert_eq!(
            (called.is_ok(), servant.called_back()),
            (reaches, u64::from(reaches))
        );
        adapter.destroy(true)?;
    }
    cube.shutdown()?;
    orb.shutdown(true)?;
    server.ends_well()
}

/// omniORB's server adds the listen points of each request to those of its connection. Its own
/// client announces once: all its endpoints open with its adapter, before it may call.
///
/// Conformance: connections - bidirectional GIOP: endpoints that are opened later are announced
/// over the connections that are there - omniORB as server
#[test]
fn omniorb_calls_back_at_an_endpoint_that_was_opened_later() -> Tested {
    if !available(&["omni-server"]) {
        return Ok(());
    }
    let server = Server::start("omni-server", &["--bidirectional", "--ior-dir"])?;
    let endpoint = || format!("iiop://127.0.0.1:0?publish=127.0.0.1:{}", dead_port());
    let orb = Orb::new(both(ServerStrategy::ThreadPerConnection, &endpoint())?)?;
    let root = orb.root_poa();
    root.manager().activate()?;
    let peer: Peer = orb.resolve(server.reference("peer")?.trim())?;
    let cube: Cube = orb.resolve(server.reference("cube")?.trim())?;
    let calls_back = |adapter: &Poa| -> Tested {
        let servant = Arc::new(PeerServant::default());
        let target: Peer = adapter.activate(Arc::clone(&servant))?;
        peer.call_back(Some(&target), 1)?;
        assert_eq!(servant.called_back(), 1);
        Ok(())
    };
    calls_back(&root)?;
    let lane = orb.add_lane(&LaneConfig {
        name: "later".into(),
        endpoints: vec![endpoint().parse()?],
        ..LaneConfig::default()
    })?;
    let policies = Policies {
        lanes: vec![lane],
        ..Policies::default()
    };
    calls_back(&root.create_poa("later", Some(root.manager()), policies)?)?;
    calls_back(&root)?;
    cube.shutdown()?;
    orb.shutdown(true)?;
    server.ends_well()
}

/// omniORB's client asks an object of an adapter with NORMAL to call it back, which does not reach
/// it, and then one of an adapter with BOTH.
///
/// Conformance: connections - bidirectional GIOP: BidirectionalPolicy of adapters, with omniORB as
/// client
#[test]
fn omniorb_is_called_back_by_objects_of_adapters_that_go_both_ways() -> Tested {
    if !available(&["omni-client"]) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let orb = Orb::new(both(
        ServerStrategy::ThreadPerConnection,
        "iiop://127.0.0.1:0",
    )?)?;
    orb.root_poa().manager().activate()?;
    let publish = format!("giop:tcp:127.0.0.1:{}", dead_port());
    for (policy, passes) in [
        (BidirectionalPolicy::Normal, false),
        (BidirectionalPolicy::Both, true),
    ] {
        // All three: the client asks each at its beginning, over one connection.
        let adapter = adapter(&orb, policy)?;
        let cube: Cube = adapter.activate(CubeServant::default())?;
        let receiver: Receiver = adapter.activate(ReceiverServant::default())?;
        let peer: Peer = adapter.activate(PeerServant::default())?;
        let mut arguments = ["--only", "kitchen.call_back_1", "--bidirectional"]
            .map(str::to_owned)
            .to_vec();
        arguments.extend(["-ORBendPointPublish".to_owned(), publish.clone()]);
        for (name, reference) in [
            ("cube", orb.object_to_string(&cube)),
            ("receiver", orb.object_to_string(&receiver)),
            ("peer", orb.object_to_string(&peer)),
        ] {
            let file = scratch.path(&format!("{name}-{policy}"))?;
            fs::write(&file, reference)?;
            arguments.extend([format!("--{name}"), file]);
        }
        let (_, output) = programs::run("omni-client", &arguments)?;
        let lines: Vec<Line> = output.lines().filter_map(line).collect();
        assert_eq!(lines.len(), 1, "{output}");
        let passed = lines[0].failure.is_none() && lines[0].skip.is_none();
        assert_eq!(passed, passes, "{output}");
    }
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
