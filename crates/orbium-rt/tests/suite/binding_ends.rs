// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients of bindings that die, lie, or send what is no offer: written by hand, as
//! the module's documentation has it on the wire.

use crate::common;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::{server_with, soft, teller};
use orbium_cdr::{CdrReader, CdrWriter};
use orbium_core::{Config, ExceptionKind, Orb, Scheduling};
use orbium_giop::{ReplyStatus, ResponseFlags, SystemExceptionBody, minor};
use orbium_rt::binding::{Admission, BindingRequest, Bindings, ReasonCode, Verdict};
use orbium_rt::{Budget, LinearMapping, Offer, Priority, RtObject, RtOrb};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, TargetState, each_strategy, eventually, in_own_process, request, skipped,
    threads, within,
};
use proptest::prelude::*;

const ACCEPTED: u32 = 0;
const COUNTERED: u32 = 1;
const REFUSED: u32 = 2;

/// A budget that counts the offers it has decided about.
#[derive(Clone)]
struct Counted {
    budget: Budget,
    decided: Arc<AtomicU64>,
}

impl Admission for Counted {
    fn consider(&self, asked: &BindingRequest<'_>) -> Verdict {
        let verdict = self.budget.consider(asked);
        // What is accepted is taken from the budget by now.
        self.decided.fetch_add(1, Ordering::SeqCst);
        verdict
    }
}

struct Served {
    orb: Orb,
    bindings: Bindings,
    admission: Counted,
    state: Arc<TargetState>,
    port: u16,
}

/// Two bindings of fifty requests in a second.
fn served(config: Config) -> Served {
    let (orb, rt) = server_with(config, soft());
    let admission = Counted {
        budget: Budget::new().bindings(2),
        decided: Arc::default(),
    };
    let bindings = rt.serve_bindings(admission.clone()).unwrap();
    let state = teller();
    let object: Target = orb.root_poa().activate(Arc::clone(&state)).unwrap();
    orb.bind_key_in_place("Target", &object).unwrap();
    let port = orb.addresses().unwrap()[0].port;
    Served {
        orb,
        bindings,
        admission,
        state,
        port,
    }
}

impl Served {
    /// Offers that were decided about so far.
    fn decided(&self) -> u64 {
        self.admission.decided.load(Ordering::SeqCst)
    }

    #[track_caller]
    fn await_nothing(&self) {
        eventually("nothing is bound", || {
            // In the order in which it is given back.
            self.admission.budget.active() == 0
                && self.bindings.active() == 0
                && self.orb.dedicated_threads() == 0
        });
    }
}

/// An offer of so many requests a second, once in a day or so with `slow`.
fn offer(writer: &mut CdrWriter<'_>, requests: u32, slow: bool, delay: bool) {
    writer.write_u16(7);
    writer.write_u16(40);
    writer.write_u32(requests);
    writer.write_u64(if slow { 86_400_000_000 } else { 1_000_000 });
    writer.write_u32(1);
    writer.write_u32(requests);
    writer.write_u32(delay.into());
    for _ in 0..2 {
        writer.write_u32(4);
        writer.write_u32(4096);
    }
    writer.write_u64(0);
    writer.write_u32(1);
    writer.write_name("iiop");
}

