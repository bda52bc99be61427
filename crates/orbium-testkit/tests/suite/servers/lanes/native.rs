// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of lanes, seen from within servants; skipped where the host
//! permits none.

use std::sync::Arc;

use orbium::giop::{ReplyStatus, ResponseFlags};
use orbium::{
    Config,
    config::ServerStrategy,
    hook::{Dispatch, DispatchHook, Hook, RequestInfo},
    lane::{LaneConfig, Priority, Scheduling, SchedulingClass, priority},
};
use orbium_testkit::{
    Peer, RequestLine, Served, each_strategy, eventually, give_up_real_time, in_own_process,
    request, skipped,
};

use super::{Behind, act, at_the_gate, config, pool, port};

/// Class and priority of the calling thread, as the kernel shows them.
fn in_proc() -> (SchedulingClass, i32) {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let class = match fields[38] {
        "1" => SchedulingClass::Fifo,
        "2" => SchedulingClass::RoundRobin,
        _ => SchedulingClass::Other,
    };
    (class, fields[37].parse().unwrap())
}

/// Has `act` answer with the native priority, and fail in another class.
fn reports_native(behind: &Behind, class: SchedulingClass) {
    behind.state.on_act(move |_, _| {
        let own = Scheduling::of_this_thread().unwrap();
        assert_eq!((own.class, own.priority), in_proc());
        assert!(own.class == class || own.priority == 0, "{own}");
        Ok(own.priority)
    });
}

/// The classes that this host permits; says so if it is none.
fn permitted() -> Vec<SchedulingClass> {
    let classes = [SchedulingClass::Fifo, SchedulingClass::RoundRobin];
    let may = |class: &SchedulingClass| {
        let highest = Scheduling {
            class: *class,
            priority: 9,
        };
        highest.try_out().is_ok()
    };
    let permitted: Vec<_> = classes.into_iter().filter(may).collect();
    if permitted.is_empty() {
        skipped("native priorities of lanes: neither SCHED_FIFO nor SCHED_RR is permitted here");
    }
    permitted
}

fn native_lane(number: i16, class: SchedulingClass, strategy: ServerStrategy) -> LaneConfig {
    LaneConfig {
        scheduling: Some(Scheduling {
            class,
            priority: i32::from(number / 10),
        }),
        ..config(number, strategy)
    }
}

/// What `act` of an object answers to a request of that priority.
fn asked(port: u16, key: &str, priority: i16) -> i32 {
    let mut peer = Peer::connect(port);
    peer.send(&act(key, 1, Some(priority)));
    let (_, status, body) = peer.receive().reply();
    assert_eq!(status, ReplyStatus::NoException);
    i32::from_ne_bytes(body[..4].try_into().unwrap())
}

/// Conformance: ORB - lanes: SCHED_FIFO and SCHED_RR, where the host permits them
#[test]
fn servants_run_at_the_native_priority_of_their_lane() {
    for class in permitted() {
        each_strategy(|strategy| {
            let served = Served::new(strategy);
            let lanes = [20, 50, 90].map(|number| {
                let lane = native_lane(number, class, strategy);
                served.orb.add_lane(&lane).unwrap()
            });
            for lane in &lanes {
                assert_eq!(lane.scheduling().map(|it| it.class), Some(class));
            }
            let behind = Behind::new(&served.orb, "Behind", &lanes, None);
            reports_native(&behind, class);
            reports_native_of(&served);
            // By whichever connection they come.
            for at in [port(&lanes[0]), port(&lanes[2]), served.port()] {
                for (priority, native) in [(20, 2), (90, 9), (59, 5), (200, 9)] {
                    assert_eq!(asked(at, "Behind", priority), native, "{class} {priority}");
                }
                assert_eq!(asked(at, "Target", 90), 0, "the ORB's own lane");
            }
            served.end();
        });
    }
}

fn reports_native_of(served: &Served) {
    served.state.on_act(|_, _| Ok(in_proc().1));
}

