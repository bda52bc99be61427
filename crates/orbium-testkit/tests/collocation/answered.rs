// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants with a reply slot, and servants that answer later: they are lent the arguments, and
//! their answer is one message that the caller reads.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use orbium::{
    Call, Completion, Config, DeferredReply, ExceptionKind, Interface, ObjectRef, Reply, Sent,
    SystemException,
    config::{Collocation, Limits},
    poa::ForwardRequest,
    policy::{BufferingConstraint, SyncScope},
};
use orbium_core::idl_interface;
use orbium_testkit::probe::{Refused, RefusedError};
use orbium_testkit::{Served, eventually, within};

use super::{config, each_way, place_of};

idl_interface! {
    /// Answers through slots and tokens.
    pub struct Answers = "IDL:Answers:1.0";
    operations by_octet(0, 97, &[
        6, 0, 0, 0, 0, 5, 1, 0, 0, 0, 2, 0, 3, 7, 8, 0, 0, 0, 0, 0, 0, 0, 4,
    ]);
    pub trait AnswersServant;

    fn slot(data: &[u8], fails: bool) -> Result<u64, RefusedError> = "slot" {
        async slot_async, slot Reply<'_, u64, RefusedError>, };
    fn seen(other: Option<&ObjectRef>, @inout text: String | &str) -> Result<()> = "given" {
        async seen_async -> String, slot Reply<'_, str>, out(text: String) gives (), };
    fn keep(others: &[Option<ObjectRef>], @inout text: String | &str) -> Result<u64> = "keep" {
        slot Reply<'_, KeptResults<'_>>, out(result: u64, text: String) gives result, };
    fn moment(data: &[u8], fails: bool) -> Result<u64, RefusedError> = "moment" {
        async moment_async, deferred u64, };
    fn which(other: Option<&ObjectRef>) -> Result<u64> = "which" { async which_async, deferred u64, };
    fn forward(data: &[u8]) -> Result<u64> = "forward" { async forward_async, deferred u64, };
    fn abandon() -> Result<()> = "abandon" { async abandon_async, deferred (), };
    oneway note(data: &[u8], fails: bool) -> Result<()> = "note" { deferred (), };
    fn open() -> Result<u64> = "open" { async open_async, deferred u64, };
}

/// The results of `keep`, borrowed.
pub(super) struct KeptResults<'v> {
    result: u64,
    text: &'v str,
}

impl orbium::cdr::Encode for KeptResults<'_> {
    fn encode<'a>(&'a self, writer: &mut orbium::cdr::CdrWriter<'a>) {
        self.result.encode(writer);
        self.text.encode(writer);
    }
}

fn refused() -> Refused {
    Refused {
        code: 5,
        why: "asked to".into(),
    }
}

fn place(data: &[u8]) -> u64 {
    data.as_ptr().addr() as u64
}

#[derive(Default)]
pub(super) struct Answering {
    /// Where `forward` sends its caller.
    elsewhere: Mutex<Option<ObjectRef>>,
    /// The token of a call that is not answered yet.
    open: Mutex<Option<DeferredReply<()>>>,
    /// Where the data of the last oneway were.
    pub(super) place: Mutex<u64>,
    /// Those of calls of `open`.
    all_open: Mutex<Vec<DeferredReply<u64>>>,
}

impl AnswersServant for Answering {
    fn slot(
        &self,
        _: &Call<'_>,
        data: &[u8],
        fails: bool,
        reply: Reply<'_, u64, RefusedError>,
    ) -> Result<Sent, RefusedError> {
        if fails {
            Err(refused().into())
        } else {
            reply.send(&place(data))
        }
    }

    fn keep(
        &self,
        _: &Call<'_>,
        others: &[Option<ObjectRef>],
        text: &str,
        reply: Reply<'_, KeptResults<'_>>,
    ) -> Result<Sent, SystemException> {
        let first = others.first().and_then(Option::as_ref);
        let result = place_of(first.ok_or(ExceptionKind::BadParam)?);
        let text = &format!("{text}!");
        reply.send(&KeptResults { result, text })
    }

