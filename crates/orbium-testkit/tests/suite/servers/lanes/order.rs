// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order in which requests that wait in the queue of a lane are served.

use std::time::Duration;

use orbium::giop::real_time::priority_context;
use orbium::giop::riop::Riop;
use orbium::giop::time::TimeLeft;
use orbium::giop::{ReplyStatus, ServiceContext, service_context};
use orbium::{
    Orb, OrbError,
    config::{Limits, ServerStrategy},
    lane::{Lane, LaneConfig, Order},
};
use orbium_testkit::{Peer, RequestLine, Served, eventually, request};

use super::{Behind, at_the_gate, config, pool, port};

/// A service context: its id and its data.
type Said = (u32, Vec<u8>);

fn priority(number: i16) -> Said {
    let data = priority_context(number).to_vec();
    (service_context::RT_CORBA_PRIORITY, data)
}

fn riop(said: &Riop) -> Said {
    (service_context::ORBIUM_RIOP, said.encode().to_vec())
}

/// A RIOP context with that deadline in seconds.
fn deadline(seconds: u64) -> Riop {
    Riop {
        deadline: seconds * 10_000_000,
        ..Riop::NONE
    }
}

/// An end time in so many seconds.
fn ends_in(seconds: u64) -> Said {
    let left = TimeLeft {
        request: None,
        reply: Some(Duration::from_secs(seconds)),
    };
    let data = left.encode().as_slice().to_vec();
    (service_context::ORBIUM_TIME_LEFT, data)
}

/// The numbers of these requests, from 2 on, as a lane of that order serves them: they wait
/// while its one worker is at the gate.
fn served(order: Order, requests: &[Vec<Said>]) -> Vec<u32> {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let lane = served.orb.add_lane(&LaneConfig {
        order,
        ..config(1, pool(1, 16))
    });
    let lane = lane.unwrap();
    let behind = Behind::new(&served.orb, "Ordered", std::slice::from_ref(&lane), None);
    // Over a connection of the lane, and handed over from another one.
    let [own, other] = [port(&lane), served.port()].map(|port| {
        let numbers = served_over(port, &lane, &behind, requests);
        behind.state.gate.close();
        numbers
    });
    assert_eq!(own, other, "{order}");
    served.end();
    own
}

fn served_over(port: u16, lane: &Lane, behind: &Behind, requests: &[Vec<Said>]) -> Vec<u32> {
    let mut busy = at_the_gate(port, "Ordered", 1);
    behind.state.gate.await_waiting(1);
    let mut peer = Peer::connect(port);
    for (id, said) in (2..).zip(requests) {
        let contexts: Vec<_> = said
            .iter()
            .map(|(id, data)| ServiceContext { id: *id, data })
            .collect();
        let line = RequestLine {
            contexts: &contexts,
            key: b"Ordered",
            ..RequestLine::new(id, "act")
        };
        peer.send(&request(line, |w| w.write_u32(id)));
    }
    eventually("all wait", || lane.waiting_requests() == requests.len());
    behind.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    let answered = requests.iter().map(|_| peer.receive().reply());
    let numbers = answered.map(|(id, status, _)| {
        assert_eq!(status, ReplyStatus::NoException);
        id
    });
    numbers.collect()
}

/// Conformance: RT - order of a lane's queue: arrival, priority, deadline, laxity, urgency
#[test]
fn requests_that_wait_are_served_in_the_order_of_the_lane() {
    let [low, high] = [0, 4].map(Some);
    let urgent = |seconds, criticality| {
        riop(&Riop {
            criticality,
            ..deadline(seconds)
        })
    };
    let requests = [
        vec![priority(5), urgent(600, low)],
        vec![priority(30)],
        vec![priority(20), urgent(500, None)],
        vec![priority(10), urgent(700, high)],
    ];
    for (order, expected) in [
        (Order::Fifo, [2, 3, 4, 5]),
        (Order::Priority, [3, 4, 5, 2]),
        (Order::EarliestDeadline, [4, 2, 5, 3]),
        // Without a schedule no execution time is known.
        (Order::LeastLaxity, [4, 2, 5, 3]),
        // A request without criticality is MEDIUM.
        (Order::MaximumUrgency, [5, 4, 3, 2]),
    ] {
        assert_eq!(served(order, &requests), expected, "{order}");
    }
}

/// Conformance: RT - order of a lane's queue: a deadline by RIOP, else the end time, else the last
#[test]
fn end_times_are_deadlines_and_requests_without_any_are_the_last() {
    let requests = [
        vec![],
        vec![ends_in(500)],
        vec![riop(&deadline(400))],
        // What RIOP says goes before the end time.
        vec![ends_in(300), riop(&deadline(600))],
        vec![],
    ];
    let expected = [4, 3, 5, 2, 6];
    for order in [Order::EarliestDeadline, Order::LeastLaxity] {
        assert_eq!(served(order, &requests), expected, "{order}");
    }
}

/// Conformance: RT - order of a lane's queue: malformed contexts change nothing
#[test]
fn hostile_contexts_change_nothing() {
    let good = deadline(400).encode();
    let with = |place: usize, octet: u8| {
        let mut data = good.to_vec();
        data[place] = octet;
        vec![(service_context::ORBIUM_RIOP, data)]
    };
    let requests = [
        vec![(service_context::ORBIUM_RIOP, Vec::new())],
        vec![(service_context::ORBIUM_RIOP, good[..31].to_vec())],
        // A byte order, a priority and an importance that are none.
        with(0, 7),
        with(3, 0x80),
        with(26, 1),
        vec![riop(&deadline(500))],
        // The longest deadline there is.
        vec![riop(&Riop {
            deadline: u64::MAX,
            ..Riop::NONE
        })],
    ];
    for order in [Order::EarliestDeadline, Order::MaximumUrgency] {
        assert_eq!(served(order, &requests), [7, 8, 2, 3, 4, 5, 6], "{order}");
    }
}

/// Conformance: RT - order of a lane's queue: refused by name where there is no queue
#[test]
fn lanes_without_a_queue_have_no_order_of_their_own() {
    let orb = Orb::builder().build().unwrap();
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 1 },
    ] {
        for order in Order::ALL.iter().copied() {
            let ordered = LaneConfig {
                order,
                ..config(1, strategy)
            };
            let checked = ordered.check(&Limits::default());
            if order == Order::Priority {
                assert_eq!(checked, Ok(()), "{strategy}");
                continue;
            }
            let refused = checked.unwrap_err();
            assert!(refused.starts_with("order is for lanes"), "{refused}");
            let refused = orb.add_lane(&ordered).unwrap_err();
            assert!(matches!(refused, OrbError::Config(_)), "{refused}");
        }
    }
    orb.shutdown(true).unwrap();
}
