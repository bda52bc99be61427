// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that send what they should not, while others are served.

use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use orbium::giop::{HEADER_LEN, MessageKind, Version, close_connection, message_error};
use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};
use orbium_cdr::ByteOrder;
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, WellBehaved, descriptors, each_strategy, eventually,
    good_messages, in_own_process, malformed_messages, reach, reference, reply, request,
    resident_octets, short_message_time, with_time_enough, within,
};

/// A server with a well-behaved client that calls all the time.
struct Live {
    served: Served,
    well_behaved: WellBehaved,
}

impl Live {
    fn new(strategy: ServerStrategy, limits: Limits) -> Self {
        let served = Served::with(Config {
            strategy,
            limits,
            ..Config::default()
        });
        let (client, target) = served.client();
        Self {
            served,
            well_behaved: WellBehaved::start(client, &target),
        }
    }

    fn connect(&self) -> Peer {
        Peer::connect(self.served.port())
    }

    /// The well-behaved client is served, now and in the end.
    fn end(self) {
        self.well_behaved.end();
        self.served.end();
    }
}

/// Conformance: robustness - messages cut or changed, against a live server
#[test]
fn messages_cut_off_anywhere_cost_the_connection_only() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, Limits::default());
        for message in good_messages() {
            for end in 0..message.len() {
                let mut peer = live.connect();
                peer.send(&message[..end]);
                peer.finish_sending();
                peer.expect_end();
            }
        }
        live.end();
    });
}

/// Conformance: robustness - messages cut or changed, against a live server
#[test]
fn messages_with_any_octet_wrong_are_answered_or_refused() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, short_message_time());
        for message in good_messages() {
            for place in 0..message.len() {
                for wrong in [0x00, 0x7F, 0x80, 0xFF] {
                    let mut garbled = message.clone();
                    garbled[place] = wrong;
                    let mut peer = live.connect();
                    peer.send(&garbled);
                    peer.finish_sending();
                    peer.expect_end();
                }
            }
        }
        live.end();
    });
}

/// Conformance: robustness - messages cut or changed, against a live server
#[test]
fn malformed_messages_are_answered_with_message_error() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, Limits::default());
        for case in malformed_messages() {
            let mut peer = live.connect();
            peer.send(&case);
            peer.expect(MessageKind::MessageError);
            peer.expect_end();
        }
        for goodbye in [
            close_connection(Version::V1_2),
            message_error(Version::V1_2),
        ] {
            let mut peer = live.connect();
            peer.send(&goodbye);
            peer.expect_end();
        }
        live.end();
    });
}

/// Conformance: robustness - messages cut or changed, against a live server
#[test]
fn random_octets_do_no_harm() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, short_message_time());
        let mut state = 0x1234_5678_9ABC_DEF1_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for round in 0..500 {
            let len = random() as usize % 300;
            let mut octets: Vec<u8> = (0..len).map(|_| random() as u8).collect();
            // Half of them look like messages of the right length.
            if round % 2 == 0 && len > HEADER_LEN {
                octets[..4].copy_from_slice(b"GIOP");
                octets[4] = 1;
                octets[5] %= 3;
                octets[6] &= 3;
                octets[7] %= 8;
                let size = (len - HEADER_LEN) as u32;
                let size = match octets[6] & 1 {
                    1 => size.to_le_bytes(),
                    _ => size.to_be_bytes(),
                };
                octets[8..12].copy_from_slice(&size);
            }
            let mut peer = live.connect();
            let _ = peer.try_send(&octets);
            peer.finish_sending();
            peer.expect_end();
        }
        live.end();
    });
}

/// Conformance: robustness - slow peers are cut off, idle and busy ones are not
#[test]
fn a_peer_that_trickles_a_message_is_cut_off() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, short_message_time());
        let whole = request(RequestLine::new(2, "echo_octets"), |w| {
            w.write_octets(&[0; 60_000]);
        });
        let mut peer = live.connect();
        let limit = Instant::now() + orbium_testkit::PATIENCE;
        for octet in whole {
            assert!(Instant::now() < limit, "the peer is never cut off");
            if !peer.try_send(&[octet]) {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        peer.expect_end();
        live.end();
    });
}

