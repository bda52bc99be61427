// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both ends of connections, and the data between them.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Instant;

use orbium_sys::{Interest, wait_for};
use orbium_transport::{Acceptor, ByteStream, Connector, Deadline};

use super::Subject;
use crate::peer::receive_patiently;
use crate::waiting::PATIENCE;

/// The two ends of a connection that has transmitted an octet in each direction, so that its
/// handshake is complete.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) server: Arc<dyn ByteStream>,
    pub(super) client: Arc<dyn ByteStream>,
}

/// The next connection.
#[track_caller]
pub(super) fn accept(acceptor: &dyn Acceptor) -> Arc<dyn ByteStream> {
    let limit = Instant::now() + PATIENCE;
    loop {
        match acceptor.accept() {
            Ok(stream) => {
                patient(&*stream);
                return Arc::from(stream);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = limit.saturating_duration_since(Instant::now());
                let ready = wait_for([(acceptor.source(), Interest::Read)], Some(left));
                assert!(
                    ready.is_ok_and(|[ready]| ready),
                    "nobody connects, it seems"
                );
            }
            // A connection was opened and closed again.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => panic!("cannot accept: {error}"),
        }
    }
}

/// Connects, and sends a greeting to the other side.
#[track_caller]
pub(super) fn connect(connector: &dyn Connector) -> Arc<dyn ByteStream> {
    try_connect(connector).expect("a connection")
}

