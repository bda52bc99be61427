// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings that are negotiated: offers and answers, what is kept to, and what is
//! left when they end.

use crate::common;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::common::{LOST, client, seen_by, server_with, soft, teller};
use orbium_core::{
    Completion, Config, ExceptionKind, Interface, LaneConfig, Limits, Orb, Policies, Priority,
    SystemException,
};
use orbium_giop::minor;
use orbium_rt::binding::{
    Admission, BindError, BindingRequest, Bindings, Buffer, Negotiation, Next, Rate, Reason,
    ReasonCode, Reservation, Terms, Verdict,
};
use orbium_rt::{Bound, Budget, Offer, RtObject};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, each_strategy, eventually, within};

const DAY: Duration = Duration::from_secs(86_400);

fn at(number: i16) -> Priority {
    Priority::new(number).unwrap()
}

fn refused(code: u32) -> SystemException {
    SystemException::orbium(ExceptionKind::NoResources, code, Completion::No)
}

/// A server with that budget, and its object as a client sees it.
struct Served {
    orb: Orb,
    bindings: Bindings,
    budget: Budget,
    state: Arc<TargetState>,
    target: Target,
}

fn served(config: Config, budget: &Budget) -> Served {
    let (orb, rt) = server_with(config, soft());
    let bindings = rt.serve_bindings(budget.clone()).unwrap();
    let state = teller();
    let object: Target = orb.root_poa().activate(Arc::clone(&state)).unwrap();
    let target = seen_by(&client().0, &orb, &object);
    Served {
        orb,
        bindings,
        budget: budget.clone(),
        state,
        target,
    }
}

impl Served {
    /// All that was set aside is free again.
    fn await_nothing(&self) {
        eventually("nothing is bound", || {
            self.bindings.active() == 0
                && self.budget.active() == 0
                && self.orb.dedicated_threads() == 0
        });
        assert!(self.bindings.list().is_empty());
        assert_eq!(self.budget.promised("orbium-serve").to_bits(), 0);
    }
}

/// Ten milliseconds for each request, half a processor: fifty in a second.
fn fifty() -> Budget {
    Budget::new().cost(Duration::from_millis(10)).share(0.5)
}

/// So many requests in a day, and a burst of as many.
fn burst(requests: u32) -> Offer {
    Offer {
        rate: Rate {
            requests,
            period: DAY,
            burst: requests,
        },
        least_requests: 1,
        ..Offer::new(at(40), 1)
    }
}

