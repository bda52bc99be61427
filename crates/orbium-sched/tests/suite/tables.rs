// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of a schedule as Rust source: it is compiled here.

use orbium_sched::{
    Criticality, DependencyKind, Dispatching, EnableState, Handle, Importance, InfoKind, Options,
    Repository, SchedError, Schedule, Strategy, Table, Timing, dot, source, summary,
};

use crate::book::{avionics, ms, repository, timing};

#[path = "../golden/avionics.rs"]
#[allow(unreachable_pub, reason = "it is as a program has it")]
mod table;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/avionics.rs");

fn avionics_source() -> String {
    let (mut repository, _) = avionics();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    source(&repository, &schedule).unwrap()
}

/// With `ORBIUM_BLESS` set, the file is written instead.
///
/// Conformance: RT 6 - the schedule as Rust source, the same bytes from run to run
#[test]
fn the_source_is_the_same_from_run_to_run() {
    let text = avionics_source();
    if std::env::var_os("ORBIUM_BLESS").is_some() {
        std::fs::write(GOLDEN, &text).unwrap();
    }
    assert_eq!(text, avionics_source());
    assert_eq!(text, std::fs::read_to_string(GOLDEN).unwrap());
}

/// Conformance: RT 6 - priorities are looked up by a constant index
#[test]
fn priorities_are_looked_up_by_a_constant_index() {
    // Of constants alone: nothing is searched at run time.
    const GPS: orbium_sched::Entry = table::ENTRIES[table::GPS_UPDATE];
    assert_eq!(
        (GPS.name, GPS.assignment.priority, GPS.period),
        ("GPS::update", 97, ms(200))
    );
    let queue = &table::SCHEDULE.queues[GPS.assignment.preemption_priority as usize];
    assert_eq!(
        (queue.priority, queue.dispatching),
        (97, Dispatching::Static)
    );
    let all = [
        table::INS_UPDATE,
        table::ADC_UPDATE,
        table::BIT_RUN,
        table::AIRFRAME_PUSH,
    ];
    let priorities = all.map(|it| table::SCHEDULE.entries[it].assignment.priority);
    assert_eq!(priorities, [99, 98, 96, 97]);
    assert_eq!(
        table::SCHEDULE.entries[table::AIRFRAME_PUSH]
            .assignment
            .subpriority,
        1
    );
}

/// Conformance: RT 6 - TASK_COUNT_MISMATCH, and tables of another program
#[test]
fn a_table_serves_the_program_that_it_was_made_for() {
    let (book, _) = avionics();
    assert_eq!(table::SCHEDULE.check(&book), Ok(()));
    let mut more = book;
    more.register("one more", timing(50, 1)).unwrap();
    let mismatch = SchedError::TaskCountMismatch {
        registered: 6,
        scheduled: 5,
    };
    assert_eq!(table::SCHEDULE.check(&more), Err(mismatch));
    let other = repository(&[timing(50, 1); 5]);
    assert_eq!(table::SCHEDULE.check(&other), Err(SchedError::OtherProgram));
}

/// Whether the table of the avionics serves them after a change: of the air frame, which consumes the
/// other operations, and of the INS.
fn serves_after(change: impl FnOnce(&mut Repository, [Handle; 5])) -> bool {
    let (mut book, handles) = avionics();
    change(&mut book, handles);
    match table::SCHEDULE.check(&book) {
        Ok(()) => true,
        Err(SchedError::OtherProgram) => false,
        Err(error) => panic!("{error}"),
    }
}

fn serves_with(change: impl FnOnce(&mut Timing)) -> bool {
    serves_after(|book, [ins, ..]| {
        let mut timing = book.get(ins).unwrap().timing;
        change(&mut timing);
        book.set(ins, timing).unwrap();
    })
}

