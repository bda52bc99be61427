// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments of one process, and each exception.

use orbium::{ExceptionKind, SystemException};
use orbium_distributable::{
    DistributableThreads, FixedPriority, SchedulingParameter, SegmentError,
};

use crate::common::{Process, priority};

fn threads() -> DistributableThreads {
    DistributableThreads::new(FixedPriority::new(|_| None))
}

/// Conformance: RT 6 - distributable threads: segments nest, are updated and end - names, parameters, implicit parameters
#[test]
fn segments_nest() {
    let current = threads().current();
    assert_eq!((current.id(), current.scheduling_parameter()), (None, None));
    current
        .begin_scheduling_segment("outer", priority(1), Some(priority(2)))
        .unwrap();
    let id = current.id();
    current
        .begin_scheduling_segment("inner", None, None)
        .unwrap();
    assert_eq!(current.scheduling_parameter(), Some(priority(2)));
    assert_eq!(
        current.current_scheduling_segment_names(),
        ["inner", "outer"]
    );
    current
        .update_scheduling_segment("inner", priority(3), Some(priority(4)))
        .unwrap();
    assert_eq!(current.scheduling_parameter(), Some(priority(3)));
    assert_eq!(current.implicit_scheduling_parameter(), Some(priority(4)));
    current.end_scheduling_segment("inner").unwrap();
    assert_eq!(
        (current.id(), current.scheduling_parameter()),
        (id, Some(priority(1)))
    );
    current.end_scheduling_segment("outer").unwrap();
    assert_eq!((current.id(), current.scheduling_parameter()), (None, None));
}

/// Conformance: RT 6 - distributable threads: each exception - BAD_INV_ORDER for a name that is not the innermost
#[test]
fn a_segment_that_is_not_the_innermost_does_not_end() {
    let current = threads().current();
    let not_innermost = Err(SegmentError::NotInnermost);
    assert_eq!(current.end_scheduling_segment(""), not_innermost);
    assert_eq!(
        current.update_scheduling_segment("", None, None),
        not_innermost
    );
    current
        .begin_scheduling_segment("outer", None, None)
        .unwrap();
    current
        .begin_scheduling_segment("inner", None, None)
        .unwrap();
    assert_eq!(current.end_scheduling_segment("outer"), not_innermost);
    current.end_scheduling_segment("inner").unwrap();
    current.end_scheduling_segment("outer").unwrap();
    let exception = SystemException::from(SegmentError::NotInnermost);
    assert_eq!(exception.kind, ExceptionKind::BadInvOrder);
}

/// Conformance: RT 6 - distributable threads: each exception - BAD_INV_ORDER: a segment of the caller does not end in an upcall
#[test]
fn a_segment_of_the_caller_does_not_end_in_an_upcall() {
    let [client, server] = [(); 2].map(|()| Process::new());
    let inner = server.threads.current();
    server.state.on_act(move |_, value| {
        let refused = inner.end_scheduling_segment("scan");
        assert_eq!(refused, Err(SegmentError::NotInnermost));
        // It is left open: it ends with the upcall.
        inner.begin_scheduling_segment("open", priority(3), None)?;
        Ok(value)
    });
    let current = client.threads.current();
    current
        .begin_scheduling_segment("scan", priority(5), None)
        .unwrap();
    let target = client.target_of(&server);
    for value in 0..3 {
        assert_eq!(target.act(value), Ok(value));
    }
    assert!(server.upcalls().iter().all(|it| it.segments == ["scan"]));
    current.end_scheduling_segment("scan").unwrap();
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: each exception - UNSUPPORTED_SCHEDULING_DISCIPLINE
#[test]
fn a_parameter_of_another_discipline_is_refused() {
    let current = threads().current();
    let foreign = SchedulingParameter::MaximumUrgency {
        deadline: 1,
        execution: 1,
        criticality: 1,
    };
    let refused = Err(SegmentError::UnsupportedDiscipline {
        scheduler: "FP_Scheduling",
        parameter: "MUF_Scheduling",
    });
    assert_eq!(current.begin_scheduling_segment("", foreign, None), refused);
    assert_eq!(
        current.begin_scheduling_segment("", priority(1), Some(foreign)),
        refused
    );
    assert_eq!(current.id(), None);
    current.begin_scheduling_segment("", None, None).unwrap();
    assert_eq!(
        current.update_scheduling_segment("", foreign, None),
        refused
    );
    current.end_scheduling_segment("").unwrap();
}
