// SPDX-License-Identifier: MIT OR Apache-2.0
//! The priority of threads, mappings, and what an ORB is refused.

use std::sync::Arc;

use crate::common::{client_with, on_a_thread, soft};
use orbium_core::{Completion, ExceptionKind, Orb, Priority, SystemException};
use orbium_rt::{
    ContinuousMapping, DirectMapping, NativePriority, PriorityBand, PriorityMapping, RtError,
    RtOrb, Scheduling, SchedulingClass,
};

fn kind(exception: SystemException) -> (ExceptionKind, u32) {
    (exception.kind, exception.minor)
}

const DATA_CONVERSION_2: SystemException =
    SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);

/// Conformance: RT 5.6 - `Current::the_priority`: none: INITIALIZE
#[test]
fn a_thread_without_a_priority_raises_initialize() {
    let (_orb, rt) = client_with(soft());
    on_a_thread(move || {
        let none = rt.current().the_priority().unwrap_err();
        assert_eq!(kind(none), (ExceptionKind::Initialize, 0));
    });
}

/// Conformance: RT 5.6 - `Current::the_priority`
#[test]
fn the_priority_is_what_the_thread_was_given_last() {
    let (_orb, rt) = client_with(soft());
    on_a_thread(move || {
        for number in [0, 98, 7] {
            rt.current().set_the_priority(number).unwrap();
            assert_eq!(rt.current().the_priority().unwrap().number(), number);
        }
        let other = std::thread::spawn(move || rt.current().the_priority());
        assert!(other.join().unwrap().is_err());
    });
}

/// Conformance: RT 5.6 - `Current::the_priority`: out of range: BAD_PARAM
#[test]
fn a_negative_priority_is_bad_param() {
    let (_orb, rt) = client_with(soft());
    on_a_thread(move || {
        rt.current().set_the_priority(5).unwrap();
        for number in [-1, i16::MIN] {
            let refused = rt.current().set_the_priority(number).unwrap_err();
            assert_eq!(kind(refused), (ExceptionKind::BadParam, 0));
        }
        assert_eq!(rt.current().the_priority().unwrap().number(), 5);
    });
}

/// Conformance: RT 5.6 - `Current::the_priority`: not mapped: DATA_CONVERSION 2
#[test]
fn a_priority_without_a_native_one_is_data_conversion_2() {
    let (_orb, rt) = client_with(soft());
    on_a_thread(move || {
        rt.current().set_the_priority(5).unwrap();
        assert_eq!(rt.current().set_the_priority(99), Err(DATA_CONVERSION_2));
        assert_eq!(rt.current().the_priority().unwrap().number(), 5);
    });
}

/// Conformance: RT 5.5.2 - PriorityMapping: direct, linear, continuous, the user's
#[test]
fn a_mapping_may_be_the_users_own() {
    struct Tens;
    impl PriorityMapping for Tens {
        fn to_native(&self, corba: Priority) -> Option<NativePriority> {
            (corba.number() % 10 == 0).then_some(corba.number() / 10)
        }
        fn to_corba(&self, native: NativePriority) -> Option<Priority> {
            Priority::new(native.checked_mul(10)?)
        }
    }
    let (_orb, rt) = client_with(RtOrb::builder().mapping(Tens).soft());
    on_a_thread(move || {
        rt.current().set_the_priority(30).unwrap();
        assert_eq!(rt.current().set_the_priority(31), Err(DATA_CONVERSION_2));
    });
}

/// Conformance: RT 5.4.1 - range of native priorities: INITIALIZE 1, BAD_PARAM
#[test]
fn native_priorities_can_be_restricted() {
    let (_orb, rt) = client_with(soft().native_range(10..=20));
    on_a_thread(move || {
        // 0 is native 1, 9 is native 10.
        assert_eq!(rt.current().set_the_priority(8), Err(DATA_CONVERSION_2));
        rt.current().set_the_priority(9).unwrap();
        rt.current().set_the_priority(19).unwrap();
        assert_eq!(rt.current().set_the_priority(20), Err(DATA_CONVERSION_2));
    });
}

