// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes of a configuration: of a file, of arguments, of a profile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::giop::ReplyStatus;
use orbium::{
    Config, Interface, Orb, OrbError,
    config::Configure as _,
    lane::{Priority, priority},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, Served, TargetState, client, within};

use super::{act, expect_refusal, name_of_thread, port};

/// A server whose configuration is that file.
fn server(file: &str) -> Served {
    Served::with(from_file(file))
}

fn from_file(text: &str) -> Config {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("orbium-lanes-{}-{number}.toml", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let config = Config::from_file(&path);
    std::fs::remove_file(&path).unwrap();
    config.unwrap()
}

/// Has `act` check who serves: by the request's number.
fn served_by(state: &TargetState, expected: &'static [(u32, Option<i16>, &'static str)]) {
    state.on_act(move |call, id| {
        let expected = expected.iter().find(|it| it.0 == id as u32).unwrap();
        let seen = (call.priority().map(Priority::number), name_of_thread());
        assert_eq!(seen, (expected.1, expected.2.to_owned()), "{id}");
        Ok(id)
    });
}

fn answered(peer: &mut Peer, id: u32, asked: Option<i16>) {
    peer.send(&act("Target", id, asked));
    let (answered, status, _) = peer.receive().reply();
    assert_eq!((answered, status), (id, ReplyStatus::NoException));
}

/// The program knows nothing of lanes: its installation has them.
///
/// Conformance: ORB - lanes: from a file, arguments or a profile
#[test]
fn lanes_of_a_file_serve_adapters_that_name_none() {
    let served = server(
        "endpoint = 'iiop://127.0.0.1:0'\n\
         [lane.urgent]\n\
         priority = 200\n\
         strategy = 'worker-pool:1/4'\n\
         endpoint = 'iiop://127.0.0.1:0'\n\
         [lane.routine]\n\
         priority = 100\n\
         strategy = 'worker-pool:1/4'\n",
    );
    served_by(
        &served.state,
        &[
            (1, Some(200), "urgent"),
            (2, Some(100), "routine"),
            (3, None, "orbium-serve"),
        ],
    );
    let urgent = served.orb.lane("urgent").unwrap();
    assert_eq!(urgent.priority(), Priority::new(200));
    assert!(served.orb.lane("other").is_none());
    for at in [port(&urgent), served.port()] {
        let mut peer = Peer::connect(at);
        for (id, asked) in [(1, 200), (1, 32767), (2, 100), (2, 199)] {
            answered(&mut peer, id, Some(asked));
        }
        // Less than all, or nothing, is the ORB's own affair.
        answered(&mut peer, 3, Some(99));
    }
    answered(&mut Peer::connect(served.port()), 3, None);
    // References name the lanes' endpoints, those of the ORB first.
    let caller = client();
    let target = served.seen_by(&caller);
    assert_eq!(target.act(3), Ok(3));
    priority::set_current(Priority::new(250));
    assert_eq!(target.act(1), Ok(1));
    let channel = target.as_object().channel().unwrap();
    priority::set_current(None);
    assert_eq!(channel.address, urgent.channels()[0].address);
    served.end();
}

/// Conformance: ORB - lanes: from a file, arguments or a profile
#[test]
fn without_an_endpoint_of_its_own_the_orb_is_its_lanes() {
    let orb = Orb::new(from_file(
        "[lane.urgent]\n\
         priority = 200\n\
         endpoint = 'iiop://127.0.0.1:0'\n\
         [lane.routine]\n\
         priority = 100\n\
         endpoint = 'iiop://127.0.0.1:0'\n",
    ));
    let orb = orb.unwrap();
    orb.root_poa().manager().activate().unwrap();
    let state = Arc::new(TargetState::default());
    let target: Target = orb.root_poa().activate(Arc::clone(&state)).unwrap();
    orb.bind_key_in_place("Target", &target).unwrap();
    served_by(
        &state,
        &[(1, Some(200), "urgent"), (2, Some(100), "routine")],
    );
    let lanes = ["urgent", "routine"].map(|name| orb.lane(name).unwrap());
    let mut peer = Peer::connect(port(&lanes[1]));
    answered(&mut peer, 1, Some(200));
    answered(&mut peer, 2, Some(100));
    answered(&mut peer, 2, None);
    peer.send(&act("Target", 9, Some(99)));
    expect_refusal(&mut peer, "INV_POLICY");
    drop(peer);
    within("the end", move || orb.shutdown(true)).unwrap();
}