/// Conformance: robustness - slow peers are cut off, idle and busy ones are not
#[test]
fn a_message_left_unfinished_in_fragments_is_cut_off() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, short_message_time());
        let mut first = request(RequestLine::new(2, "echo_octets"), |w| {
            w.write_octets(&[0; 60]);
        });
        first[6] |= 2;
        let mut peer = live.connect();
        peer.send(&first);
        peer.expect_end();
        live.end();
    });
}

/// Conformance: robustness - slow peers are cut off, idle and busy ones are not
#[test]
fn a_peer_that_is_idle_between_messages_is_left_alone() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, short_message_time());
        let mut peer = live.connect();
        for id in 0..3 {
            thread::sleep(Duration::from_millis(300));
            peer.send(&request(RequestLine::new(id, "noop"), |_| {}));
            assert_eq!(peer.receive().reply().0, id);
        }
        live.end();
    });
}

/// Sends halves of messages for longer than one of them may take; whether all were
/// served.
fn pipeline(strategy: ServerStrategy, message_time: Duration) -> bool {
    let limits = Limits {
        message_time,
        ..Limits::default()
    };
    let live = Live::new(strategy, limits);
    let mut peer = live.connect();
    let one = request(
        RequestLine {
            response: orbium::giop::ResponseFlags::None,
            ..RequestLine::new(2, "post")
        },
        |w| w.write_u32(1),
    );
    // Every send ends within a message.
    let (head, tail) = one.split_at(one.len() / 2);
    let middle = [tail, head].concat();
    let last = [tail, &request(RequestLine::new(4, "noop"), |_| {})].concat();
    let limit = Instant::now() + 4 * message_time;
    let mut sent = 0;
    let mut is_open = peer.try_send(head);
    while is_open && Instant::now() < limit {
        is_open = peer.try_send(&middle);
        sent += 1;
        thread::sleep(Duration::from_millis(5));
    }
    is_open = is_open && peer.try_send(&last);
    let answer = is_open.then(|| peer.try_receive()).flatten();
    // Who is cut off may be told that the connection ends.
    let answer = answer.filter(|answer| answer.kind() == MessageKind::Reply);
    if let Some(answer) = &answer {
        assert_eq!(answer.reply().0, 4);
        assert_eq!(live.served.state.posted().len(), sent + 1);
    }
    live.end();
    answer.is_some()
}

/// Conformance: robustness - slow peers are cut off, idle and busy ones are not
#[test]
fn a_busy_pipelining_client_is_not_taken_for_a_slow_one() {
    each_strategy(|strategy| {
        // One that gets no processor for so long is slow.
        with_time_enough(Duration::from_millis(200), |time| pipeline(strategy, time));
    });
}

/// Conformance: robustness - connections: many, too many, half closed
/// Conformance: TAO 32 - connects and disconnects leave nothing
#[test]
fn thousands_of_connections_come_and_go() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let live = Live::new(strategy, Limits::default());
            let before = descriptors();
            for round in 0..2000 {
                let mut peer = live.connect();
                match round % 4 {
                    0 => {}
                    1 => peer.send(b"GIOP"),
                    2 => peer.send(&request(RequestLine::new(2, "noop"), |_| {})),
                    _ => {
                        peer.send(&request(RequestLine::new(2, "noop"), |_| {}));
                        peer.receive().reply();
                    }
                }
                drop(peer);
            }
            // Those of tests that run beside this one come and go.
            eventually("the descriptors are given back", || {
                descriptors() < before + 500
            });
            live.end();
        });
    });
}

/// Conformance: robustness - connections: many, too many, half closed
/// Conformance: TAO 31 - `accept` without descriptors recovers - connections beyond the limit
#[test]
fn connections_beyond_the_limit_are_closed_and_room_is_made_when_others_go() {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            limits: Limits {
                connections: 10,
                ..Limits::default()
            },
            ..Config::default()
        });
        let call = |peer: &mut Peer| peer.try_send(&request(RequestLine::new(2, "noop"), |_| {}));
        let mut within_limit: Vec<Peer> = (0..10).map(|_| Peer::connect(served.port())).collect();
        for peer in &mut within_limit {
            assert!(call(peer));
            peer.receive().reply();
        }
        let mut beyond = Peer::connect(served.port());
        beyond.expect_end();
        within_limit.truncate(5);
        eventually("there is room again", || {
            let mut peer = Peer::connect(served.port());
            call(&mut peer)
                && peer
                    .try_receive()
                    .is_some_and(|m| m.kind() == MessageKind::Reply)
        });
        served.end();
    });
}

