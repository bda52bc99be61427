// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state in a file.

use std::fs;

use orbium_schedule_service::ServiceError;
use orbium_schedule_service::rt_scheduler::Importance;
use orbium_schedule_service::rt_scheduler2::Strategy;
use orbium_schedule_service::rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT};
use orbium_schedule_service::rtec_scheduler::RtInfo;
use orbium_testkit::within;

use crate::served::{Scratch, Served, register};

/// Conformance: RT 6 - the Scheduling Service: state kept in a file
#[test]
fn operations_and_priorities_are_there_again() {
    let file = Scratch::new("again");
    let served = Served::open(file.path()).unwrap();
    let scheduler = served.remote();
    let steer = register(&scheduler, "Rudder \"1\"\\\n::steer", 50, 10);
    let read = register(&scheduler, "read", 0, 5);
    scheduler.add_dependency(steer, read, 2).unwrap();
    scheduler.add_dependency(steer, read, 1).unwrap();
    served.privileged().schedule(Strategy::Edf, 5, 9).unwrap();
    let before = [scheduler.get(steer).unwrap(), scheduler.get(read).unwrap()];
    drop(served);

    let served = Served::open(file.path()).unwrap();
    let scheduler = served.remote();
    let after = [scheduler.get(steer).unwrap(), scheduler.get(read).unwrap()];
    assert_eq!(after, before);
    assert_eq!(scheduler.scheduling_strategy().unwrap(), Strategy::Edf);
    assert_eq!(scheduler.create("another").unwrap(), 3);
}

/// Each change is a line; the last one of an operation holds. Opening leaves one of each.
#[test]
fn the_file_does_not_grow_with_its_history() {
    let file = Scratch::new("history");
    let served = Served::open(file.path()).unwrap();
    let scheduler = served.remote();
    let handle = register(&scheduler, "a", 50, 10);
    for time in 1..=20 {
        let low = Importance::LowImportance;
        scheduler.set(handle, time, 0, 0, 500, low, 0, 0).unwrap();
    }
    drop(served);
    let lines = || fs::read_to_string(file.path()).unwrap().lines().count();
    assert_eq!(lines(), 22);
    let served = Served::open(file.path()).unwrap();
    assert_eq!(lines(), 1);
    assert_eq!(
        served
            .remote()
            .get(handle)
            .unwrap()
            .worstcase_execution_time,
        20
    );
}

/// Each change was a line until the file was opened again: it passed the length that `open` accepts after days of changes.
#[test]
fn a_file_that_has_become_long_is_rewritten_while_it_is_open() {
    let file = Scratch::new("long");
    let served = Served::open(file.path()).unwrap();
    let scheduler = served.remote();
    let handle = register(&scheduler, &"a".repeat(4000), 50, 10);
    let low = Importance::LowImportance;
    for time in 1..=1000 {
        scheduler
            .set(handle, time, 0, 0, 500_000, low, 0, 0)
            .unwrap();
    }
    let length = fs::metadata(file.path()).unwrap().len();
    assert!(length < 2 << 20, "{length}");
    served.privileged().schedule(Strategy::Edf, 5, 9).unwrap();
    drop(served);
    let served = Served::open(file.path()).unwrap();
    let found = served.remote().get(handle).unwrap();
    assert_eq!(found.worstcase_execution_time, 1000);
    assert_eq!(
        served.remote().scheduling_strategy().unwrap(),
        Strategy::Edf
    );
}

/// A sequence with the same operation again and again made a file that could not be opened again.
#[test]
fn a_sequence_is_a_line_for_each_of_its_operations() {
    let file = Scratch::new("sequence");
    let served = Served::open(file.path()).unwrap();
    let handle = register(&served.remote(), &"a".repeat(4000), 50, 10);
    let infos: Vec<RtInfo> = (1..=70_000)
        .map(|time| RtInfo {
            handle,
            worst_case_execution_time: time,
            ..RtInfo::default()
        })
        .collect();
    served.rtec().set_seq(&infos).unwrap();
    drop(served);
    let served = Served::open(file.path()).unwrap();
    let found = served.remote().get(handle).unwrap();
    assert_eq!(found.worstcase_execution_time, 70_000);
}

/// Operations and dependencies within their limits made a file that could not be opened again.
#[test]
fn dependencies_are_refused_beyond_the_length_of_a_file() {
    let served = Served::new();
    let (scheduler, rtec) = (served.remote(), served.rtec());
    let handle = scheduler.create(&"\"".repeat(4096)).unwrap();
    let mut added = (0..10_000).map(|_| scheduler.add_dependency(handle, handle, 1));
    let refused = format!("{:?}", added.find_map(Result::err).unwrap());
    assert!(refused.contains("IMP_LIMIT"), "{refused}");
    let two_way = DependencyTypeT::TwoWayCall;
    rtec.remove_dependency(handle, handle, 5, two_way).unwrap();
    scheduler.add_dependency(handle, handle, 1).unwrap();
}

