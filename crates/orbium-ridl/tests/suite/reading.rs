// SPDX-License-Identifier: MIT OR Apache-2.0
//! Annotations to RT_Infos.

use orbium_sched::{
    Criticality, DependencyKind, Importance, InfoKind, Options, Time, Timing, listing,
};

use crate::requirements;

/// Conformance: RT 6 - RIDL: annotations of operations are RT_Infos
#[test]
fn every_field_of_an_annotation_is_read() {
    let read = requirements(
        r#"module Nav { interface GPS {
            const string rate = "50 ms";
            @rt(period=rate, wcet="2 ms", typical="1.5 ms", cached="100 us", quantum="1 ms",
                criticality=HIGH, importance=VERY_LOW, threads=1, kind=DISJUNCTION)
            long position();
            long other();
        }; };"#,
    );
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let [position] = &read.operations[..] else {
        panic!("{:?}", read.operations);
    };
    assert_eq!(position.name, "Nav::GPS::position");
    let expected = Timing {
        worst_case_execution_time: Time::from_millis(2),
        typical_execution_time: Time::from_micros(1_500),
        cached_execution_time: Time::from_micros(100),
        period: Time::from_millis(50),
        criticality: Criticality::High,
        importance: Importance::VeryLow,
        quantum: Time::from_millis(1),
        threads: 1,
        kind: InfoKind::Disjunction,
    };
    assert_eq!(position.timing, expected);
}

/// Of `C + (k - 1) * cached`: 10 + 2 + 2 * 0.5 ms.
#[test]
fn calls_are_charged_to_the_thread_of_the_caller() {
    let read = requirements(
        r#"interface Gyro { @rt(wcet="2 ms", cached="500 us") long read(); };
        interface Rudder {
            @rt(period="50 ms", wcet="10 ms")
            @calls(operation="Gyro::read", times=3)
            void steer();
        };"#,
    );
    let mut repository = read.repository().unwrap();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    assert_eq!(schedule.threads.len(), 1);
    assert_eq!(schedule.threads[0].worst_case, Time::from_millis(13));
}

#[test]
fn a_oneway_operation_runs_at_the_rate_of_its_caller_in_a_thread_of_its_own() {
    let read = requirements(
        r#"interface Log { @rt(wcet="5 ms") oneway void write(); };
        interface Rudder {
            @rt(period="50 ms", wcet="10 ms") @calls(operation="Log::write", times=2)
            void steer();
        };"#,
    );
    let log = &read.operations[0];
    assert_eq!((&*log.name, log.calls.len()), ("Log::write", 1));
    assert_eq!(log.calls[0].kind, DependencyKind::OneWayCall);
    let mut repository = read.repository().unwrap();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    let rate = schedule.threads[0].rates[0];
    assert_eq!((rate.period, rate.runs), (Time::from_millis(50), 2));
}

#[test]
fn names_are_resolved_from_the_interface_outward() {
    let read = requirements(
        r#"module M {
            interface Base { @rt(wcet="1 ms") void f(); };
            interface Other : Base { @rt(wcet="2 ms") void g(); };
            interface User {
                @rt(wcet="3 ms") void g();
                @rt(period="1 s", wcet="4 ms")
                @calls(operation="g") @calls(operation="Other::g") @calls(operation="Other::f")
                @calls(operation="M::Base::f") @calls(operation="::M::User::g")
                void run();
            };
        };
        interface Base { @rt(wcet="9 ms") void f(); };"#,
    );
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let run = read.operations.iter().find(|it| it.name == "M::User::run");
    let called = run
        .unwrap()
        .calls
        .iter()
        .map(|it| &*read.operations[it.on].name);
    assert_eq!(
        called.collect::<Vec<_>>(),
        [
            "M::User::g",
            "M::Other::g",
            "M::Base::f",
            "M::Base::f",
            "M::User::g"
        ]
    );
}

#[test]
fn a_table_is_the_same_as_annotations() {
    let read = requirements(
        r#"interface Gyro { @rt(wcet="2 ms") long read(); };
        interface Rudder {
            @rt(period="50 ms", wcet="10 ms") @calls(operation="Gyro::read") void steer();
        };"#,
    );
    let repository = read.repository().unwrap();
    let table = orbium_ridl::Requirements::listed("t.txt", &listing(&repository));
    let again = table.repository().unwrap();
    assert_eq!(again.infos(), repository.infos());
}

/// `enabled=DISABLED` was read and forgotten: `orbium sched check` judged another set than the service that keeps the table.
#[test]
fn disabled_operations_are_part_of_no_schedule() {
    let text = r#"operation "steer" period="50 ms" wcet="10 ms"
        operation "spare" period="50 ms" wcet="20 ms" enabled=DISABLED
        operation "log" wcet="1 ms"
        consumes "log" operation="steer" enabled=DISABLED
        consumes "log" operation="spare"
        calls "steer" operation="log" times=2
    "#;
    let table = orbium_ridl::Requirements::listed("t.txt", text);
    let parsed = orbium_sched::parse(text).unwrap().repository;
    let mut repository = table.repository().unwrap();
    assert_eq!(repository.infos(), parsed.infos());
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    assert_eq!(schedule.threads.len(), 1);
    assert_eq!(schedule.threads[0].worst_case, Time::from_millis(12));
}
