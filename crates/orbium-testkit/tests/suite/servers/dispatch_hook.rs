// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatch hooks: lane and priority of a request, refusals.

use std::sync::{Arc, Mutex};
use std::thread;

use orbium::giop::{ReplyStatus, ResponseFlags};
use orbium::{
    Completion, Config, ExceptionKind, Orb, SystemException,
    config::ServerStrategy,
    hook::{Dispatch, DispatchHook, Hook, RequestInfo},
    lane::{Lane, LaneConfig, Priority, Scheduling},
    poa::Policies,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, Served, TargetState, each_strategy, request};

/// Decides as the test says, and remembers what it was asked.
#[derive(Debug, Default)]
struct Decider {
    answer: Mutex<Option<Dispatch>>,
    asked: Mutex<Vec<String>>,
}

impl Decider {
    fn says(&self, answer: Dispatch) {
        *self.answer.lock().unwrap() = Some(answer);
    }

    fn was_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl DispatchHook for Decider {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        let operation = String::from_utf8_lossy(request.operation()).into_owned();
        self.asked.lock().unwrap().push(operation);
        self.answer
            .lock()
            .unwrap()
            .clone()
            .unwrap_or(Dispatch::Here)
    }
}

fn no_permission() -> SystemException {
    SystemException::new(ExceptionKind::NoPermission, 7, Completion::No)
}

/// A server whose ORB has that hook.
fn served_under<H: DispatchHook>(strategy: ServerStrategy, hook: &Arc<H>) -> Served {
    let hook: Arc<dyn DispatchHook> = Arc::clone(hook) as _;
    Served::with(Config {
        strategy,
        dispatch: Some(Hook(hook)),
        ..Config::default()
    })
}

fn lane(orb: &Orb, number: i16, strategy: ServerStrategy) -> Lane {
    let config = LaneConfig {
        name: format!("lane-{number}"),
        priority: Priority::new(number),
        strategy,
        ..LaneConfig::default()
    };
    orb.add_lane(&config).unwrap()
}

/// Sees to it that `act` gives the number of the priority it is served at, or -1,
/// and reports by which thread.
fn reports_priority(state: &TargetState) -> Arc<Mutex<String>> {
    let thread_name = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&thread_name);
    state.on_act(move |call, _| {
        *kept.lock().unwrap() = thread::current().name().unwrap_or_default().to_owned();
        Ok(call.priority().map_or(-1, |it| it.number().into()))
    });
    thread_name
}

/// Conformance: ORB - dispatch hooks, per ORB and per adapter
#[test]
fn a_hook_of_the_orb_is_asked_once_about_each_request_and_obeyed() {
    each_strategy(|strategy| {
        let decider = Arc::new(Decider::default());
        let served = served_under(strategy, &decider);
        let other = lane(&served.orb, 40, strategy);
        let (_client, target) = served.client();
        let by = reports_priority(&served.state);
        assert_eq!(target.act(1), Ok(-1));
        decider.says(Dispatch::At(Priority::new(9).unwrap(), None));
        assert_eq!(target.act(1), Ok(9));
        // As much as any host gives.
        let scheduling = Some(Scheduling::default());
        decider.says(Dispatch::At(Priority::MAX, scheduling));
        assert_eq!(target.act(1), Ok(32767));
        assert_eq!(*by.lock().unwrap(), "orbium-serve");
        decider.says(Dispatch::In(other.clone()));
        for _ in 0..20 {
            assert_eq!(target.act(1), Ok(40));
            assert_eq!(*by.lock().unwrap(), "lane-40");
        }
        decider.says(Dispatch::Refuse(no_permission()));
        assert_eq!(target.act(1), Err(no_permission()));
        decider.says(Dispatch::Here);
        assert_eq!(target.act(1), Ok(-1));
        assert_eq!(decider.was_asked(), ["act"; 25]);
        // Calls within the process are asked about too.
        decider.says(Dispatch::Refuse(no_permission()));
        assert_eq!(served.target.act(1), Err(no_permission()));
        decider.says(Dispatch::In(other.clone()));
        assert_eq!(served.target.act(1), Ok(40));
        assert_eq!(decider.was_asked(), ["act"; 2]);
        served.end();
    });
}