/// Conformance: RT 5.4.1 - range of native priorities: INITIALIZE 1, BAD_PARAM
#[test]
fn a_range_that_is_too_narrow_is_initialize_1() {
    let orb = Orb::builder().build().unwrap();
    let refused = soft().native_range(7..=7).install(&orb);
    match refused {
        Err(RtError::System(exception)) => {
            assert_eq!(
                exception,
                SystemException::omg(ExceptionKind::Initialize, 1, Completion::No)
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(RtOrb::of(&orb).is_none());
}

/// Conformance: RT 5.4.1 - range of native priorities: INITIALIZE 1, BAD_PARAM
#[test]
fn a_range_that_the_platform_has_not_is_bad_param() {
    let orb = Orb::builder().build().unwrap();
    #[expect(clippy::reversed_empty_ranges)]
    for range in [0..=10, 90..=1000, 20..=10] {
        let refused = soft().native_range(range).install(&orb);
        assert!(
            matches!(&refused, Err(RtError::System(it)) if it.kind == ExceptionKind::BadParam),
            "{refused:?}"
        );
    }
}

#[test]
fn bands_of_an_orb_must_be_bands() {
    let orb = Orb::builder().build().unwrap();
    let upside_down = PriorityBand { low: 2, high: 1 };
    for bands in [
        &[][..],
        &[upside_down],
        &[PriorityBand { low: -1, high: 1 }],
    ] {
        let refused = soft().client_bands(bands).install(&orb);
        assert!(
            matches!(&refused, Err(RtError::System(it)) if it.kind == ExceptionKind::BadParam),
            "{refused:?}"
        );
    }
}

/// Conformance: RT 5.4 - `RTORB`, once for an ORB
#[test]
fn an_orb_has_it_once_and_returns_it() {
    let (orb, _rt) = client_with(soft());
    assert!(RtOrb::of(&orb).is_some());
    assert!(matches!(
        soft().install(&orb),
        Err(RtError::AlreadyInstalled)
    ));
}

/// Conformance: RT 5.5.1 - native priorities of SCHED_FIFO and SCHED_RR; without them, soft
#[test]
fn threads_get_the_priorities_that_the_host_permits() {
    let orb = Orb::builder().build().unwrap();
    let builder = RtOrb::builder()
        .class(SchedulingClass::RoundRobin)
        .mapping(DirectMapping::over(1..=99));
    let rt = match builder.install(&orb) {
        Ok(rt) => rt,
        Err(RtError::Host(error)) => {
            orbium_testkit::skipped(&format!("native priorities: {error}"));
            return;
        }
        Err(other) => panic!("{other}"),
    };
    on_a_thread(move || {
        for native in [1, 50, 99] {
            rt.current().set_the_priority(native).unwrap();
            let own = Scheduling::of_this_thread().unwrap();
            assert_eq!(own, Scheduling::round_robin(native.into()));
        }
        Scheduling::OTHER.apply_to_this_thread().unwrap();
    });
}

/// Conformance: RT 5.5.1 - native priorities of SCHED_FIFO and SCHED_RR; without them, soft
#[test]
fn a_soft_orb_leaves_scheduling_alone() {
    let (_orb, rt) = client_with(soft());
    on_a_thread(move || {
        rt.current().set_the_priority(98).unwrap();
        assert_eq!(Scheduling::of_this_thread().unwrap(), Scheduling::OTHER);
    });
}

/// Conformance: RT 5.6 - `Current::the_priority`: not mapped: DATA_CONVERSION 2
/// Conformance: faults - a priority that the server cannot map, or the kernel does not have:
/// DATA_CONVERSION 2
#[test]
fn a_mapping_that_gives_what_the_host_has_not_is_data_conversion_2() {
    struct Beyond;
    impl PriorityMapping for Beyond {
        fn to_native(&self, _: Priority) -> Option<NativePriority> {
            Some(1000)
        }
        fn to_corba(&self, _: NativePriority) -> Option<Priority> {
            None
        }
    }
    let orb = Orb::builder().build().unwrap();
    let Ok(rt) = RtOrb::builder().mapping(Beyond).install(&orb) else {
        orbium_testkit::skipped("native priorities are not permitted here");
        return;
    };
    on_a_thread(move || {
        assert_eq!(rt.current().set_the_priority(1), Err(DATA_CONVERSION_2));
        assert!(rt.current().the_priority().is_err());
    });
}

#[test]
fn mappings_can_be_shared() {
    let mapping: Arc<dyn PriorityMapping> = Arc::new(ContinuousMapping::default());
    assert_eq!(mapping.to_native(Priority::MIN), Some(1));
}
