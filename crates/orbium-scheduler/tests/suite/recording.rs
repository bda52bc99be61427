// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dependencies recorded from calls.

use std::fs;

use orbium::interceptor::Interceptors;
use orbium_sched::{Dependency, DependencyKind, Handle, SchedError, Table, Time, Timing};
use orbium_scheduler::{CallRecorder, Mode, Outcome, Scheduler, SchedulerError};
use orbium_testkit::probe::Target;
use orbium_testkit::reach;

use crate::intercepted_process::InterceptedProcess;
use crate::modes::file;

/// An ORB with the recorder's interceptors, which serves a target.
fn process(recorder: &CallRecorder) -> InterceptedProcess {
    let mut interceptors = Interceptors::new();
    recorder.install(&mut interceptors).unwrap();
    InterceptedProcess::new(interceptors)
}

/// `Rudder::steer` each 50 ms, and what it calls.
fn scheduler(mode: Mode) -> (Scheduler, Handle) {
    scheduler_by(&Table::EMPTY, mode)
}

fn scheduler_by(table: &'static Table, mode: Mode) -> (Scheduler, Handle) {
    let mut scheduler = Scheduler::new(table, mode);
    let repository = scheduler.repository_mut();
    let timing = |period, worst_case| Timing {
        period: Time::from_millis(period),
        worst_case_execution_time: Time::from_millis(worst_case),
        ..Timing::default()
    };
    let steer = repository
        .register("Rudder::steer", timing(50, 10))
        .unwrap();
    for (name, worst_case) in [
        ("Probe::Target::act", 3),
        ("Probe::Target::noop", 1),
        ("Probe::Target::post", 2),
    ] {
        repository.register(name, timing(0, worst_case)).unwrap();
    }
    (scheduler, steer)
}

fn configured(scheduler: &mut Scheduler) -> String {
    match scheduler.schedule().unwrap() {
        Outcome::Configured { path, .. } => {
            let text = fs::read_to_string(&path).unwrap();
            fs::remove_file(path).unwrap();
            text
        }
        other => panic!("{other:?}"),
    }
}

/// The dependencies of an operation: what it depends on, how often, and how.
fn dependencies(scheduler: &Scheduler, name: &str) -> Vec<(String, u32, DependencyKind)> {
    let repository = scheduler.repository();
    let info = repository.get(repository.lookup(name).unwrap()).unwrap();
    let row = |it: &Dependency| (repository.name(it.on).to_owned(), it.calls, it.kind);
    info.dependencies.iter().map(row).collect()
}

/// A configuration run in which a periodic operation calls a servant that calls others.
fn recorded(test: &str) -> (Scheduler, String) {
    let (mut scheduler, steer) = scheduler(Mode::Configure(file(test)));
    let recorder = scheduler.record_calls();
    let inner = process(&recorder);
    let outer = process(&recorder);
    let called: Target = reach(&outer.orb, &inner.orb.object_to_string(&inner.target));
    outer.state.on_act(move |_, calls| {
        for _ in 0..calls {
            called.noop()?;
        }
        called.post(calls)?;
        Ok(calls)
    });
    let caller = process(&recorder);
    let act: Target = reach(&caller.orb, &outer.orb.object_to_string(&outer.target));
    for calls in [1, 3, 2] {
        recorder.run(steer, || {
            act.act(calls).unwrap();
            act.act(calls).unwrap();
            act.echo_long(calls).unwrap();
        });
    }
    // Outside the operation: no dependency.
    for _ in 0..10 {
        act.noop().unwrap();
    }
    assert_eq!(recorder.unscheduled(), ["Probe::Target::echo_long"]);
    let text = configured(&mut scheduler);
    for it in [caller, outer, inner] {
        it.orb.shutdown(true).unwrap();
    }
    (scheduler, text)
}

/// Conformance: RT 6 - configuration run: dependencies recorded from the calls of operations
#[test]
fn calls_of_operations_become_their_dependencies() {
    let (scheduler, first) = recorded("recorded");
    use DependencyKind::{OneWayCall, TwoWayCall};
    let dependency = |on: &str, calls, kind| (on.to_owned(), calls, kind);
    assert_eq!(
        dependencies(&scheduler, "Rudder::steer"),
        [dependency("Probe::Target::act", 2, TwoWayCall)]
    );
    // The most calls of one run.
    assert_eq!(
        dependencies(&scheduler, "Probe::Target::act"),
        [dependency("Probe::Target::noop", 3, TwoWayCall)]
    );
    assert_eq!(
        dependencies(&scheduler, "Probe::Target::post"),
        [dependency("Probe::Target::act", 1, OneWayCall)]
    );
    // 10 ms, and twice 3 ms with thrice 1 ms.
    assert!(
        first.contains("// Rudder::steer        0      50 ms   22 ms"),
        "{first}"
    );
    assert!(
        first.contains("// Probe::Target::act   calls           Probe::Target::noop  3"),
        "{first}"
    );
    let (_, second) = recorded("recorded-again");
    assert_eq!(first, second);
}

