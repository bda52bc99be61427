// SPDX-License-Identifier: MIT OR Apache-2.0
//! omniORB and orbium over bidirectional connections: each as client and as server. The
//! references of the clients lead to addresses at which nothing answers.

use std::sync::{Arc, Mutex};

use orbium::giop::codeset::NativeCharSet;
use orbium::giop::service_context::BI_DIR_IIOP;
use orbium::interceptor::{Interceptors, Interrupt, ReceiveContexts, ServerInterceptor};
use orbium::{
    Config, Interface, Orb,
    config::{BidirectionalPolicy, ServerStrategy},
    lane::LaneConfig,
    poa::{Poa, PoaError, Policies},
};
use orbium_demo::cubit::Cube;
use orbium_demo::kitchen::Peer;
use orbium_demo::ttcp::Receiver;
use orbium_demo::{CubeServant, PeerServant, ReceiverServant, Served, serve};
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

/// What omniORB's client says that calls the cube, the receiver and the peer of these references and
/// publishes an address at which nothing answers. Not `--shutdown`: see "Other things to know" in
/// `interop/EXPECTED.md`.
fn client_says(
    references: [String; 3],
    options: &[&str],
    published: u16,
) -> Result<String, Box<dyn std::error::Error>> {
    let scratch = Scratch::new()?;
    let mut arguments: Vec<String> = options.iter().map(|&it| it.to_owned()).collect();
    arguments.extend([
        "--bidirectional".to_owned(),
        "-ORBendPointPublish".to_owned(),
        format!("giop:tcp:127.0.0.1:{published}"),
    ]);
    for (name, reference) in ["cube", "receiver", "peer"].into_iter().zip(references) {
        let file = scratch.write(name, reference)?;
        arguments.extend([format!("--{name}"), file]);
    }
    let (_, output) = programs::run("omni-client", &arguments)?;
    Ok(output)
}

/// The references of what a server has for the client.
fn references(orb: &Orb, served: &Served) -> [String; 3] {
    [
        orb.object_to_string(&served.cube),
        orb.object_to_string(&served.receiver),
        orb.object_to_string(&served.peer),
    ]
}

/// omniORB's client against orbium's server.
fn serving(strategy: ServerStrategy) -> Tested {
    if !available(&["omni-client"]) {
        return Ok(());
    }
    let orb = Orb::new(both(strategy, "iiop://127.0.0.1:0")?)?;
    let served = serve(&orb)?;
    let output = client_says(references(&orb, &served), &[], dead_port())?;
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
    let orb = Orb::new(both(
        ServerStrategy::ThreadPerConnection,
        "iiop://127.0.0.1:0",
    )?)?;
    orb.root_poa().manager().activate()?;
    for (policy, passes) in [
        (BidirectionalPolicy::Normal, false),
        (BidirectionalPolicy::Both, true),
    ] {
        // All three: the client asks each at its beginning, over one connection.
        let adapter = adapter(&orb, policy)?;
        let cube: Cube = adapter.activate(CubeServant::default())?;
        let receiver: Receiver = adapter.activate(ReceiverServant::default())?;
        let peer: Peer = adapter.activate(PeerServant::default())?;
        let references = [
            orb.object_to_string(&cube),
            orb.object_to_string(&receiver),
            orb.object_to_string(&peer),
        ];
        let output = client_says(references, &["--only", "kitchen.call_back_1"], dead_port())?;
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

/// Keeps the listen points that came with each request.
#[derive(Clone, Default)]
struct Announced(Arc<Mutex<Vec<Option<Vec<u8>>>>>);

impl ServerInterceptor for Announced {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let announced = request.service_context(BI_DIR_IIOP).ok();
        self.0.lock().unwrap().push(announced.map(<[u8]>::to_vec));
        Ok(())
    }
}

/// What omniORB's client sends: the addresses that it publishes and listens at, in the first
/// request of each of its few connections.
///
/// Conformance: connections - bidirectional GIOP: the listen points of omniORB, as client
#[test]
fn omniorb_announces_its_addresses_once_for_each_connection() -> Tested {
    if !available(&["omni-client"]) {
        return Ok(());
    }
    let announced = Announced::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_server(announced.clone())?;
    let orb = Orb::new(Config {
        interceptors,
        ..both(ServerStrategy::Reactive, "iiop://127.0.0.1:0")?
    })?;
    let served = serve(&orb)?;
    let port = dead_port();
    client_says(references(&orb, &served), &[], port)?;
    orb.shutdown(true)?;

    let seen = announced.0.lock().unwrap();
    let announcements: Vec<_> = seen.iter().flatten().collect();
    assert!(seen.len() > 100 * announcements.len(), "{seen:?}");
    let first = seen[0].as_deref().unwrap();
    assert!(announcements.iter().all(|it| *it == first), "{seen:?}");
    // An encapsulation in the order of its machine, and two addresses: a length, the text with its
    // zero, and a port.
    assert_eq!(first[..8], [[1, 0, 0, 0], 2_u32.to_ne_bytes()].concat());
    let point = |at: usize| {
        assert_eq!(first[at..at + 4], 10_u32.to_ne_bytes());
        assert_eq!(&first[at + 4..at + 14], b"127.0.0.1\0");
        u16::from_ne_bytes([first[at + 14], first[at + 15]])
    };
    let ports = [point(8), point(24)];
    assert_eq!(first.len(), 40);
    assert!(ports.contains(&port) && ports[0] != ports[1], "{ports:?}");
    Ok(())
}