/// Conformance: ORB - dispatch hooks, per ORB and per adapter
#[test]
fn a_hook_of_an_adapter_comes_before_that_of_the_orb() {
    each_strategy(|strategy| {
        let of_orb = Arc::new(Decider::default());
        let served = served_under(strategy, &of_orb);
        let of_poa = Arc::new(Decider::default());
        let policies = Policies {
            dispatch: Some(Hook(Arc::clone(&of_poa) as Arc<dyn DispatchHook>)),
            ..Policies::default()
        };
        let manager = Some(served.orb.root_poa().manager());
        let poa = served
            .orb
            .root_poa()
            .create_poa("Hooked", manager, policies);
        let state = Arc::new(TargetState::default());
        let target: Target = poa.unwrap().activate(Arc::clone(&state)).unwrap();
        served.orb.bind_key_in_place("Hooked", &target).unwrap();
        reports_priority(&state);
        let mut peer = Peer::connect(served.port());
        let mut ask = |key: &'static [u8]| {
            let line = RequestLine {
                key,
                ..RequestLine::new(1, "act")
            };
            peer.send(&request(line, |w| w.write_u32(1)));
            let (_, status, body) = peer.receive().reply();
            (status == ReplyStatus::NoException)
                .then(|| i32::from_ne_bytes(body[..4].try_into().unwrap()))
        };
        of_orb.says(Dispatch::At(Priority::new(5).unwrap(), None));
        assert_eq!(ask(b"Hooked"), Some(5));
        of_poa.says(Dispatch::At(Priority::new(6).unwrap(), None));
        assert_eq!(ask(b"Hooked"), Some(6));
        assert_eq!((of_poa.was_asked().len(), of_orb.was_asked().len()), (2, 1));
        of_poa.says(Dispatch::Refuse(no_permission()));
        assert_eq!(ask(b"Hooked"), None);
        reports_priority(&served.state);
        assert_eq!(ask(b"Target"), Some(5));
        assert_eq!(of_poa.was_asked(), ["act"]);
        served.end();
    });
}

/// What a hook sends to a queue is served in the order of the priorities it
/// gave.
///
/// Conformance: ORB - dispatch hooks, per ORB and per adapter
#[test]
fn a_queue_follows_the_priorities_of_a_hook() {
    #[derive(Debug)]
    struct ByName;
    impl DispatchHook for ByName {
        fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
            match request.operation() {
                b"noop" => Dispatch::At(Priority::new(50).unwrap(), None),
                _ => Dispatch::Here,
            }
        }
    }
    let strategy = ServerStrategy::WorkerPool {
        workers: 1,
        queue: 10,
    };
    let served = served_under(strategy, &Arc::new(ByName));
    let mut busy = Peer::connect(served.port());
    busy.send(&request(RequestLine::new(1, "gate"), |_| {}));
    served.state.gate.await_waiting(1);
    let mut peer = Peer::connect(served.port());
    for id in [2, 3] {
        peer.send(&request(RequestLine::new(id, "echo_long"), |w| {
            w.write_u32(id);
        }));
    }
    peer.send(&request(RequestLine::new(4, "noop"), |_| {}));
    let lane = served.orb.own_lane().unwrap();
    orbium_testkit::eventually("they wait", || lane.waiting_requests() == 3);
    served.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    let answered = [0; 3].map(|_| peer.receive().reply().0);
    assert_eq!(answered, [4, 2, 3]);
    served.end();
}

/// Conformance: ORB - dispatch hooks, per ORB and per adapter
/// Conformance: TAO 7 - a long oneway does not delay a twoway on the same connection - requests
/// take effect in their order
#[test]
fn a_oneway_that_is_refused_or_moved_gets_no_answer() {
    each_strategy(|strategy| {
        let decider = Arc::new(Decider::default());
        let served = served_under(strategy, &decider);
        let other = lane(&served.orb, 40, strategy);
        let mut peer = Peer::connect(served.port());
        let post = |v: u32| {
            let line = RequestLine {
                response: ResponseFlags::None,
                ..RequestLine::new(v, "post")
            };
            request(line, |w| w.write_u32(v))
        };
        decider.says(Dispatch::Refuse(no_permission()));
        peer.send(&post(1));
        peer.send(&request(RequestLine::new(2, "noop"), |_| {}));
        let (id, status, _) = peer.receive().reply();
        assert_eq!((id, status), (2, ReplyStatus::SystemException));
        decider.says(Dispatch::In(other));
        for v in 3..20 {
            peer.send(&post(v));
        }
        peer.send(&request(RequestLine::new(20, "noop"), |_| {}));
        assert_eq!(peer.receive().reply().0, 20);
        // The queue keeps the order behind a oneway.
        assert_eq!(served.state.posted(), (3..20).collect::<Vec<_>>());
        served.end();
    });
}
