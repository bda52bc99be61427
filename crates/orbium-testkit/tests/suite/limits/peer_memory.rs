// SPDX-License-Identifier: MIT OR Apache-2.0
//! One budget for all that peers make an ORB hold: three unfinished messages of
//! 120 MiB ended a server of 1 GiB.

use orbium::giop::minor::{ORBIUM_VMCID, PEER_MEMORY};
use orbium::giop::{FragmentPlan, ReplyStatus};
use orbium::{
    Config, ExceptionKind, Interface, ObjectRef, Orb, asynchronous::Asynchronous, config::Limits,
};
use orbium_cdr::{CdrReader, Decode, Encode, Format};
use orbium_core::Operation;
use orbium_testkit::{
    Peer, RequestLine, Served, calling_by, each_client_strategy, each_strategy, eventually,
    request, within,
};

const MIB: usize = 1 << 20;

/// Limits with a budget of 8 MiB for all peers together.
fn scarce() -> Limits {
    Limits {
        peer_memory: Some(8 * MIB),
        ..Limits::default()
    }
}

fn echo_of(id: u32, octets: &[u8]) -> Vec<u8> {
    request(RequestLine::new(id, "echo_octets"), |w| {
        w.write_octets(octets);
    })
}

/// The answer to a request for which there is no memory.
fn expect_refusal(peer: &mut Peer, id: u32) {
    let (answered, status, mut body) = peer.receive().reply();
    assert_eq!((answered, status), (id, ReplyStatus::SystemException));
    let order = orbium_cdr::ByteOrder::NATIVE;
    let mut reader = CdrReader::new(&mut body, Format::plain(order, 2));
    let name = reader.read_name().unwrap().to_owned();
    assert_eq!(name, "IDL:omg.org/CORBA/NO_RESOURCES:1.0");
    assert_eq!(reader.read_u32(), Ok(ORBIUM_VMCID | PEER_MEMORY));
    assert_eq!(reader.read_u32(), Ok(1), "completed NO");
}

fn expect_echo(peer: &mut Peer, id: u32, octets: &[u8]) {
    let (answered, status, body) = peer.receive().reply();
    assert_eq!((answered, status), (id, ReplyStatus::NoException));
    assert_eq!(&body[4..], octets);
}

/// Conformance: ORB - one budget for all that peers make an ORB hold
#[test]
fn a_message_beyond_the_budget_is_refused_and_its_connection_goes_on() {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            limits: scarce(),
            ..Config::default()
        });
        let large = vec![7; 3 * MIB];
        let message = echo_of(1, &large);
        // Both leave most of a message unfinished.
        let mut peers = [(); 2].map(|()| Peer::connect(served.port()));
        peers[0].send(&message[..message.len() - 1]);
        eventually("the first is received", || {
            served.orb.peer_memory().held > 3 * MIB
        });
        let (start, rest) = message.split_at(message.len() - 1);
        peers[1].send(start);
        expect_refusal(&mut peers[1], 1);
        assert_eq!(served.orb.peer_memory().refused, 1);
        // What is refused is not kept, and others have room.
        eventually("the refused message is given back", || {
            served.orb.peer_memory().held < 4 * MIB
        });
        let (_client, target) = served.client();
        assert_eq!(target.echo_octets(&large[..MIB]).unwrap().len(), MIB);
        // Its connection goes on behind the rest, and the other's request is served.
        peers[1].send(rest);
        peers[1].send(&echo_of(2, &large[..1000]));
        expect_echo(&mut peers[1], 2, &large[..1000]);
        peers[0].send(rest);
        expect_echo(&mut peers[0], 1, &large);
        // Now there is room for it: soon, as the reply is sent before its request is given back.
        eventually("the request of the first is given back", || {
            served.orb.peer_memory().held < 3 * MIB
        });
        peers[1].send(&echo_of(3, &large));
        expect_echo(&mut peers[1], 3, &large);
        assert!(served.orb.peer_memory().most <= 8 * MIB);
        assert_eq!(served.orb.peer_memory().refused, 1);
        served.end();
    });
}

/// Conformance: ORB - one budget for all that peers make an ORB hold
#[test]
fn a_message_in_fragments_beyond_the_budget_is_refused_and_its_connection_goes_on() {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            limits: scarce(),
            ..Config::default()
        });
        let large = vec![7; 5 * MIB];
        let message = echo_of(1, &large);
        let plan = FragmentPlan::new(&message, message.len(), 64 << 10).expect("GIOP 1.2");
        let mut peer = Peer::connect(served.port());
        for part in plan {
            peer.send(part.head());
            peer.send(&message[part.range.clone()]);
        }
        expect_refusal(&mut peer, 1);
        peer.send(&echo_of(2, &large[..1000]));
        expect_echo(&mut peer, 2, &large[..1000]);
        eventually("all is given back", || served.orb.peer_memory().held == 0);
        assert!(served.orb.peer_memory().refused >= 1);
        served.end();
    });
}

/// Conformance: ORB - one budget for all that peers make an ORB hold
#[test]
fn a_reply_beyond_the_clients_budget_is_no_resources_and_the_next_call_is_answered() {
    each_client_strategy(|strategy| {
        let served = Served::new(orbium::config::ServerStrategy::ThreadPerConnection);
        let client = Orb::new(Config {
            limits: scarce(),
            ..calling_by(strategy)
        })
        .expect("an ORB");
        let target = served.seen_by(&client);
        for _ in 0..3 {
            let refused = within("a refusal", {
                let target = target.clone();
                move || target.make(6 * 1024 * 1024).unwrap_err()
            });
            assert_eq!(refused.kind, ExceptionKind::NoResources);
            assert_eq!(refused.minor, ORBIUM_VMCID | PEER_MEMORY);
            assert_eq!(target.echo_long(3), Ok(3));
        }
        assert_eq!(target.make(1024 * 1024).unwrap().len(), MIB);
        assert_eq!(client.peer_memory().refused, 3);
        eventually("all is given back", || {
            client.peer_memory().held <= MIB + 100
        });
        served.end();
    });
}

