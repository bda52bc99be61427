// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration runs and run time.

use std::fs;
use std::path::PathBuf;

use orbium_sched::{
    Declaration, DeclaredDependency, DependencyKind, EnableState, SchedError, Strategy, Table,
    Time, Timing,
};
use orbium_scheduler::{Mode, Outcome, Scheduler, SchedulerError};

#[path = "../golden/rudder.rs"]
#[allow(unreachable_pub, dead_code, reason = "it is as a program has it")]
mod table;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/rudder.rs");

static UNCONFIGURED: Table = Table::EMPTY;

fn declaration(name: &'static str, period: u64, time: u64) -> Declaration {
    Declaration {
        name,
        timing: Timing {
            period: Time::from_millis(period),
            worst_case_execution_time: Time::from_millis(time),
            ..Timing::default()
        },
        state: EnableState::Enabled,
        depends_on: &[],
    }
}

/// The program of the guide: what a configuration run and run time have in common.
fn program(table: &'static Table, mode: Mode) -> Scheduler {
    let mut scheduler = Scheduler::new(table, mode);
    let steer = Declaration {
        depends_on: &[DeclaredDependency {
            on: "Gyro::read",
            calls: 2,
            kind: DependencyKind::TwoWayCall,
        }],
        ..declaration("Rudder::steer", 50, 10)
    };
    let operations = [
        steer,
        declaration("Log::write", 100, 30),
        declaration("Gyro::read", 0, 2),
    ];
    scheduler.declare(&operations).unwrap();
    scheduler
}

pub(crate) fn file(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scheduler");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}-{test}.rs", std::process::id()));
    let _ = fs::remove_file(&file);
    file
}

