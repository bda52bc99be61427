// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of the threads that receive replies and run handlers; skipped
//! where the host permits none.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, SystemTime};

use orbium_core::{
    Completion, Config, ExceptionKind, Interface, Limits, Orb, Priority, SystemException,
    TimePolicies,
};
use orbium_rt::{DirectMapping, RtOrb, Scheduling};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, eventually, skipped, within};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::{act, act_at, handled, result};
use crate::common::{client_with, on_a_thread, propagated, server_with};

/// An ORB that calls at native priorities 1 to 20, its handlers on one thread for
/// each; `None` where that is not permitted.
fn native_client() -> Option<(Orb, RtOrb)> {
    let orb = Orb::new(Config {
        limits: Limits {
            reply_threads: 1,
            ..Limits::default()
        },
        ..Config::default()
    });
    let orb = orb.unwrap();
    let builder = RtOrb::builder().mapping(DirectMapping::over(1..=20));
    match builder.native_range(1..=20).install(&orb) {
        Ok(rt) => Some((orb, rt)),
        Err(_) => {
            skipped("native priorities of replies: SCHED_FIFO is not permitted here");
            None
        }
    }
}

/// Real-time priorities of this process's threads of that name; those of other
/// tests are not of SCHED_FIFO.
fn priorities_of(name: &str) -> Vec<i32> {
    let mut priorities = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let task = task.unwrap().path();
        let comm = std::fs::read_to_string(task.join("comm")).unwrap_or_default();
        let Ok(stat) = std::fs::read_to_string(task.join("stat")) else {
            continue;
        };
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        if comm.trim() == name && fields[38] == "1" {
            priorities.push(fields[37].parse().unwrap());
        }
    }
    priorities
}

