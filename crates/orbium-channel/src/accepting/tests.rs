// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acceptors with clients that never stop coming.

use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium_transport::TcpByteStream;

use super::*;

/// Has a client waiting that many times.
#[derive(Debug)]
struct Queue {
    waiting: AtomicUsize,
    listener: TcpListener,
    stream: TcpStream,
}

impl Queue {
    fn of(clients: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        Self {
            waiting: AtomicUsize::new(clients),
            listener,
            stream,
        }
    }
}

impl Acceptor for Queue {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        let left = waiting.checked_sub(1).ok_or(io::ErrorKind::WouldBlock)?;
        self.waiting.store(left, Ordering::Relaxed);
        Ok(Box::new(TcpByteStream::new(self.stream.try_clone()?)))
    }

    fn source(&self) -> &dyn AsFd {
        &self.listener
    }

    fn address(&self) -> &'static str {
        "nowhere"
    }
}

/// An acceptor with a pending client that cannot be accepted: it fails with that error.
#[derive(Debug)]
struct Failing(fn() -> io::Error, Queue);

impl Acceptor for Failing {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Err((self.0)())
    }

    fn source(&self) -> &dyn AsFd {
        self.1.source()
    }

    fn address(&self) -> &'static str {
        "nowhere"
    }
}

/// The endpoints that still accept after the first of two has failed with that error, and whether a
/// connection may be closed to make room.
fn accepting_after(error: fn() -> io::Error) -> (Vec<usize>, bool) {
    let poller = Poller::new().unwrap();
    let mut accepting = Accepting::default();
    accepting.add(0, Box::new(Failing(error, Queue::of(1))), &poller);
    accepting.add(1, Box::new(Queue::of(1)), &poller);
    let accepts = || {
        let mut ready = Vec::new();
        poller.wait(&mut ready, Some(Duration::ZERO)).unwrap();
        let mut places: Vec<_> = ready.iter().map(|it| place_of(it.token)).collect();
        places.sort_unstable();
        places
    };
    assert_eq!(accepts(), [0, 1]);
    assert!(accepting.accept(token(0), &poller).is_none());
    let (accepted_at, makes_room) = (accepts(), accepting.is_paused());
    while let Some(left) = accepting.resume(&poller) {
        poller.wait(&mut Vec::new(), Some(left)).unwrap();
    }
    assert_eq!(accepts(), [0, 1]);
    (accepted_at, makes_room)
}

/// Regression: any error of one endpoint paused all of them and closed an idle connection.
#[test]
fn an_endpoint_that_fails_by_itself_pauses_alone() {
    let refused = || io::ErrorKind::PermissionDenied.into();
    assert_eq!(accepting_after(refused), (vec![1], false));
    let nothing = || io::ErrorKind::WouldBlock.into();
    assert_eq!(accepting_after(nothing), (vec![0, 1], false));
    let exhausted = || io::ErrorKind::OutOfMemory.into();
    assert_eq!(accepting_after(exhausted), (vec![], true));
}

/// The number of pending connections that are taken over before the acceptor is closed.
fn taken_on_before_closing(clients: usize) -> usize {
    let poller = Poller::new().unwrap();
    let mut accepting = Accepting::default();
    accepting.add(0, Box::new(Queue::of(clients)), &poller);
    assert!(accepting.changes().close(0));
    let mut taken = 0;
    assert!(accepting.apply_changes(&poller, &mut |_, _| taken += 1));
    assert_eq!(accepting.open().count(), 0);
    taken
}

/// Regression: clients that reconnect as soon as they are refused occupied the thread, which also
/// serves others, and blocked the thread that closes the endpoint.
#[test]
fn an_acceptor_is_closed_however_many_clients_come() {
    assert_eq!(taken_on_before_closing(1000), 1000);
    assert!(taken_on_before_closing(20_000) < 20_000);
}
