// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings that are changed while they live, by their clients and by their servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium_core::{Config, ExceptionKind, Interface, Operation, Orb, Priority, SystemException};
use orbium_rt::binding::{
    Admission, BindError, Bindings, Buffer, Change, ChangeError, Rate, ReasonCode, Terms,
};
use orbium_rt::{Bound, Budget, FairShare, Offer, RtObject};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, eventually, within};

use crate::common::{LOST, client, seen_by, server_with, soft, teller};

fn at(number: i16) -> Priority {
    Priority::new(number).unwrap()
}

struct Served {
    orb: Orb,
    bindings: Bindings,
    state: Arc<TargetState>,
    target: Target,
}

fn served(admission: impl Admission) -> Served {
    let (orb, rt) = server_with(Config::default(), soft());
    let bindings = rt.serve_bindings(admission).unwrap();
    let state = teller();
    let object: Target = orb.root_poa().activate(Arc::clone(&state)).unwrap();
    let target = seen_by(&client().0, &orb, &object);
    Served {
        orb,
        bindings,
        state,
        target,
    }
}

/// Ten milliseconds for each request, half a processor: fifty in a second.
fn fifty() -> Budget {
    Budget::new().cost(Duration::from_millis(10)).share(0.5)
}

/// So many in a second, with a burst for the calls of a test.
fn offer(priority: i16, requests: u32) -> Offer {
    Offer::new(at(priority), requests).burst(64)
}

impl Served {
    fn bind(&self, offer: &Offer) -> Bound<Target> {
        self.target.bind(offer).unwrap()
    }

    fn listed(&self, bound: &Bound<Target>) -> Terms {
        let bindings = self.bindings.list();
        let listed = bindings.into_iter().find(|it| it.id == bound.id());
        listed.unwrap().terms
    }
}

/// Conformance: RT GOPI 5.2 - bindings: changed while they live - by the client: rate, priority, deadline
#[test]
fn a_client_changes_its_binding() {
    let budget = fifty();
    let served = served(budget.clone());
    let mut bound = served.bind(&offer(40, 40));
    assert_eq!(bound.act(0), Ok(40));
    // Its own share is not in the way: forty and forty-five are more than fifty.
    bound.renegotiate(&offer(45, 45)).unwrap();
    assert_eq!(
        (bound.terms().priority, bound.terms().rate.requests),
        (at(45), 45)
    );
    assert_eq!(&served.listed(&bound), bound.terms());
    assert!((budget.promised("orbium-serve") - 0.45).abs() < 1e-6);
    assert_eq!((budget.active(), served.bindings.active()), (1, 1));
    assert_eq!(bound.act(0), Ok(45));
    let slow = offer(10, 5).deadline(Duration::from_secs(60));
    bound.renegotiate(&slow).unwrap();
    assert_eq!(bound.act(0), Ok(10));
    assert_eq!(bound.terms().deadline, slow.deadline);
    assert_eq!(bound.present_terms().as_ref(), Ok(bound.terms()));
    // Over the same connection, by the same number.
    assert_eq!(served.orb.dedicated_threads(), 1);
    bound.unbind().unwrap();
    let lost = bound.renegotiate(&offer(10, 5)).unwrap_err();
    assert_eq!(lost, BindError::System(LOST));
    assert_eq!(budget.promised("orbium-serve").to_bits(), 0);
}

/// Conformance: RT GOPI 5.2 - bindings: changed while they live - refused, or with a counter-offer: nothing has changed
#[test]
fn a_binding_that_is_not_changed_stays_as_it_is() {
    let budget = fifty().priorities(5..=50);
    let served = served(budget.clone());
    let _other = served.bind(&offer(20, 20));
    let mut bound = served.bind(&offer(40, 20));
    let before = bound.terms().clone();
    let countered = bound.renegotiate(&offer(45, 40)).unwrap_err();
    let BindError::Countered(terms, reason) = countered else {
        panic!("{countered:?}");
    };
    assert_eq!((reason.code, terms.rate.requests), (ReasonCode::Rate, 30));
    let hurried = offer(40, 20).deadline(Duration::from_millis(2));
    let refused = bound.renegotiate(&hurried).unwrap_err();
    assert!(matches!(refused, BindError::Refused(it) if it.code == ReasonCode::Deadline));
    let elsewhere = offer(40, 20).protocols(["uiop"]);
    assert_eq!(
        bound.renegotiate(&elsewhere).unwrap_err(),
        BindError::NoProtocol
    );
    let unsound = Offer {
        least_requests: 30,
        ..offer(40, 20)
    };
    assert_eq!(
        bound.renegotiate(&unsound).unwrap_err(),
        BindError::Malformed
    );
    assert_eq!(
        (bound.terms(), served.listed(&bound)),
        (&before, before.clone())
    );
    assert_eq!(bound.act(0), Ok(40));
    assert!((budget.promised("orbium-serve") - 0.4).abs() < 1e-6);
    bound.renegotiate(&Offer::exactly(&terms)).unwrap();
    assert_eq!(bound.terms(), &*terms);
    assert_eq!(bound.act(0), Ok(45));
}

