// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that send invalid data, or do not read, while others are served.

use std::thread;
use std::time::{Duration, Instant};

use orbium::giop::{MessageKind, ReplyStatus, Version, close_connection};
use orbium::{
    Config, Interface,
    config::{Limits, ServerStrategy},
};

use super::live::Live;
use super::wire::Wire;
use crate::transport_suite::Subject;
use crate::transport_suite::ends::pattern;
use crate::{
    PATIENCE, Peer, RequestLine, Served, each_strategy, eventually, good_messages, in_order,
    malformed_messages, request, short_message_time, with_time_enough,
};

fn noop(id: u32) -> Vec<u8> {
    request(RequestLine::new(id, "noop"), |_| {})
}

/// A message larger than `Limits::message_size` is refused by its receiver, and the
/// caller gets an exception.
///
/// Conformance: streams - hostile and slow peers
pub fn a_message_beyond_the_limit_is_refused(subject: &Subject) {
    each_strategy(|strategy| {
        let small = Limits {
            message_size: 64 << 10,
            ..Limits::default()
        };
        let live = Live::new(subject, strategy, small.clone());
        let client = subject.client_orb();
        let target = live.served.seen_by(&client).with_timeout(PATIENCE);
        for size in [100_000, 8 << 20] {
            let calls = live.served.state.calls();
            assert!(target.echo_octets(&vec![1; size]).is_err());
            assert!(calls <= live.served.state.calls());
            assert_eq!(target.echo_long(1), Ok(1));
        }
        // Also for a reply.
        let cautious = orbium::Orb::new(Config {
            limits: small,
            ..subject.client_config()
        })
        .expect("an ORB");
        let served = subject.serve(strategy);
        let target = served.seen_by(&cautious).with_timeout(PATIENCE);
        assert!(target.make(1 << 20).is_err());
        assert_eq!(target.make(1000).map(|octets| octets.len()), Ok(1000));
        client.shutdown(true).expect("shutdown");
        cautious.shutdown(true).expect("shutdown");
        served.end();
        live.end();
    });
}

/// Invalid data end the connection, with MessageError if the peer could understand that; an orderly
/// end is not an error.
///
/// Conformance: streams - hostile and slow peers
pub fn malformed_messages_are_answered_with_message_error(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, Limits::default());
        if subject.layers().is_none() {
            refuse_giop(&live);
        }
        for garbage in [&[0xFF; 64][..], b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"] {
            let mut wire = live.connect();
            wire.try_send_raw(garbage);
            wire.finish_sending();
            wire.expect_end();
        }
        let mut wire = live.connect();
        wire.send(&close_connection(Version::V1_2));
        wire.expect_end();
        live.end();
    });
}

fn refuse_giop(live: &Live<'_>) {
    for case in malformed_messages() {
        let mut wire = live.connect();
        wire.try_send_raw(&case);
        let answer = wire.receive().expect("an answer");
        assert_eq!(answer.kind(), MessageKind::MessageError);
        wire.expect_end();
    }
}

/// A message that ends early, at each octet.
///
/// Conformance: streams - hostile and slow peers
pub fn messages_cut_off_anywhere_cost_the_connection_only(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, Limits::default());
        for message in good_messages() {
            let len = live.connect().frame(&message).len();
            for end in 0..len {
                let mut wire = live.connect();
                let frame = wire.frame(&message);
                wire.try_send_raw(&frame[..end]);
                wire.finish_sending();
                wire.expect_end();
            }
        }
        live.end();
    });
}

/// Every octet of a message replaced: it is answered, refused or times out, without other effects.
///
/// Conformance: streams - hostile and slow peers
pub fn messages_with_any_octet_wrong_do_no_harm(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, short_message_time());
        for message in good_messages() {
            let len = live.connect().frame(&message).len();
            for place in 0..len {
                for wrong in [0x00, 0x7F, 0x80, 0xFF] {
                    let mut wire = live.connect();
                    let mut frame = wire.frame(&message);
                    frame[place] = wrong;
                    wire.try_send_raw(&frame);
                    wire.finish_sending();
                    wire.expect_end();
                }
            }
        }
        live.end();
    });
}

