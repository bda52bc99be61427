// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings that divide what there is.

use std::sync::Arc;
use std::time::Duration;

use orbium_core::{Completion, Config, ExceptionKind, Orb, Priority, SystemException};
use orbium_giop::minor;
use orbium_rt::binding::{Bindings, ReasonCode};
use orbium_rt::{BindError, Bound, Budget, FairShare, Offer, RtObject};
use orbium_testkit::eventually;
use orbium_testkit::probe::Target;

use crate::common::{client, seen_by, server_with, soft, teller};

/// A server that divides 1,000 requests a second.
struct Quoter {
    orb: Orb,
    bindings: Bindings,
    fair: FairShare,
    object: Target,
}

impl Quoter {
    fn new() -> Self {
        let (orb, rt) = server_with(Config::default(), soft());
        let budget = Budget::new().share(1.0).cost(Duration::from_millis(1));
        let fair = FairShare::new(budget.bindings(3));
        let bindings = rt.serve_bindings(fair.clone()).unwrap();
        let object = orb.root_poa().activate(Arc::clone(&teller())).unwrap();
        Self {
            orb,
            bindings,
            fair,
            object,
        }
    }

    /// A binding of a client of its own.
    fn bind(&self, offer: &Offer) -> Result<Bound<Target>, BindError> {
        seen_by(&client().0, &self.orb, &self.object).bind(offer)
    }

    /// The rates that the server keeps, the smallest first.
    fn rates(&self) -> Vec<u32> {
        let bindings = self.bindings.list().into_iter();
        let mut rates: Vec<u32> = bindings.map(|it| it.terms.rate.requests).collect();
        rates.sort_unstable();
        rates
    }
}

/// With a burst for the questions of a test, which are requests as well.
fn exactly(requests: u32) -> Offer {
    Offer::new(Priority::MIN, requests).burst(32)
}

fn up_to(requests: u32) -> Offer {
    exactly(requests).at_least(100)
}

fn rate(bound: &Bound<Target>) -> u32 {
    bound.present_terms().unwrap().rate.requests
}

/// The stock quoter of the paper, 2.2: all are admitted, and divide equally.
///
/// Conformance: RT 2.2 - bindings: admission that divides equally, and changes the rates of those that live
#[test]
fn each_binding_more_lowers_the_others_and_each_less_raises_them() {
    let quoter = Quoter::new();
    let first = quoter.bind(&up_to(1_000)).unwrap();
    assert_eq!((first.terms().rate.requests, rate(&first)), (1_000, 1_000));
    let second = quoter.bind(&up_to(1_000)).unwrap();
    assert_eq!((second.terms().rate.requests, rate(&first)), (500, 500));
    // What was agreed on at first is what the client has in its hand.
    assert_eq!(first.terms().rate.requests, 1_000);
    let modest = quoter.bind(&up_to(200)).unwrap();
    assert_eq!(quoter.rates(), [200, 400, 400]);
    second.unbind().unwrap();
    assert_eq!((rate(&first), rate(&modest)), (800, 200));
    // A client that is gone without a word, too.
    drop(modest);
    eventually("the whole is one's own", || quoter.rates() == [1_000]);
    first.unbind().unwrap();
    assert_eq!(quoter.fair.active(), 0);
}

#[test]
fn no_rate_is_lowered_below_the_least_that_was_agreed_to() {
    let quoter = Quoter::new();
    let firm = quoter.bind(&exactly(700)).unwrap();
    let Err(BindError::Countered(terms, reason)) = quoter.bind(&exactly(400)) else {
        panic!("there are 300 requests left");
    };
    assert_eq!((terms.rate.requests, reason.code), (300, ReasonCode::Rate));
    let rest = quoter.bind(&exactly(300)).unwrap();
    let Err(BindError::Refused(reason)) = quoter.bind(&up_to(1_000)) else {
        panic!("nothing is left");
    };
    assert_eq!(reason.code, ReasonCode::Rate);
    assert_eq!((rate(&firm), rate(&rest)), (700, 300));
}

#[test]
fn the_number_of_bindings_is_that_of_the_budget() {
    let quoter = Quoter::new();
    let _three = [(); 3].map(|()| quoter.bind(&up_to(1_000)).unwrap());
    let Err(BindError::Refused(reason)) = quoter.bind(&up_to(1_000)) else {
        panic!("there are three");
    };
    assert_eq!(reason.code, ReasonCode::Bindings);
    assert_eq!(quoter.rates(), [333; 3]);
}

#[test]
fn a_binding_that_has_ended_has_no_terms() {
    let quoter = Quoter::new();
    let bound = quoter.bind(&up_to(500)).unwrap();
    bound.unbind().unwrap();
    let lost = SystemException::orbium(ExceptionKind::Rebind, minor::BINDING_LOST, Completion::No);
    assert_eq!(bound.present_terms(), Err(lost));
}

/// An admission that promises and does not change has the terms of the beginning.
#[test]
fn the_terms_of_a_budget_do_not_change() {
    let (orb, rt) = server_with(Config::default(), soft());
    rt.serve_bindings(Budget::new()).unwrap();
    let object: Target = orb.root_poa().activate(Arc::clone(&teller())).unwrap();
    let target = seen_by(&client().0, &orb, &object);
    let bound = target.bind(&exactly(10)).unwrap();
    assert_eq!(bound.present_terms().as_ref(), Ok(bound.terms()));
}