/// Conformance: RT GOPI 5.2 - bindings: changed while they live - what waits keeps its place
#[test]
fn requests_that_wait_are_served_at_the_new_rate() {
    let served = served(fifty());
    let room = Buffer {
        requests: 64,
        octets: 1 << 16,
    };
    let daily = Offer {
        rate: Rate {
            requests: 1,
            period: Duration::from_secs(86_400),
            burst: 1,
        },
        least_requests: 1,
        ..Offer::new(at(40), 1).delay(room)
    };
    let mut bound = served.bind(&daily);
    assert_eq!(bound.act(0), Ok(40));
    for value in 0..20 {
        bound.post(value).unwrap();
    }
    // It overtakes them: they would wait for days.
    let mut faster = bound.clone();
    faster.renegotiate(&offer(45, 50).delay(room)).unwrap();
    for value in 20..30 {
        bound.post(value).unwrap();
    }
    eventually("all are served", || served.state.posted().len() == 30);
    assert_eq!(served.state.posted(), (0..30).collect::<Vec<_>>());
    assert_eq!(bound.act(0), Ok(45));
    bound.renegotiate(&offer(30, 10)).unwrap();
    assert_eq!(bound.act(0), Ok(30));
}

/// Conformance: RT GOPI 5.2 - bindings: changed while they live - by the server, within the offer
#[test]
fn a_server_changes_a_binding_within_its_offer() {
    let budget = fifty();
    let served = served(budget.clone());
    let ranged = offer(45, 80).down_to(at(5)).at_least(10);
    let bound = served.bind(&ranged);
    assert_eq!(bound.terms().rate.requests, 50);
    let less = Terms {
        priority: at(10),
        rate: Rate {
            requests: 20,
            ..bound.terms().rate
        },
        ..bound.terms().clone()
    };
    assert_eq!(served.bindings.change(bound.id(), &less), Ok(Change::Made));
    assert_eq!(bound.act(0), Ok(10));
    assert_eq!(bound.present_terms(), Ok(less.clone()));
    assert!((budget.promised("orbium-serve") - 0.2).abs() < 1e-6);
    // The admission decides on what a server does, too.
    let _other = served.bind(&offer(20, 25));
    let more = Terms {
        rate: Rate {
            requests: 40,
            ..less.rate
        },
        ..less.clone()
    };
    let countered = served.bindings.change(bound.id(), &more).unwrap_err();
    assert!(matches!(countered, ChangeError::Countered(it, _) if it.rate.requests == 25));
    assert_eq!(bound.present_terms(), Ok(less.clone()));
    let unsound = Terms {
        protocol: "uiop".to_owned(),
        ..less.clone()
    };
    let malformed = served.bindings.change(bound.id(), &unsound);
    assert_eq!(malformed, Err(ChangeError::Malformed));
    let id = bound.id();
    bound.unbind().unwrap();
    for id in [id, 0, u64::MAX] {
        let gone = served.bindings.change(id, &less);
        assert_eq!(gone, Err(ChangeError::NotBound));
    }
}

/// Conformance: RT GOPI 5.2 - bindings: changed while they live - by the server, beyond the offer: proposed to the client
#[test]
fn terms_beyond_the_offer_are_proposed_to_the_client() {
    let served = served(fifty());
    let mut bound = served.bind(&offer(40, 40));
    assert_eq!(bound.proposal(), Ok(None));
    let wanted = |requests| Terms {
        priority: at(20),
        rate: Rate {
            requests,
            ..bound.terms().rate
        },
        ..bound.terms().clone()
    };
    let (first, second) = (wanted(20), wanted(25));
    for wanted in [&first, &second] {
        let change = served.bindings.change(bound.id(), wanted);
        assert_eq!(change, Ok(Change::Proposed));
    }
    assert_eq!(bound.act(0), Ok(40), "nothing has changed");
    let proposed = bound.proposal().unwrap().unwrap();
    assert_eq!(proposed, second);
    bound.renegotiate(&Offer::exactly(&proposed)).unwrap();
    assert_eq!((bound.act(0), bound.proposal()), (Ok(20), Ok(None)));
    assert_eq!(served.listed(&bound), second);
}

