// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that interceptors see, and those with service contexts: the points of both sides have the
//! order and the information that they have for a message, while the servant is lent the arguments.

mod managed;
mod watcher;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, PiCurrent, ReceiveRequest, ReplyContexts,
    ServerInterceptor, SlotId,
};
use orbium::{
    Any, Call, Config, DeferredReply, ExceptionKind, Interface, Reply, Sent, SystemException,
    asynchronous::Asynchronous, config::Collocation, policy::SyncScope,
};
use orbium_core::idl_interface;
use orbium_testkit::probe::{Refused, RefusedError};
use orbium_testkit::{Served, within};

use super::{ALL, Places, config};
use watcher::{Act, Journal, TAGS, Watcher};

idl_interface! {
    /// Returns where its data lie, or raises what the number says.
    pub struct Watched = "IDL:Watched:1.0";
    operations by_octet(0, 97, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 2, 4]);
    pub trait WatchedServant;

    fn act(data: &[u8], number: i32) -> Result<u64, RefusedError> = "act" { async act_async, };
    oneway note(data: &[u8], number: i32) -> Result<()> = "note";
    fn slot(data: &[u8], number: i32) -> Result<u64, RefusedError> = "slot" {
        async slot_async, slot Reply<'_, u64, RefusedError>, };
    fn late(data: &[u8], number: i32) -> Result<u64, RefusedError> = "late" {
        async late_async, deferred u64, };
    oneway tell(data: &[u8], number: i32) -> Result<()> = "tell" { deferred (), };
}

/// What the numbers say.
const RESULTS: i32 = 1;
const REFUSES: i32 = 2;
const RAISES: i32 = 3;
const PANICS: i32 = 4;

/// Notes what it sees of requests.
#[derive(Clone)]
struct Watching {
    name: &'static str,
    /// Whether there are interceptors: slots are those of requests then.
    is_seen: bool,
    journal: Journal,
    current: PiCurrent,
    slot: SlotId,
    /// Where the last data of a oneway were.
    place: Arc<Mutex<u64>>,
}

impl Watching {
    fn named(&self, name: &'static str) -> Self {
        Self {
            name,
            ..self.clone()
        }
    }

    fn seen(&self, call: &Call<'_>, data: &[u8], number: i32) -> Result<u64, RefusedError> {
        let slot = self.current.get_slot(self.slot).unwrap();
        let slot = slot.extract::<i32>().ok().filter(|_| self.is_seen);
        let contexts = TAGS.map(|tag| call.service_context(tag).map(<[u8]>::to_vec));
        let (name, expected) = (self.name, call.response_expected());
        self.journal
            .note(format!("{name} {number} {slot:?} {expected} {contexts:?}"));
        if self.is_seen {
            self.current
                .set_slot(self.slot, Any::from(slot.unwrap_or_default() + 1))
                .unwrap();
            call.add_reply_service_context(TAGS[3], b"of the servant", false)?;
        }
        let place = data.as_ptr().addr() as u64;
        *self.place.lock().unwrap() = place;
        match number {
            REFUSES => Err(Refused {
                code: 5,
                why: "asked to".into(),
            }
            .into()),
            RAISES => Err(SystemException::from(ExceptionKind::NoResources).into()),
            PANICS => panic!("on purpose"),
            _ => Ok(place),
        }
    }
}

/// The system exception of a servant that raises no other.
fn of_system(error: &RefusedError) -> SystemException {
    match error {
        RefusedError::System(exception) => *exception,
        RefusedError::Refused(_) => ExceptionKind::BadParam.into(),
    }
}

impl WatchedServant for Watching {
    fn act(&self, call: &Call<'_>, data: &[u8], number: i32) -> Result<u64, RefusedError> {
        self.seen(call, data, number)
    }

    fn note(&self, call: &Call<'_>, data: &[u8], number: i32) -> Result<(), SystemException> {
        self.seen(call, data, number)
            .map(drop)
            .map_err(|error| of_system(&error))
    }

    fn slot(
        &self,
        call: &Call<'_>,
        data: &[u8],
        number: i32,
        reply: Reply<'_, u64, RefusedError>,
    ) -> Result<Sent, RefusedError> {
        reply.send(&self.seen(call, data, number)?)
    }