/// Connects and sends a greeting, or returns the error.
pub(super) fn try_connect(connector: &dyn Connector) -> io::Result<Arc<dyn ByteStream>> {
    let stream = connector.connect(Deadline::after(Some(PATIENCE)))?;
    let patience = Some(Some(PATIENCE));
    stream.set_timeouts(patience, patience)?;
    let mut greeting = [0];
    if stream.send(b"?")? != 1 || receive_patiently(&*stream, &mut greeting)? != 1 {
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    assert_eq!(&greeting, b"!");
    Ok(Arc::from(stream))
}

/// Replies to [`connect`].
#[track_caller]
pub(super) fn welcome(stream: &dyn ByteStream) {
    try_welcome(stream).expect("a greeting");
}

pub(super) fn try_welcome(stream: &dyn ByteStream) -> io::Result<()> {
    let mut greeting = [0];
    if receive_patiently(stream, &mut greeting)? != 1 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    assert_eq!(&greeting, b"?");
    match stream.send(b"!")? {
        1 => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Sets time-outs, so that no operation on the stream blocks forever.
#[track_caller]
pub(super) fn patient(stream: &dyn ByteStream) {
    let patience = Some(Some(PATIENCE));
    stream.set_timeouts(patience, patience).expect("a timeout");
}

impl Ends {
    #[track_caller]
    pub(super) fn new(subject: &Subject) -> Self {
        let acceptor = subject.listen();
        let connector = subject.connector(acceptor.address());
        Self::between(&*acceptor, &*connector)
    }

    #[track_caller]
    pub(super) fn between(acceptor: &dyn Acceptor, connector: &dyn Connector) -> Self {
        thread::scope(|scope| {
            let client = scope.spawn(|| connect(connector));
            // Another process may have probed the port, and closed the connection again.
            let server = loop {
                let server = accept(acceptor);
                if try_welcome(&*server).is_ok() {
                    break server;
                }
            };
            let client = client.join().expect("a connection");
            Self { server, client }
        })
    }

    /// The same connection with the ends swapped.
    pub(super) fn swapped(self) -> Self {
        Self {
            server: self.client,
            client: self.server,
        }
    }

    pub(super) fn set_nonblocking(&self) {
        self.server.set_nonblocking(true).expect("a stream");
        self.client.set_nonblocking(true).expect("a stream");
    }
}

/// Runs a test from either end.
pub(super) fn from_either_end(subject: &Subject, test: impl Fn(Ends)) {
    test(Ends::new(subject));
    test(Ends::new(subject).swapped());
}

/// The period of the pattern: a prime, which divides no buffer size.
const PERIOD: usize = 65_521;

static PATTERN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let octet = |place: u64| (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
    (0..PERIOD as u64).map(octet).collect()
});

/// Octets that depend on their position.
pub(super) fn pattern(from: usize, len: usize) -> Vec<u8> {
    let first = from % PERIOD;
    let mut octets = PATTERN.repeat((first + len).div_ceil(PERIOD));
    octets.truncate(first + len);
    octets.split_off(first)
}

/// Sends all octets on a blocking stream.
pub(super) fn send_all(stream: &dyn ByteStream, mut octets: &[u8]) -> io::Result<()> {
    while !octets.is_empty() {
        match stream.send(octets) {
            Ok(0) => panic!("nothing was taken, and no reason given"),
            Ok(sent) => octets = &octets[sent..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sends all octets in pieces on a blocking stream.
pub(super) fn send_all_pieces(
    stream: &dyn ByteStream,
    mut pieces: &mut [IoSlice<'_>],
) -> io::Result<()> {
    IoSlice::advance_slices(&mut pieces, 0);
    while !pieces.is_empty() {
        match stream.send_vectored(pieces) {
            Ok(0) => panic!("nothing was taken, and no reason given"),
            Ok(sent) => IoSlice::advance_slices(&mut pieces, sent),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Receives so many octets on a blocking stream, `step` at a time.
#[track_caller]
pub(super) fn receive_all(stream: &dyn ByteStream, len: usize, step: usize) -> Vec<u8> {
    let mut octets = vec![0; len];
    let mut received = 0;
    while received < len {
        let until = len.min(received + step);
        match receive_patiently(stream, &mut octets[received..until]) {
            Ok(0) => panic!("ended after {received} of {len} octets"),
            Ok(count) => {
                assert!(count <= until - received, "more than there was room for");
                received += count;
            }
            Err(error) => panic!("after {received} of {len} octets: {error}"),
        }
    }
    octets
}

/// Requires an orderly end of the stream.
#[track_caller]
pub(super) fn expect_end(stream: &dyn ByteStream) {
    let received = receive_patiently(stream, &mut [0; 16]);
    assert!(matches!(received, Ok(0)), "not the end: {received:?}");
}

/// Whether an error means that the stream has ended, rather than that the operation would block.
pub(super) fn is_final(error: &io::Error) -> bool {
    !is_full(error) && error.kind() != io::ErrorKind::Interrupted
}

/// Whether an error means that the operation would block.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// Waits until the stream may have changed.
#[track_caller]
pub(super) fn await_change(stream: &dyn ByteStream, interest: Interest) {
    if interest == Interest::Read && stream.has_buffered() {
        return;
    }
    let sending = sending_source(stream);
    let source = match interest {
        Interest::Write => &*sending,
        _ => stream.source(),
    };
    let [ready] = wait_for([(source, interest)], Some(PATIENCE)).expect("a source");
    assert!(ready, "never ready: {interest:?}");
}

/// The source to wait on until the stream can send.
pub(super) fn sending_source(stream: &dyn ByteStream) -> Box<dyn AsFd + '_> {
    match stream.sending_source() {
        Some(source) => Box::new(source),
        None => Box::new(stream.source().as_fd()),
    }
}

/// Sends a pattern without blocking until the stream is full; returns the number of octets. The
/// other end does not receive.
#[track_caller]
pub(super) fn fill(stream: &dyn ByteStream, from: usize) -> usize {
    const CHUNK: usize = 60_000;
    let mut place = from;
    loop {
        match stream.send(&pattern(place, CHUNK)) {
            Ok(0) => panic!("nothing was taken, and no reason given"),
            Ok(sent) => place += sent,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_full(&error) => return place - from,
            Err(error) => panic!("after {place} octets: {error}"),
        }
        assert!(
            place - from < MAX_TAKEN,
            "{place} octets were taken for a reader that reads nothing"
        );
    }
}

/// Maximum number of octets that a stream accepts without a reader.
pub(super) const MAX_TAKEN: usize = 64 << 20;