fn to_bindings(id: u32, operation: &str, arguments: impl FnOnce(&mut CdrWriter<'_>)) -> Vec<u8> {
    let line = RequestLine {
        key: b"OrbiumBindings",
        ..RequestLine::new(id, operation)
    };
    request(line, arguments)
}

fn negotiate(requests: u32, slow: bool, delay: bool) -> Vec<u8> {
    to_bindings(2, "negotiate", |writer| {
        writer.write_u16(1);
        writer.write_octets(b"Target");
        writer.write_name("iiop");
        offer(writer, requests, slow, delay);
    })
}

/// What the server says: which answer, and the number of the binding.
fn answer(peer: &mut Peer) -> (u32, u64) {
    let message = peer.receive();
    let (_, status, mut body) = message.reply();
    assert_eq!(status, ReplyStatus::NoException);
    let mut reader = CdrReader::at(&mut body, 24, message.header.format());
    let which = reader.read_u32().unwrap();
    let id = match which {
        ACCEPTED => reader.read_u64().unwrap(),
        _ => 0,
    };
    (which, id)
}

fn exception(peer: &mut Peer) -> (ExceptionKind, u32) {
    let message = peer.receive();
    let (_, status, mut body) = message.reply();
    assert_eq!(status, ReplyStatus::SystemException);
    let mut reader = CdrReader::at(&mut body, 24, message.header.format());
    let exception = SystemExceptionBody::read(&mut reader).unwrap().exception();
    (exception.kind, exception.minor)
}

fn noop(id: u32, response: ResponseFlags) -> Vec<u8> {
    let line = RequestLine {
        response,
        ..RequestLine::new(id, "noop")
    };
    request(line, |_| {})
}

/// Conformance: RT GOPI 5.2 - bindings: on the wire as documented; hostile octets
#[test]
fn the_wire_is_as_it_is_documented() {
    let served = served(Config::default());
    let mut peer = Peer::connect(served.port);
    peer.send(&negotiate(1_000_000, false, false));
    assert_eq!(answer(&mut peer).0, COUNTERED);
    peer.send(&negotiate(1, true, false));
    let (which, id) = answer(&mut peer);
    assert_eq!((which, id), (ACCEPTED, served.bindings.list()[0].id));
    // Bound once and for all; it is a request too.
    peer.send(&negotiate(1, true, false));
    assert_eq!(answer(&mut peer).0, REFUSED);
    peer.send(&noop(4, ResponseFlags::Full));
    let rate = orbium_giop::minor::ORBIUM_VMCID | minor::BINDING_RATE;
    assert_eq!(exception(&mut peer), (ExceptionKind::NoResources, rate));
    // To unbind by another number is refused, and so it is over a connection without a binding.
    let mut other = Peer::connect(served.port);
    for it in [&mut other, &mut peer] {
        it.send(&to_bindings(6, "unbind", |writer| writer.write_u64(id + 1)));
        assert_eq!(exception(it).0, ExceptionKind::BadParam);
    }
    peer.send(&to_bindings(8, "unbind", |writer| writer.write_u64(id)));
    assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
    assert_eq!(served.bindings.active(), 0);
    peer.expect_end();
    served.await_nothing();
}

/// Conformance: RT GOPI 5.2 - bindings: what is set aside is free when the connection ends, in
/// every phase; REBIND then
#[test]
fn clients_that_die_in_any_phase_leave_nothing() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let served = served(Config {
                strategy,
                ..Config::default()
            });
            let before = threads();
            for phase in 0..8 {
                let decided = served.decided();
                let mut peer = Peer::connect(served.port);
                match phase {
                    0 => {}
                    1 => peer.send(&negotiate(1, true, false)[..70]),
                    2 => peer.send(&negotiate(1, true, false)),
                    3 => {
                        peer.send(&negotiate(1_000_000, false, false));
                        assert_eq!(answer(&mut peer).0, COUNTERED);
                    }
                    _ => {
                        peer.send(&negotiate(50, phase == 6, phase == 6));
                        assert_eq!(answer(&mut peer).0, ACCEPTED, "{phase}");
                        assert_eq!(served.bindings.active(), 1);
                    }
                }
                match phase {
                    5 => {
                        // While a request is with its servant.
                        let gate = RequestLine::new(4, "gate");
                        peer.send(&request(gate, |_| {}));
                        served.state.gate.await_waiting(1);
                    }
                    6 => {
                        // While requests wait.
                        for id in [4, 6, 8] {
                            peer.send(&noop(id, ResponseFlags::None));
                        }
                        eventually("requests wait", || served.bindings.list()[0].taken == 3);
                    }
                    7 => peer.send(b"GIOP nonsense and more"),
                    _ => {}
                }
                drop(peer);
                // That of a client that waits for no answer is still to come.
                let offers = u64::from(phase >= 2);
                eventually("it is decided", || served.decided() == decided + offers);
                served.state.gate.open();
                served.state.gate.await_waiting(0);
                served.state.gate.close();
                served.await_nothing();
            }
            served.orb.shutdown(true).unwrap();
            eventually("the threads end", || threads() <= before);
        });
    });
}

