// SPDX-License-Identifier: MIT OR Apache-2.0
//! References with a `Qos`, and servers that read it.

mod annotated;
mod bound;
mod scoped;
mod socket_options;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use orbium_core::{
    BufferingConstraint, Config, ExceptionKind, Hook, Interface, LaneConfig, Orb, Policies,
    Priority, SyncScope,
};
use orbium_interceptor::Interceptors;
use orbium_qos::riop::{RIOP_CONTEXT, encode};
use orbium_qos::{
    CommunicationClass, PublishedQos, Qos, QosError, QosObject, QosScopes, RiopDispatch,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, client, each_strategy, eventually, reach};

/// A server that reads RIOP's context by a clock that the test moves (in milliseconds).
fn served() -> (Served, RiopDispatch, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(1000));
    let clock = Arc::clone(&now);
    let riop =
        RiopDispatch::with_clock(move || Duration::from_millis(clock.load(Ordering::SeqCst)));
    let served = Served::with(Config {
        dispatch: Some(Hook(Arc::new(riop.clone()))),
        ..Config::default()
    });
    (served, riop, now)
}

fn connections(orb: &Orb) -> usize {
    orb.own_lane().unwrap().snapshot().connections
}

fn of(class: CommunicationClass) -> Qos {
    Qos {
        class: Some(class),
        period: Some(Duration::from_millis(10)),
        bandwidth: Some(1 << 20),
        ..Qos::NONE
    }
}

/// Conformance: RT - RIOP: priority and class are carried and obeyed; servers without it serve
#[test]
fn a_request_is_served_at_the_priority_that_its_context_says() {
    let (served, riop, _) = served();
    served
        .state
        .on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
    let (_client, target) = served.client();
    assert_eq!(target.act(0), Ok(-1));
    let urgent = Qos {
        priority: Priority::new(77),
        ..of(CommunicationClass::Message)
    };
    assert_eq!(target.with_qos(&urgent).unwrap().act(0), Ok(77));
    assert_eq!(riop.seen(CommunicationClass::Message), 1);
    // A server that knows nothing of it serves the request.
    let other = Served::new(Config::default().strategy);
    let (_client, target) = other.client();
    for class in CommunicationClass::ALL {
        assert_eq!(target.with_qos(&of(class)).unwrap().noop(), Ok(()));
    }
    other.end();
    served.end();
}

/// Conformance: RT - RIOP: priority and class are carried and obeyed; servers without it serve
#[test]
fn lanes_serve_by_the_priority_of_a_qos() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lane = |name: &str, number| {
            served.orb.add_lane(&LaneConfig {
                name: name.into(),
                priority: Priority::new(number),
                endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
                ..LaneConfig::default()
            })
        };
        let policies = Policies {
            lanes: vec![lane("low", 10).unwrap(), lane("high", 100).unwrap()],
            dispatch: Some(Hook(Arc::new(RiopDispatch::for_lanes()))),
            ..Policies::default()
        };
        let root = served.orb.root_poa();
        let poa = root.create_poa("Laned", Some(root.manager()), policies);
        let state = Arc::new(TargetState::default());
        state.on_act(|_, _| {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            Ok(i32::from(name == "high"))
        });
        let target: Target = poa.unwrap().activate(state).unwrap();
        let client = client();
        let target = reach(&client, &served.orb.object_to_string(&target));
        for (priority, expected) in [(10, 0), (100, 1), (99, 0)] {
            let qos = Qos {
                priority: Priority::new(priority),
                ..Qos::NONE
            };
            assert_eq!(
                target.with_qos(&qos).unwrap().act(0),
                Ok(expected),
                "{priority}"
            );
        }
        served.end();
    });
}