    fn late(
        &self,
        call: &Call<'_>,
        data: &[u8],
        number: i32,
        reply: DeferredReply<u64, RefusedError>,
    ) {
        match self.seen(call, data, number) {
            Ok(place) => reply.ok(place).unwrap(),
            Err(error) => reply.raise(error).unwrap(),
        }
    }

    fn tell(&self, call: &Call<'_>, data: &[u8], number: i32, reply: DeferredReply<()>) {
        let _ = match self.seen(call, data, number) {
            Ok(_) => reply.ok(()),
            Err(error) => reply.raise(of_system(&error)),
        };
    }
}

/// An ORB with three interceptors of both sides, of which the second does something at one point.
struct Scene {
    served: Served,
    watched: Watched,
    watching: Watching,
    journal: Journal,
    armed: Arc<AtomicBool>,
    place: Arc<Mutex<u64>>,
}

impl Scene {
    fn new(way: Collocation, at: &'static str, act: Act) -> Self {
        Self::of(way, true, at, act)
    }

    /// With interceptors or without.
    fn of(way: Collocation, is_seen: bool, at: &'static str, act: Act) -> Self {
        let mut interceptors = Interceptors::new();
        let slot = interceptors.allocate_slot();
        let (journal, armed) = (Journal::default(), Arc::new(AtomicBool::new(false)));
        let elsewhere = Arc::new(OnceLock::new());
        for name in ["1", "2", "3"].into_iter().filter(|_| is_seen) {
            let watcher = Watcher {
                name,
                journal: journal.clone(),
                at,
                act,
                armed: Arc::clone(&armed),
                elsewhere: Arc::clone(&elsewhere),
                slot,
            };
            interceptors.add_client(watcher.clone()).unwrap();
            interceptors.add_server(watcher).unwrap();
        }
        let current = interceptors.current();
        let served = Served::with(Config {
            interceptors,
            ..config(way)
        });
        let place = Arc::new(Mutex::new(0));
        let watching = Watching {
            name: "servant",
            is_seen,
            journal: journal.clone(),
            current,
            slot,
            place: Arc::clone(&place),
        };
        let root = served.orb.root_poa();
        let watched: Watched = root.activate(watching.named("servant")).unwrap();
        let other: Watched = root.activate(watching.named("another")).unwrap();
        elsewhere.set(other.as_object().clone()).unwrap();
        current.set_slot(slot, Any::from(40)).unwrap();
        Self {
            served,
            watched,
            watching,
            journal,
            armed,
            place,
        }
    }

    /// A reference that was not forwarded yet.
    fn fresh(&self) -> Watched {
        let text = self.served.orb.object_to_string(&self.watched);
        let object = self.served.orb.string_to_object(&text).unwrap();
        Watched::from_object(object.unwrap())
    }
}

/// A call, with what is to be said of it; whether the servant was lent the data.
type Calling = fn(&Scene, &[u8], i32) -> Result<bool, RefusedError>;

fn place(data: &[u8]) -> u64 {
    data.as_ptr().addr() as u64
}

fn scoped(scene: &Scene, scope: SyncScope) -> Watched {
    scene.fresh().with_sync_scope(scope)
}

fn waited(call: Asynchronous<u64, RefusedError>) -> Result<bool, RefusedError> {
    within("the call", move || call.wait()).map(|_| true)
}

fn posted(
    scene: &Scene,
    data: &[u8],
    sent: Result<(), SystemException>,
) -> Result<bool, RefusedError> {
    sent?;
    Ok(*scene.place.lock().unwrap() == place(data))
}