#[test]
fn declared_calls_count_once() {
    let (mut scheduler, steer) = scheduler(Mode::Configure(file("declared")));
    let repository = scheduler.repository_mut();
    let noop = repository.lookup("Probe::Target::noop").unwrap();
    let kind = DependencyKind::TwoWayCall;
    repository.add_dependency(steer, noop, 2, kind).unwrap();
    for name in ["Probe::Target::act", "Probe::Target::post"] {
        let other = repository.lookup(name).unwrap();
        repository.add_dependency(steer, other, 1, kind).unwrap();
    }
    let recorder = scheduler.record_calls();
    let process = process(&recorder);
    let calls = |count| {
        recorder.run(steer, || {
            for _ in 0..count {
                process.target.noop().unwrap();
            }
        });
    };
    let total = |scheduler: &Scheduler| -> u32 {
        let all = dependencies(scheduler, "Rudder::steer");
        let to_noop = all.iter().filter(|(on, ..)| on == "Probe::Target::noop");
        to_noop.map(|(_, calls, _)| calls).sum()
    };
    for (count, expected) in [(1, 2), (5, 5), (5, 5), (0, 5)] {
        calls(count);
        configured(&mut scheduler);
        assert_eq!(total(&scheduler), expected);
    }
    process.orb.shutdown(true).unwrap();
}

/// The table of a configuration run has dependencies that the program does not register at run time.
///
/// Conformance: RT 6 - configuration run: dependencies recorded from the calls of operations - at run time
#[test]
fn a_table_with_recorded_calls_serves_the_program_that_made_them() {
    let (mut configuring, steer) = scheduler(Mode::Configure(file("recorded-table")));
    let recorder = configuring.record_calls();
    let process = process(&recorder);
    process.state.on_act(|_, it| Ok(it));
    recorder.run(steer, || {
        process.target.act(0).unwrap();
        process.target.noop().unwrap();
        process.target.post(0).unwrap();
    });
    let Outcome::Configured { path, schedule } = configuring.schedule().unwrap() else {
        panic!("it is a configuration run");
    };
    fs::remove_file(path).unwrap();
    process.orb.shutdown(true).unwrap();
    assert_eq!(dependencies(&configuring, "Rudder::steer").len(), 2);
    let table = Table::leak(configuring.repository(), &schedule).unwrap();
    let (mut running, steer) = scheduler_by(table, Mode::Run);
    assert!(matches!(running.schedule(), Ok(Outcome::Ready)));
    // What it registers itself counts.
    let repository = running.repository_mut();
    let noop = repository.lookup("Probe::Target::noop").unwrap();
    let kind = DependencyKind::TwoWayCall;
    repository.add_dependency(steer, noop, 1, kind).unwrap();
    let refused = running.schedule();
    assert!(matches!(
        refused,
        Err(SchedulerError::Sched(SchedError::OtherProgram))
    ));
}

/// A servant that calls the operation which called it.
#[test]
fn recorded_cycles_are_refused() {
    let path = file("recorded-cycle");
    let (mut scheduler, _) = scheduler(Mode::Configure(path.clone()));
    let recorder = scheduler.record_calls();
    let process = process(&recorder);
    let again = process.target.clone();
    process.state.on_act(move |_, depth| match depth {
        0 => Ok(0),
        _ => again.act(depth - 1),
    });
    process.target.act(1).unwrap();
    let refused = scheduler.schedule();
    assert!(
        matches!(
            refused,
            Err(SchedulerError::Sched(SchedError::CyclicDependencies(_)))
        ),
        "{refused:?}"
    );
    assert!(!path.exists());
    process.orb.shutdown(true).unwrap();
}

#[test]
fn nothing_is_installed_at_run_time() {
    let (mut scheduler, steer) = scheduler(Mode::Run);
    let recorder = scheduler.record_calls();
    let mut interceptors = Interceptors::new();
    recorder.install(&mut interceptors).unwrap();
    assert!(!interceptors.intercepts_calls() && !interceptors.intercepts_requests());
    assert_eq!(recorder.run(steer, || 7), 7);

    let mut configuring = self::scheduler(Mode::Configure(file("installed"))).0;
    let recorder = configuring.record_calls();
    recorder.install(&mut interceptors).unwrap();
    assert!(interceptors.intercepts_calls() && interceptors.intercepts_requests());
    assert!(recorder.install(&mut interceptors).is_err());
}