/// Conformance: RT GOPI 5.2 - bindings: changed while they live - while calls go on, and none is lost
#[test]
fn changes_race_with_calls_and_none_is_lost() {
    let served = served(Budget::new().cost(Duration::from_micros(1)).share(0.9));
    let many = |priority| Offer::new(at(priority), 400_000).burst(1024);
    let mut bound = served.bind(&many(45).down_to(at(5)));
    let done = Arc::new(AtomicBool::new(false));
    let caller = {
        let (target, done) = (bound.object().clone(), Arc::clone(&done));
        thread::spawn(move || {
            let mut calls = 0;
            while !done.load(Ordering::SeqCst) || calls < 100 {
                let priority = target.act(0).unwrap();
                assert!([45, 10, 20].contains(&priority), "{priority}");
                calls += 1;
            }
            calls
        })
    };
    let lower = Terms {
        priority: at(10),
        ..bound.terms().clone()
    };
    let higher = bound.terms().clone();
    for round in 0..400 {
        let terms = if round % 2 == 0 { &lower } else { &higher };
        let change = served.bindings.change(bound.id(), terms);
        assert_eq!(change, Ok(Change::Made));
        if round % 100 == 50 {
            bound.renegotiate(&many(20).down_to(at(10))).unwrap();
            bound.renegotiate(&many(45).down_to(at(5))).unwrap();
        }
    }
    done.store(true, Ordering::SeqCst);
    let calls = within("the calls", move || caller.join().unwrap());
    let info = served.bindings.list().remove(0);
    assert_eq!((info.taken, info.refused), (calls, 0));
}

/// Conformance: RT GOPI 5.2 - bindings: changed while they live - under an admission that divides equally
#[test]
fn a_binding_that_wants_less_leaves_it_to_the_others() {
    let budget = Budget::new().share(1.0).cost(Duration::from_millis(1));
    let fair = FairShare::new(budget);
    let served = served(fair.clone());
    let up_to = |requests: u32| offer(0, requests).at_least(100);
    let mut first = served.bind(&up_to(1000));
    let second = served.bind(&up_to(1000));
    let rates = || [&first, &second].map(|it| served.listed(it).rate.requests);
    assert_eq!(rates(), [500, 500]);
    let mut changed = first.clone();
    changed.renegotiate(&up_to(200)).unwrap();
    assert_eq!((changed.terms().rate.requests, rates()), (200, [200, 800]));
    first.renegotiate(&up_to(1000)).unwrap();
    let rates = [&first, &second].map(|it| served.listed(it).rate.requests);
    assert_eq!((rates, fair.active()), ([500, 500], 2));
    let too_much = offer(0, 950);
    let countered = first.renegotiate(&too_much).unwrap_err();
    assert!(matches!(countered, BindError::Countered(it, _) if it.rate.requests == 900));
}

static RENEGOTIATE: Operation = Operation::new("renegotiate");
static PROPOSAL: Operation = Operation::new("proposal");

/// Conformance: RT GOPI 5.2 - bindings: on the wire as documented; hostile octets
#[test]
fn hostile_renegotiations_change_nothing() {
    let served = served(fifty());
    let bound = served.bind(&offer(40, 40));
    let other = served.bind(&offer(20, 5));
    let negotiator = |object: &Target| {
        let object = object.as_object();
        let id = "IDL:orbium.org/Bindings:1.0";
        object.with_object_key(b"OrbiumBindings", id).unwrap()
    };
    let send = |object: &Target, operation: &'static Operation, octets: &[u8]| {
        let sent: Result<(), SystemException> = negotiator(object).call(
            operation,
            |writer| octets.iter().for_each(|octet| writer.write_u8(*octet)),
            |_| Ok(()),
        );
        sent.unwrap_err().kind
    };
    // The binding of another connection, or none.
    let id = other.id().to_ne_bytes();
    assert_eq!(
        send(bound.object(), &PROPOSAL, &id),
        ExceptionKind::BadParam
    );
    assert_eq!(
        send(&served.target, &PROPOSAL, &id),
        ExceptionKind::BadParam
    );
    let own = bound.id().to_ne_bytes();
    for octets in [&own[..4], &own, &[&own[..], &[0xff; 200]].concat()] {
        let refused = send(bound.object(), &RENEGOTIATE, octets);
        assert_eq!(refused, ExceptionKind::Marshal);
    }
    assert_eq!(&served.listed(&bound), bound.terms());
    assert_eq!((bound.act(0), other.act(0)), (Ok(40), Ok(20)));
    // They cost no more than so many a second.
    let is_bounded = (0..100_000).any(|_| {
        let asked = bound.proposal();
        asked.is_err_and(|it| it.kind == ExceptionKind::NoResources)
    });
    assert!(is_bounded);
    assert_eq!(bound.act(0), Ok(40));
}