/// Each sort of call, and whether its points may run on two threads at once.
const CALLS: [(&str, bool, Calling); 14] = [
    ("act", false, |scene, data, number| {
        Ok(scene.fresh().act(data, number)? == place(data))
    }),
    ("slot", false, |scene, data, number| {
        Ok(scene.fresh().slot(data, number)? == place(data))
    }),
    ("late", false, |scene, data, number| {
        Ok(scene.fresh().late(data, number)? == place(data))
    }),
    ("act_async", false, |scene, data, number| {
        waited(scene.fresh().act_async(data, number))
    }),
    ("slot_async", false, |scene, data, number| {
        waited(scene.fresh().slot_async(data, number))
    }),
    ("late_async", true, |scene, data, number| {
        waited(scene.fresh().late_async(data, number))
    }),
    ("note, none", false, |scene, data, number| {
        let sent = scoped(scene, SyncScope::None).note(data, number);
        posted(scene, data, sent)
    }),
    ("note, transport", false, |scene, data, number| {
        posted(scene, data, scene.fresh().note(data, number))
    }),
    ("note, server", false, |scene, data, number| {
        let sent = scoped(scene, SyncScope::WithServer).note(data, number);
        posted(scene, data, sent)
    }),
    ("note, target", false, |scene, data, number| {
        let sent = scoped(scene, SyncScope::WithTarget).note(data, number);
        posted(scene, data, sent)
    }),
    ("tell, none", false, |scene, data, number| {
        let sent = scoped(scene, SyncScope::None).tell(data, number);
        posted(scene, data, sent)
    }),
    ("tell, transport", false, |scene, data, number| {
        posted(scene, data, scene.fresh().tell(data, number))
    }),
    ("tell, server", false, |scene, data, number| {
        let sent = scoped(scene, SyncScope::WithServer).tell(data, number);
        posted(scene, data, sent)
    }),
    ("tell, target", false, |scene, data, number| {
        let sent = scoped(scene, SyncScope::WithTarget).tell(data, number);
        posted(scene, data, sent)
    }),
];

/// All that is seen of calls of each sort while something is done at that point.
fn seen(scene: Scene) -> Vec<String> {
    let mut all = Vec::new();
    for (name, is_concurrent, call) in CALLS {
        for number in [RESULTS, REFUSES, RAISES, PANICS] {
            scene.armed.store(true, Ordering::SeqCst);
            let ended = call(&scene, &[5; 64], number).map(drop);
            let mut journal = scene.journal.take();
            if is_concurrent {
                journal.sort();
            }
            all.push(format!("{name} {number}: {ended:?}"));
            all.extend(journal);
        }
    }
    scene.served.end();
    all
}

/// Compares what is seen of calls without messages with what is seen of messages.
fn compare(at: &'static str, act: Act) {
    compare_scenes(|way| Scene::new(way, at, act));
}