fn sched_error(outcome: Result<Outcome, SchedulerError>) -> SchedError {
    match outcome {
        Err(SchedulerError::Sched(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// With `ORBIUM_BLESS` set, the file is written instead.
///
/// Conformance: RT 6 - configuration run and run time: the same program, the table byte for byte
#[test]
fn the_same_program_is_configured_and_runs() {
    let path = file("configured");
    let mut texts = Vec::new();
    for table in [&UNCONFIGURED, &UNCONFIGURED, &table::SCHEDULE] {
        let outcome = program(table, Mode::Configure(path.clone()))
            .schedule()
            .unwrap();
        assert!(matches!(outcome, Outcome::Configured { path: written, .. } if written == path));
        texts.push(fs::read_to_string(&path).unwrap());
    }
    if std::env::var_os("ORBIUM_BLESS").is_some() {
        fs::write(GOLDEN, &texts[0]).unwrap();
    }
    let golden = fs::read_to_string(GOLDEN).unwrap();
    assert!(texts.iter().all(|it| *it == golden), "{texts:?}");

    let mut running = program(&table::SCHEDULE, Mode::Run);
    let early = running.entry(table::RUDDER_STEER);
    assert!(matches!(
        early,
        Err(SchedulerError::Sched(SchedError::NotScheduled(_)))
    ));
    assert!(matches!(running.schedule(), Ok(Outcome::Ready)));
    let steer = running.entry(table::RUDDER_STEER).unwrap();
    assert_eq!(
        (steer.name, steer.assignment.priority),
        ("Rudder::steer", 99)
    );
    let unknown = running.entry(3);
    assert!(matches!(
        unknown,
        Err(SchedulerError::Sched(SchedError::UnknownTask(_)))
    ));
    running.destroy();
    assert!(running.repository().infos().is_empty());
    assert!(running.entry(table::RUDDER_STEER).is_err());
    fs::remove_file(path).unwrap();
}

/// Conformance: RT 6 - run time: TASK_COUNT_MISMATCH
#[test]
fn a_program_with_another_number_of_operations_is_refused() {
    let mut scheduler = program(&table::SCHEDULE, Mode::Run);
    scheduler
        .declare(&[declaration("Flap::move", 50, 1)])
        .unwrap();
    let mismatch = SchedError::TaskCountMismatch {
        registered: 4,
        scheduled: 3,
    };
    assert_eq!(sched_error(scheduler.schedule()), mismatch);
    let unconfigured = program(&UNCONFIGURED, Mode::Run).schedule();
    let mismatch = SchedError::TaskCountMismatch {
        registered: 3,
        scheduled: 0,
    };
    assert_eq!(sched_error(unconfigured), mismatch);
}

/// Conformance: RT 6 - run time: a table of another program is refused
#[test]
fn a_table_of_another_program_is_refused() {
    let mut scheduler = Scheduler::new(&table::SCHEDULE, Mode::Run);
    for name in ["Rudder::steer", "Log::write", "Gyro::write"] {
        scheduler.declare(&[declaration(name, 50, 1)]).unwrap();
    }
    assert_eq!(sched_error(scheduler.schedule()), SchedError::OtherProgram);
}

/// A period that was changed without a configuration run, and a strategy: the program ran by the old
/// priorities.
///
/// Conformance: RT 6 - a table of other requirements or dependencies is refused - at run time
#[test]
fn a_table_of_other_requirements_or_strategy_is_refused() {
    let mut scheduler = program(&table::SCHEDULE, Mode::Run);
    let repository = scheduler.repository_mut();
    let write = repository.lookup("Log::write").unwrap();
    let mut timing = repository.get(write).unwrap().timing;
    timing.worst_case_execution_time = Time::from_millis(31);
    repository.set(write, timing).unwrap();
    assert!(matches!(scheduler.schedule(), Ok(Outcome::Ready)));
    timing.period = Time::from_millis(40);
    scheduler.repository_mut().set(write, timing).unwrap();
    assert_eq!(sched_error(scheduler.schedule()), SchedError::OtherProgram);
    assert!(scheduler.entry(table::RUDDER_STEER).is_err());

    let mut by_deadline = program(&table::SCHEDULE, Mode::Run).strategy(Strategy::Edf);
    assert_eq!(
        sched_error(by_deadline.schedule()),
        SchedError::OtherProgram
    );
    let mut same = program(&table::SCHEDULE, Mode::Run).strategy(Strategy::Rms);
    assert!(matches!(same.schedule(), Ok(Outcome::Ready)));
}

/// Conformance: RT 6 - configuration run: UTILIZATION_BOUND_EXCEEDED, nothing is written
#[test]
fn an_overload_writes_no_table() {
    let path = file("overload");
    let mut scheduler = program(&UNCONFIGURED, Mode::Configure(path.clone()));
    scheduler
        .declare(&[declaration("Flap::move", 50, 40)])
        .unwrap();
    let refused = sched_error(scheduler.schedule());
    assert!(
        matches!(refused, SchedError::UtilizationBoundExceeded { .. }),
        "{refused}"
    );
    assert!(!path.exists());
}

/// Conformance: RT 6 - configuration run: DUPLICATE_NAME, UNKNOWN_TASK, CYCLIC_DEPENDENCIES,
/// INSUFFICIENT_PRIORITY_LEVELS
#[test]
fn wrong_operations_are_refused() {
    let path = file("wrong");
    let configure = || program(&UNCONFIGURED, Mode::Configure(path.clone()));
    let again = configure().declare(&[declaration("Gyro::read", 0, 2)]);
    let expected = SchedError::DuplicateName("Gyro::read".to_owned());
    assert!(matches!(again, Err(SchedulerError::Sched(error)) if error == expected));

    let calls = |on, depends_on: &'static [DeclaredDependency]| Declaration {
        depends_on,
        ..declaration(on, 0, 1)
    };
    const UNKNOWN: DeclaredDependency = DeclaredDependency {
        on: "Flap::move",
        calls: 1,
        kind: DependencyKind::TwoWayCall,
    };
    let unknown = configure().declare(&[calls("Wing::bend", &[UNKNOWN])]);
    let expected = SchedError::UnknownTask("Flap::move".to_owned());
    assert!(matches!(unknown, Err(SchedulerError::Sched(error)) if error == expected));

    const SELF: DeclaredDependency = DeclaredDependency {
        on: "Wing::bend",
        ..UNKNOWN
    };
    let mut cyclic = configure();
    cyclic.declare(&[calls("Wing::bend", &[SELF])]).unwrap();
    let refused = sched_error(cyclic.schedule());
    assert!(
        matches!(refused, SchedError::CyclicDependencies(_)),
        "{refused}"
    );

    let few = orbium_sched::Options {
        min_priority: 1,
        max_priority: 1,
        ..orbium_sched::Options::default()
    };
    let refused = sched_error(configure().options(few).schedule());
    let expected = SchedError::InsufficientPriorityLevels {
        needed: 2,
        available: 1,
    };
    assert_eq!(refused, expected);
    assert!(!path.exists());
}

/// What no thread runs has no place in the table.
#[test]
fn a_passive_root_is_not_scheduled() {
    let path = file("passive");
    let mut scheduler = program(&UNCONFIGURED, Mode::Configure(path.clone()));
    scheduler
        .declare(&[declaration("Flap::move", 0, 1)])
        .unwrap();
    let expected = SchedError::NotScheduled("Flap::move".to_owned());
    assert_eq!(sched_error(scheduler.schedule()), expected);
    assert!(!path.exists());
}

/// The own thread of an operation that is called ran in the queue of its caller, which was analysed without it.
///
/// Conformance: RT 6 - configuration run: an anomaly that is an error, nothing is written
#[test]
fn an_operation_with_two_entry_points_writes_no_table() {
    let path = file("two-entry-points");
    let mut scheduler = program(&UNCONFIGURED, Mode::Configure(path.clone()));
    let repository = scheduler.repository_mut();
    let read = repository.lookup("Gyro::read").unwrap();
    let timing = Timing {
        period: Time::from_millis(200),
        threads: 1,
        ..repository.get(read).unwrap().timing
    };
    repository.set(read, timing).unwrap();
    let refused = sched_error(scheduler.schedule());
    let sentence = "`Gyro::read` has threads of its own and is called by `Rudder::steer`";
    assert!(refused.to_string().starts_with(sentence), "{refused}");
    assert!(!path.exists());
}

#[test]
fn the_strategy_is_kept_from_run_to_run_unless_it_is_chosen() {
    let path = file("strategy");
    let first = program(&UNCONFIGURED, Mode::Configure(path.clone())).strategy(Strategy::Edf);
    let mut first = first;
    let Outcome::Configured { schedule, .. } = first.schedule().unwrap() else {
        panic!("it is a configuration run");
    };
    assert_eq!(schedule.strategy, Strategy::Edf);
    assert!(fs::read_to_string(&path).unwrap().contains("Strategy::Edf"));
    fs::remove_file(path).unwrap();
}

#[test]
fn a_table_that_cannot_be_written_is_reported_and_leaves_nothing() {
    let folder = file("folder");
    let path = folder.join("schedule.rs");
    let refused = program(&UNCONFIGURED, Mode::Configure(path.clone())).schedule();
    assert!(matches!(refused, Err(SchedulerError::Write { path: of, .. }) if of == path));
    assert!(!folder.exists());
}

#[test]
fn values_of_the_variable_are_checked() {
    for (value, mode) in [
        ("", Mode::Run),
        ("run", Mode::Run),
        ("configure", Mode::Configure("schedule.rs".into())),
        ("configure=a/b.rs", Mode::Configure("a/b.rs".into())),
    ] {
        assert_eq!(Mode::parse(value.as_ref()).unwrap(), mode);
    }
    for value in ["configure=", "Configure", "run ", "configure a"] {
        let error = Mode::parse(value.as_ref()).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("ORBIUM_SCHED is `{value}`")),
            "{error}"
        );
    }
}