/// Conformance: RT GOPI 5.2 - bindings: rate, buffer, delay: kept by the server
#[test]
fn a_request_that_waits_can_be_cancelled() {
    let served = served(Config::default());
    let mut peer = Peer::connect(served.port);
    peer.send(&negotiate(1, true, true));
    assert_eq!(answer(&mut peer).0, ACCEPTED);
    peer.send(&noop(4, ResponseFlags::Full));
    assert_eq!(peer.receive().reply().0, 4);
    // Four may wait, and a fifth may not, unless one is cancelled.
    for id in [6, 8, 10, 12, 14] {
        peer.send(&noop(id, ResponseFlags::Full));
    }
    let message = peer.receive();
    assert_eq!(message.reply().0, 14);
    let cancel = orbium_giop::CancelRequest { request_id: 8 };
    let native = orbium_cdr::ByteOrder::NATIVE;
    peer.send(&cancel.message(orbium_giop::Version::V1_2, native));
    for id in [16, 18] {
        peer.send(&noop(id, ResponseFlags::Full));
    }
    assert_eq!(peer.receive().reply().0, 18);
    assert_eq!(served.state.calls(), 1);
    drop(peer);
    served.await_nothing();
    assert_eq!(served.state.calls(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Offers that were spoilt are answered, one way or another, and nothing stays.
    ///
    /// Conformance: RT GOPI 5.2 - bindings: on the wire as documented; hostile octets
    #[test]
    fn spoilt_offers_do_no_harm(
        spoilt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        operation in prop::sample::select(vec!["negotiate", "unbind", "other"]),
    ) {
        let mut arguments = CdrWriter::new(orbium_cdr::Format::native());
        arguments.write_u16(1);
        arguments.write_octets(b"Target");
        arguments.write_name("iiop");
        offer(&mut arguments, 1, true, false);
        let mut octets = arguments.finish().unwrap();
        for (at, octet) in &spoilt {
            let at = at.index(octets.len());
            octets[at] = *octet;
        }
        let served = served(Config::default());
        let mut peer = Peer::connect(served.port);
        peer.send(&to_bindings(2, operation, |writer| writer.write_raw(&octets)));
        prop_assert_eq!(peer.receive().reply().0, 2);
        drop(peer);
        served.await_nothing();
        let mut good = Peer::connect(served.port);
        good.send(&negotiate(1, true, false));
        prop_assert_eq!(answer(&mut good).0, ACCEPTED);
        served.orb.shutdown(true).unwrap();
    }
}

/// Conformance: RT GOPI 5.2 - bindings: native priority of the thread
#[test]
fn the_thread_has_the_native_priority_that_was_agreed_on() {
    let permitted = thread::spawn(|| Scheduling::fifo(10).try_out().is_ok());
    if !permitted.join().unwrap() {
        skipped("SCHED_FIFO is not permitted here");
        return;
    }
    let builder = RtOrb::builder()
        .mapping(LinearMapping::over(5..=20))
        .native_range(5..=20);
    let (orb, rt) = server_with(Config::default(), builder);
    rt.serve_bindings(Budget::new()).unwrap();
    let state = Arc::new(TargetState::default());
    state.on_act(|_, _| Ok(Scheduling::of_this_thread().unwrap().priority));
    let object: Target = orb.root_poa().activate(state).unwrap();
    let target = common::seen_by(&common::client().0, &orb, &object);
    let highest = Priority::new(i16::MAX).unwrap();
    let ordinary = target.act(0).unwrap();
    let bound = target.bind(&Offer::new(highest, 10).burst(10)).unwrap();
    assert_eq!((bound.act(0), target.act(0)), (Ok(20), Ok(ordinary)));
    let marked = target.with_dedicated_thread(Some(Priority::MIN));
    assert_eq!((marked.act(0), target.act(0)), (Ok(5), Ok(ordinary)));
    drop((bound, marked));
    eventually("the threads are free", || orb.dedicated_threads() == 0);
    // Threads that had other priorities are the lane's again.
    let again = common::seen_by(&common::client().0, &orb, &object);
    assert_eq!(again.act(0), Ok(ordinary));
    within("shutting down", move || orb.shutdown(true).unwrap());
}

#[test]
fn reasons_have_their_numbers() {
    for number in 1..=11 {
        assert_eq!(ReasonCode::from_number(number) as u32, number);
    }
    assert_eq!(ReasonCode::from_number(99), ReasonCode::Policy);
}
