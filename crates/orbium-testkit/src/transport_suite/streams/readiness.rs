// SPDX-License-Identifier: MIT OR Apache-2.0
//! Readiness of non-blocking streams in a poller.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_sys::{Interest, Poller, Ready};
use orbium_transport::ByteStream;

use crate::transport_suite::Subject;
use crate::transport_suite::ends::{
    Ends, await_change, fill, from_either_end, is_full, pattern, receive_all, send_all,
    sending_source,
};
use crate::waiting::{PATIENCE, within};

const TOKEN: u64 = 7;

/// A poller that watches one stream or acceptor.
struct Watch(Poller);

impl Watch {
    fn new(source: &dyn std::os::fd::AsFd, interest: Interest) -> Self {
        let poller = Poller::new().expect("a poller");
        poller.add(source, TOKEN, interest).expect("a source");
        Self(poller)
    }

    fn is_ready(&self, time: Duration) -> bool {
        let mut ready = Vec::new();
        self.0.wait(&mut ready, Some(time)).expect("a poller");
        assert!(ready.iter().all(|ready| *ready == Ready { token: TOKEN }));
        !ready.is_empty()
    }

    #[track_caller]
    fn await_ready(&self, what: &str) {
        crate::eventually(what, || self.is_ready(PATIENCE));
    }

    /// The number of spurious wake-ups.
    fn idle_wake_ups(&self, mut on_wake_up: impl FnMut()) -> usize {
        let mut wake_ups = 0;
        for _ in 0..50 {
            if self.is_ready(Duration::from_millis(4)) {
                wake_ups += 1;
                on_wake_up();
            }
        }
        wake_ups
    }
}

/// Receives once, as a reactor does: the number of octets, or none.
#[track_caller]
fn receive_once(stream: &dyn ByteStream, room: &mut [u8]) -> Option<usize> {
    match stream.receive(room) {
        Ok(received) => Some(received),
        Err(error) if is_full(&error) || error.kind() == io::ErrorKind::Interrupted => None,
        Err(error) => panic!("cannot receive: {error}"),
    }
}

/// Receives once for each wake-up and while the stream has buffered data; returns the number of
/// wake-ups.
fn receive_by_wake_ups(stream: &dyn ByteStream, len: usize, step: usize) -> usize {
    let watch = Watch::new(stream.source(), Interest::Read);
    let mut room = vec![0; step];
    let (mut place, mut wake_ups) = (0, 0);
    while place < len {
        watch.await_ready(&format!("octets behind {place} of {len}"));
        wake_ups += 1;
        loop {
            match receive_once(stream, &mut room) {
                Some(0) => panic!("ended after {place} of {len} octets"),
                Some(count) => {
                    assert!(
                        room[..count] == pattern(place, count),
                        "other octets at {place}"
                    );
                    place += count;
                }
                None => break,
            }
            if !stream.has_buffered() {
                break;
            }
        }
    }
    assert_eq!(place, len);
    wake_ups
}

/// Every octet of a message sent in various ways is detected by the poller alone, with about as
/// many wake-ups as arrivals.
///
/// Conformance: streams - readiness: nothing lost, no spinning
pub fn a_poller_sees_every_octet(subject: &Subject) {
    const LEN: usize = 1 << 20;
    from_either_end(subject, |Ends { server, client }| {
        server.set_nonblocking(true).expect("a stream");
        within("octets through a poller", move || {
            let sender = thread::spawn(move || {
                let mut place = 0;
                for step in [1, 10, 100, 4096, 70_000].into_iter().cycle() {
                    let step = step.min(LEN - place);
                    send_all(&*client, &pattern(place, step)).expect("a connection");
                    place += step;
                    if place == LEN {
                        break;
                    }
                    if step == 100 {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
                client
            });
            let wake_ups = receive_by_wake_ups(&*server, LEN, 8192);
            // About 130 sends, and 128 receives of 8 KiB at least.
            assert!(wake_ups < 2000, "{wake_ups} wake-ups for 1 MiB");
            sender.join().expect("the sender");
        });
    });
}

/// A receive with a small buffer leaves the rest detectable: the source stays ready, or the stream
/// reports buffered data.
///
/// Conformance: streams - readiness: nothing lost, no spinning
pub fn octets_left_in_the_stream_show(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        server.set_nonblocking(true).expect("a stream");
        for step in [1, 10, 1000] {
            send_all(&*client, &pattern(0, 5000)).expect("a connection");
            let wake_ups = receive_by_wake_ups(&*server, 5000, step);
            assert!(
                wake_ups <= 5000 / step + 50,
                "{wake_ups} for {step} at a time"
            );
        }
    });
}