fn own() -> Scheduling {
    Scheduling::of_this_thread().unwrap()
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: natively; what the mapping or the host
/// refuses comes out of the call
#[test]
fn replies_are_received_and_handled_at_the_callers_native_priority() {
    let Some((orb, rt)) = native_client() else {
        return;
    };
    let served = Served::new(orbium_core::ServerStrategy::ThreadPerConnection);
    let target = served.seen_by(&orb);
    for priority in [7, 2, 7] {
        let before = own();
        let seen = handled(act_at(&rt, &target, priority), |it| (it, own()));
        assert_eq!(seen, (Ok(0), Scheduling::fifo(priority.into())));
        eventually("a thread has it", || {
            priorities_of("orbium-replies").contains(&priority.into())
        });
        assert_eq!(own(), before);
    }
    // A thread without a priority has its replies handled by such a one.
    let seen = handled(act(&target, 0), |it| (it, own()));
    assert_eq!(seen, (Ok(0), own()));
    // What a handler does to its thread is undone.
    for caller in [Some(7), None] {
        let begin = || match caller {
            Some(priority) => act_at(&rt, &target, priority),
            None => act(&target, 0),
        };
        let expected = match caller {
            Some(priority) => Scheduling::fifo(priority.into()),
            None => own(),
        };
        let (report, reported) = channel();
        let current = rt.current();
        begin().on_reply(move |_| {
            current.set_the_priority(12).unwrap();
            report.send(own()).unwrap();
        });
        let changed = within("the handler", move || reported.recv().unwrap());
        assert_eq!(changed, Scheduling::fifo(12));
        assert_eq!(handled(begin(), |_| own()), expected, "{caller:?}");
    }
    within("the end", move || orb.shutdown(true).unwrap());
    served.end();
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: natively; what the mapping or the host
/// refuses comes out of the call
#[test]
fn both_sides_may_be_native() {
    let Some((orb, rt)) = native_client() else {
        return;
    };
    let builder = RtOrb::builder().mapping(DirectMapping::over(1..=20));
    let (server_orb, server_rt) = server_with(Config::default(), builder.native_range(1..=20));
    let state = std::sync::Arc::new(orbium_testkit::TargetState::default());
    state.on_act(|_, _| Ok(own().priority));
    let object: Target = crate::common::adapter(&server_orb, &server_rt, "a", &propagated(3))
        .activate(state)
        .unwrap();
    let target = crate::common::seen_by(&orb, &server_orb, &object);
    for priority in [7, 2, 19] {
        let nested = target.clone();
        let seen = handled(act_at(&rt, &target, priority), move |it| {
            (it, own().priority, nested.act(0))
        });
        let native = i32::from(priority);
        assert_eq!(seen, (Ok(native), native, Ok(native)));
    }
    within("the end", move || orb.shutdown(true).unwrap());
    server_orb.shutdown(true).unwrap();
}

/// A caller that was given no CORBA priority has that which its native one means.
///
/// Conformance: RT 5.7, 5.3 - asynchronous invocations: natively; what the mapping or the host
/// refuses comes out of the call
#[test]
fn a_native_priority_is_carried_and_kept_too() {
    let Some((orb, rt)) = native_client() else {
        return;
    };
    let (server_orb, server_rt) = server_with(Config::default(), crate::common::soft());
    let object: Target = crate::common::adapter(&server_orb, &server_rt, "a", &propagated(3))
        .activate(crate::common::teller())
        .unwrap();
    let target = crate::common::seen_by(&orb, &server_orb, &object);
    let later = Target::from_object(target.as_object().with_time_policies(TimePolicies {
        request_start: Some(SystemTime::now() + Duration::from_millis(50)),
        ..TimePolicies::NONE
    }));
    let begin = |native| {
        let (target, later) = (target.clone(), later.clone());
        on_a_thread(move || {
            Scheduling::fifo(native).apply_to_this_thread().unwrap();
            [act(&target, 0), act(&later, 0)]
        })
    };
    let calls = [9, 4].map(|native| (native, begin(native)));
    for (native, calls) in calls {
        for call in calls {
            let current = rt.current();
            let seen = handled(call, move |it| (it, current.the_priority(), own()));
            let corba = Priority::new(native.try_into().unwrap()).unwrap();
            assert_eq!(seen, (Ok(native), Ok(corba), Scheduling::fifo(native)));
        }
    }
    within("the end", move || orb.shutdown(true).unwrap());
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: natively; what the mapping or the host
/// refuses comes out of the call
#[test]
fn unmapped_priorities_fail_the_call() {
    let Some((orb, rt)) = native_client() else {
        return;
    };
    let (_soft_orb, soft_rt) = client_with(crate::common::soft());
    let served = Served::new(orbium_core::ServerStrategy::Reactive);
    let target = served.seen_by(&orb);
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    for _ in 0..2 {
        assert_eq!(result(act_at(&soft_rt, &target, 60)), Err(expected));
    }
    let refused = handled(act_at(&soft_rt, &target, 60), |it| it);
    assert_eq!(refused, Err(expected));
    assert_eq!(result(act_at(&rt, &target, 7)), Ok(0));
    within("the end", move || orb.shutdown(true).unwrap());
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: natively; what the mapping or the host
/// refuses comes out of the call
#[test]
fn priorities_that_the_host_refuses_fail_the_call() {
    let Some((orb, rt)) = native_client() else {
        return;
    };
    let (_soft_orb, soft_rt) = client_with(crate::common::soft());
    let served = Served::new(orbium_core::ServerStrategy::Reactive);
    let target = served.seen_by(&orb);
    let of_thread = target.clone();
    // A thread, and those that it begins, may not have what the ORB may.
    let refused = on_a_thread(move || {
        let mut own = capabilities(None).unwrap();
        own.effective.remove(CapabilitySet::SYS_NICE);
        own.permitted.remove(CapabilitySet::SYS_NICE);
        own.inheritable.remove(CapabilitySet::SYS_NICE);
        set_capabilities(None, own).unwrap();
        if Scheduling::fifo(7).try_out().is_ok() {
            return None;
        }
        soft_rt.current().set_the_priority(7).unwrap();
        let waited = result(act(&of_thread, 0));
        let call = act(&of_thread, 0);
        let (report, reported) = channel();
        call.on_reply(move |it| report.send(it).unwrap());
        Some([waited, reported.recv().unwrap()])
    });
    match refused {
        None => skipped("a priority that is refused: everybody may have it here"),
        Some(refused) => {
            for refused in refused {
                assert_eq!(refused.unwrap_err().kind, ExceptionKind::NoPermission);
            }
        }
    }
    // Others are not touched.
    let of_others = thread::spawn(move || result(act_at(&rt, &target, 7)));
    assert_eq!(of_others.join().unwrap(), Ok(0));
    within("the end", move || orb.shutdown(true).unwrap());
}
