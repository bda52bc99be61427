// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings by a `Qos`.

use std::time::Duration;

use orbium_core::{Config, Priority};
use orbium_qos::{Qos, QosObject};
use orbium_rt::binding::Rate;
use orbium_rt::{Budget, ContinuousMapping, RtObject, RtOrb};
use orbium_testkit::Served;

/// Conformance: RT - one QoS value: bindings, which the server grants
#[test]
fn a_binding_by_a_qos_has_its_terms() {
    let qos = Qos {
        priority: Priority::new(40),
        period: Some(Duration::from_millis(500)),
        deadline: Some(Duration::from_secs(60)),
        wcet: Some(Duration::from_millis(20)),
        ..Qos::NONE
    };
    let served = Served::with(Config::default());
    let mapping = ContinuousMapping::over(1..=99);
    let soft = || RtOrb::builder().mapping(mapping.clone()).soft();
    let server = soft().install(&served.orb).unwrap();
    let budget = Budget::new().cost(Duration::from_micros(1));
    let bindings = server.serve_bindings(budget.reservations(0.5)).unwrap();
    served
        .state
        .on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
    let (client, target) = served.client();
    soft().install(&client).unwrap();

    let offer = qos.offer().unwrap().soft();
    let bound = target.with_qos(&qos).unwrap().bind(&offer).unwrap();
    let terms = bound.terms();
    assert_eq!(
        (Some(terms.priority), terms.deadline),
        (qos.priority, qos.deadline)
    );
    let rate = Rate {
        requests: 1,
        period: Duration::from_millis(500),
        burst: 2,
    };
    assert_eq!(terms.rate, rate);
    // A host without permission to reserve says so.
    let is_reserved = terms.reservation == qos.reservation();
    assert!(is_reserved || bound.refused().is_some(), "{terms:?}");
    assert_eq!(bound.act(0), Ok(40));
    assert_eq!(bindings.active(), 1);
    bound.unbind().unwrap();
    served.end();
}