static MAKE: Operation = Operation::new("make");

fn make(object: &ObjectRef, octets: usize) -> Asynchronous<Vec<u8>> {
    object.call_async(&MAKE, octets as u32, Encode::encode, Vec::decode)
}

// A client took replies in fragments whatever they came to: only the size of each
// message was bounded, and not what all of them held.
/// Conformance: ORB - one budget for all that peers make an ORB hold
#[test]
fn a_reply_in_fragments_beyond_the_clients_budget_is_no_resources() {
    each_client_strategy(|strategy| {
        let served = Served::with(Config {
            fragment_size: Some(64 << 10),
            ..Config::default()
        });
        let client = Orb::new(Config {
            limits: scarce(),
            ..calling_by(strategy)
        })
        .expect("an ORB");
        let target = served.seen_by(&client);
        let object = target.as_object().clone();
        for round in 1..=3 {
            let refused = within("a refusal", {
                let (target, object) = (target.clone(), object.clone());
                move || {
                    [
                        target.make(6 << 20).unwrap_err(),
                        make(&object, 6 * MIB).wait().unwrap_err(),
                    ]
                }
            });
            for refused in refused {
                assert_eq!(refused.kind, ExceptionKind::NoResources);
                assert_eq!(refused.minor, ORBIUM_VMCID | PEER_MEMORY);
            }
            // The rest of the messages is passed over, and both connections go on.
            assert_eq!(target.echo_long(3), Ok(3));
            assert_eq!(make(&object, 100).wait().map(|it| it.len()), Ok(100));
            assert_eq!(client.peer_memory().refused, 2 * round);
        }
        assert_eq!(target.make(1 << 20).unwrap().len(), MIB);
        assert_eq!(make(&object, MIB).wait().unwrap().len(), MIB);
        assert!(client.peer_memory().most > 3 * MIB, "fragments are charged");
        eventually("all is given back", || {
            client.peer_memory().held <= MIB + 100
        });
        served.end();
    });
}

// Replies to asynchronous calls were copied out of the buffer that is charged, and
// the copies were charged to no budget for as long as the callers left them there.
/// Conformance: ORB - one budget for all that peers make an ORB hold
#[test]
fn replies_to_asynchronous_calls_are_charged_until_they_are_read() {
    for fragment_size in [None, Some(64 << 10)] {
        let served = Served::with(Config {
            fragment_size,
            ..Config::default()
        });
        let client = Orb::new(Config {
            limits: scarce(),
            ..Config::default()
        })
        .expect("an ORB");
        let object = served.seen_by(&client).as_object().clone();
        let arrived = |octets| {
            let call = make(&object, octets);
            eventually("the reply arrives", || {
                call.is_ready(Some(std::time::Duration::ZERO))
            });
            call
        };
        let first = arrived(2 * MIB);
        eventually("it is charged", || client.peer_memory().held >= 2 * MIB);
        let second = arrived(3 * MIB / 2);
        assert!(client.peer_memory().held >= 7 * MIB / 2);
        // Two large ones are kept: for a third there is no memory.
        let refused = arrived(5 * MIB / 2).wait().unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::NoResources);
        assert_eq!(refused.minor, ORBIUM_VMCID | PEER_MEMORY);
        assert_eq!(first.wait().unwrap().len(), 2 * MIB);
        assert_eq!(second.wait().unwrap().len(), 3 * MIB / 2);
        eventually("read, they are given back", || {
            client.peer_memory().held <= MIB + 100
        });
        assert_eq!(
            make(&object, 5 * MIB / 2).wait().unwrap().len(),
            5 * MIB / 2
        );
        let figures = client.peer_memory();
        assert_eq!(figures.refused, 1);
        assert!(figures.most <= 8 * MIB);
        served.end();
    }
}

// The reply was there whole, and there was no memory for its caller's copy: the exception that stands
// for it was read as the results of an asynchronous call.
/// Conformance: ORB - one budget for all that peers make an ORB hold
#[test]
fn a_reply_that_cannot_be_copied_for_its_caller_is_no_resources() {
    each_client_strategy(|strategy| {
        let served = Served::new(orbium::config::ServerStrategy::ThreadPerConnection);
        let client = Orb::new(Config {
            limits: Limits {
                peer_memory: Some(640 << 10),
                ..Limits::default()
            },
            ..calling_by(strategy)
        })
        .expect("an ORB");
        let target = served.seen_by(&client);
        let object = target.as_object().clone();
        for round in 1..=3 {
            let copies_of_callers = u64::from(strategy.is_multiplexed()) + 1;
            let (copied, shared) = within("the replies", {
                let (target, object) = (target.clone(), object.clone());
                move || (make(&object, 256 << 10).wait(), target.make(256 << 10))
            });
            let mut refused = vec![copied.expect_err("no memory")];
            match shared {
                Ok(octets) => assert_eq!(octets.len(), 256 << 10),
                Err(exception) => refused.push(exception),
            }
            assert_eq!(refused.len() as u64, copies_of_callers);
            for refused in refused {
                assert_eq!(refused.kind, ExceptionKind::NoResources);
                assert_eq!(refused.minor, ORBIUM_VMCID | PEER_MEMORY);
            }
            assert_eq!(target.echo_long(3), Ok(3));
            assert_eq!(make(&object, 100).wait().map(|it| it.len()), Ok(100));
            assert_eq!(client.peer_memory().refused, round * copies_of_callers);
        }
        served.end();
    });
}