/// Conformance: ORB - lanes: SCHED_FIFO and SCHED_RR, where the host permits them
#[test]
fn a_borrowed_thread_has_the_native_priority_of_the_borrowing_lane() {
    for class in permitted() {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let low = native_lane(20, class, pool(1, 4));
        let low = served.orb.add_lane(&low).unwrap();
        let high = LaneConfig {
            borrows_from: vec![low.clone()],
            ..native_lane(70, class, pool(1, 0))
        };
        let high = served.orb.add_lane(&high).unwrap();
        let lower = Behind::new(&served.orb, "Lower", std::slice::from_ref(&low), None);
        let upper = Behind::new(&served.orb, "Upper", std::slice::from_ref(&high), None);
        reports_native(&lower, class);
        reports_native(&upper, class);
        let mut busy = at_the_gate(port(&high), "Upper", 1);
        upper.state.gate.await_waiting(1);
        for _ in 0..20 {
            assert_eq!(asked(port(&high), "Upper", 70), 7, "{class}, borrowed");
            assert_eq!(asked(port(&low), "Lower", 20), 2, "{class}, given back");
        }
        upper.state.gate.open();
        assert_eq!(busy.receive().reply().0, 1);
        served.end();
    }
}

/// Raises what asks for a priority, to a native one that is a tenth of it.
#[derive(Debug)]
struct Raise(SchedulingClass);

impl DispatchHook for Raise {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        let Some(priority) = request.priority() else {
            return Dispatch::Here;
        };
        let scheduling = Scheduling {
            class: self.0,
            priority: i32::from(priority.number() / 10),
        };
        Dispatch::At(priority, Some(scheduling))
    }
}

/// Conformance: ORB - lanes: SCHED_FIFO and SCHED_RR, where the host permits them
#[test]
fn a_thread_raised_for_a_request_goes_back_whatever_the_servant_does() {
    for class in permitted() {
        each_strategy(|strategy| {
            let served = Served::with(Config {
                strategy,
                dispatch: Some(Hook(Arc::new(Raise(class)))),
                ..Config::default()
            });
            served.state.on_act(move |_, id| {
                let seen = in_proc();
                if id == 1 {
                    // As RTCORBA::Current does.
                    let other = Scheduling { class, priority: 1 };
                    orbium::lane::set_thread_scheduling(other).unwrap();
                    priority::set_current(Priority::new(1));
                }
                Ok(seen.1)
            });
            let mut peer = Peer::connect(served.port());
            for (priority, native) in [
                (None, 0),
                (Some(80), 8),
                (None, 0),
                (Some(30), 3),
                (None, 0),
            ] {
                for id in [0, 1] {
                    peer.send(&act("Target", id, priority));
                    let (_, _, body) = peer.receive().reply();
                    let answer = i32::from_ne_bytes(body[..4].try_into().unwrap());
                    assert_eq!(answer, native, "{class} {priority:?}");
                }
            }
            served.end();
        });
    }
}

/// What its connection had sent behind it waited for ever.
///
/// Conformance: ORB - lanes: borrowing, downward only
#[test]
fn a_oneway_that_the_host_keeps_a_borrowed_thread_from_serving_holds_nothing_up() {
    in_own_process!(|| {
        let Some(class) = permitted().into_iter().next() else {
            return;
        };
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let low = served.orb.add_lane(&config(20, pool(1, 4))).unwrap();
        let high = LaneConfig {
            borrows_from: vec![low.clone()],
            ..native_lane(70, class, pool(1, 4))
        };
        let high = served.orb.add_lane(&high).unwrap();
        let lower = Behind::new(&served.orb, "Lower", std::slice::from_ref(&low), None);
        let upper = Behind::new(&served.orb, "Upper", std::slice::from_ref(&high), None);
        lower.state.on_act(|_, v| {
            give_up_real_time();
            Ok(v)
        });
        asked(port(&low), "Lower", 20);
        let mut busy = at_the_gate(port(&high), "Upper", 1);
        upper.state.gate.await_waiting(1);
        let mut peer = Peer::connect(port(&high));
        let line = RequestLine {
            key: b"Upper",
            response: ResponseFlags::None,
            ..RequestLine::new(2, "post")
        };
        peer.send(&request(line, |w| w.write_u32(7)));
        eventually("it is refused", || high.refused_requests() == 1);
        let mut lent = at_the_gate(port(&low), "Lower", 1);
        lower.state.gate.await_waiting(1);
        peer.send(&act("Upper", 4, None));
        eventually("it waits", || high.waiting_requests() == 1);
        upper.state.gate.open();
        assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
        lower.state.gate.open();
        assert_eq!(busy.receive().reply().0, 1);
        assert_eq!(lent.receive().reply().0, 1);
        served.end();
    });
}
