// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers from other threads, in every way that requests come.

use std::sync::Arc;
use std::thread;

use orbium::giop::{ReplyStatus, ResponseFlags};
use orbium::{
    Completion, Config, ExceptionKind, SystemException, config::ServerStrategy,
    poa::ForwardRequest, transport::Transport,
};
use orbium_shm::{ShmOptions, ShmTransport};
use orbium_testkit::{Peer, RequestLine, client, each_strategy, eventually, request};

use crate::fixture::{Servant, Served, seen_by, with_strategy};
use crate::later::{Desk, Refused, RefusedError};

/// Conformance: Messaging - asynchronous method handling: answers in any order, with every server strategy
#[test]
fn requests_of_one_connection_are_answered_in_any_order() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        for id in [2, 4, 6] {
            peer.send(&request(RequestLine::new(id, "take"), |w| w.write_u32(id)));
        }
        let mut tokens = vec![served.token(), served.token(), served.token()];
        tokens.sort_by_key(|token| token.0);
        // Others are served in the meantime.
        peer.send(&request(RequestLine::new(8, "now"), |w| w.write_u32(1)));
        assert_eq!(peer.receive().reply().0, 8);
        assert_eq!(served.orb.open_requests().count(), 3);
        while let Some((number, token)) = tokens.pop() {
            assert!(!token.is_cancelled());
            thread::spawn(move || token.ok(number + 1))
                .join()
                .unwrap()
                .unwrap();
            let (id, status, _) = peer.receive().reply();
            assert_eq!(
                (id, status),
                (number.cast_unsigned(), ReplyStatus::NoException)
            );
        }
        eventually("all are answered", || {
            served.orb.open_requests().count() == 0
        });
        served.end();
    });
}

fn of_scheme(endpoint: &str, strategy: ServerStrategy) -> Config {
    Config {
        endpoints: vec![endpoint.parse().unwrap()],
        fragment_size: Some(1024),
        ..with_strategy(strategy)
    }
}

/// Replies of one fragment and of many, over every transport of the ORB itself, while other
/// threads call: none is mixed with another.
///
/// Conformance: Messaging - asynchronous method handling: answers over every transport, in fragments
#[test]
fn late_answers_go_over_every_transport_and_in_fragments() {
    let folder = std::env::temp_dir().join(format!("orbium-later-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    each_strategy(|strategy| {
        let shm = Transport::stream(ShmTransport::new(ShmOptions::default()));
        let unix = format!("uiop://{}/socket", folder.display());
        let memory = format!("shmiop://{}/memory", folder.display());
        for (endpoint, transport) in [
            ("iiop://127.0.0.1:0", None),
            (unix.as_str(), None),
            (memory.as_str(), Some(shm)),
            ("inproc://later", None),
        ] {
            let served = Served::with(of_scheme(endpoint, strategy), transport);
            thread::scope(|scope| {
                for caller in 0..3 {
                    let desk = &served.desk;
                    scope.spawn(move || {
                        for size in [0, 100, 1000, 5000, 70_000, 300_000] {
                            let filled = desk.fill(size + caller).unwrap();
                            assert_eq!(filled, vec![7; (size + caller) as usize]);
                            assert_eq!(desk.now(5), Ok(5));
                        }
                    });
                }
            });
            served.end();
        }
    });
    std::fs::remove_dir_all(folder).unwrap();
}

/// The calling thread waits, and what it serves goes on: the servant answers by a thread that
/// first calls the ORB of the waiting one.
#[test]
fn a_caller_of_the_same_process_waits_for_the_answer() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (here, remote) = (served.here.clone(), served.desk.clone());
        let caller = thread::spawn(move || here.take(3));
        let (number, token) = served.token();
        assert_eq!(remote.now(number), Ok(3));
        token.ok(4).unwrap();
        assert_eq!(caller.join().unwrap(), Ok(4));
        served.end();
    });
}

/// Conformance: Messaging - asynchronous method handling: LOCATION_FORWARD through the token
#[test]
fn the_token_sends_clients_to_another_object() {
    each_strategy(|strategy| {
        let (served, other) = (Served::new(strategy), Served::new(strategy));
        for permanent in [false, true] {
            // A client of its own: others know where the first one was sent.
            let client = client();
            let desk = seen_by(&client, &served.orb, &served.here);
            let caller = thread::spawn(move || desk.take(1));
            let (_, token) = served.token();
            token.forward(&ForwardRequest {
                permanent,
                ..ForwardRequest::to(&other.here)
            });
            let (number, token) = other.token();
            token.ok(number + 10).unwrap();
            assert_eq!(caller.join().unwrap(), Ok(11));
            client.shutdown(true).unwrap();
        }
        served.end();
        other.end();
    });
}

/// Conformance: Messaging - asynchronous method handling: user and system exceptions through the token
#[test]
fn the_token_raises_what_the_operation_declares_and_system_exceptions() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let caller = served.call(1);
        served.token().1.raise(Refused { why: 5 }).unwrap();
        let refused = RefusedError::from(Refused { why: 5 });
        assert_eq!(caller.join().unwrap(), Err(refused));
        let caller = served.call(2);
        let exception = SystemException::omg(ExceptionKind::NoPermission, 7, Completion::No);
        served.token().1.raise(exception).unwrap();
        assert_eq!(caller.join().unwrap(), Err(exception.into()));
        served.end();
    });
}

/// Conformance: Messaging - asynchronous method handling: a oneway, confirmed or not, is answered by nothing more
#[test]
fn oneways_get_no_late_answer() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        for response in [ResponseFlags::None, ResponseFlags::SyncWithServer] {
            let line = RequestLine {
                response,
                ..RequestLine::new(2, "post")
            };
            peer.send(&request(line, |w| w.write_u32(1)));
            if response == ResponseFlags::SyncWithServer {
                assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
            }
            peer.send(&request(RequestLine::new(4, "now"), |w| w.write_u32(1)));
            assert_eq!(peer.receive().reply().0, 4);
        }
        assert_eq!(served.orb.open_requests().dropped(), 0);
        served.end();
    });
}

/// The token is dropped while the servant unwinds, and the client gets one answer.
#[test]
fn tokens_that_a_panic_unwinds_answer_unknown() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let panics = |_, _token| panic!("a servant panics with its token");
        let desk: Desk = served
            .orb
            .root_poa()
            .activate(Arc::new(Servant(Box::new(panics))))
            .unwrap();
        let desk = seen_by(&served.client, &served.orb, &desk);
        let Err(RefusedError::System(exception)) = desk.take(1) else {
            panic!("a system exception");
        };
        assert_eq!(exception.kind, ExceptionKind::Unknown);
        assert_eq!(exception.completed, Completion::Maybe);
        assert_eq!(served.desk.now(1), Ok(1));
        assert_eq!(served.orb.open_requests().dropped(), 0);
        served.end();
    });
}
