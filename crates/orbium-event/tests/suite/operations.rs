// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that schedule themselves by the channel that they use.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use orbium_event::{
    Channel, ChannelConfig, ConnectError, Dispatching, Pattern, Publication, SharedEvent,
    Subscription, connect_scheduled_consumer, connect_scheduled_supplier, new_event,
};
use orbium_sched::{
    DependencyKind, InfoKind, Options, Repository, SchedError, Schedule, Table, Time, Timing,
};
use orbium_scheduler::{Mode, Outcome, Scheduler, SchedulerError};
use orbium_testkit::{PATIENCE, eventually};

use crate::served::{Served, patient};

/// What the configuration run of [`program`] writes.
#[allow(dead_code, unreachable_pub, reason = "generated")]
#[path = "../golden/channel.rs"]
mod table;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/channel.rs");
static UNCONFIGURED: Table = Table::EMPTY;

const INS: i32 = 1;
const GPS: i32 = 2;
const DISPLAY: i32 = 3;
const AIR_FRAME: i32 = 4;
const ALARM: i32 = 5;

fn timing(period: u64, worst_case: u64) -> Timing {
    Timing {
        period: Time::from_millis(period),
        worst_case_execution_time: Time::from_millis(worst_case),
        ..Timing::default()
    }
}

/// The operations of the peers, in the order of their handles.
fn register(repository: &mut Repository) {
    for (name, timing) in [
        ("INS::update", timing(50, 1)),
        ("GPS::update", timing(200, 2)),
        ("Display::show", timing(0, 3)),
        ("AirFrame::push", timing(0, 4)),
        ("Alarm::sound", timing(0, 5)),
    ] {
        repository.register(name, timing).unwrap();
    }
}

fn published(r#type: i32, rt_info: i32) -> [Publication; 1] {
    [Publication {
        rt_info,
        ..Publication::of(r#type, rt_info)
    }]
}

/// Both positions.
fn both() -> Pattern {
    Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)])
}

/// The program: no peer declares a dependency.
struct Program {
    scheduler: Scheduler,
    channel: Channel,
    /// RT_Infos and sources of the events that arrive.
    received: Receiver<(i32, i32)>,
    _consumers: Vec<Subscription>,
}

fn program(table: &'static Table, mode: Mode) -> Result<Program, ConnectError> {
    let mut scheduler = Scheduler::new(table, mode);
    register(scheduler.repository_mut());
    let channel = Channel::new(ChannelConfig {
        dispatching: Dispatching::in_mode(scheduler.mode(), table),
        soft: true,
        ..ChannelConfig::default()
    });
    let (send, received) = mpsc::channel();
    let late = Pattern::Deadline(Duration::from_millis(100));
    let mut consumers = Vec::new();
    for (rt_info, pattern) in [
        (DISPLAY, Pattern::of(16, 0)),
        (AIR_FRAME, both()),
        (ALARM, Pattern::Disjunction(vec![both(), late])),
    ] {
        let send = send.clone();
        let sink = move |events: &[SharedEvent]| {
            let _ = send.send((rt_info, events[0].header.source));
        };
        consumers.push(channel.subscribe_scheduled(&pattern, rt_info, sink)?);
    }
    Ok(Program {
        scheduler,
        channel,
        received,
        _consumers: consumers,
    })
}

/// Periods, and runs in each.
type Rates<'a> = &'a [(Time, u64)];

/// The configuration run: the schedule, and what was written.
fn configured(test: &str) -> (Box<Schedule>, String, Repository) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("event");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}-{test}.rs", std::process::id()));
    let mut program = program(&UNCONFIGURED, Mode::Configure(path.clone())).unwrap();
    let _suppliers = [(17, GPS), (16, INS)].map(|(r#type, rt_info)| {
        let published = published(r#type, rt_info);
        program
            .channel
            .connect_scheduled_supplier(&published)
            .unwrap()
    });
    let scheduler = &mut program.scheduler;
    program
        .channel
        .register_operations(scheduler.repository_mut())
        .unwrap();
    let Outcome::Configured { schedule, .. } = scheduler.schedule().unwrap() else {
        panic!("it is a configuration run");
    };
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(path).unwrap();
    (schedule, text, scheduler.repository().clone())
}