/// Conformance: robustness - memory follows octets received
#[test]
fn memory_follows_what_was_sent_and_not_what_was_claimed() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let live = Live::new(strategy, Limits::default());
            let mut header = request(RequestLine::new(2, "echo_octets"), |w| w.write_octets(&[]));
            header.truncate(HEADER_LEN);
            header[8..12].copy_from_slice(&(200_u32 << 20).to_ne_bytes());
            let before = resident_octets();
            let peers: Vec<Peer> = (0..300)
                .map(|_| {
                    let mut peer = live.connect();
                    peer.send(&header);
                    peer.send(&[0; 1000]);
                    peer
                })
                .collect();
            // Behind all of them, so they were looked at.
            let mut last = live.connect();
            last.send(&request(RequestLine::new(2, "noop"), |_| {}));
            last.receive().reply();
            thread::sleep(Duration::from_millis(100));
            let grown = resident_octets().saturating_sub(before);
            assert!(grown < 48 << 20, "{grown} octets for 300 KiB sent");
            drop(peers);
            live.end();
        });
    });
}

/// Conformance: robustness - memory follows octets received
#[test]
fn a_count_larger_than_the_message_takes_no_memory() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, Limits::default());
        let mut peer = live.connect();
        for count in [1, 100, 0x7FFF_FFFF, u32::MAX] {
            peer.send(&request(RequestLine::new(2, "echo_octets"), |w| {
                w.write_u32(count);
            }));
            let (_, status, body) = peer.receive().reply();
            assert_eq!(status, orbium::giop::ReplyStatus::SystemException);
            let text = String::from_utf8_lossy(&body).into_owned();
            assert!(text.contains("MARSHAL"), "{text}");
        }
        live.end();
    });
}

/// Conformance: robustness - connections: many, too many, half closed
#[test]
fn half_closed_connections_are_answered_and_ended() {
    each_strategy(|strategy| {
        let live = Live::new(strategy, Limits::default());
        let mut peer = live.connect();
        peer.send(&request(RequestLine::new(2, "noop"), |_| {}));
        peer.stream().shutdown(Shutdown::Write);
        assert_eq!(peer.receive().reply().0, 2);
        peer.expect_end();
        live.end();
    });
}

/// The same from a server: its clients get exceptions, and nothing else.
///
/// Conformance: robustness - a hostile server
#[test]
fn the_caller_gets_an_exception_for_any_answer_of_a_server() {
    let server = FakeServer::listen();
    let client = orbium_testkit::client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    let good = reply(
        2,
        ByteOrder::NATIVE,
        0,
        orbium::giop::ReplyStatus::NoException,
        |w| w.write_octets(b"text\0"),
    );
    let script = orbium_testkit::spawn(move || {
        let mut place = 0;
        while place < good.len() {
            let mut peer = server.accept();
            while place < good.len() {
                let Some(message) = peer.try_receive() else {
                    break;
                };
                if message.kind() != MessageKind::Request {
                    break;
                }
                let mut garbled = good.clone();
                garbled[12..16].copy_from_slice(&message.request().id.to_ne_bytes());
                garbled[place] = 0xFF;
                place += 1;
                // Ends what would be too long, or for nobody.
                if !peer.try_send(&garbled) || !(20..24).contains(&(place - 1)) && place < 33 {
                    break;
                }
            }
        }
        good.len()
    });
    let calls = move || {
        let mut calls = 0;
        while !script.is_finished() {
            // Any answer but a panic or a hang will do.
            let _ =
                orbium::Interface::with_timeout(&target, Duration::from_secs(1)).echo_string("x");
            calls += 1;
        }
        (calls, script.join().unwrap())
    };
    let (calls, places) = within("the calls", calls);
    assert!(calls >= places);
}
