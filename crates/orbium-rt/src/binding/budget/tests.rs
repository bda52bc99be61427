// SPDX-License-Identifier: MIT OR Apache-2.0
use orbium_core::Peer;

use super::*;
use crate::binding::Offer;

fn asked<'a>(offer: &'a Offer, lane: &'a str) -> BindingRequest<'a> {
    BindingRequest {
        offer,
        protocol: "iiop",
        object_id: b"it",
        adapter: "valves",
        lane,
        peer: &Peer::Unknown,
        held: None,
    }
}

fn offer(requests: u32) -> Offer {
    Offer::new(Priority::MIN, requests)
}

/// Conformance: RT GOPI 5.2 - bindings: what is set aside is free when the connection ends, in
/// every phase; REBIND then
#[test]
fn promised_time_comes_back() {
    let budget = Budget::new()
        .share(1.0)
        .cost_in("valves", Duration::from_millis(10));
    for _ in 0..100_000 {
        let offer = offer(100);
        let Verdict::Accept(..) = budget.consider(&asked(&offer, "a")) else {
            panic!("something was kept");
        };
    }
    let whole = offer(100);
    let held = budget.consider(&asked(&whole, "a"));
    assert!(matches!(held, Verdict::Accept(..)));
    // That lane is exhausted, all others are unused.
    let more = offer(1);
    let refused = budget.consider(&asked(&more, "a"));
    assert!(matches!(refused, Verdict::Refuse(it) if it.code == ReasonCode::Rate));
    let elsewhere = budget.consider(&asked(&whole, "b"));
    assert!(matches!(elsewhere, Verdict::Accept(..)));
    drop(held);
    assert_eq!(budget.active(), 1);
    assert_eq!(budget.promised("a").to_bits(), 0);
}

/// Regression: the first number of an empty range was granted.
#[test]
fn where_there_are_no_priorities_there_are_no_bindings() {
    #[expect(clippy::reversed_empty_ranges, reason = "no priority at all")]
    for none in [1..=0, i16::MIN..=-1] {
        let budget = Budget::new().priorities(none);
        for number in [0, 1, i16::MAX] {
            let offer = Offer::new(Priority::new(number).unwrap(), 1);
            let refused = budget.consider(&asked(&offer, "a"));
            assert!(matches!(refused, Verdict::Refuse(it) if it.code == ReasonCode::Priority));
        }
    }
    let some = Budget::new().priorities(-5..=3);
    let verdict = some.consider(&asked(&offer(1), "a"));
    assert!(matches!(verdict, Verdict::Accept(..)));
}

#[test]
fn grants_never_exceed_the_share() {
    let odd = Budget::new().share(0.3).cost(Duration::from_nanos(777_777));
    let mut held = Vec::new();
    loop {
        let offer = offer(37).at_least(1);
        match odd.consider(&asked(&offer, "a")) {
            Verdict::Accept(terms, reservation) => {
                assert!(offer.admits(&terms));
                held.push(reservation);
            }
            Verdict::Refuse(_) => break,
            Verdict::Counter(..) => panic!("the least is one"),
        }
    }
    let promised = odd.promised("a");
    assert!((0.299..=0.3).contains(&promised), "{promised}");
}
