// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants with a reply slot, and servants that answer later: they are lent the arguments, and
//! their answer is one message that the caller reads.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::{
    Call, Collocation, Completion, DeferredReply, ExceptionKind, ForwardRequest, Interface,
    ObjectRef, Reply, Sent, SystemException,
};
use orbium_core::idl_interface;
use orbium_testkit::probe::{Refused, RefusedError};
use orbium_testkit::{Served, within};

use super::{each_way, place_of};

idl_interface! {
    /// Answers through slots and tokens.
    pub struct Answers = "IDL:Answers:1.0";
    operations by_octet(0, 97, &[
        5, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3,
    ]);
    pub trait AnswersServant;

    fn slot(data: &[u8], fails: bool) -> Result<u64, RefusedError> = "slot" {
        slot Reply<'_, u64, RefusedError>, };
    fn keep(others: &[Option<ObjectRef>], @inout text: String | &str) -> Result<u64> = "keep" {
        slot Reply<'_, KeptResults<'_>>, out(result: u64, text: String) gives result, };
    fn moment(data: &[u8], fails: bool) -> Result<u64, RefusedError> = "moment" { deferred u64, };
    fn which(other: Option<&ObjectRef>) -> Result<u64> = "which" { deferred u64, };
    fn forward(data: &[u8]) -> Result<u64> = "forward" { deferred u64, };
    fn abandon() -> Result<()> = "abandon" { deferred (), };
}

/// The results of `keep`, borrowed.
struct KeptResults<'v> {
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
struct Answering {
    /// Where `forward` sends its caller.
    elsewhere: Mutex<Option<ObjectRef>>,
    /// The token of a call that is not answered yet.
    open: Mutex<Option<DeferredReply<()>>>,
}

impl AnswersServant for Answering {
    fn slot(
        &self,
        _: &Call<'_>,
        data: &[u8],
        fails: bool,
        reply: Reply<'_, u64, RefusedError>,
    ) -> Result<Sent, RefusedError> {
        match fails {
            true => Err(refused().into()),
            false => reply.send(&place(data)),
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

    fn moment(
        &self,
        _: &Call<'_>,
        data: &[u8],
        fails: bool,
        reply: DeferredReply<u64, RefusedError>,
    ) {
        let place = place(data);
        thread::spawn(move || match fails {
            true => reply.raise(refused()),
            false => reply.ok(place),
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
}

fn answering(served: &Served) -> (Answers, Arc<Answering>) {
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
