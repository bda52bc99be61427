// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed pollers, over TCP: what they return, and which exception answers what is done out of
//! order. The servant's reply tokens decide when there is a reply.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use orbium::{
    Call, Completion, DeferredReply, ExceptionKind, Interface, ObjectRef, SystemException,
    asynchronous::{PollableError, PollableSet},
};
use orbium_codegen::Options;

use crate::generated::generated;
use crate::orbs::Orbs;

mod golden {
    include!("../golden/pollers.rs");
}

use golden::polled::{
    Dented, Empty, EmptyError, EmptyOrDentedError, Gauge, GaugePoller, GaugeServant, Reading, Tank,
    TankDrainResults, TankPoller, TankServant,
};

type Answer<T> = Result<T, SystemException>;
type LevelReply = DeferredReply<i32, EmptyOrDentedError>;

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);
/// Longer than a loaded machine needs.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

struct Servant {
    label: Mutex<String>,
    /// Gets the replies of `level`, which the test sends.
    levels: Sender<LevelReply>,
}

impl GaugeServant for Servant {
    fn label(&self, _: &Call<'_>) -> Answer<String> {
        Ok(self.label.lock().unwrap().clone())
    }
    fn set_label(&self, _: &Call<'_>, value: &str) -> Answer<()> {
        value.clone_into(&mut self.label.lock().unwrap());
        Ok(())
    }
    fn last(&self, _: &Call<'_>) -> Result<Reading, EmptyError> {
        Err(Empty {}.into())
    }
    fn level(&self, _: &Call<'_>, reply: LevelReply) {
        self.levels.send(reply).unwrap();
    }
    fn reset(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn at_once(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
}

impl TankServant for Servant {
    fn fill(&self, _: &Call<'_>, unit: &str, level: &mut i32, note: &str) -> Answer<Reading> {
        let before = *level;
        *level += 1;
        Ok(Reading {
            level: before,
            unit: format!("{unit} {note}"),
        })
    }
    fn drain(&self, _: &Call<'_>, most: &[Reading]) -> Result<TankDrainResults, EmptyError> {
        match most {
            [] => Err(Empty {}.into()),
            [_, left @ ..] => Ok(TankDrainResults {
                left: left.to_vec(),
                is_empty: left.is_empty(),
            }),
        }
    }
    fn next(
        &self,
        _: &Call<'_>,
        near: Option<&Tank>,
        _: Option<&ObjectRef>,
    ) -> Answer<Option<Tank>> {
        Ok(near.cloned())
    }
    fn note(&self, _: &Call<'_>, all: &[golden::polled::ReadingRef<'_>]) -> Answer<()> {
        assert_eq!(all.len(), 1);
        Ok(())
    }
    fn sendp_fill(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn is_ready(&self, _: &Call<'_>, get_label: i32) -> Answer<bool> {
        Ok(get_label == 1)
    }
    fn sendp_ami_level(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn sendp_get_label(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn r#type(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
}

/// A server's object, seen by a client.
struct Pair {
    _orbs: Orbs,
    tank: Tank,
    levels: Receiver<LevelReply>,
}

impl Pair {
    fn new() -> Self {
        let (sender, levels) = channel();
        let orbs = Orbs::new();
        let servant = Servant {
            label: Mutex::default(),
            levels: sender,
        };
        let [_, tank] = orbs.both(servant);
        Self {
            _orbs: orbs,
            tank,
            levels,
        }
    }

    /// A poller of a call that the server has and has not answered.
    fn polled(&self) -> (GaugePoller, LevelReply) {
        let poller = self.tank.sendp_level();
        (poller, self.reply())
    }

    fn reply(&self) -> LevelReply {
        self.levels.recv_timeout(PATIENCE.unwrap()).unwrap()
    }
}

fn reading(level: i32) -> Reading {
    Reading {
        level,
        unit: "litre".into(),
    }
}

fn raised(kind: ExceptionKind, minor: u32) -> SystemException {
    SystemException::omg(kind, minor, Completion::Maybe)
}

fn delivered() -> SystemException {
    SystemException::omg(ExceptionKind::ObjectNotExist, 5, Completion::Yes)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, EmptyOrDentedError>) -> SystemException {
    match outcome {
        Err(EmptyOrDentedError::System(exception)) => exception,
        other => panic!("{other:?}"),
    }
}

/// Conformance: Messaging - typed pollers - results, `inout` and `out` arguments, references, attributes
#[test]
fn a_poller_gives_out_arguments_and_results() {
    let pair = Pair::new();
    let tank = &pair.tank;
    let mut filling: TankPoller = tank.sendp_ami_fill("litre", 5, "wïde");
    let filled = filling.fill(PATIENCE).unwrap();
    assert_eq!((filled.result.level, filled.level), (5, 6));
    assert_eq!(filled.result.unit, "litre wïde");
    let drained = tank.sendp_drain(&[reading(1), reading(2)]).drain(PATIENCE);
    let left = TankDrainResults {
        left: vec![reading(2)],
        is_empty: false,
    };
    assert_eq!(drained.unwrap(), left);
    let next = tank.sendp_next(Some(tank), tank.as_object()).next(PATIENCE);
    assert_eq!(next.unwrap().as_ref(), Some(tank));
    assert_eq!(tank.sendp_note(&[reading(1)]).note(PATIENCE), Ok(()));
    assert_eq!(tank.sendp_set_label("a").set_label(PATIENCE), Ok(()));
    let gauge = Gauge::from(tank.clone());
    assert_eq!(gauge.sendp_get_label().get_label(None).unwrap(), "a");
    assert_eq!(tank.sendp_is_ready(1).is_ready_(PATIENCE), Ok(true));
}

/// Conformance: Messaging - typed pollers - exceptions of the operation and of an attribute
#[test]
fn a_poller_raises_the_exceptions_of_the_operation() {
    let pair = Pair::new();
    let empty = pair.tank.sendp_drain(&[]).drain(PATIENCE);
    assert_eq!(empty, Err(Empty {}.into()));
    let last = pair.tank.sendp_get_last().get_last(PATIENCE);
    assert_eq!(last, Err(Empty {}.into()));
    let (mut poller, reply) = pair.polled();
    reply.raise(Dented { by: 3 }).unwrap();
    assert_eq!(poller.level(PATIENCE), Err(Dented { by: 3 }.into()));
    let (mut poller, reply) = pair.polled();
    drop(reply);
    assert_eq!(
        refused(poller.level(PATIENCE)).kind,
        ExceptionKind::NoResponse
    );
}

/// Conformance: Messaging - typed pollers - not ready: NO_RESPONSE 1 at once, TIMEOUT 1 after the time; then the results
#[test]
fn without_a_reply_a_poller_raises_no_response_or_timeout() {
    let pair = Pair::new();
    let (mut poller, reply) = pair.polled();
    let moment = Some(Duration::from_millis(1));
    assert_eq!(poller.is_ready(AT_ONCE), Ok(false));
    assert_eq!(poller.is_ready(moment), Ok(false));
    let nothing = refused(poller.level(AT_ONCE));
    assert_eq!(nothing, raised(ExceptionKind::NoResponse, 1));
    let late = refused(poller.level(moment));
    assert_eq!(late, raised(ExceptionKind::Timeout, 1));
    reply.ok(7).unwrap();
    assert_eq!(poller.is_ready(None), Ok(true));
    assert_eq!(poller.level(AT_ONCE), Ok(7));
}

/// Conformance: Messaging - typed pollers - polled again after the reply was delivered: OBJECT_NOT_EXIST 5
#[test]
fn a_reply_is_delivered_once() {
    let pair = Pair::new();
    let (mut poller, reply) = pair.polled();
    reply.raise(Empty {}).unwrap();
    assert_eq!(poller.level(PATIENCE), Err(Empty {}.into()));
    for timeout in [AT_ONCE, PATIENCE, None] {
        assert_eq!(refused(poller.level(timeout)), delivered());
        assert_eq!(poller.is_ready(timeout), Err(delivered()));
    }
    let unused = poller.set_associated_handler(|_| unreachable!("there is no reply"));
    assert_eq!(unused, Err(delivered()));
}

/// Conformance: Messaging - typed pollers - polled by another operation: BAD_OPERATION, and the reply stays
#[test]
fn another_operation_cannot_be_polled_for() {
    let pair = Pair::new();
    let (mut poller, reply) = pair.polled();
    reply.ok(7).unwrap();
    let bad = SystemException::new(ExceptionKind::BadOperation, 0, Completion::Maybe);
    assert_eq!(poller.get_label(PATIENCE), Err(bad));
    assert_eq!(poller.get_last(PATIENCE), Err(bad.into()));
    assert_eq!(poller.set_label(AT_ONCE), Err(bad));
    assert_eq!(poller.level(PATIENCE), Ok(7));
}

/// Conformance: Messaging - typed pollers - operation_target, operation_name; is_from_poller: BAD_INV_ORDER 22 without a reply
#[test]
fn a_poller_names_its_call() {
    let pair = Pair::new();
    let (mut poller, reply) = pair.polled();
    assert_eq!(poller.operation_target(), &Gauge::from(pair.tank.clone()));
    assert_eq!(poller.operation_name(), "level");
    assert_eq!(pair.tank.sendp_get_last().operation_name(), "_get_last");
    let early = Err(raised(ExceptionKind::BadInvOrder, 22));
    assert_eq!(poller.is_from_poller(), early);
    reply.ok(7).unwrap();
    assert_eq!(poller.is_ready(PATIENCE), Ok(true));
    assert_eq!(poller.is_from_poller(), Ok(true));
    assert_eq!(poller.level(PATIENCE), Ok(7));
    assert_eq!(poller.is_from_poller(), Ok(true));
}

/// Conformance: Messaging - typed pollers - the round-trip time of the call is over: TIMEOUT 3's completion, once
#[test]
fn the_deadline_of_the_call_ends_it() {
    let pair = Pair::new();
    let hurried = pair.tank.with_timeout(Duration::from_millis(300));
    let mut poller = hurried.sendp_level();
    assert_eq!(poller.is_ready(PATIENCE), Ok(true));
    let late = refused(poller.level(AT_ONCE));
    assert_eq!(late.kind, ExceptionKind::Timeout);
    assert_ne!(late, raised(ExceptionKind::Timeout, 1));
    assert_eq!(refused(poller.level(AT_ONCE)), delivered());
}

/// Conformance: Messaging - typed pollers - several in a PollableSet, ready in the order of their replies
#[test]
fn pollers_are_members_of_sets() {
    let pair = Pair::new();
    let mut set = PollableSet::new();
    let mut replies = Vec::new();
    for _ in 0..3 {
        let (poller, reply) = pair.polled();
        replies.push((set.add(poller), reply));
    }
    let none = set.next_ready(AT_ONCE).err();
    let wanted = raised(ExceptionKind::NoResponse, 1);
    assert_eq!(none, Some(PollableError::System(wanted)));
    for place in [1, 0, 0] {
        let (id, reply) = replies.remove(place);
        reply.ok(place as i32).unwrap();
        let (ready, mut poller) = set.next_ready(PATIENCE).unwrap();
        assert_eq!((ready, poller.level(AT_ONCE)), (id, Ok(place as i32)));
    }
    assert_eq!(set.number_left(), 0);
    let mut boxed: PollableSet<Box<dyn orbium::asynchronous::Pollable>> = PollableSet::new();
    boxed.add(Box::new(pair.tank.sendp_set_label("b")));
    boxed.add(Box::new(pair.tank.sendp_type()));
    assert!(boxed.next_ready(PATIENCE).is_ok() && boxed.next_ready(PATIENCE).is_ok());
}

/// What a handler of `level` found: `is_from_poller`, and the results.
type Found = (Answer<bool>, Result<i32, EmptyOrDentedError>);

fn handler() -> (impl FnOnce(GaugePoller) + Send + 'static, Receiver<Found>) {
    let (found, finds) = channel();
    let handler = move |mut ready: GaugePoller| {
        let _ = found.send((ready.is_from_poller(), ready.level(AT_ONCE)));
    };
    (handler, finds)
}

/// Conformance: Messaging - typed pollers - associated_handler: it has the reply, and the poller has not
#[test]
fn an_associated_handler_has_the_reply() {
    let pair = Pair::new();
    let (mut poller, reply) = pair.polled();
    let (first, replaced) = handler();
    let (second, finds) = handler();
    poller.set_associated_handler(first).unwrap();
    poller.set_associated_handler(second).unwrap();
    assert!(poller.has_associated_handler());
    let early = raised(ExceptionKind::BadInvOrder, 22);
    assert_eq!(refused(poller.level(PATIENCE)), early);
    assert_eq!(poller.is_ready(None), Err(early));
    reply.raise(Dented { by: 1 }).unwrap();
    let found = finds.recv_timeout(PATIENCE.unwrap()).unwrap();
    assert_eq!(found, (Ok(false), Err(Dented { by: 1 }.into())));
    assert!(replaced.recv().is_err());
    assert_eq!(refused(poller.level(PATIENCE)), delivered());
    assert_eq!(poller.is_from_poller(), Ok(false));
    assert_eq!(poller.clear_associated_handler(), Err(delivered()));
}

/// Conformance: Messaging - typed pollers - associated_handler: set once the reply is there, or taken back before
#[test]
fn a_handler_is_associated_late_or_taken_back() {
    let pair = Pair::new();
    let (mut poller, reply) = pair.polled();
    reply.ok(7).unwrap();
    assert_eq!(poller.is_ready(PATIENCE), Ok(true));
    let (late, finds) = handler();
    poller.set_associated_handler(late).unwrap();
    let found = finds.recv_timeout(PATIENCE.unwrap()).unwrap();
    assert_eq!(found, (Ok(false), Ok(7)));
    let (mut poller, reply) = pair.polled();
    let (unused, finds) = handler();
    poller.set_associated_handler(unused).unwrap();
    assert_eq!(poller.clear_associated_handler(), Ok(()));
    assert!(!poller.has_associated_handler() && finds.recv().is_err());
    reply.ok(8).unwrap();
    assert_eq!(poller.level(PATIENCE), Ok(8));
    assert_eq!(poller.is_from_poller(), Ok(true));
}

/// Conformance: Messaging - typed pollers - one that is dropped cancels its call, unless a handler is associated
#[test]
fn a_poller_that_is_dropped_cancels_its_call() {
    let pair = Pair::new();
    let (poller, reply) = pair.polled();
    drop(poller);
    // Requests of one connection are read in order, so the cancellation was before this one.
    let (mut poller, answered) = pair.polled();
    answered.ok(1).unwrap();
    assert_eq!(poller.level(PATIENCE), Ok(1));
    assert!(reply.is_cancelled());
    let (mut poller, reply) = pair.polled();
    let (handler, finds) = handler();
    poller.set_associated_handler(handler).unwrap();
    drop(poller);
    reply.ok(2).unwrap();
    let found = finds.recv_timeout(PATIENCE.unwrap()).unwrap();
    assert_eq!(found, (Ok(false), Ok(2)));
}

/// A poller with a handler never is ready; a set that waited for it would wait for ever.
#[test]
fn a_poller_with_a_handler_holds_up_no_set() {
    let pair = Pair::new();
    let (mut poller, reply) = pair.polled();
    let (handler, finds) = handler();
    poller.set_associated_handler(handler).unwrap();
    let mut set = PollableSet::new();
    set.add(poller);
    let (_, mut poller) = set.next_ready(None).unwrap();
    let early = raised(ExceptionKind::BadInvOrder, 22);
    assert_eq!(refused(poller.level(AT_ONCE)), early);
    reply.ok(1).unwrap();
    assert!(finds.recv_timeout(PATIENCE.unwrap()).is_ok());
}

const IDL: &str = "module M { interface I { void f(); @ami(FALSE) void g(); oneway void h(); };
                   interface J { void k(); }; @ami(FALSE) interface K { void l(); }; };";

#[test]
fn nothing_is_polled_unless_asked_for() {
    let pollers = |options: Options| generated(IDL, &options).0.matches("sendp_").count();
    let options = || Options::new("m.idl");
    assert_eq!(pollers(options()), 0);
    assert_eq!(pollers(options().asynchronous(true)), 0);
    assert_eq!(pollers(options().pollers(true)), 2);
    let code = generated(IDL, &options().pollers(true)).0;
    assert!(code.contains("pub struct JPoller of J;") && !code.contains("KPoller"));
}