    fn seen(
        &self,
        _: &Call<'_>,
        other: Option<&ObjectRef>,
        text: &str,
        reply: Reply<'_, str>,
    ) -> Result<Sent, SystemException> {
        let place = place_of(other.ok_or(ExceptionKind::BadParam)?);
        reply.send(&*format!("{text} {place}"))
    }

    fn moment(
        &self,
        _: &Call<'_>,
        data: &[u8],
        fails: bool,
        reply: DeferredReply<u64, RefusedError>,
    ) {
        let place = place(data);
        thread::spawn(move || {
            if fails {
                reply.raise(refused())
            } else {
                reply.ok(place)
            }
        });
    }

    fn which(&self, call: &Call<'_>, other: Option<&ObjectRef>, reply: DeferredReply<u64>) {
        let has_policies = other.is_some_and(|other| !other.time_policies().is_none());
        assert!(call.peer().is_none() && !has_policies);
        reply.ok(other.map_or(0, place_of)).unwrap();
    }

    fn forward(&self, _: &Call<'_>, data: &[u8], reply: DeferredReply<u64>) {
        match &*self.elsewhere.lock().unwrap() {
            Some(to) => reply.forward(&ForwardRequest::to(to)),
            None => reply.ok(place(data)).unwrap(),
        }
    }

    fn abandon(&self, call: &Call<'_>, reply: DeferredReply<()>) {
        // Without a deadline it is dropped.
        if call.deadline().is_some() {
            *self.open.lock().unwrap() = Some(reply);
        }
    }

    fn note(&self, _: &Call<'_>, data: &[u8], fails: bool, reply: DeferredReply<()>) {
        *self.place.lock().unwrap() = place(data);
        let _ = if fails {
            reply.raise(SystemException::from(ExceptionKind::NoResources))
        } else {
            reply.ok(())
        };
    }

    fn open(&self, _: &Call<'_>, reply: DeferredReply<u64>) {
        self.all_open.lock().unwrap().push(reply);
    }
}

