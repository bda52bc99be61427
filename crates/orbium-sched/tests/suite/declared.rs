// SPDX-License-Identifier: MIT OR Apache-2.0
//! RT_Infos as constants: their source is compiled here.

use orbium_sched::{
    Criticality, Declaration, DeclaredDependency, DependencyKind, EnableState, Importance,
    InfoKind, Options, Repository, SchedError, Table, Timing, call_tree, declarations, dot, source,
};

use crate::book::{avionics, ms, timing};

#[path = "../golden/declared.rs"]
#[allow(unreachable_pub, dead_code, reason = "it is as a program has it")]
mod generated;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/declared.rs");

/// `avionics` with an operation that has every field, and a call.
fn repository() -> Repository {
    let (mut repository, [.., frame]) = avionics();
    let every = Timing {
        worst_case_execution_time: ms(5),
        typical_execution_time: ms(4),
        cached_execution_time: ms(3),
        period: ms(2),
        criticality: Criticality::VeryHigh,
        importance: Importance::Low,
        quantum: ms(1),
        threads: 6,
        kind: InfoKind::Disjunction,
    };
    let odd = repository.register("odd \"name\"\n", every).unwrap();
    repository
        .add_dependency(frame, odd, 7, DependencyKind::TwoWayCall)
        .unwrap();
    repository
}

/// With `ORBIUM_BLESS` set, the file is written instead.
///
/// Conformance: RT 6 - RIDL: constants of generated code, an index for each operation
#[test]
fn declarations_register_the_operations_that_they_were_made_of() {
    let original = repository();
    let text = declarations(&original);
    if std::env::var_os("ORBIUM_BLESS").is_some() {
        std::fs::write(GOLDEN, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(GOLDEN).unwrap());
    let mut registered = Repository::new();
    registered.declare(&generated::OPERATIONS).unwrap();
    assert_eq!(registered.infos(), original.infos());
    assert_eq!(
        generated::OPERATIONS[generated::GPS_UPDATE].name,
        "GPS::update"
    );
}

/// A handle that generated code knows is the index of the schedule's table.
#[test]
fn tables_have_the_constants_of_their_declarations() {
    let (mut repository, _) = avionics();
    let declared = declarations(&repository);
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    let table = source(&repository, &schedule).unwrap();
    let constants = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|it| it.contains(": usize = "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(constants(&declared).len(), 5);
    assert_eq!(constants(&declared), constants(&table));
}

/// Conformance: RT 6 - the Scheduling Service by TAO's `RtecScheduler`: operations and dependencies are disabled and enabled - in tables and sources
#[test]
fn sources_trees_and_tables_do_without_what_is_disabled() {
    let (mut repository, [ins, adc, gps, bit, frame]) = avionics();
    let (data, call) = (DependencyKind::OneWayCall, DependencyKind::TwoWayCall);
    repository.add_dependency(frame, bit, 1, call).unwrap();
    let disabled = EnableState::Disabled;
    repository.set_enable_state(gps, disabled).unwrap();
    repository
        .set_dependency_enable_state(frame, (adc, 1, data), disabled)
        .unwrap();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    let tree = call_tree(&repository, &schedule);
    assert!(tree.contains("suppliers: INS::update\n"), "{tree}");
    let text = source(&repository, &schedule).unwrap();
    assert!(text.contains("Entry::disabled(\"GPS::update\", 2000000, 200000)"));
    assert!(!text.contains("is supplied by  ADC::update"), "{text}");
    assert!(!text.contains("is supplied by  GPS::update"), "{text}");
    let graph = dot(&repository, &schedule);
    assert!(!graph.contains("GPS::update"), "{graph}");
    assert!(graph.contains(&format!("n{} -> n{}", ins.number(), frame.number())));
    assert!(!graph.contains(&format!("n{} -> n{}", adc.number(), frame.number())));

    // Each index is that of its operation, as before.
    let table = Table::leak(&repository, &schedule).unwrap();
    table.check(&repository).unwrap();
    assert_eq!(table.entry(4).unwrap().name, "AirFrame::push");
    let refused = SchedError::NotScheduled("GPS::update".to_owned());
    assert_eq!(table.entry(2), Err(refused));
    assert!(table.queue_of(&table.entries[2]).is_none());

    let declared = declarations(&repository);
    assert_eq!(declared.matches("EnableState::Disabled").count(), 1);
    assert!(!declared.contains("on: \"GPS::update\"") && !declared.contains("on: \"ADC::update\""));
    assert!(declared.contains("on: \"INS::update\""));
}

/// Conformance: RT 6 - bad input: DUPLICATE_NAME, UNKNOWN_TASK, NOT_SCHEDULED
#[test]
fn wrong_declarations_are_refused() {
    const ON: fn(&'static str, u32) -> DeclaredDependency = |on, calls| DeclaredDependency {
        on,
        calls,
        kind: DependencyKind::OneWayCall,
    };
    let plain = Declaration {
        name: "a",
        timing: timing(50, 1),
        state: EnableState::Enabled,
        depends_on: &[],
    };
    let long = Declaration {
        timing: timing(214_749, 1),
        ..plain
    };
    let on = |on, calls| Declaration {
        depends_on: Box::leak(Box::new([ON(on, calls)])),
        ..plain
    };
    for (declarations, expected) in [
        (vec![plain, plain], SchedError::DuplicateName("a".into())),
        (vec![on("b", 1)], SchedError::UnknownTask("b".into())),
        (vec![on("a", 0)], SchedError::NoCalls("a".into())),
        (vec![long], SchedError::PeriodTooLong("a".into())),
    ] {
        assert_eq!(Repository::new().declare(&declarations), Err(expected));
    }
}
