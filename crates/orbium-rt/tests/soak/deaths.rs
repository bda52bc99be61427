// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that die in each phase of a call: servers, with clients of every
//! strategy; clients, with servers of every strategy.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium_cdr::ByteOrder;
use orbium_core::{ExceptionKind, Interface, ServerStrategy};
use orbium_giop::ReplyStatus;
use orbium_testkit::{Peer, RequestLine, Served, dead_port, reference, reply, request, within};
use orbium_transport::TcpByteStream;

use crate::measure::{Fault, Run};
use crate::parties::{each_client, each_server, seen_by_each};

pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "no server at all",
        most: usize::MAX,
        run: no_server,
    },
    Fault {
        name: "a server that dies before it reads",
        most: usize::MAX,
        run: |run| dying_server(run, |_| {}),
    },
    Fault {
        name: "a server that dies with the request",
        most: usize::MAX,
        run: |run| dying_server(run, |mut peer| drop(peer.try_receive())),
    },
    Fault {
        name: "a server that dies within the header of a reply",
        most: usize::MAX,
        run: |run| dying_server(run, |peer| answer(peer, |whole| &whole[..7])),
    },
    Fault {
        name: "a server that dies within a reply",
        most: usize::MAX,
        run: |run| dying_server(run, |peer| answer(peer, |whole| &whole[..whole.len() - 1])),
    },
    Fault {
        name: "a server that dies after its reply",
        most: usize::MAX,
        run: |run| dying_server(run, |peer| answer(peer, |whole| whole)),
    },
    Fault {
        name: "a client that dies once it is connected",
        most: usize::MAX,
        run: |run| dying_client(run, |_, _| {}),
    },
    Fault {
        name: "a client that dies within the header of a request",
        most: usize::MAX,
        run: |run| {
            dying_client(run, |peer, whole| {
                let _ = peer.try_send(&whole[..7]);
            });
        },
    },
    Fault {
        name: "a client that dies within a request",
        most: usize::MAX,
        run: |run| {
            dying_client(run, |peer, whole| {
                let _ = peer.try_send(&whole[..whole.len() - 1]);
            });
        },
    },
    Fault {
        name: "a client that dies before its reply",
        most: usize::MAX,
        run: |run| {
            dying_client(run, |peer, whole| {
                let _ = peer.try_send(whole);
            });
        },
    },
    Fault {
        name: "a client that dies within a large reply",
        most: usize::MAX,
        run: |run| {
            dying_client(run, |peer, _| {
                let large = request(RequestLine::new(2, "make"), |w| w.write_u32(256 << 10));
                if peer.try_send(&large) {
                    peer.receive_octets(&mut [0; 100]);
                }
            });
        },
    },
];

fn no_server(run: &mut Run) {
    let well = Served::new(ServerStrategy::ThreadPerConnection);
    let clients = each_client(&well, run);
    let text = reference(2, &[dead_port()], b"x", &[]).to_string();
    let targets = seen_by_each(&clients, &text);
    run.cycles(|n| {
        let refused = targets[n % targets.len()].echo_long(1).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Transient);
    });
    drop((clients, targets));
    well.end();
}

/// Reads a request and sends some of the answer.
fn answer(mut peer: Peer, part: fn(&[u8]) -> &[u8]) {
    let Some(message) = peer.try_receive() else {
        return;
    };
    let id = message.request().id;
    let status = ReplyStatus::NoException;
    let whole = reply(2, ByteOrder::NATIVE, id, status, |w| w.write_u32(1));
    peer.try_send(part(&whole));
}

fn dying_server(run: &mut Run, die: fn(Peer)) {
    let well = Served::new(ServerStrategy::ThreadPerConnection);
    let clients = each_client(&well, run);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let server = thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            die(Peer::over(Box::new(TcpByteStream::new(stream))));
        }
    });
    let text = reference(2, &[address.port()], b"x", &[]).to_string();
    let targets = seen_by_each(&clients, &text);
    let patient: Vec<_> = targets
        .iter()
        .map(|it| it.with_timeout(Duration::from_secs(30)))
        .collect();
    run.cycles(|n| {
        if let Err(exception) = patient[n % patient.len()].echo_long(1) {
            let lost = [ExceptionKind::CommFailure, ExceptionKind::Transient];
            assert!(lost.contains(&exception.kind), "{exception}");
        }
    });
    over.store(true, Ordering::SeqCst);
    drop(TcpStream::connect(address));
    within("the dying server", move || server.join().unwrap());
    drop((clients, targets, patient));
    well.end();
}

/// Clients that are not waited for: so many at most are ahead of their servers.
const MAX_UNAWAITED_CLIENTS: usize = 64;

fn dying_client(run: &mut Run, die: fn(&mut Peer, &[u8])) {
    let servers = each_server(run);
    let whole = request(RequestLine::new(2, "echo_long"), |w| w.write_u32(1));
    run.cycles(|n| {
        let server = &servers[n % servers.len()];
        let mut peer = Peer::connect(server.port());
        die(&mut peer, &whole);
        drop(peer);
        if n % MAX_UNAWAITED_CLIENTS == 0 {
            for server in &servers {
                let mut last = Peer::connect(server.port());
                last.send(&whole);
                assert_eq!(last.receive().reply().0, 2);
            }
        }
    });
    servers.into_iter().for_each(Served::end);
}
