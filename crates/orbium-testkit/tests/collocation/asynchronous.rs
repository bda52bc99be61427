// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous calls: the servant is lent the arguments that the call owns, and its result
//! moves to whatever takes it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use orbium::{
    Call, Completion, Config, ExceptionKind, Interface, ObjectRef, SystemException,
    asynchronous::Poller, config::Collocation,
};
use orbium_core::idl_interface;
use orbium_testkit::probe::{Refused, RefusedError};
use orbium_testkit::{Served, eventually, within};

use super::observed::counted;
use super::{ALL, config, each_way, place_of};

idl_interface! {
    /// Returns where its arguments lie.
    pub struct Later = "IDL:Later:1.0";
    operations by_octet(0, 107, &[0, 0, 1, 0, 0, 0, 0, 3, 2, 0, 4]);
    pub trait LaterServant;

    fn keep(others: &[Option<ObjectRef>]) -> Result<u64> = "keep" { async keep_async, };
    fn many(size: u32) -> Result<Vec<u8>> = "many" { async many_async, };
    fn swap(@inout value: String | &str) -> Result<()> = "swap" { async swap_async -> String,
        out(value: String) gives (), };
    fn refuse(code: i32) -> Result<i32, RefusedError> = "refuse" { async refuse_async, };
    fn until_late() -> Result<()> = "until_late" { async until_late_async, };
}

#[derive(Default)]
struct Recorder {
    /// Where the last result lies.
    made: AtomicUsize,
    calls: AtomicUsize,
}

impl LaterServant for Recorder {
    fn keep(&self, call: &Call<'_>, others: &[Option<ObjectRef>]) -> Result<u64, SystemException> {
        assert!(call.peer().is_none() && call.response_expected());
        let first = others.first().and_then(Option::as_ref);
        Ok(place_of(first.ok_or(ExceptionKind::BadParam)?))
    }

    fn many(&self, _: &Call<'_>, size: u32) -> Result<Vec<u8>, SystemException> {
        let many = vec![7; size as usize];
        self.made.store(many.as_ptr().addr(), Ordering::SeqCst);
        Ok(many)
    }

    fn swap(&self, _: &Call<'_>, value: &mut String) -> Result<(), SystemException> {
        value.push('!');
        Ok(())
    }

    fn refuse(&self, _: &Call<'_>, code: i32) -> Result<i32, RefusedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match code {
            0 => Ok(0),
            1 => panic!("in the servant"),
            2 => Err(SystemException::from(ExceptionKind::Transient).into()),
            _ => Err(Refused {
                code,
                why: "asked to".into(),
            }
            .into()),
        }
    }

    fn until_late(&self, call: &Call<'_>) -> Result<(), SystemException> {
        let deadline = call.deadline().ok_or(ExceptionKind::BadParam)?;
        while Instant::now() <= deadline {
            thread::yield_now();
        }
        Ok(())
    }
}

fn later(served: &Served) -> (Later, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let root = served.orb.root_poa();
    (root.activate(Arc::clone(&recorder)).unwrap(), recorder)
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - asynchronous calls, polled and
/// with handlers
#[test]
fn asynchronous_calls_are_lent_what_they_own() {
    each_way(|way, served| {
        let (later, recorder) = later(&served);
        let other = served.target.as_object();
        let others = [Some(other.clone())];
        let check = |place: u64| {
            assert_eq!(place == place_of(other), way != Collocation::Marshalled);
        };
        check(later.keep_async(&others).wait().unwrap());
        let (sender, places) = mpsc::channel();
        let call = later.keep_async(&others);
        call.on_reply(move |place| sender.send(place).unwrap());
        check(within("the handler", move || places.recv().unwrap()).unwrap());
        let mut poller = Poller::new(later.clone(), "keep", later.keep_async(&others));
        let polled: Result<u64, SystemException> = poller.response("keep", None);
        check(polled.unwrap());
        let many = later.many_async(64 * 1024).wait().unwrap();
        assert_eq!(many, [7; 64 * 1024]);
        let moved = many.as_ptr().addr() == recorder.made.load(Ordering::SeqCst);
        assert!(moved || way == Collocation::Marshalled);
        assert_eq!(later.swap_async("a").wait().unwrap(), "a!");
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - asynchronous calls that raise
#[test]
fn exceptions_come_out_of_the_result() {
    each_way(|_, served| {
        let (later, recorder) = later(&served);
        match later.refuse_async(5).wait() {
            Err(RefusedError::Refused(refused)) => assert_eq!(refused.code, 5),
            other => panic!("{other:?}"),
        }
        let system = |code| match later.refuse_async(code).wait() {
            Err(RefusedError::System(exception)) => exception,
            other => panic!("{other:?}"),
        };
        assert_eq!(system(1).kind, ExceptionKind::Unknown);
        let calls = recorder.calls.load(Ordering::SeqCst);
        assert_eq!(system(2).kind, ExceptionKind::Transient);
        // TRANSIENT of the servant is the caller's: the call is not repeated.
        assert_eq!(recorder.calls.load(Ordering::SeqCst), calls + 1);
        let story = orbium::diagnostics::last_failure().expect("the story of the call");
        assert_eq!(story.operation, "refuse");
        assert_eq!(later.refuse_async(0).wait().unwrap(), 0);
    });
}

#[test]
fn a_result_behind_the_deadline_of_its_call_is_discarded() {
    each_way(|_, served| {
        let (later, _) = later(&served);
        let hasty = later.with_timeout(Duration::from_millis(50));
        let late = hasty.until_late_async().wait().unwrap_err();
        let timeout = (ExceptionKind::Timeout, Completion::Maybe);
        assert_eq!((late.kind, late.completed), timeout);
    });
}

#[test]
fn the_state_of_the_manager_applies_to_asynchronous_calls() {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let served = Served::with(config(way));
        let (later, _) = later(&served);
        let manager = served.orb.root_poa().manager();
        manager.hold_requests(false).unwrap();
        let held = later.many_async(3);
        eventually("the call is held", || manager.held_requests() == 1);
        manager.activate().unwrap();
        assert_eq!(held.wait().unwrap(), [7; 3]);
        served.orb.shutdown(true).unwrap();
    }
}

#[test]
fn measured_asynchronous_calls_are_counted_on_both_sides() {
    for way in ALL {
        let served = Served::with(Config {
            metrics: true,
            ..config(way)
        });
        let (later, _) = later(&served);
        later.many_async(3).wait().unwrap();
        later.refuse_async(5).wait().unwrap_err();
        for it in counted(&served.orb, "Later/many") {
            assert_eq!((it.ok, it.ended(), it.in_flight), (1, 1, 0), "{way}");
        }
        for it in counted(&served.orb, "Later/refuse") {
            assert_eq!((it.user_exceptions, it.ended()), (1, 1), "{way}");
        }
        served.orb.shutdown(true).unwrap();
    }
}