fn compare_scenes(make: impl Fn(Collocation) -> Scene) {
    let by_message = seen(make(Collocation::Marshalled));
    for way in [Collocation::ThroughPoa, Collocation::Direct] {
        let in_place = seen(make(way));
        let differs = |&at: &usize| in_place.get(at) != by_message.get(at);
        let longest = in_place.len().max(by_message.len());
        if let Some(first) = (0..longest).find(differs) {
            let shown = |all: &[String]| {
                all[first.saturating_sub(6).min(all.len())..]
                    .iter()
                    .take(9)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            let (in_place, by_message) = (shown(&in_place), shown(&by_message));
            panic!("{way}:\n{in_place}\nby a message:\n{by_message}");
        }
    }
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - interceptors see them as messages
#[test]
fn interceptors_see_a_call_without_a_message_as_they_see_one_by_a_message() {
    compare("", Act::Nothing);
}

/// Conformance: PI - collocated calls: exceptions, forwards and panics of interceptors
#[test]
fn interceptors_of_calls_end_a_call_without_a_message_as_one_by_a_message() {
    for at in ["send_request", "receive_exception", "receive_other"] {
        for act in [Act::Raise, Act::Forward, Act::Panic] {
            compare(at, act);
        }
    }
    for at in ["send_poll", "receive_reply"] {
        compare(at, Act::Raise);
        compare(at, Act::Panic);
    }
}

/// Conformance: PI - collocated calls: exceptions, forwards and panics of interceptors
#[test]
fn interceptors_of_requests_end_a_call_without_a_message_as_one_by_a_message() {
    for at in [
        "receive_contexts",
        "receive_request",
        "send_exception",
        "send_other",
    ] {
        for act in [Act::Raise, Act::Forward, Act::Panic] {
            compare(at, act);
        }
    }
    compare("send_reply", Act::Raise);
    compare("send_reply", Act::Panic);
}

/// Every sort of call, but for asynchronous ones, which own their arguments.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - calls that interceptors see are
/// lent their arguments
#[test]
fn calls_that_interceptors_see_are_lent_their_arguments() {
    for way in ALL {
        let scene = Scene::new(way, "", Act::Nothing);
        for (name, _, call) in CALLS {
            if !name.ends_with("async") {
                let lent = call(&scene, &[5; 64], RESULTS).unwrap();
                assert_eq!(lent, way != Collocation::Marshalled, "{way} {name}");
            }
        }
        scene.served.end();
    }
}

/// Asynchronous calls own their arguments: the servant has references as the caller does.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - asynchronous calls that
/// interceptors see are lent what they own
#[test]
fn asynchronous_calls_that_interceptors_see_are_lent_what_they_own() {
    for way in ALL {
        let scene = Scene::new(way, "", Act::Nothing);
        let (answers, _) = super::answered::answering(&scene.served);
        let other = scene.served.target.as_object();
        let which = answers.which_async(Some(other)).wait().unwrap();
        let lent = which == super::place_of(other);
        assert_eq!(lent, way != Collocation::Marshalled, "{way}");
        let seen = answers.seen_async(Some(other), "at").wait().unwrap();
        let lent = seen == format!("at {}", super::place_of(other));
        assert_eq!(lent, way != Collocation::Marshalled, "{way}");
        scene.served.end();
    }
}

/// Implements no point.
struct Idle;

impl ClientInterceptor for Idle {}
impl ServerInterceptor for Idle {}

/// Once it is known that no interceptor implements a point, calls pass them over.
#[test]
fn calls_that_interceptors_overlook_are_lent_their_arguments() {
    for way in ALL {
        let mut interceptors = Interceptors::new();
        interceptors.add_client(Idle).unwrap();
        interceptors.add_server(Idle).unwrap();
        let served = Served::with(Config {
            interceptors,
            ..config(way)
        });
        let places = Places::served_by(&served.orb);
        for _ in 0..4 {
            let data = vec![5; 1024];
            let lent = places.put(&data).unwrap() == place(&data);
            assert_eq!(lent, way != Collocation::Marshalled, "{way}");
        }
        served.end();
    }
}

/// Conformance: PI - service contexts by hand, collocated: of a caller to the servant, and back
#[test]
fn service_contexts_by_hand_go_without_a_message() {
    for way in ALL {
        let interceptors = Interceptors::new().with_reply_contexts();
        let served = Served::with(Config {
            interceptors,
            ..config(way)
        });
        let places = Places::served_by(&served.orb);
        let replied = ReplyContexts::default();
        let [asked, answered] = [TAGS[0], TAGS[1]];
        served.state.on_act(move |call, number| {
            let asked = call.service_context(asked).ok_or(ExceptionKind::BadParam)?;
            call.add_reply_service_context(answered, asked, false)?;
            Ok(number)
        });
        let target = served.target.with_service_context(asked, b"question");
        let target = target.with_reply_contexts(&replied);
        assert_eq!(target.act(7), Ok(7), "{way}");
        assert_eq!(replied.get().get(answered), Ok(&b"question"[..]), "{way}");
        target.noop().unwrap();
        assert!(replied.get().is_empty(), "{way}");
        let places = places.with_service_context(asked, b"question");
        let data = vec![5; 1024];
        let lent = places.put(&data).unwrap() == place(&data);
        assert_eq!(lent, way != Collocation::Marshalled, "{way}");
        served.end();
    }
}

/// Sends a call elsewhere.
struct Elsewhere(Interrupt);

impl ServerInterceptor for Elsewhere {
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        match &*request.operation() {
            "echo_long" => Err(self.0.clone()),
            _ => Ok(()),
        }
    }
}

/// The caller has no interceptors, policies or forwards of its own.
#[test]
fn an_interceptor_of_requests_sends_a_call_without_a_message_to_another_orb() {
    for way in ALL {
        let other = Served::with(config(way));
        let mut interceptors = Interceptors::new();
        let elsewhere = Interrupt::forward(other.target.as_object().ior());
        interceptors.add_server(Elsewhere(elsewhere)).unwrap();
        let served = Served::with(Config {
            interceptors,
            ..config(way)
        });
        served.target.noop().unwrap();
        assert_eq!(served.target.echo_long(5), Ok(5), "{way}");
        assert_eq!(served.state.calls(), 1, "{way}");
        assert_eq!(other.state.calls(), 1, "{way}");
        served.end();
        other.end();
    }
}