/// Conformance: RT GOPI 5.2 - bindings: offer, counter-offer, refusal with a reason, bounded rounds
/// and time
#[test]
fn an_offer_is_accepted_and_kept_and_given_up() {
    each_strategy(|strategy| {
        let config = Config {
            strategy,
            ..Config::default()
        };
        let served = served(config, &fifty());
        let bound = served.target.bind(&Offer::new(at(40), 30)).unwrap();
        let terms = bound.terms().clone();
        assert_eq!((terms.priority, terms.rate), (at(40), Rate::per_second(30)));
        assert_eq!(terms.protocol, "iiop");
        assert_eq!(bound.act(0), Ok(40), "{strategy}");
        assert_eq!(served.target.act(0), Ok(-1));
        let listed = served.bindings.list();
        assert_eq!((listed.len(), listed[0].id), (1, bound.id()));
        assert_eq!((&listed[0].terms, listed[0].taken), (&terms, 1));
        assert!((served.budget.promised("orbium-serve") - 0.3).abs() < 1e-6);
        bound.unbind().unwrap();
        assert_eq!((served.bindings.active(), served.budget.active()), (0, 0));
        assert_eq!(bound.act(0), Err(LOST));
        assert_eq!(bound.unbind(), Err(LOST));
        served.await_nothing();
        served.orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT GOPI 5.2 - bindings: offer, counter-offer, refusal with a reason, bounded rounds
/// and time
#[test]
fn the_server_makes_another_offer() {
    let served = served(Config::default(), &fifty().priorities(10..=30));
    let target = &served.target;
    // Within what is offered: no further question.
    let ranged = Offer::new(at(45), 80).down_to(at(5)).at_least(20);
    let first = target.bind(&ranged).unwrap();
    assert_eq!(
        (first.terms().priority, first.terms().rate.requests),
        (at(30), 50)
    );
    first.unbind().unwrap();
    let first = target.bind(&Offer::new(at(20), 40)).unwrap();
    // Ten are left.
    match target.bind(&Offer::new(at(20), 30)) {
        Err(BindError::Countered(terms, reason)) => {
            assert_eq!((reason.code, terms.rate.requests), (ReasonCode::Rate, 10));
            let second = target.bind(&Offer::exactly(&terms)).unwrap();
            assert_eq!(second.terms(), &*terms);
            // And now none.
            let third = target.bind(&Offer::new(at(20), 1)).unwrap_err();
            assert!(matches!(third, BindError::Refused(it) if it.code == ReasonCode::Rate));
        }
        other => panic!("{other:?}"),
    }
    first.unbind().unwrap();
    served.await_nothing();
    for (asked, granted) in [(45, 30), (5, 10)] {
        let countered = target.bind(&Offer::new(at(asked), 1));
        let Err(BindError::Countered(terms, reason)) = countered else {
            panic!("{countered:?}");
        };
        assert_eq!(
            (reason.code, terms.priority),
            (ReasonCode::Priority, at(granted))
        );
    }
    let large = Buffer {
        requests: 1000,
        octets: 8 << 20,
    };
    let countered = target.bind(&Offer::new(at(20), 1).delay(large));
    let Err(BindError::Countered(terms, reason)) = countered else {
        panic!("{countered:?}");
    };
    assert_eq!(
        (reason.code, terms.buffer.requests),
        (ReasonCode::Buffer, 256)
    );
    let hurried = Offer::new(at(20), 1).deadline(Duration::from_millis(2));
    let never = target.bind(&hurried).unwrap_err();
    assert!(matches!(never, BindError::Refused(it) if it.code == ReasonCode::Deadline));
    served.await_nothing();
}

/// Conformance: RT GOPI 5.2 - bindings: offer, counter-offer, refusal with a reason, bounded rounds
/// and time
#[test]
fn the_client_says_what_becomes_of_a_counter_offer() {
    let served = served(Config::default(), &fifty());
    let target = &served.target;
    let limits = Negotiation::default();
    let offer = Offer::new(at(40), 400);
    let bound = target
        .bind_with(&offer, limits, |_, _| Next::Accept)
        .unwrap();
    assert_eq!(bound.terms().rate.requests, 50);
    bound.unbind().unwrap();
    let mut rounds = 0;
    let less = |terms: &Terms, reason: &Reason| {
        rounds += 1;
        assert_eq!((reason.code, terms.rate.requests), (ReasonCode::Rate, 50));
        Next::Offer(Offer::new(at(40), 400 >> rounds))
    };
    let bound = target.bind_with(&offer, limits, less).unwrap();
    assert_eq!((bound.terms().rate.requests, rounds), (50, 3));
    bound.unbind().unwrap();
    // Not for ever.
    let stubborn = |_: &Terms, _: &Reason| Next::Offer(Offer::new(at(40), 400));
    let few = Negotiation {
        rounds: 3,
        ..limits
    };
    let never = target.bind_with(&offer, few, stubborn).unwrap_err();
    assert!(matches!(never, BindError::NoAgreement(..)), "{never:?}");
    let none = Negotiation {
        time: Duration::ZERO,
        ..limits
    };
    let late = target.bind_with(&offer, none, stubborn).unwrap_err();
    assert!(matches!(late, BindError::System(it) if it.kind == ExceptionKind::Timeout));
    // A time that no clock can count once made the caller panic.
    let patient = Negotiation {
        time: Duration::MAX,
        ..few
    };
    let never = target.bind_with(&offer, patient, stubborn).unwrap_err();
    assert!(matches!(never, BindError::NoAgreement(..)), "{never:?}");
    let unsound = Offer {
        least_requests: 9,
        ..Offer::new(at(40), 1)
    };
    assert_eq!(target.bind(&unsound).unwrap_err(), BindError::Malformed);
    served.await_nothing();
}

/// Conformance: RT GOPI 5.2 - bindings: peers that do not negotiate, or lie
#[test]
fn bindings_that_cannot_be_negotiated_are_refused() {
    let (orb, rt) = common::server();
    let object: Target = orb.root_poa().activate(teller()).unwrap();
    let target = seen_by(&client().0, &orb, &object);
    let offer = Offer::new(at(40), 1);
    assert_eq!(target.bind(&offer).unwrap_err(), BindError::NotSpoken);
    assert_eq!(target.act(0), Ok(-1));
    let bindings = rt.serve_bindings(fifty().bindings(1)).unwrap();
    assert!(rt.serve_bindings(fifty()).is_err());
    assert_eq!(object.bind(&offer).unwrap_err(), BindError::Collocated);
    let strange = offer.clone().protocols(["carrier-pigeon"]);
    assert_eq!(target.bind(&strange).unwrap_err(), BindError::NoProtocol);
    let _bound = target.bind(&offer).unwrap();
    let other = target.bind(&offer).unwrap_err();
    assert!(matches!(other, BindError::Refused(it) if it.code == ReasonCode::Bindings));
    let gone = target.as_object().with_object_key(b"Nobody", "").unwrap();
    let gone = gone.bind(&offer).unwrap_err();
    assert!(matches!(gone, BindError::Refused(it) if it.code == ReasonCode::Object));
    assert_eq!(bindings.active(), 1);
}

/// Conformance: RT GOPI 5.2 - bindings: offer, counter-offer, refusal with a reason, bounded rounds
/// and time
#[test]
fn beyond_the_limit_of_threads_there_is_no_binding() {
    let config = Config {
        limits: Limits {
            dedicated_threads: 1,
            ..Limits::default()
        },
        ..Config::default()
    };
    let served = served(config, &fifty());
    let bound = served.target.bind(&Offer::new(at(40), 1)).unwrap();
    let other = served.target.bind(&Offer::new(at(40), 1)).unwrap_err();
    assert!(matches!(other, BindError::Refused(it) if it.code == ReasonCode::Thread));
    assert_eq!((served.bindings.active(), served.budget.active()), (1, 1));
    bound.unbind().unwrap();
    // At once: what unbinding gives back is there when it returns.
    served.target.bind(&Offer::new(at(40), 1)).unwrap();
}

/// Conformance: RT GOPI 5.2 - bindings: rate, buffer, delay: kept by the server
#[test]
fn beyond_the_rate_requests_are_refused() {
    each_strategy(|strategy| {
        let config = Config {
            strategy,
            ..Config::default()
        };
        let served = served(config, &fifty());
        let bound = served.target.bind(&burst(3)).unwrap();
        for _ in 0..3 {
            assert_eq!(bound.act(0), Ok(40));
        }
        for _ in 0..5 {
            assert_eq!(bound.act(0), Err(refused(minor::BINDING_RATE)));
        }
        // A oneway is dropped.
        bound.post(7).unwrap();
        assert_eq!(bound.act(0), Err(refused(minor::BINDING_RATE)));
        assert_eq!(served.state.calls(), 3);
        let listed = &served.bindings.list()[0];
        assert_eq!((listed.taken, listed.refused), (3, 7));
        // Others are not touched, and the end is no request.
        assert_eq!(served.target.act(0), Ok(-1));
        bound.unbind().unwrap();
        served.await_nothing();
        served.orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT GOPI 5.2 - bindings: rate, buffer, delay: kept by the server
#[test]
fn or_they_wait_as_long_as_there_is_room() {
    let served = served(Config::default(), &fifty());
    let room = Buffer {
        requests: 2,
        octets: 1 << 16,
    };
    let bound = served.target.bind(&burst(1).delay(room)).unwrap();
    assert_eq!(bound.act(0), Ok(40));
    for value in 0..3 {
        bound.post(value).unwrap();
    }
    // Two wait for the day to pass, the third was dropped.
    assert_eq!(bound.act(0), Err(refused(minor::BINDING_BUFFER)));
    let listed = &served.bindings.list()[0];
    assert_eq!((listed.taken, listed.refused), (3, 2));
    assert_eq!(served.state.posted(), []);
    drop(bound);
    served.await_nothing();
    assert_eq!(served.state.posted(), []);
    // Where the rate permits it they are served in order, each of them.
    let offer = Offer {
        rate: Rate {
            requests: 2000,
            period: Duration::from_secs(1),
            burst: 1,
        },
        least_requests: 1,
        ..Offer::new(at(40), 1)
    };
    let room = Buffer {
        requests: 200,
        octets: 1 << 16,
    };
    let bound = served.target.bind(&offer.delay(room)).unwrap();
    for value in 0..40 {
        bound.post(value).unwrap();
    }
    assert_eq!(bound.act(0), Ok(40));
    assert_eq!(served.state.posted(), Vec::from_iter(0..40));
    bound.unbind().unwrap();
    served.await_nothing();
}

/// Conformance: RT GOPI 5.2 - bindings: rate, buffer, delay: kept by the server
#[test]
fn requests_that_are_too_large_are_refused() {
    let served = served(Config::default(), &fifty());
    let small = Buffer {
        requests: 0,
        octets: 1024,
    };
    let offer = Offer {
        buffer: small,
        least_buffer: small,
        ..burst(100)
    };
    let config = Config {
        fragment_size: Some(64),
        ..Config::default()
    };
    let whole = &served.target;
    let url = whole.as_object().orb().object_to_string(whole);
    let in_fragments = orbium_testkit::reach(&Orb::new(config).unwrap(), &url);
    for target in [whole, &in_fragments] {
        let bound = target.bind(&offer).unwrap();
        assert_eq!(bound.echo_octets(&[7; 700]).unwrap(), [7; 700]);
        let large = bound.echo_octets(&[7; 1100]);
        assert_eq!(large, Err(refused(minor::BINDING_BUFFER)));
        assert_eq!(bound.act(0), Ok(40));
    }
    served.await_nothing();
}

/// Conformance: RT GOPI 5.2 - bindings: offer, counter-offer, refusal with a reason, bounded rounds
/// and time
#[test]
fn the_protocol_is_negotiated_too() {
    let config = Config {
        endpoints: vec!["uiop://".parse().unwrap()],
        ..Config::default()
    };
    let served = served(config, &fifty().protocols(["uiop"]));
    let target = &served.target;
    let scheme = |bound: &Bound<Target>| bound.as_object().channel().unwrap().scheme;
    let either = Offer::new(at(40), 1).protocols(["iiop", "uiop"]);
    let bound = target.bind(&either).unwrap();
    assert_eq!(
        (scheme(&bound), &*bound.terms().protocol),
        ("uiop".into(), "uiop")
    );
    assert_eq!(bound.act(0), Ok(40));
    bound.unbind().unwrap();
    let never = target.bind(&Offer::new(at(40), 1).protocols(["iiop"]));
    assert!(matches!(never, Err(BindError::Refused(it)) if it.code == ReasonCode::Protocol));
    // Whatever is there will do.
    let bound = target.bind(&Offer::new(at(40), 1)).unwrap();
    assert_eq!(scheme(&bound), "uiop");
    drop(bound);
    served.await_nothing();
}

/// Conformance: RT GOPI 5.2 - bindings: offer, counter-offer, refusal with a reason, bounded rounds
/// and time
#[test]
fn bindings_work_over_shared_memory() {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    let own = NAMES.fetch_add(1, Ordering::Relaxed);
    let url = format!("shmiop://@orbium-bindings-{}-{own}", std::process::id());
    let config = Config {
        endpoints: vec![url.parse().unwrap()],
        ..Config::default()
    };
    let served = served(config, &fifty());
    let offer = burst(2).protocols(["shmiop"]);
    let bound = served.target.bind(&offer).unwrap();
    assert_eq!((bound.act(0), bound.act(0)), (Ok(40), Ok(40)));
    assert_eq!(bound.act(0), Err(refused(minor::BINDING_RATE)));
    bound.unbind().unwrap();
    served.await_nothing();
}

/// Conformance: RT GOPI 5.2 - bindings: offer, counter-offer, refusal with a reason, bounded rounds
/// and time
#[test]
fn each_lane_has_a_budget_of_its_own() {
    let (orb, rt) = common::server();
    let lane = LaneConfig {
        name: "urgent".into(),
        priority: Some(at(9)),
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..LaneConfig::default()
    };
    let lane = orb.add_lane(&lane).unwrap();
    let budget = fifty().share_of("urgent", 0.2);
    rt.serve_bindings(budget.clone()).unwrap();
    let policies = Policies {
        lanes: vec![lane],
        ..Policies::default()
    };
    let root = orb.root_poa();
    let urgent = root
        .create_poa("u", Some(root.manager()), policies)
        .unwrap();
    let urgent: Target = urgent.activate(teller()).unwrap();
    let urgent = seen_by(&client().0, &orb, &urgent);
    let bound = urgent.bind(&Offer::new(at(40), 100).at_least(1)).unwrap();
    assert_eq!(bound.terms().rate.requests, 20);
    assert_eq!(bound.act(0), Ok(40));
    assert!((budget.promised("urgent") - 0.2).abs() < 1e-6);
    assert_eq!(budget.promised("orbium-serve").to_bits(), 0);
}

/// Conformance: RT GOPI 5.2 - bindings: what is set aside is free when the connection ends, in
/// every phase; REBIND then
#[test]
fn a_lost_connection_is_the_end() {
    let served = served(Config::default(), &fifty());
    let bound = served.target.bind(&burst(100)).unwrap();
    let (orb, again) = (served.orb.clone(), bound.clone());
    assert_eq!(again.act(0), Ok(40));
    within("shutting down", move || orb.shutdown(true).unwrap());
    assert!(bound.act(0).is_err());
    assert_eq!(bound.act(0), Err(LOST));
}

/// Conformance: RT GOPI 5.2 - bindings: what is set aside is free when the connection ends, in
/// every phase; REBIND then
#[test]
fn bindings_come_and_go_and_leave_nothing() {
    let served = served(Config::default(), &fifty().bindings(2));
    for round in 0..10_000 {
        let bound = served.target.bind(&Offer::new(at(40), 50)).unwrap();
        if round % 500 == 0 {
            assert_eq!(bound.act(0), Ok(40));
        }
        bound.unbind().unwrap();
    }
    served.await_nothing();
}

/// Accepts what was not offered.
struct Overzealous;

impl Admission for Overzealous {
    fn consider(&self, asked: &BindingRequest<'_>) -> Verdict {
        let terms = Terms {
            priority: at(asked.offer.priority.high + 1),
            rate: asked.offer.rate,
            excess: asked.offer.excess,
            buffer: asked.offer.buffer,
            deadline: None,
            reservation: None,
            protocol: asked.protocol.to_owned(),
        };
        Verdict::Accept(terms, Reservation::new(()))
    }
}

/// Conformance: RT GOPI 5.2 - bindings: peers that do not negotiate, or lie
#[test]
fn a_server_that_accepts_what_was_not_offered_is_left() {
    let (orb, rt) = common::server();
    let bindings = rt.serve_bindings(Overzealous).unwrap();
    let object: Target = orb.root_poa().activate(teller()).unwrap();
    let target = seen_by(&client().0, &orb, &object);
    assert_eq!(target.bind(&burst(1)).unwrap_err(), BindError::Broken);
    eventually("nothing is bound", || bindings.active() == 0);
}