/// Random octets, alone and behind a valid message.
///
/// Conformance: streams - hostile and slow peers
pub fn random_octets_do_no_harm(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, short_message_time());
        let mut state = 0x1234_5678_9ABC_DEF1_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for round in 0..300 {
            let len = random() as usize % 300;
            let octets: Vec<u8> = (0..len).map(|_| random() as u8).collect();
            let mut wire = live.connect();
            if round % 2 == 0 {
                wire.send(&noop(2));
            }
            wire.try_send_raw(&octets);
            wire.finish_sending();
            wire.expect_end();
        }
        live.end();
    });
}

/// A peer that begins a message and stops, at various positions, is disconnected after
/// `Limits::message_time`; one that begins none is not affected.
///
/// Conformance: streams - hostile and slow peers
pub fn a_message_left_unfinished_is_cut_off(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, short_message_time());
        let mut idle = live.connect();
        idle.send(&noop(2));
        assert_eq!(idle.receive().expect("a reply").reply().0, 2);
        let message = request(RequestLine::new(2, "echo_octets"), |w| {
            w.write_octets(&[0; 60]);
        });
        let len = live.connect().frame(&message).len();
        for end in [1, 7, len / 2, len - 1] {
            let mut wire = live.connect();
            let frame = wire.frame(&message);
            assert!(wire.try_send_raw(&frame[..end]));
            wire.expect_end();
        }
        // Also behind a complete message.
        let mut wire = live.connect();
        wire.send(&noop(2));
        let frame = wire.frame(&noop(4));
        wire.try_send_raw(&frame[..frame.len() / 2]);
        assert_eq!(wire.receive().expect("a reply").reply().0, 2);
        wire.expect_end();
        idle.send(&noop(4));
        assert_eq!(idle.receive().expect("a reply").reply().0, 4);
        live.end();
    });
}

/// A first message that has begun is subject to `Limits::message_time`, and not any more to
/// `Limits::initial_idle_time`, also if a messaging protocol buffers it until it is complete.
/// Regression: such connections were closed as idle.
///
/// Conformance: streams - hostile and slow peers
pub fn a_first_message_that_has_begun_is_not_silence(subject: &Subject) {
    each_strategy(|strategy| {
        with_time_enough(Duration::from_millis(500), |initial| {
            let limits = Limits {
                initial_idle_time: Some(initial),
                ..Limits::default()
            };
            let live = Live::new(subject, strategy, limits);
            let mut wire = live.connect();
            let frame = wire.frame(&noop(2));
            let (begun, rest) = frame.split_at(frame.len() / 2);
            let mut goes_on = wire.try_send_raw(begun);
            thread::sleep(initial + initial / 2);
            goes_on = goes_on && wire.try_send_raw(rest);
            let answer = wire.receive().filter(|_| goes_on);
            let served =
                answer.is_some_and(|it| it.kind() == MessageKind::Reply && it.reply().0 == 2);
            live.end();
            served
        });
    });
}

/// A peer that never completes its message is disconnected after `Limits::message_time`, however
/// often a part of it arrives.
///
/// Conformance: streams - hostile and slow peers
pub fn a_message_that_trickles_is_cut_off(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, short_message_time());
        let mut wire = live.connect();
        let message = request(RequestLine::new(2, "echo_octets"), |w| {
            w.write_octets(&pattern(0, 60_000));
        });
        let limit = Instant::now() + PATIENCE;
        for octet in wire.frame(&message) {
            assert!(Instant::now() < limit, "the peer is never cut off");
            if !wire.try_send_raw(&[octet]) {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        wire.expect_end();
        live.end();
    });
}

