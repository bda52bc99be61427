// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fairness between clients: the requests of one client are served in turns with those of
//! others, and compressed ones are inflated part by part.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::giop::ResponseFlags;
use orbium::{
    Config, Orb,
    config::{Limits, ServerStrategy},
};
use orbium_cdr::CdrWriter;
use orbium_giop::messaging::ziop::Ziop;
use orbium_testkit::{
    Peer, RequestLine, Served, client, each_strategy, eventually, request, within,
};

const MIB: usize = 1 << 20;

/// Requests that others may have to wait for: a turn of each of two connections, and
/// those that were begun before.
const FAIR: usize = 64;

/// Requests that are in the buffer of their connection at once.
const PIPELINED: u32 = 2000;

fn act(id: u32, v: i32) -> Vec<u8> {
    request(RequestLine::new(id, "act"), |w| {
        w.write_u32(v.cast_unsigned());
    })
}

fn octets(count: usize) -> impl FnOnce(&mut CdrWriter<'_>) {
    move |w| {
        w.write_u32(u32::try_from(count).unwrap());
        w.write_raw(&vec![0; count]);
    }
}

fn oneway(id: u32, operation: &str) -> RequestLine<'_> {
    RequestLine {
        response: ResponseFlags::None,
        ..RequestLine::new(id, operation)
    }
}

/// Has the server receive thousands of requests `act` of one connection at once, the
/// first of which is `act(0)`.
fn pipeline(served: &Served) -> Peer {
    let mut peer = Peer::connect(served.port());
    // As much as this is received at once from now on.
    peer.send(&request(oneway(1, "pour"), octets(1_000_000)));
    eventually("a large message is served", || served.state.calls() == 1);
    // In that time nothing is received.
    let mut busy = Peer::connect(served.port());
    busy.send(&request(RequestLine::new(1, "gate"), |_| {}));
    served.state.gate.await_waiting(1);
    for id in 0..PIPELINED {
        peer.send(&act(2 * id, id.cast_signed()));
    }
    served.state.gate.open();
    busy.receive();
    peer
}

fn with_one_thread(test: impl Fn(ServerStrategy)) {
    for strategy in [
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 1 },
    ] {
        eprintln!("with server strategy {strategy}");
        test(strategy);
    }
}

/// A reactor looked at its poller only when nothing was left of what it had received: the
/// others waited for 700 requests and more.
#[test]
fn a_client_that_pipelines_leaves_others_their_turn() {
    with_one_thread(|strategy| {
        let served = Served::new(strategy);
        let other = Arc::new(Mutex::new(Peer::connect(served.port())));
        let (begun, before) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        {
            let (other, begun, before) =
                (Arc::clone(&other), Arc::clone(&begun), Arc::clone(&before));
            served.state.on_act(move |_, v| {
                match v {
                    0 => other.lock().unwrap().send(&act(2, -1)),
                    -1 => before.store(begun.load(Ordering::SeqCst), Ordering::SeqCst),
                    _ => {}
                }
                begun.fetch_add(1, Ordering::SeqCst);
                Ok(v)
            });
        }
        let mut peer = pipeline(&served);
        for _ in 0..PIPELINED {
            peer.receive();
        }
        other.lock().unwrap().receive();
        let before = before.load(Ordering::SeqCst);
        assert!(before <= FAIR, "{before} requests went first, {strategy}");
        served.end();
    });
}

/// Nor did it look at what was due.
#[test]
fn a_client_that_pipelines_does_not_stop_the_clock() {
    with_one_thread(|strategy| {
        let time = Duration::from_secs(1);
        let served = Served::with(Config {
            strategy,
            limits: Limits {
                message_time: time,
                ..Limits::default()
            },
            ..Config::default()
        });
        // Its time is over while the requests of another are served.
        let mut late = Peer::connect(served.port());
        late.send(&act(2, 7)[..20]);
        let target = served.seen_by(&client());
        for _ in 0..3 {
            target.echo_long(1).unwrap();
        }
        let late = Arc::new(Mutex::new(late));
        let ended = Arc::new(AtomicUsize::new(0));
        {
            let (late, ended) = (Arc::clone(&late), Arc::clone(&ended));
            served.state.on_act(move |_, v| {
                if v == 0 {
                    thread::sleep(2 * time);
                }
                if v == 64 && !late.lock().unwrap().is_silent(time) {
                    ended.store(1, Ordering::SeqCst);
                }
                Ok(v)
            });
        }
        let mut peer = Peer::connect(served.port());
        peer.send(&request(oneway(1, "pour"), octets(1_000_000)));
        eventually("a large message is served", || served.state.calls() == 4);
        let mut busy = Peer::connect(served.port());
        busy.send(&request(RequestLine::new(1, "gate"), |_| {}));
        served.state.gate.await_waiting(1);
        for id in 0..PIPELINED {
            peer.send(&act(2 * id, id.cast_signed()));
        }
        served.state.gate.open();
        for _ in 0..PIPELINED {
            peer.receive();
        }
        assert_eq!(ended.load(Ordering::SeqCst), 1, "{strategy}");
        served.end();
    });
}

/// The thread that read inflated it all at once, for up to a second: no other client was
/// served in that time.
#[test]
fn others_are_served_while_a_message_is_inflated() {
    each_strategy(|strategy| {
        let endpoint = "iiop://127.0.0.1:0?messaging=ziop";
        let served = Served::with(Config {
            endpoints: vec![endpoint.parse().unwrap()],
            strategy,
            limits: Limits {
                message_size: 256 * MIB,
                peer_memory: Some(2048 * MIB),
                decompression_ratio: 2000,
                ..Limits::default()
            },
            ..Config::default()
        });
        let plain = served.seen_by(&client());
        plain.echo_long(1).unwrap();
        let posts: i32 = 500;
        let attacker = {
            let mut config = Config::default();
            let layer = Ziop::default().with_ratio(usize::MAX);
            config.protocols.register_messaging(Arc::new(layer));
            Orb::new(config).unwrap()
        };
        let attacked = served.seen_by(&attacker);
        let sending = orbium_testkit::spawn(move || {
            // Less than 255,000 octets on the wire.
            attacked.pour(&vec![0; 200 * MIB]).unwrap();
            for id in 0..posts {
                attacked.post(id).unwrap();
            }
        });
        eventually("a message is inflated", || {
            served.orb.peer_memory().held > 8 * MIB
        });
        let (served_before, mut own) = (served.state.calls(), 0);
        // Until the large message is served.
        let others = within("others' calls", {
            let (state, plain) = (Arc::clone(&served.state), plain.clone());
            move || {
                while state.calls() - served_before == 2 * own {
                    plain.echo_long(1).unwrap();
                    plain.post(-1).unwrap();
                    own += 1;
                    eventually("a oneway is served", || {
                        state.calls() - served_before >= 2 * own
                    });
                }
                own
            }
        });
        assert!(others >= 20, "{others} calls meanwhile, {strategy}");
        let all = usize::try_from(posts).unwrap() + usize::try_from(others).unwrap();
        eventually("every oneway is served", || {
            served.state.posted().len() == all
        });
        sending.join().unwrap();
        served.end();
    });
}