/// Conformance: RT - RIOP: ISOCHRONOUS, BURST, MESSAGE: connections and sockets
#[test]
fn each_class_has_connections_that_no_other_shares() {
    let (served, riop, _) = served();
    let (_client, target) = served.client();
    assert_eq!(target.noop(), Ok(()));
    assert_eq!(connections(&served.orb), 1);
    let mut kept = Vec::new();
    for (place, class) in CommunicationClass::ALL.into_iter().enumerate() {
        let object = target.with_qos(&of(class)).unwrap();
        assert_eq!(object.noop(), Ok(()));
        assert_eq!(connections(&served.orb), place + 2, "{}", class.name());
        assert_eq!(riop.seen(class), 1);
        kept.push(object);
    }
    // Two references of BURST each have their own, of MESSAGE they share.
    let burst = target.with_qos(&of(CommunicationClass::Burst)).unwrap();
    assert_eq!(burst.noop(), Ok(()));
    assert_eq!(connections(&served.orb), 6);
    let message = target.with_qos(&of(CommunicationClass::Message)).unwrap();
    assert_eq!(message.noop(), Ok(()));
    assert_eq!(connections(&served.orb), 6);
    // Each priority of MESSAGE has its own, whichever reference calls.
    for (priority, expected) in [(100, 7), (200, 8), (100, 8)] {
        let urgent = target.with_qos(&Qos {
            priority: Priority::new(priority),
            ..of(CommunicationClass::Message)
        });
        let urgent = urgent.unwrap();
        assert_eq!(urgent.noop(), Ok(()));
        assert_eq!(connections(&served.orb), expected, "priority {priority}");
        kept.push(urgent);
    }
    drop(kept);
    served.end();
}

/// Conformance: RT - RIOP: MESSAGE_STREAM: the server keeps the rate
#[test]
fn a_message_stream_that_is_too_quick_is_refused_and_others_are_not() {
    let (served, riop, now) = served();
    let (_client, target) = served.client();
    let stream = of(CommunicationClass::MessageStream);
    let stream = target.with_qos(&stream).unwrap();
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(stream.noop().is_ok());
    }
    // One is due and one may come early.
    assert_eq!(answers, [true, true, false, false, false, false]);
    assert_eq!(stream.noop().unwrap_err().kind, ExceptionKind::Transient);
    assert_eq!(riop.refused(), 5);
    assert_eq!(target.noop(), Ok(()));
    now.fetch_add(10, Ordering::SeqCst);
    assert_eq!(stream.noop(), Ok(()));
    assert!(stream.noop().is_err());
    served.end();
}

/// Conformance: RT - RIOP: the service context, written and read, hostile ones
#[test]
fn a_hostile_context_is_refused_and_the_connection_goes_on() {
    let (served, _, _) = served();
    let (_client, target) = served.client();
    let good = encode(&of(CommunicationClass::Burst)).unwrap();
    let mut wrong = good;
    wrong[0] = 7;
    for data in [&good[..0], &good[..31], &wrong[..]] {
        let hostile = target.with_service_context(RIOP_CONTEXT, data);
        assert_eq!(hostile.noop().unwrap_err().kind, ExceptionKind::BadParam);
    }
    assert_eq!(target.noop(), Ok(()));
    assert_eq!(connections(&served.orb), 1);
    served.end();
}

/// Conformance: RT - one QoS value: fields, scopes, what makes no sense together
#[test]
fn the_narrower_scope_wins_field_by_field_and_deadlines_hold() {
    let (served, _, _) = served();
    let (_client, target) = served.client();
    let scopes = QosScopes::new(Qos {
        deadline: Some(Duration::from_secs(60)),
        class: Some(CommunicationClass::Message),
        ..Qos::NONE
    });
    scopes.set_thread(Qos {
        deadline: Some(Duration::from_millis(50)),
        ..Qos::NONE
    });
    let elsewhere = scopes.clone();
    let other = std::thread::spawn(move || elsewhere.thread());
    assert_eq!(other.join().unwrap(), Qos::NONE);
    let in_force = scopes.in_force(&Qos::NONE, &Qos::NONE).unwrap();
    assert_eq!(in_force.class, Some(CommunicationClass::Message));
    let bound = scopes.bind(&target, &Qos::NONE).unwrap();
    assert_eq!(bound.gate().unwrap_err().kind, ExceptionKind::Timeout);
    served.state.gate.open();
    let patient = Qos {
        deadline: Some(Duration::from_secs(50)),
        ..Qos::NONE
    };
    assert_eq!(scopes.bind(&target, &patient).unwrap().gate(), Ok(()));
    // What the scopes say together must make sense.
    let stream = Qos {
        class: Some(CommunicationClass::MessageStream),
        ..Qos::NONE
    };
    let refused = scopes.in_force(&Qos::NONE, &stream);
    assert_eq!(refused, Err(QosError::StreamWithoutPeriod));
    served.end();
}