/// The hash was that of the names alone: a program with other periods ran by the old priorities.
///
/// Conformance: RT 6 - a table of other requirements or dependencies is refused
#[test]
fn a_table_notices_each_requirement_that_has_changed() {
    assert!(serves_with(|_| {}));
    assert!(!serves_with(|it| it.period = ms(51)), "period");
    assert!(!serves_with(|it| it.quantum = ms(1)), "quantum");
    assert!(!serves_with(|it| it.criticality = Criticality::High));
    assert!(!serves_with(|it| it.importance = Importance::Low));
    assert!(!serves_with(|it| it.threads = 1), "threads");
    assert!(!serves_with(|it| it.kind = InfoKind::RemoteDependant));
}

/// Conformance: RT 6 - a table of other requirements or dependencies is refused
#[test]
fn a_table_notices_each_dependency_that_has_changed() {
    use DependencyKind::{OneWayCall, TwoWayCall};
    let more = |calls, kind| {
        move |book: &mut Repository, [ins, _, _, bit, _]: [Handle; 5]| {
            book.add_dependency(bit, ins, calls, kind).unwrap();
        }
    };
    assert!(!serves_after(more(1, OneWayCall)), "one more");
    let replaced = |calls, kind| {
        move |book: &mut Repository, [ins, _, _, _, frame]: [Handle; 5]| {
            book.remove_dependency(frame, ins, OneWayCall).unwrap();
            book.add_dependency(frame, ins, calls, kind).unwrap();
        }
    };
    // In another place, with another number of calls, of another kind.
    assert!(serves_after(replaced(1, OneWayCall)));
    assert!(!serves_after(replaced(2, OneWayCall)), "calls");
    assert!(!serves_after(replaced(1, TwoWayCall)), "kind");
    assert!(!serves_after(|book, [ins, _, _, _, frame]| {
        book.remove_dependency(frame, ins, OneWayCall).unwrap();
    }));
    assert!(!serves_after(|book, [ins, _, _, _, frame]| {
        let dependency = (ins, 1, OneWayCall);
        let set = book.set_dependency_enable_state(frame, dependency, EnableState::Disabled);
        set.unwrap();
    }));
    assert!(!serves_after(|book, [_, _, _, bit, _]| {
        book.set_enable_state(bit, EnableState::Disabled).unwrap();
    }));
    // The other way round: what is disabled may say anything.
    let (mut book, [_, _, _, bit, _]) = avionics();
    book.set_enable_state(bit, EnableState::Disabled).unwrap();
    let schedule = Schedule::compute(&book, &Options::default()).unwrap();
    let table = Table::leak(&book, &schedule).unwrap();
    book.set(bit, timing(7, 1)).unwrap();
    assert_eq!(table.check(&book), Ok(()));
    book.set_enable_state(bit, EnableState::Enabled).unwrap();
    assert_eq!(table.check(&book), Err(SchedError::OtherProgram));
}

/// Calibration measures other execution times in each configuration run, and calls are recorded in
/// no other.
#[test]
fn a_table_does_not_depend_on_what_a_configuration_run_measures() {
    assert!(serves_with(|it| it.worst_case_execution_time = ms(11)));
    assert!(serves_with(|it| it.typical_execution_time = ms(3)));
    assert!(serves_with(|it| it.cached_execution_time = ms(3)));
    let kind = DependencyKind::TwoWayCall;
    let recorded = |book: &mut Repository, [ins, _, _, bit, _]: [Handle; 5]| {
        book.add_recorded_dependency(bit, ins, 2, kind).unwrap();
        book.add_recorded_dependency(bit, ins, 1, kind).unwrap();
    };
    assert!(serves_after(recorded));
    assert!(!serves_after(|book, handles| {
        recorded(book, handles);
        let [ins, _, _, bit, _] = handles;
        book.add_dependency(bit, ins, 1, kind).unwrap();
    }));
    assert!(!serves_after(|book, handles| {
        recorded(book, handles);
        let [ins, _, _, bit, _] = handles;
        book.remove_dependency(bit, ins, kind).unwrap();
        book.add_dependency(bit, ins, 3, kind).unwrap();
    }));
}