/// Each element was compared with all dependencies of its operation while no other call was served.
#[test]
fn states_of_many_equal_dependencies_are_set_at_once() {
    let file = Scratch::new("equal");
    let lines = "calls \"a\" operation=\"b\" times=1\n".repeat(20_000);
    let text = format!("operation \"a\"\noperation \"b\"\n{lines}");
    fs::write(file.path(), text).unwrap();
    let served = Served::open(file.path()).unwrap();
    let rtec = served.rtec();
    let state = |enabled| DependencyInfo {
        dependency_type: DependencyTypeT::TwoWayCall,
        number_of_calls: 1,
        rt_info: 1,
        rt_info_depended_on: 2,
        enabled,
    };
    let mut all = vec![state(DependencyEnabledTypeT::DependencyEnabled); 200_000];
    all.push(state(DependencyEnabledTypeT::DependencyDisabled));
    let found = within("the states are set", move || {
        rtec.set_dependency_enable_state_seq(&all).unwrap();
        rtec.get_dependency_set().unwrap()
    });
    assert_eq!(found.len(), 20_000);
    let disabled = DependencyEnabledTypeT::DependencyDisabled;
    assert!(found.iter().all(|it| it.enabled == disabled));
}

/// Two services on one file lost each other's changes: each replaced what the other had appended. The lock is there after the file
/// was replaced, too, and goes with the service.
#[test]
fn a_second_service_on_one_file_is_refused() {
    let file = Scratch::new("twice");
    let served = Served::open(file.path()).unwrap();
    for name in ["a", "b"] {
        register(&served.remote(), name, 50, 10);
        let refused = Served::open(file.path()).err().unwrap();
        assert!(matches!(refused, ServiceError::File { .. }), "{refused}");
        let message = refused.to_string();
        let named = message.contains(&*file.path().to_string_lossy());
        assert!(named && message.contains("open already"), "{message}");
        // The file is replaced.
        served.privileged().destroy().unwrap();
    }
    register(&served.remote(), "c", 50, 10);
    drop(served);
    let served = Served::open(file.path()).unwrap();
    assert_eq!(served.remote().get(1).unwrap().entry_point, "c");
}

#[test]
fn half_a_line_at_the_end_is_dropped() {
    let file = Scratch::new("half");
    let whole = "operation \"a\" period=\"50 ms\"\n";
    let second = "operation \"\u{e4}\" peri";
    // The name ends in the middle of a character, too.
    for length in [second.len(), "operation \"".len() + 1] {
        let content = [whole.as_bytes(), &second.as_bytes()[..length]].concat();
        fs::write(file.path(), content).unwrap();
        let served = Served::open(file.path()).unwrap();
        assert_eq!(served.remote().operations().unwrap(), 1);
    }
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let file = Scratch::new("no-text");
    fs::write(file.path(), b"operation \"\xff\"\n").unwrap();
    let refused = Served::open(file.path()).err().unwrap();
    assert!(matches!(refused, ServiceError::Damaged { .. }), "{refused}");
}

#[test]
fn destroyed_operations_stay_destroyed() {
    let file = Scratch::new("destroyed");
    let served = Served::open(file.path()).unwrap();
    register(&served.remote(), "a", 50, 10);
    served.privileged().destroy().unwrap();
    register(&served.remote(), "b", 50, 10);
    drop(served);
    let served = Served::open(file.path()).unwrap();
    assert_eq!(served.remote().get(1).unwrap().entry_point, "b");
}

#[test]
fn a_damaged_file_is_refused_with_its_line() {
    let file = Scratch::new("damaged");
    for (text, reason) in [
        ("operation \"a\"\noperation \"b\" period=9\n", "line 2: "),
        ("schedule rms one 2\n", "line 1: no strategy and priorities"),
        ("schedule rms 1 2 3\n", "line 1: no strategy and priorities"),
        ("calls \"a\" operation=\"b\"\n", "no operation `a`"),
        ("\u{1}\n", "expected"),
    ] {
        fs::write(file.path(), text).unwrap();
        match Served::open(file.path()).err().unwrap() {
            ServiceError::Damaged { why, .. } => assert!(why.contains(reason), "{why}"),
            other => panic!("{other}"),
        }
        let kept = fs::read_to_string(file.path()).unwrap();
        assert_eq!(kept, text, "a refused file stays as it is");
    }
    let folder = Scratch::new("no-such-folder/state");
    let refused = Served::open(folder.path()).err().unwrap();
    assert!(matches!(refused, ServiceError::File { .. }), "{refused}");
}