pub(super) fn answering(served: &Served) -> (Answers, Arc<Answering>) {
    let servant = Arc::new(Answering::default());
    let root = served.orb.root_poa();
    (root.activate(Arc::clone(&servant)).unwrap(), servant)
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - servants with reply slots
#[test]
fn servants_with_reply_slots_are_lent_the_arguments() {
    each_way(|way, served| {
        let (answers, _) = answering(&served);
        let data = vec![5; 64 * 1024];
        let lent = answers.slot(&data, false).unwrap() == place(&data);
        assert_eq!(lent, way != Collocation::Marshalled);
        match answers.slot(&data, true) {
            Err(RefusedError::Refused(refused)) => assert_eq!(refused.code, 5),
            other => panic!("{other:?}"),
        }
        let other = served.target.as_object();
        let mut text = "a".to_owned();
        let kept = answers.keep(&[Some(other.clone())], &mut text).unwrap();
        assert_eq!(kept == place_of(other), way != Collocation::Marshalled);
        assert_eq!(text, "a!");
        let refused = answers.keep(&[None], &mut text).unwrap_err();
        assert_eq!((refused.kind, &*text), (ExceptionKind::BadParam, "a!"));
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - servants that answer later
#[test]
fn servants_that_answer_later_are_lent_the_arguments() {
    each_way(|way, served| {
        let (answers, _) = answering(&served);
        let data = vec![5; 64 * 1024];
        let lent = answers.moment(&data, false).unwrap() == place(&data);
        assert_eq!(lent, way != Collocation::Marshalled);
        let patient = answers.with_timeout(Duration::from_secs(60));
        let lent = patient.moment(&data, false).unwrap() == place(&data);
        assert_eq!(lent, way != Collocation::Marshalled);
        match answers.moment(&data, true) {
            Err(RefusedError::Refused(refused)) => assert_eq!(refused.code, 5),
            other => panic!("{other:?}"),
        }
        let other = served.target.as_object();
        let kept = answers.which(Some(other)).unwrap();
        assert_eq!(kept == place_of(other), way != Collocation::Marshalled);
        let hasty = other.with_timeout(Duration::from_secs(60));
        assert_ne!(answers.which(Some(&hasty)).unwrap(), place_of(&hasty));
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - oneways of servants that answer
/// later
#[test]
fn oneways_are_lent_the_arguments_whatever_answers_them() {
    each_way(|way, served| {
        let (answers, servant) = answering(&served);
        let data = vec![5; 64 * 1024];
        let scopes = [
            SyncScope::None,
            SyncScope::WithTransport,
            SyncScope::WithServer,
            SyncScope::WithTarget,
        ];
        for scope in scopes {
            let buffered = answers.with_buffering(BufferingConstraint::default());
            let scoped = buffered.with_sync_scope(scope);
            scoped.note(&data, false).unwrap();
            let lent = *servant.place.lock().unwrap() == place(&data);
            assert_eq!(lent, way != Collocation::Marshalled, "{scope:?}");
            let raised = scoped.note(&data, true);
            match scope {
                SyncScope::WithTarget => {
                    assert_eq!(raised.unwrap_err().kind, ExceptionKind::NoResources);
                }
                _ => assert_eq!(raised, Ok(()), "{scope:?}"),
            }
        }
        answers.note(&data, true).unwrap();
    });
}

/// A token that is dropped, and one that answers behind the deadline.
#[test]
fn an_answer_that_does_not_come_is_no_response_or_timeout() {
    each_way(|_, served| {
        let (answers, servant) = answering(&served);
        let dropped = answers.abandon().unwrap_err();
        let no_response = (ExceptionKind::NoResponse, Completion::Maybe);
        assert_eq!((dropped.kind, dropped.completed), no_response);
        let hasty = answers.with_timeout(Duration::from_millis(50));
        let late = within("a late answer", move || hasty.abandon()).unwrap_err();
        let timeout = (ExceptionKind::Timeout, Completion::Maybe);
        assert_eq!((late.kind, late.completed), timeout);
        let open = servant.open.lock().unwrap().take();
        assert_eq!(open.expect("the token").ok(()), Ok(()));
    });
}

#[test]
fn a_token_sends_its_caller_to_another_object() {
    each_way(|way, served| {
        let (answers, servant) = answering(&served);
        let (elsewhere, _) = answering(&served);
        let elsewhere = elsewhere.as_object().clone();
        *servant.elsewhere.lock().unwrap() = Some(elsewhere);
        let data = vec![5; 1024];
        // The first call learns where the object is.
        answers.forward(&data).unwrap();
        let lent = answers.forward(&data).unwrap() == place(&data);
        assert_eq!(lent, way != Collocation::Marshalled);
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - asynchronous calls of servants with
/// reply slots, and of those that answer later
#[test]
fn asynchronous_calls_are_lent_what_they_own_whichever_way_they_are_answered() {
    each_way(|way, served| {
        let (answers, _) = answering(&served);
        let other = served.target.as_object();
        let lent = way != Collocation::Marshalled;
        let seen = answers.seen_async(Some(other), "at").wait().unwrap();
        assert_eq!(seen == format!("at {}", place_of(other)), lent);
        let which = answers.which_async(Some(other)).wait().unwrap();
        assert_eq!(which == place_of(other), lent);
        let hasty = other.with_timeout(Duration::from_secs(60));
        let which = answers.which_async(Some(&hasty)).wait().unwrap();
        assert_ne!(which, place_of(&hasty));
        for fails in [
            answers.slot_async(&[5], true),
            answers.moment_async(&[5], true),
        ] {
            match within("the call", move || fails.wait()) {
                Err(RefusedError::Refused(refused)) => assert_eq!(refused.code, 5),
                other => panic!("{other:?}"),
            }
        }
        assert!(answers.moment_async(&[5], false).wait().is_ok());
        let (sender, handled) = mpsc::channel();
        let call = answers.which_async(Some(other));
        call.on_reply(move |which| sender.send(which).unwrap());
        let which = within("the handler", move || handled.recv().unwrap()).unwrap();
        assert_eq!(which == place_of(other), lent);
        let nil = answers.seen_async(None, "").wait().unwrap_err();
        assert_eq!(nil.kind, ExceptionKind::BadParam);
        let story = orbium::diagnostics::last_failure().expect("the story of the call");
        assert_eq!(story.operation, "given");
    });
}

/// A token that is dropped, and one that answers behind the deadline.
#[test]
fn a_late_answer_of_an_asynchronous_call_is_no_response_or_timeout() {
    each_way(|_, served| {
        let (answers, servant) = answering(&served);
        let dropped = within("no answer", {
            let answers = answers.clone();
            move || answers.abandon_async().wait()
        });
        let dropped = dropped.unwrap_err();
        let no_response = (ExceptionKind::NoResponse, Completion::Maybe);
        assert_eq!((dropped.kind, dropped.completed), no_response);
        let hasty = answers.with_timeout(Duration::from_millis(50));
        let late = within("a late answer", move || hasty.abandon_async().wait());
        let late = late.unwrap_err();
        let timeout = (ExceptionKind::Timeout, Completion::Maybe);
        assert_eq!((late.kind, late.completed), timeout);
        let open = servant.open.lock().unwrap().take();
        let _ = open.expect("the token").ok(());
    });
}

#[test]
fn a_token_sends_an_asynchronous_call_to_another_object() {
    each_way(|_, served| {
        let (answers, servant) = answering(&served);
        let (elsewhere, _) = answering(&served);
        let elsewhere = elsewhere.as_object().clone();
        *servant.elsewhere.lock().unwrap() = Some(elsewhere);
        for _ in 0..2 {
            let call = answers.forward_async(&[5; 8]);
            // The first servant answers no other way.
            within("the call", move || call.wait()).unwrap();
        }
    });
}

/// A thread waited for each of them, and there was one.
#[test]
fn calls_that_are_answered_later_hold_no_threads() {
    for way in [Collocation::ThroughPoa, Collocation::Direct] {
        let limits = Limits {
            serving_threads: 1,
            ..Limits::default()
        };
        let served = Served::with(Config {
            limits,
            ..config(way)
        });
        let (answers, servant) = answering(&served);
        let mut calls = Vec::new();
        eventually("three calls are begun", || {
            let call = answers.open_async();
            // One that is refused, since the thread has not ended the last, is over at once.
            if !call.is_ready(Some(Duration::ZERO)) {
                calls.push(call);
            }
            calls.len() == 3
        });
        let open = || servant.all_open.lock().unwrap().len();
        eventually("the servant has the tokens", || open() == 3);
        let open = std::mem::take(&mut *servant.all_open.lock().unwrap());
        for (number, token) in (0..).zip(open) {
            token.ok(number).unwrap();
        }
        for (number, call) in (0..).zip(calls) {
            assert_eq!(within("the call", move || call.wait()), Ok(number), "{way}");
        }
        served.end();
    }
}

/// The servant sees that nothing waits for its answer.
#[test]
fn a_token_of_a_call_that_was_dropped_is_cancelled() {
    each_way(|way, served| {
        if way == Collocation::Marshalled {
            return;
        }
        let (answers, servant) = answering(&served);
        let call = answers.open_async();
        let open = || servant.all_open.lock().unwrap().len();
        eventually("the servant has the token", || open() == 1);
        let token = servant.all_open.lock().unwrap().pop().unwrap();
        assert!(!token.is_cancelled());
        drop(call);
        assert!(token.is_cancelled());
    });
}