/// A thread for each rate, with an endpoint of its own: nothing is handed over.
///
/// Conformance: ORB - lanes: from a file, arguments or a profile
#[test]
fn the_lanes_of_avionics_serve_by_rate() {
    let mut config = Config::profile("avionics").unwrap();
    config.set("endpoint", "iiop://127.0.0.1:0").unwrap();
    let served = Served::with(config);
    served_by(
        &served.state,
        &[
            (1, Some(32_000), "rate-20hz"),
            (2, Some(24_000), "rate-10hz"),
            (3, Some(16_000), "rate-5hz"),
            (4, Some(8_000), "rate-1hz"),
            (5, None, "orbium-serve"),
        ],
    );
    let mut peer = Peer::connect(served.port());
    for (id, asked) in [(1, 32_000), (2, 31_999), (3, 16_000), (4, 8_000)] {
        answered(&mut peer, id, Some(asked));
    }
    answered(&mut peer, 5, None);
    // A caller of that priority calls the endpoint of its rate.
    let caller = client();
    let target = served.seen_by(&caller);
    let lane = served.orb.lane("rate-10hz").unwrap();
    priority::set_current(Priority::new(24_000));
    assert_eq!(target.act(2), Ok(2));
    let channel = target.as_object().channel().unwrap();
    priority::set_current(None);
    assert_eq!(channel.address, lane.channels()[0].address);
    served.end();
}

/// Conformance: ORB - lanes: from a file, arguments or a profile
#[test]
fn lanes_that_make_no_sense_together_are_refused_with_a_sentence() {
    let pool = "strategy = 'worker-pool:1/1'\n";
    for (lanes, reason) in [
        ("[lane.a]\n", "each lane needs a priority"),
        (
            "[lane.a]\npriority = 1\n[lane.b]\npriority = 1\n",
            "the same priority",
        ),
        (
            "[lane.a]\npriority = 1\nscheduling = 'fifo:9'\n[lane.b]\npriority = 2\nscheduling = 'fifo:8'\n",
            "in the order of the lanes' priorities",
        ),
        (
            "[lane.a]\npriority = 1\nendpoint = 'iiop://:5001'\n[lane.b]\npriority = 2\nendpoint = 'iiop://:5001'\n",
            "the same endpoint",
        ),
        (
            &format!("[lane.a]\npriority = 1\n{pool}borrows_from = 'b'\n"),
            "one that is not there",
        ),
        (
            &format!(
                "[lane.a]\npriority = 1\n{pool}borrows_from = 'b'\n[lane.b]\npriority = 2\n{pool}"
            ),
            "lower priority alone",
        ),
        (
            &format!("[lane.a]\npriority = 2\n{pool}borrows_from = 'b'\n[lane.b]\npriority = 1\n"),
            "between worker pools",
        ),
        (
            "[lane.a]\npriority = 1\ndynamic_threads = 2\n",
            "dynamic_threads must be 0",
        ),
        (
            "[lane.a]\npriority = 1\nreplaces_waiting = false\n",
            "only worker pools",
        ),
        (
            "[lane.a]\npriority = 1\nprefault_stack = '2 MiB'\n",
            "lower prefault_stack",
        ),
        (
            "[lane.a]\npriority = 1\nstrategy = 'worker-pool:0/1'\n",
            "at least 1 static thread",
        ),
    ] {
        let refused = Orb::new(from_file(lanes)).unwrap_err();
        assert!(matches!(refused, OrbError::Config(_)), "{refused:?}");
        assert!(refused.to_string().contains(reason), "{lanes}: {refused}");
    }
}

/// Conformance: ORB - lanes: from a file, arguments or a profile
#[test]
fn arguments_describe_lanes_too() {
    let mut args: Vec<String> = [
        "server",
        "-ORBProfile",
        "avionics",
        "-ORBSet",
        "lanes=rate-20hz",
        "-ORBSet",
        "lane.rate-20hz.endpoint=none",
        "-ORBSet",
        "lane.rate-20hz.priority=7",
        "-ORBSet",
        "lane.extra.priority=3",
        "-ORBListenEndpoints",
        "iiop://127.0.0.1:0",
    ]
    .map(str::to_owned)
    .to_vec();
    let served = Served::with(Config::from_args(&mut args).unwrap());
    assert_eq!(args, ["server"]);
    let names: Vec<_> = served
        .orb
        .lanes()
        .iter()
        .map(|lane| (lane.name().to_owned(), lane.priority().unwrap().number()))
        .collect();
    assert_eq!(names, [("extra".into(), 3), ("rate-20hz".into(), 7)]);
    served.end();
}
