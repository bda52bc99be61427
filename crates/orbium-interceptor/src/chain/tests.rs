// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of chains: the interceptors called at a point, and the state after a failure.

use std::cell::Cell;

use orbium_giop::Completion;

use super::*;
use crate::request::slots::{NO_SLOTS, SlotAllocator};

#[derive(Default)]
struct Info(Unimplemented);

impl PointInfo for Info {
    fn unimplemented(&mut self) -> &mut Unimplemented {
        &mut self.0
    }
}

thread_local! {
    /// The number of calls of interceptors of this thread.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

type Ran = Result<(), SystemException>;

trait Seen: Send + Sync + 'static {
    fn point(&self, info: &mut Info) -> Ran {
        CALLS.set(CALLS.get() + 1);
        info.note_unimplemented::<Self>();
        Ok(())
    }
}

trait SeenLinks: Send + Sync {
    fn point(&self, info: &mut Info) -> Passed;
}

struct End;

impl SeenLinks for End {
    fn point(&self, _: &mut Info) -> Passed {
        Ok(())
    }
}

impl<T: Seen> SeenLinks for Link<T, dyn SeenLinks> {
    fn point(&self, info: &mut Info) -> Passed {
        self.run(POINT, |it| it.point(info))?;
        self.next.point(info)
    }
}

impl Linked for dyn Seen {
    type Links = dyn SeenLinks;

    fn end() -> Box<dyn SeenLinks> {
        Box::new(End)
    }
}

struct Lacks;
struct PassesOn(Lacks);
/// Runs the function with the number of calls so far.
struct Has(fn(usize) -> Ran);

impl Seen for Lacks {}
impl Seen for PassesOn {
    fn point(&self, info: &mut Info) -> Ran {
        self.0.point(info)
    }
}
impl Seen for Has {
    fn point(&self, _: &mut Info) -> Ran {
        CALLS.set(CALLS.get() + 1);
        (self.0)(CALLS.get())
    }
}

const POINT: Point = Point {
    bit: 1,
    completed: Completion::No,
};

fn entry<T: Seen>(interceptor: T) -> Arc<Entry<dyn Seen>> {
    let own = Arc::new(interceptor);
    let of_link = Arc::clone(&own);
    let link = move |place, next: Box<dyn SeenLinks>| -> Box<dyn SeenLinks> {
        Link::new(&of_link, place, next)
    };
    Entry::<dyn Seen>::new::<T>(String::new(), own, Box::new(link))
}

/// Runs the point as a starting one.
fn start(all: &Chain<dyn Seen>, current: PiCurrent, started: &mut usize) -> Result<(), Interrupt> {
    let mut info = Info::default();
    if current.has_slots() || !all.implements(&[POINT]) {
        return all.start(POINT, current, started, &mut info, |it, info| {
            it.point(info).map_err(Interrupt::from)
        });
    }
    *started = all.len();
    let passed = all.starting().point(&mut info);
    passed.map_err(|stopped| all.stopped(*stopped, started))
}

/// Runs the point as an ending one.
fn end(all: &Chain<dyn Seen>, current: PiCurrent, started: &mut usize) -> Result<(), Interrupt> {
    let mut info = Info::default();
    if *started < all.len() || current.has_slots() || !all.implements(&[POINT]) {
        return all.end(POINT, current, started, &mut info, |it, info| {
            it.point(info).map_err(Interrupt::from)
        });
    }
    *started = 0;
    let passed = all.ending().point(&mut info);
    passed.map_err(|stopped| all.stopped(*stopped, started))
}

/// The number of calls of interceptors when the point is run that many times.
fn calls(all: &Chain<dyn Seen>, times: usize) -> usize {
    let before = CALLS.get();
    for _ in 0..times {
        start(all, NO_SLOTS, &mut 0).unwrap();
    }
    CALLS.get() - before
}

#[test]
fn a_point_is_run_once_where_it_is_not_implemented() {
    let mut all = Chain::<dyn Seen>::default();
    for _ in 0..2 {
        all.push(entry(Lacks));
    }
    assert_eq!(calls(&all, 3), 2);
    assert!(all.does_nothing_at(POINT));
    let copy = all.clone();
    all.push(entry(Has(|_| Ok(()))));
    all.push(entry(PassesOn(Lacks)));
    assert!(!all.does_nothing_at(POINT));
    assert_eq!(calls(&all, 3), 6);
    assert_eq!(calls(&copy, 3), 0);
}

#[test]
fn links_leave_the_count_of_those_that_have_started_when_one_fails_or_panics() {
    let second_fails = |calls| {
        assert_ne!(calls, 5, "as the test wants it");
        if calls == 8 {
            Err(errors::no_such_policy())
        } else {
            Ok(())
        }
    };
    let mut all = Chain::<dyn Seen>::default();
    for _ in 0..3 {
        all.push(entry(Has(second_fails)));
    }
    let current = SlotAllocator::new().current();
    let before = CALLS.replace(0);
    assert_eq!(before, 0);
    let mut started = 0;
    start(&all, current, &mut started).unwrap();
    assert_eq!(started, 3);
    assert!(all.known.has(POINT));
    // The second one panics.
    started = 0;
    assert!(start(&all, current, &mut started).is_err());
    assert_eq!((started, CALLS.get()), (1, 5));
    // Only those that have started.
    end(&all, current, &mut started).unwrap();
    assert_eq!((started, CALLS.get()), (0, 6));
    // The second one of all fails, counted from the last.
    started = 3;
    assert!(end(&all, current, &mut started).is_err());
    assert_eq!((started, CALLS.get()), (1, 8));
    end(&all, current, &mut started).unwrap();
    assert_eq!((started, CALLS.get()), (0, 9));
}