/// Conformance: RT - RIOP: ISOCHRONOUS, BURST, MESSAGE: connections and sockets
#[test]
fn media_take_datagrams_where_they_are_offered() {
    let served = Served::with(Config {
        endpoints: vec![
            "iiop://127.0.0.1:0".parse().unwrap(),
            "diop://127.0.0.1:0".parse().unwrap(),
        ],
        ..Config::default()
    });
    let (_client, target) = served.client();
    let media = target
        .with_qos(&of(CommunicationClass::Isochronous))
        .unwrap();
    let first = media.as_object().protocols().swap_remove(0);
    assert_eq!(first.channel.unwrap().scheme, "diop");
    media.post(7).unwrap();
    eventually("it comes", || served.state.posted() == [7]);
    // A twoway call goes over a connection.
    assert_eq!(media.noop(), Ok(()));
    // What must not be lost does not go by datagrams.
    let all = Qos {
        loss: Some(0),
        ..of(CommunicationClass::Isochronous)
    };
    let media = target.with_qos(&all).unwrap();
    let first = media.as_object().protocols().swap_remove(0);
    assert_eq!(first.channel.unwrap().scheme, "iiop");
    served.end();
}

/// A reference that lists datagrams first: oneways that must not be lost went over them, whatever
/// the QoS said.
///
/// Conformance: RT - RIOP: ISOCHRONOUS, BURST, MESSAGE: connections and sockets
#[test]
fn oneways_that_must_not_be_lost_take_connections() {
    let served = Served::with(Config {
        endpoints: vec![
            "diop://127.0.0.1:0".parse().unwrap(),
            "iiop://127.0.0.1:0".parse().unwrap(),
        ],
        ..Config::default()
    });
    let (_client, target) = served.client();
    let without_loss = |class| Qos {
        loss: Some(0),
        ..class
    };
    let mut certain = vec![
        without_loss(Qos::NONE),
        without_loss(of(CommunicationClass::Isochronous)),
    ];
    let classes = CommunicationClass::ALL.into_iter();
    let others = classes.filter(|it| *it != CommunicationClass::Isochronous);
    certain.extend(others.map(of));
    let mut kept = Vec::new();
    for qos in certain {
        let object = target.with_qos(&qos).unwrap();
        assert_eq!(usable(&object), ["iiop"], "{qos}");
        object.post(7).unwrap();
        kept.push(object);
        // Each has a connection of its own; the server's socket of datagrams counts, too.
        orbium_testkit::eventually("it comes over a connection", || {
            served.state.posted().len() == kept.len() && connections(&served.orb) >= kept.len()
        });
    }
    let media = target.with_qos(&of(CommunicationClass::Isochronous));
    assert_eq!(usable(&media.unwrap()), ["diop", "iiop"]);
    served.end();
}

/// The schemes of the protocols that a reference can be called by, in order.
fn usable(object: &Target) -> Vec<String> {
    let offered = object.as_object().protocols().into_iter();
    let usable = offered.filter(|it| it.refusal.is_none());
    usable.filter_map(|it| Some(it.channel?.scheme)).collect()
}