/// With `ORBIUM_BLESS` set, the file is written instead.
///
/// Conformance: events - RT_Infos and dependencies are filled in by the channel: configuration run and run time - a channel
#[test]
fn a_program_that_only_uses_the_channel_schedules_itself() {
    let (schedule, first, repository) = configured("first");
    let (_, second, _) = configured("second");
    assert_eq!(first, second);
    if std::env::var_os("ORBIUM_BLESS").is_some() {
        fs::write(GOLDEN, &first).unwrap();
    }
    assert_eq!(first, fs::read_to_string(GOLDEN).unwrap());

    // Entry, least period and runs in it, and the time of the thread: the channel's 20 µs and the
    // consumer's. A conjunction runs at the lowest rate, a disjunction at the sum.
    let (ms, us) = (Time::from_millis, |us: u64| Time::from_ticks(us * 10));
    let conjunction = [(ms(200), 1)];
    let expected: [(&str, Rates<'_>, Time); 7] = [
        ("INS::update", &[(ms(50), 1)], ms(1)),
        ("GPS::update", &[(ms(200), 1)], ms(2)),
        ("Display::show#dispatch", &[(ms(50), 1)], us(3_020)),
        ("AirFrame::push#dispatch", &conjunction, us(4_020)),
        (
            "Alarm::sound#dispatch",
            &[(ms(100), 1), (ms(200), 1)],
            us(5_020),
        ),
        ("Alarm::sound#dispatch-1", &conjunction, us(20)),
        ("Alarm::sound#dispatch-2", &[(ms(100), 1)], us(20)),
    ];
    assert_eq!(schedule.threads.len(), expected.len());
    for (name, rates, worst_case) in expected {
        let mut threads = schedule.threads.iter();
        let thread = threads
            .find(|it| repository.name(it.entry) == name)
            .unwrap();
        let found: Vec<_> = thread.rates.iter().map(|it| (it.period, it.runs)).collect();
        assert_eq!((&*found, thread.worst_case), (rates, worst_case), "{name}");
    }

    let mut running = program(&table::SCHEDULE, Mode::Run).unwrap();
    let [ins, gps] = [(16, INS), (17, GPS)].map(|(r#type, rt_info)| {
        let published = published(r#type, rt_info);
        running
            .channel
            .connect_scheduled_supplier(&published)
            .unwrap()
    });
    let scheduler = &mut running.scheduler;
    running
        .channel
        .register_operations(scheduler.repository_mut())
        .unwrap();
    assert!(matches!(scheduler.schedule(), Ok(Outcome::Ready)));
    ins.push(&[new_event(16, INS)]);
    gps.push(&[new_event(17, GPS)]);
    let mut missing = vec![(DISPLAY, INS), (AIR_FRAME, INS), (ALARM, INS)];
    while !missing.is_empty() {
        let event = running.received.recv_timeout(PATIENCE).unwrap();
        missing.retain(|it| *it != event);
    }
}

/// A program at run time in which a consumer has not connected.
#[test]
fn other_consumers_than_those_of_the_table_are_noticed() {
    let mut running = program(&table::SCHEDULE, Mode::Run).unwrap();
    running._consumers.truncate(2);
    let scheduler = &mut running.scheduler;
    running
        .channel
        .register_operations(scheduler.repository_mut())
        .unwrap();
    let refused = scheduler.schedule();
    assert!(
        matches!(
            refused,
            Err(SchedulerError::Sched(SchedError::TaskCountMismatch { .. }))
        ),
        "{refused:?}"
    );
}

#[test]
fn operations_that_are_not_registered_are_refused() {
    let unknown = |published: &[Publication], consumer: i32| {
        let channel = Channel::new(ChannelConfig::default());
        let _supplier = channel.connect_scheduled_supplier(published).unwrap();
        let sink = |_: &[SharedEvent]| {};
        let pattern = Pattern::of(16, 0);
        let _consumer = channel.subscribe_scheduled(&pattern, consumer, sink);
        let mut repository = Repository::new();
        register(&mut repository);
        channel.register_operations(&mut repository).unwrap_err()
    };
    for rt_info in [-1, i32::MIN, 6, i32::MAX] {
        for error in [
            unknown(&published(16, rt_info), DISPLAY),
            unknown(&published(16, INS), rt_info),
        ] {
            assert!(matches!(error, SchedError::UnknownTask(_)), "{error}");
        }
    }
    let too_long = Pattern::Interval(Duration::from_secs(215));
    let channel = Channel::new(ChannelConfig::default());
    let consumer = channel.subscribe_scheduled(&too_long, DISPLAY, |_: &[SharedEvent]| {});
    let _consumer = consumer.unwrap();
    let mut repository = Repository::new();
    register(&mut repository);
    let error = channel.register_operations(&mut repository).unwrap_err();
    assert!(matches!(error, SchedError::PeriodTooLong(_)), "{error}");
}

/// The names of what supplies the dispatching operation of a consumer with that pattern.
fn suppliers(pattern: &Pattern) -> Vec<String> {
    let channel = Channel::new(ChannelConfig::default());
    let _suppliers = [(17, GPS), (16, INS)].map(|(r#type, rt_info)| {
        let published = published(r#type, rt_info);
        channel.connect_scheduled_supplier(&published).unwrap()
    });
    let consumer = channel.subscribe_scheduled(pattern, DISPLAY, |_: &[SharedEvent]| {});
    let _consumer = consumer.unwrap();
    let mut repository = Repository::new();
    register(&mut repository);
    channel.register_operations(&mut repository).unwrap();
    let dispatch = repository.lookup("Display::show#dispatch").unwrap();
    let dependencies = repository.get(dispatch).unwrap().dependencies.iter();
    let supplied = dependencies.filter(|it| it.kind == DependencyKind::OneWayCall);
    supplied
        .map(|it| repository.name(it.on).to_owned())
        .collect()
}

#[test]
fn each_filter_has_the_suppliers_of_the_events_that_it_may_pass() {
    let (ins, gps) = ("INS::update", "GPS::update");
    let all_types = |children: [Pattern; 2]| Pattern::LogicalAnd(children.into());
    let masked = |type_value| Pattern::MaskedType {
        source_mask: 0,
        type_mask: -1,
        source_value: 0,
        type_value,
    };
    let bits = |type_mask| Pattern::Bitmask {
        source_mask: -1,
        type_mask,
        child: Box::new(Pattern::Null),
    };
    for (pattern, expected) in [
        (Pattern::of(0, 0), &[ins, gps][..]),
        (Pattern::of(16, 0), &[ins]),
        (Pattern::of(0, GPS), &[gps]),
        (Pattern::of(16, GPS), &[]),
        (Pattern::Null, &[ins, gps]),
        (all_types([Pattern::of(16, 0), Pattern::of(0, INS)]), &[ins]),
        (all_types([Pattern::of(16, 0), Pattern::of(17, 0)]), &[]),
        (Pattern::Negation(Box::new(Pattern::of(16, 0))), &[ins, gps]),
        (masked(17), &[gps]),
        (bits(16), &[ins, gps]),
        (bits(1), &[gps]),
    ] {
        assert_eq!(suppliers(&pattern), expected, "{pattern:?}");
    }
}

/// Conformance: events - RT_Infos of suppliers and consumers on the wire name their operations - a served channel
#[test]
fn peers_of_other_processes_are_scheduled_too() {
    let served = Served::new(patient());
    let publication = Publication {
        calls: 2,
        ..published(16, INS)[0]
    };
    let supplier = connect_scheduled_supplier(&served.channel, &[publication]).unwrap();
    let show = (&Pattern::of(16, 0), DISPLAY);
    let consumer = connect_scheduled_consumer(&served.orb, &served.channel, show, |_| {}).unwrap();
    eventually("both are connected", || {
        let statistics = served.local.statistics();
        (statistics.suppliers, statistics.consumers.len()) == (1, 1)
    });
    let mut repository = Repository::new();
    register(&mut repository);
    served.local.register_operations(&mut repository).unwrap();
    let dispatch = repository.lookup("Display::show#dispatch").unwrap();
    let info = repository.get(dispatch).unwrap();
    assert_eq!(info.timing.kind, InfoKind::Disjunction);
    // The consumer has a thread in its process: data, not a call.
    let schedule = Schedule::compute(&repository, &Options::default()).unwrap();
    for name in ["Display::show", "Display::show#dispatch"] {
        let mut threads = schedule.threads.iter();
        let thread = threads
            .find(|it| repository.name(it.entry) == name)
            .unwrap();
        let rates: Vec<_> = thread.rates.iter().map(|it| (it.period, it.runs)).collect();
        assert_eq!(rates, [(Time::from_millis(50), 2)], "{name}");
    }
    consumer.disconnect().unwrap();
    supplier.disconnect().unwrap();
}
