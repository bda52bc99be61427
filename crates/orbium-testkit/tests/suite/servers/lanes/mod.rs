// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes: each request is served at its priority by the lane of that.

mod busy_polling;
mod configured;
mod life;
mod native;
mod order;
mod queues;
mod routing;
mod threads;

use orbium::giop::real_time::priority_context;
use std::sync::Arc;
use std::thread;

use orbium::giop::{ReplyStatus, ServiceContext, service_context};
use orbium::{
    Interface, Orb,
    config::ServerStrategy,
    lane::{Lane, LaneConfig, Priority},
    poa::Policies,
    transport::HostPort,
};
use orbium_core::ServedBy;
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, TargetState, reach, request};

const LOOPBACK: &str = "iiop://127.0.0.1:0";

fn lane(orb: &Orb, number: i16, strategy: ServerStrategy) -> Lane {
    orb.add_lane(&config(number, strategy)).unwrap()
}

fn config(number: i16, strategy: ServerStrategy) -> LaneConfig {
    LaneConfig {
        name: format!("lane-{number}"),
        priority: Priority::new(number),
        strategy,
        endpoints: vec![LOOPBACK.parse().unwrap()],
        ..LaneConfig::default()
    }
}

fn pool(workers: usize, queue: usize) -> ServerStrategy {
    ServerStrategy::WorkerPool { workers, queue }
}

/// An object behind lanes, under the plain key `name` too.
struct Behind {
    state: Arc<TargetState>,
    target: Target,
}

impl Behind {
    fn new(orb: &Orb, name: &str, lanes: &[Lane], own: Option<i16>) -> Self {
        let policies = Policies {
            lanes: lanes.to_vec(),
            ..Policies::default()
        };
        let manager = Some(orb.root_poa().manager());
        let poa = orb.root_poa().create_poa(name, manager, policies).unwrap();
        let state = Arc::new(TargetState::default());
        let servant: Arc<dyn orbium::Servant> = Arc::new(Target::skeleton(Arc::clone(&state)));
        let object = match own.and_then(Priority::new) {
            Some(priority) => poa.activate_servant_at(None, &servant, priority),
            None => poa.activate_servant(&servant),
        };
        let target = Target::from_object(object.unwrap());
        orb.bind_key_in_place(name, &target).unwrap();
        Self { state, target }
    }

    fn seen_by(&self, orb: &Orb, client: &Orb) -> Target {
        reach(client, &orb.object_to_string(&self.target))
    }
}

fn port(lane: &Lane) -> u16 {
    let at: HostPort = lane.channels()[0].address.parse().unwrap();
    at.port
}

/// `act` with the number of the request, at a priority that the client asks for.
fn act(key: &str, id: u32, asked: Option<i16>) -> Vec<u8> {
    let data = asked.map(priority_context);
    let context = data.as_ref().map(|data| ServiceContext {
        id: service_context::RT_CORBA_PRIORITY,
        data,
    });
    let line = RequestLine {
        contexts: context.as_slice(),
        key: key.as_bytes(),
        ..RequestLine::new(id, "act")
    };
    request(line, |w| w.write_u32(id))
}

fn name_of_thread() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

fn threads_called(name: &str) -> usize {
    let all = std::fs::read_dir("/proc/self/task").unwrap();
    // One may end meanwhile.
    let names = all.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("comm")).ok());
    names.filter(|it| it.trim() == name).count()
}

/// Calls `gate` of the object of that key, which ends when the gate is opened.
fn at_the_gate(port: u16, key: &str, id: u32) -> Peer {
    let mut peer = Peer::connect(port);
    let line = RequestLine {
        key: key.as_bytes(),
        ..RequestLine::new(id, "gate")
    };
    peer.send(&request(line, |_| {}));
    peer
}

/// The next answer is a system exception of that name.
#[track_caller]
fn expect_refusal(peer: &mut Peer, name: &str) {
    let (_, status, body) = peer.receive().reply();
    assert_eq!(status, ReplyStatus::SystemException);
    let end = body[4..].iter().position(|octet| *octet == 0).unwrap();
    let id = String::from_utf8_lossy(&body[4..4 + end]);
    assert_eq!(id, format!("IDL:omg.org/CORBA/{name}:1.0"));
}