/// Only a reference that names no loss may go over datagrams alone.
#[test]
fn a_reference_of_datagrams_alone_is_called_unless_nothing_may_be_lost() {
    let served = Served::with(Config {
        endpoints: vec!["diop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    });
    let (_client, target) = served.client();
    let burst = of(CommunicationClass::Burst);
    target.with_qos(&burst).unwrap().post(7).unwrap();
    orbium_testkit::eventually("it comes", || served.state.posted() == [7]);
    let certain = target.with_qos(&Qos {
        loss: Some(0),
        ..burst
    });
    let refused = certain.unwrap().post(8).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::InvPolicy);
    served.end();
}

/// Regression: oneways of MESSAGE waited for the buffering constraint of a wider scope.
///
/// Conformance: RT - RIOP: ISOCHRONOUS, BURST, MESSAGE: connections and sockets - MESSAGE is not buffered
#[test]
fn oneways_of_message_do_not_wait_in_a_buffer() {
    let (served, _, _) = served();
    let (client, target) = served.client();
    let held = BufferingConstraint {
        timeout: Some(Duration::from_secs(24 * 3600)),
        ..BufferingConstraint::default()
    };
    let policies = client.policy_manager();
    policies.set_sync_scope(Some(SyncScope::None));
    policies.set_buffering(Some(held));
    let message = target.with_qos(&of(CommunicationClass::Message)).unwrap();
    let buffered = target.with_buffering(held);
    for number in [1, 2] {
        target.post(10 + number).unwrap();
        buffered.post(20 + number).unwrap();
        message.post(number).unwrap();
    }
    eventually("the messages", || served.state.posted() == [1, 2]);
    let of_buffered = buffered.with_qos(&of(CommunicationClass::Message));
    of_buffered.unwrap().post(3).unwrap();
    eventually("the third one", || served.state.posted() == [1, 2, 3]);
    served.end();
}

/// Conformance: RT - one QoS value: in references, and what is in force is shown
#[test]
fn a_reference_says_what_it_asks_for_and_the_narrower_scope_wins() {
    let published = Qos {
        class: Some(CommunicationClass::Burst),
        priority: Priority::new(5),
        ..Qos::NONE
    };
    let of_others = Qos {
        deadline: Some(Duration::from_secs(9)),
        ..Qos::NONE
    };
    let publisher = PublishedQos::new(&published).unwrap();
    let publisher = publisher.adapter("RootPOA/Elsewhere", &of_others);
    let mut interceptors = Interceptors::new();
    interceptors.add_ior(publisher.unwrap()).unwrap();
    let riop = RiopDispatch::new();
    let served = Served::with(Config {
        dispatch: Some(Hook(Arc::new(riop.clone()))),
        interceptors,
        ..Config::default()
    });
    served
        .state
        .on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
    let (client, _) = served.client();
    let target = reach(&client, &served.orb.object_to_string(&served.target));
    assert_eq!(target.published_qos(), published);
    let scopes = QosScopes::new(Qos {
        priority: Priority::new(4),
        deadline: Some(Duration::from_secs(60)),
        ..Qos::NONE
    });
    let bound = scopes.bind(&target, &Qos::NONE).unwrap();
    assert_eq!(bound.act(0), Ok(5));
    assert_eq!(riop.seen(CommunicationClass::Burst), 1);
    let shown = |orb: &Orb| {
        let open = orb.connections().entries;
        let qualities = open.iter().filter_map(|it| it.quality);
        qualities.map(|it| it.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&served.orb), ["BURST 5, deadline 60s"]);
    let own = client.connections().entries;
    let own: Vec<_> = own.iter().map(|it| it.in_force.as_str()).collect();
    assert!(
        own.contains(&"private, dscp 8, send buffer 4194304"),
        "{own:?}"
    );
    let narrower = Qos {
        priority: Priority::new(6),
        ..Qos::NONE
    };
    assert_eq!(scopes.bind(&target, &narrower).unwrap().act(0), Ok(6));
    let root = served.orb.root_poa();
    let poa = root.create_poa("Elsewhere", Some(root.manager()), Policies::default());
    let other: Target = poa.unwrap().activate(Arc::clone(&served.state)).unwrap();
    let other = reach(&client, &served.orb.object_to_string(&other));
    assert_eq!(other.published_qos(), of_others);
    let nonsense = PublishedQos::new(&Qos {
        class: Some(CommunicationClass::MessageStream),
        ..Qos::NONE
    });
    assert_eq!(nonsense.unwrap_err(), QosError::StreamWithoutPeriod);
    served.end();
}

/// Conformance: RT - one QoS value: annotations of operations
#[test]
fn an_annotated_operation_is_called_with_its_qos() {
    let (served, riop, _) = served();
    served
        .state
        .on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
    let (_client, target) = served.client();
    // Its 20 ms may pass while other tests have the processors.
    let quality = Qos {
        deadline: None,
        ..annotated::quality::RUDDER_STEER
    };
    let steered = target.with_qos(&quality).unwrap();
    assert_eq!(steered.act(0), Ok(20_000));
    assert_eq!(riop.seen(CommunicationClass::Message), 1);
    served.end();
}