/// A message that arrives octet by octet is served as any other.
///
/// Conformance: streams - hostile and slow peers
pub fn a_message_in_single_octets_is_served(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, Limits::default());
        let mut wire = live.connect();
        for id in 0..5 {
            let message = request(RequestLine::new(2 * id, "echo_long"), |w| w.write_u32(id));
            for octet in wire.frame(&message) {
                assert!(wire.try_send_raw(&[octet]));
            }
            let (answered, status, body) = wire.receive().expect("a reply").reply();
            assert_eq!((answered, status), (2 * id, ReplyStatus::NoException));
            assert_eq!(body, id.to_ne_bytes());
        }
        drop(wire);
        live.end();
    });
}

/// Requests more than the buffers between the peers hold, and does not read it. Four of them are
/// more than twice the maximum of two socket buffers.
const UNREAD: u32 = 8 << 20;

fn stopped(live: &Live<'_>) -> Wire {
    let mut wire = live.connect();
    for id in 0..4 {
        wire.send(&request(RequestLine::new(id, "make"), |w| {
            w.write_u32(UNREAD);
        }));
    }
    wire
}

/// Clients that do not read their replies do not delay others, and are served when they read; those
/// that never do are disconnected.
///
/// Conformance: streams - hostile and slow peers
pub fn a_client_that_reads_nothing_does_not_delay_others(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, in_order(strategy), Limits::default());
        let wires: Vec<_> = (0..3).map(|_| stopped(&live)).collect();
        let client = subject.client_orb();
        let target = live.served.seen_by(&client).with_timeout(PATIENCE);
        for v in 0..100 {
            assert_eq!(target.echo_long(v), Ok(v));
        }
        let mut late = wires.into_iter().next().expect("the first of three");
        for id in 0..4 {
            let (answered, _, body) = late.receive().expect("a reply").reply();
            assert_eq!((answered, body.len()), (id, UNREAD as usize + 4));
        }
        drop(late);
        client.shutdown(true).expect("shutdown");
        live.end();
        given_up(subject, strategy);
    });
}

fn given_up(subject: &Subject, strategy: ServerStrategy) {
    let live = Live::new(
        subject,
        strategy,
        Limits {
            send_time: Duration::from_millis(300),
            ..Limits::default()
        },
    );
    let mut wire = stopped(&live);
    // Only the server can end this: the client does not read.
    eventually("the server gives up", || !wire.try_send_raw(b"?"));
    live.end();
}

/// Connections beyond `Limits::connections` are closed, and new ones are accepted when others end.
///
/// Conformance: streams - hostile and slow peers
pub fn connections_beyond_the_limit_are_closed(subject: &Subject) {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            limits: Limits {
                connections: 10,
                ..Limits::default()
            },
            ..subject.server_config(subject.endpoint(), strategy)
        });
        let mut within_limit: Vec<_> = (0..10).map(|_| Wire::new(subject, &served.orb)).collect();
        for wire in &mut within_limit {
            wire.send(&noop(2));
            assert_eq!(wire.receive().expect("a reply").reply().0, 2);
        }
        // It may see that while it connects.
        if let Ok(beyond) = subject.try_connection(&served.orb) {
            let mut beyond = Peer::over(beyond);
            beyond.try_send(&[0]);
            beyond.expect_end();
        }
        within_limit.truncate(5);
        eventually("there is room again", || {
            subject.try_connection(&served.orb).is_ok_and(|stream| {
                let mut wire = Wire::over(subject, stream);
                let frame = wire.frame(&noop(2));
                wire.try_send_raw(&frame) && wire.receive().is_some()
            })
        });
        for wire in &mut within_limit {
            assert!(!wire.ends_within(Duration::from_millis(10)));
            wire.send(&noop(4));
            assert_eq!(wire.receive().expect("a reply").reply().0, 4);
        }
        served.end();
    });
}
