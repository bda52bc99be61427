// SPDX-License-Identifier: MIT OR Apache-2.0
//! One client fills a queue, the others are served nonetheless: they heard TRANSIENT.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use orbium::config::ServerStrategy;
use orbium::giop::{
    MessageKind, ReplyStatus, ResponseFlags, Target as Addressed, Version, write_locate_request,
};
use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_testkit::{Peer, RequestLine, Served, client, eventually, request, within};

const QUEUE: usize = 8;

fn act(id: u32) -> Vec<u8> {
    request(RequestLine::new(id, "act"), |w| w.write_u32(id))
}

fn post(id: u32) -> Vec<u8> {
    let line = RequestLine {
        response: ResponseFlags::None,
        ..RequestLine::new(id, "post")
    };
    request(line, |w| w.write_u32(id))
}

/// Waits until all that the peer has sent was read. The thread that reads
/// answers this itself.
fn was_read(peer: &mut Peer) {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
    let target = Addressed::Key(b"Target");
    write_locate_request(&mut writer, Version::V1_2, 77, &target);
    peer.send(&writer.finish().unwrap());
    while peer.receive().kind() != MessageKind::LocateReply {}
}

fn pool(workers: usize) -> ServerStrategy {
    ServerStrategy::WorkerPool {
        workers,
        queue: QUEUE,
    }
}

/// A client has a worker wait at the gate, and fills the queue.
fn filled(served: &Served) -> Peer {
    let mut greedy = Peer::connect(served.port());
    greedy.send(&request(RequestLine::new(1, "gate"), |_| {}));
    served.state.gate.await_waiting(1);
    for id in 0..1000 {
        greedy.send(&act(2 * id + 3));
    }
    was_read(&mut greedy);
    assert_eq!(served.orb.refused_requests(), 1000 - QUEUE as u64);
    greedy
}

#[test]
fn connections_below_their_share_wait_for_a_place() {
    let served = Served::new(pool(1));
    let mut greedy = filled(&served);
    let lane = served.orb.own_lane().unwrap();
    let mut others: Vec<_> = (0..3).map(|_| Peer::connect(served.port())).collect();
    // Of eight places each of four connections has a share of two.
    let sent = |count| [2, 2, 1][count];
    for (count, other) in others.iter_mut().enumerate() {
        for id in 0..sent(count) {
            other.send(&act(2 * id + 1));
        }
        eventually("its first request waits", || {
            lane.waiting_requests() == QUEUE + count + 1
        });
    }
    let refused = served.orb.refused_requests();
    served.state.gate.open();
    for (count, other) in others.iter_mut().enumerate() {
        for id in 0..sent(count) {
            let (answered, status, _) = other.receive().reply();
            assert_eq!((answered, status), (2 * id + 1, ReplyStatus::NoException));
        }
    }
    assert_eq!(served.orb.refused_requests(), refused);
    // What had a place keeps it.
    let mut answered = Vec::new();
    while answered.len() <= QUEUE {
        let (id, status, _) = greedy.receive().reply();
        assert_eq!(status, ReplyStatus::NoException);
        answered.push(id);
    }
    assert_eq!(answered, [1, 3, 5, 7, 9, 11, 13, 15, 17]);
    // And reading goes on.
    for other in &mut others {
        was_read(other);
    }
    served.end();
}

#[test]
fn oneways_of_others_are_not_dropped() {
    let served = Served::new(pool(1));
    let _greedy = filled(&served);
    let lane = served.orb.own_lane().unwrap();
    let mut other = Peer::connect(served.port());
    for id in 1..=3 {
        other.send(&post(2 * id));
    }
    eventually("the first waits", || lane.waiting_requests() == QUEUE + 1);
    served.state.gate.open();
    eventually("all are served", || served.state.posted() == [2, 4, 6]);
    served.end();
}

#[test]
fn a_connection_that_waits_for_a_place_does_not_hinder_the_end() {
    let served = Served::new(pool(1));
    let mut greedy = filled(&served);
    let lane = served.orb.own_lane().unwrap();
    let mut other = Peer::connect(served.port());
    other.send(&[act(1), act(3), act(5)].concat());
    eventually("the first waits", || lane.waiting_requests() == QUEUE + 1);
    let (orb, state) = (served.orb.clone(), Arc::clone(&served.state));
    let ending = orbium_testkit::spawn(move || orb.shutdown(true));
    // What waits is not begun any more.
    eventually("the queue is closed", || lane.waiting_requests() == 0);
    state.gate.open();
    other.expect_end();
    greedy.expect_end();
    within("the end", move || ending.join().unwrap()).unwrap();
    assert_eq!(state.calls(), 1);
}

#[test]
fn a_client_that_is_lost_while_it_waits_gives_its_place_up() {
    let served = Served::new(pool(1));
    let mut greedy = filled(&served);
    let lane = served.orb.own_lane().unwrap();
    let mut other = Peer::connect(served.port());
    other.send(&act(1));
    eventually("it waits", || lane.waiting_requests() == QUEUE + 1);
    other.reset();
    served.state.gate.open();
    for _ in 0..=QUEUE {
        assert_eq!(greedy.receive().reply().1, ReplyStatus::NoException);
    }
    eventually("nothing waits", || lane.waiting_requests() == 0);
    served.end();
}

/// One client pipelines without end, others call.
fn others_call_at_the_same_time(served: &Served) {
    let over = Arc::new(AtomicBool::new(false));
    let greedy = Peer::connect(served.port());
    let greedy = {
        let over = Arc::clone(&over);
        let mut greedy = greedy;
        orbium_testkit::spawn(move || {
            let mut sent = 0_u32;
            while !over.load(Ordering::SeqCst) {
                for _ in 0..100 {
                    greedy.send(&act(2 * sent + 1));
                    sent += 1;
                }
                for _ in 0..100 {
                    greedy.receive().reply();
                }
            }
        })
    };
    let failed = Arc::new(Mutex::new(Vec::new()));
    let calling: Vec<_> = (0..3)
        .map(|_| {
            let (target, failed) = (served.seen_by(&client()), Arc::clone(&failed));
            orbium_testkit::spawn(move || {
                for v in 0..300 {
                    if let Err(error) = target.echo_long(v) {
                        failed.lock().unwrap().push(error.to_string());
                    }
                }
            })
        })
        .collect();
    within("ordinary calls", move || {
        calling.into_iter().for_each(|it| it.join().unwrap());
    });
    over.store(true, Ordering::SeqCst);
    greedy.join().unwrap();
    assert_eq!(*failed.lock().unwrap(), Vec::<String>::new());
    assert!(
        served.orb.refused_requests() > 0,
        "the queue was never full"
    );
}

#[test]
fn others_call_while_one_pipelines_to_a_worker_pool() {
    let served = Served::new(pool(2));
    others_call_at_the_same_time(&served);
    served.end();
}