#[test]
fn an_operation_that_nothing_runs_has_no_entry() {
    let mut book = repository(&[timing(50, 1), timing(0, 1)]);
    let schedule = book.compute_scheduling(&Options::default()).unwrap();
    let refused = source(&book, &schedule);
    assert_eq!(refused, Err(SchedError::NotScheduled("b".to_owned())));
}

/// Names are the application's: whatever they hold, the source is Rust.
#[test]
fn odd_names_become_constants_and_literals() {
    let mut book = Repository::new();
    for name in ["a::b", "a b", "1", "", "schedule", "quote\"\n"] {
        book.register(name, timing(50, 1)).unwrap();
    }
    let schedule = book
        .compute_scheduling(&Options::new(Strategy::Edf))
        .unwrap();
    let text = source(&book, &schedule).unwrap();
    for constant in [
        "A_B:",
        "A_B_2:",
        "OPERATION_1:",
        "OPERATION_:",
        "OPERATION_SCHEDULE:",
        "QUOTE:",
    ] {
        assert_eq!(
            text.matches(&format!("const {constant}")).count(),
            1,
            "{text}"
        );
    }
    assert!(text.contains("Entry::new(\"quote\\\"\\n\", "), "{text}");
    assert!(text.contains("/// `quote\"`\n"), "{text}");
}

#[test]
fn the_graph_and_the_summary_name_everything() {
    let (mut repository, _) = avionics();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    let graph = dot(&repository, &schedule);
    assert!(
        graph.contains("n1 [label = \"INS::update\\nqueue 0\", style = bold];"),
        "{graph}"
    );
    assert!(
        graph.contains("n3 -> n5 [label = \"1\", style = dashed];"),
        "{graph}"
    );
    let text = summary(&repository, &schedule);
    assert!(
        text.starts_with(
            "strategy rms, utilization 0.700, lowest queue that meets its deadlines: 3\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("AirFrame::push  2      200 ms  20 ms"),
        "{text}"
    );
}

/// It was -0.000.
#[test]
fn a_schedule_of_nothing_has_a_utilization_of_zero() {
    let mut repository = Repository::new();
    repository.register("passive", Timing::default()).unwrap();
    let schedule = Schedule::compute(&repository, &Options::default()).unwrap();
    let text = summary(&repository, &schedule);
    assert!(
        text.starts_with("strategy rms, utilization 0.000,"),
        "{text}"
    );
}

/// A consumer has the period of its data in the table. Without, dispatchers gave its runs no deadline, and a queue by deadline or
/// laxity served them last, though the analysis counts on their deadlines.
#[test]
fn a_consumer_has_the_deadline_of_its_data() {
    let mut book = repository(&[timing(50, 1), timing(200, 1), timing(0, 1), timing(0, 1)]);
    let [fast, slow, consumer, called] = ["a", "b", "c", "d"].map(|it| book.lookup(it).unwrap());
    for supplier in [slow, fast] {
        book.add_dependency(consumer, supplier, 1, DependencyKind::OneWayCall)
            .unwrap();
    }
    book.add_dependency(consumer, called, 1, DependencyKind::TwoWayCall)
        .unwrap();
    let schedule = book
        .compute_scheduling(&Options::new(Strategy::Edf))
        .unwrap();
    let table = Table::leak(&book, &schedule).unwrap();
    let periods = table.entries.iter().map(|it| it.period);
    assert!(periods.eq([50, 200, 50, 0].map(ms)), "{table:?}");
    let text = source(&book, &schedule).unwrap();
    // With the time of the operation that it calls.
    let line = r#"Entry::new("c", (0, 3, 99), 500000, 10000).with_calls(20000)"#;
    assert!(text.contains(line), "{text}");
    // All of its runs are ordered by the one deadline that the table has.
    let consumer = schedule.threads.iter().position(|it| it.entry == consumer);
    let tasks = schedule.tasks(&schedule.levels[0]);
    let own = tasks.iter().filter(|(thread, _)| Some(*thread) == consumer);
    let own: Vec<_> = own.map(|(_, it)| (it.period, it.deadline)).collect();
    assert_eq!(own, [(ms(50), ms(50)), (ms(200), ms(50))]);
}
