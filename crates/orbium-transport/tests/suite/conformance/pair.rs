// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two ends of a stream, and what to do with them.

use std::io;
use std::time::Duration;

use orbium_sys::{Interest, wait_for};
use orbium_transport::{
    Acceptor, ByteStream, Deadline, ListenError, ProtocolProperties, StreamTransport,
};

/// Time after which a test that waits has failed.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn deadline() -> Deadline {
    Deadline::after(Some(LONG))
}

pub(crate) fn try_listen(
    transport: &dyn StreamTransport,
    endpoint: &str,
) -> Result<Box<dyn Acceptor>, ListenError> {
    transport.listen(&endpoint.parse().unwrap(), &ProtocolProperties::default())
}

pub(crate) fn listen(transport: &dyn StreamTransport, endpoint: &str) -> Box<dyn Acceptor> {
    try_listen(transport, endpoint).unwrap()
}

pub(crate) fn connect(
    transport: &dyn StreamTransport,
    address: &str,
) -> io::Result<Box<dyn ByteStream>> {
    let connector = transport.connector(address, &ProtocolProperties::default());
    connector.unwrap().connect(deadline())
}

/// Whether the source is ready, waiting for it at most `time`.
pub(crate) fn is_ready(stream: &dyn ByteStream, interest: Interest, time: Duration) -> bool {
    let source = stream.source();
    let until = Deadline::after(Some(time));
    loop {
        let left = until.remaining().ok().flatten().unwrap_or_default();
        match wait_for([(&source, interest)], Some(left)).unwrap() {
            [true] => return true,
            [false] if left.is_zero() => return false,
            [false] => {}
        }
    }
}

pub(crate) fn accept(acceptor: &dyn Acceptor) -> Box<dyn ByteStream> {
    let until = deadline();
    loop {
        match acceptor.accept() {
            Ok(stream) => return stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = until.remaining().expect("nobody has connected");
                let source = acceptor.source();
                wait_for([(&source, Interest::Read)], left).unwrap();
            }
            Err(error) => panic!("cannot accept: {error}"),
        }
    }
}

/// The client's end and the server's.
pub(crate) fn pair(
    transport: &dyn StreamTransport,
    endpoint: &str,
) -> (Box<dyn ByteStream>, Box<dyn ByteStream>) {
    let acceptor = listen(transport, endpoint);
    let client = connect(transport, acceptor.address()).unwrap();
    let server = accept(&*acceptor);
    for stream in [&client, &server] {
        stream
            .set_timeouts(Some(Some(LONG)), Some(Some(LONG)))
            .unwrap();
    }
    (client, server)
}

/// Octets that show when some are lost or exchanged.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

pub(crate) fn send_all(stream: &dyn ByteStream, mut octets: &[u8]) -> io::Result<()> {
    while !octets.is_empty() {
        match stream.send(octets) {
            Ok(sent) => octets = &octets[sent..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                assert!(is_ready(stream, Interest::Write, LONG), "never writable");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Receives so many octets, or up to the end.
pub(crate) fn receive_up_to(stream: &dyn ByteStream, length: usize) -> io::Result<Vec<u8>> {
    let mut octets = vec![0; length];
    let mut received = 0;
    while received < length {
        match stream.receive(&mut octets[received..]) {
            Ok(0) => break,
            Ok(count) => received += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                assert!(is_ready(stream, Interest::Read, LONG), "never readable");
            }
            Err(error) => return Err(error),
        }
    }
    octets.truncate(received);
    Ok(octets)
}