/// A stream without data is not ready, neither initially nor when everything was received.
///
/// Conformance: streams - readiness: nothing lost, no spinning
pub fn an_idle_stream_is_not_ready(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        server.set_nonblocking(true).expect("a stream");
        let watch = Watch::new(server.source(), Interest::Read);
        let idle = |when: &str| {
            let wake_ups = watch.idle_wake_ups(|| {
                // The handshake of the transport may still send data.
                assert_eq!(receive_once(&*server, &mut [0; 64]), None, "{when}");
            });
            assert!(wake_ups <= 3, "{wake_ups} wake-ups of 50 {when}");
            assert!(!server.has_buffered(), "{when}");
        };
        idle("at first");
        for len in [1, 100, 5000] {
            send_all(&*client, &pattern(0, len)).expect("a connection");
            let mut received = 0;
            while received < len {
                await_change(&*server, Interest::Read);
                received += receive_once(&*server, &mut [0; 9000]).unwrap_or(0);
            }
            idle("after a message");
            // Sending does not make it ready to receive.
            send_all(&*server, &pattern(0, 100)).expect("a connection");
            receive_all(&*client, 100, 100);
            idle("after an answer");
        }
    });
}

/// A full stream is not ready to send until the reader takes data; then it is.
///
/// Conformance: streams - readiness: nothing lost, no spinning
pub fn a_full_stream_is_ready_only_when_there_is_room(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        client.set_nonblocking(true).expect("a stream");
        within("room in a full stream", move || {
            let mut sent = fill(&*client, 0);
            let watch = Watch::new(&*sending_source(&*client), Interest::Write);
            // Octets in transit may still free some space.
            let wake_ups = watch.idle_wake_ups(|| sent += fill(&*client, sent));
            assert!(wake_ups <= 10, "{wake_ups} wake-ups of 50");
            // Refused octets have to be sent again, which is done here.
            let whole = sent + 60_000;
            let reader = thread::spawn(move || {
                assert!(receive_all(&*server, whole, 1 << 16) == pattern(0, whole));
            });
            watch.await_ready("room to send");
            while sent < whole {
                await_change(&*client, Interest::Write);
                match client.send(&pattern(sent, whole - sent)) {
                    Ok(taken) => sent += taken,
                    Err(error) => assert!(is_full(&error), "{error}"),
                }
            }
            reader.join().expect("all octets");
        });
    });
}

/// The end of the peer's sending makes the stream ready, and so do its crash, and the end of the
/// own reading.
///
/// Conformance: streams - readiness: nothing lost, no spinning
pub fn the_end_shows(subject: &Subject) {
    type Ending = fn(&dyn ByteStream, Arc<dyn ByteStream>);
    let endings: [Ending; 3] = [
        |_, client| {
            client.shutdown(Shutdown::Write);
            // It stays open; only the end of sending is signalled.
            std::mem::forget(client);
        },
        |_, client| drop(client),
        |server, client| {
            server.shutdown(Shutdown::Both);
            drop(client);
        },
    ];
    for end in endings {
        from_either_end(subject, |Ends { server, client }| {
            server.set_nonblocking(true).expect("a stream");
            let watch = Watch::new(server.source(), Interest::Read);
            send_all(&*client, b"last").expect("a connection");
            await_change(&*server, Interest::Read);
            while receive_once(&*server, &mut [0; 16]).is_none() {
                await_change(&*server, Interest::Read);
            }
            end(&*server, client);
            crate::eventually("the end shows", || {
                watch.is_ready(PATIENCE)
                    && !server
                        .receive(&mut [0; 16])
                        .is_err_and(|error| is_full(&error))
            });
        });
    }
}

/// An acceptor is ready when a connection is pending, and only then.
///
/// Conformance: streams - readiness: nothing lost, no spinning
pub fn a_waiting_connection_shows(subject: &Subject) {
    let acceptor = subject.listen();
    let connector = subject.connector(acceptor.address());
    let watch = Watch::new(acceptor.source(), Interest::Read);
    let idle = || {
        watch.idle_wake_ups(|| {
            let accepted = acceptor.accept();
            assert!(accepted.is_err_and(|error| is_full(&error)));
        })
    };
    assert_eq!(idle(), 0);
    for _ in 0..3 {
        let client = {
            let connector = subject.connector(acceptor.address());
            thread::spawn(move || crate::transport_suite::ends::connect(&*connector))
        };
        watch.await_ready("a connection");
        let server = crate::transport_suite::ends::accept(&*acceptor);
        crate::transport_suite::ends::welcome(&*server);
        client.join().expect("a connection");
        assert!(idle() <= 1);
    }
    // Several concurrent ones are all accepted.
    let clients: Vec<_> = (0..5)
        .map(|_| {
            let connector = subject.connector(acceptor.address());
            thread::spawn(move || crate::transport_suite::ends::connect(&*connector))
        })
        .collect();
    for _ in 0..5 {
        // One for each wake-up, as a reactor does.
        let mut accepted = None;
        crate::eventually("a connection", || {
            accepted = watch
                .is_ready(PATIENCE)
                .then(|| acceptor.accept().ok())
                .flatten();
            accepted.is_some()
        });
        let server = accepted.expect("a connection");
        server.set_nonblocking(false).expect("a stream");
        crate::transport_suite::ends::welcome(&*server);
    }
    for client in clients {
        client.join().expect("a connection");
    }
    drop(connector);
}
