// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections for tests, both ends in this process.

use std::io;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use orbium_shm::{ShmOptions, ShmTransport};
use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, ProtocolProperties, StreamTransport,
};

/// Long enough for anything under any load.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A name that no other test has.
pub(crate) fn name() -> String {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    format!("@orbium-shm-test-{}-{number}", process::id())
}

/// Listens at an address with parameters.
pub(crate) fn listen(address: &str) -> Box<dyn Acceptor> {
    let endpoint = format!("shmiop://{address}").parse().unwrap();
    ShmTransport::default()
        .listen(&endpoint, &ProtocolProperties::default())
        .unwrap()
}

pub(crate) fn connector(address: &str) -> Box<dyn Connector> {
    ShmTransport::default()
        .connector(address, &ProtocolProperties::default())
        .unwrap()
}

pub(crate) fn connect(address: &str) -> io::Result<Box<dyn ByteStream>> {
    connector(address).connect(Deadline::after(Some(LONG)))
}

/// Accepts one, waiting for it.
pub(crate) fn accept(acceptor: &dyn Acceptor) -> Box<dyn ByteStream> {
    let source = acceptor.source();
    orbium_sys::wait_for([(&source, orbium_sys::Interest::Read)], Some(LONG)).unwrap();
    acceptor.accept().unwrap()
}

/// Both ends of a connection, the client's first.
pub(crate) fn pair(options: ShmOptions) -> (Box<dyn ByteStream>, Box<dyn ByteStream>) {
    let transport = ShmTransport::new(options);
    let address = name();
    let endpoint = format!("shmiop://{address}").parse().unwrap();
    let properties = ProtocolProperties::default();
    let acceptor = transport.listen(&endpoint, &properties).unwrap();
    let connector = transport.connector(&address, &properties).unwrap();
    std::thread::scope(|scope| {
        let client = scope.spawn(|| connector.connect(Deadline::after(Some(LONG))).unwrap());
        let server = accept(&*acceptor);
        (client.join().unwrap(), server)
    })
}

/// Sends all of it.
pub(crate) fn send_all(stream: &dyn ByteStream, mut octets: &[u8]) -> io::Result<()> {
    while !octets.is_empty() {
        let sent = stream.send(octets)?;
        assert!(sent > 0 && sent <= octets.len());
        octets = &octets[sent..];
    }
    Ok(())
}

/// Receives that many octets, or up to the end.
pub(crate) fn receive_all(stream: &dyn ByteStream, count: usize) -> io::Result<Vec<u8>> {
    let mut octets = vec![0; count];
    let mut received = 0;
    while received < count {
        match stream.receive(&mut octets[received..])? {
            0 => break,
            more => received += more,
        }
    }
    octets.truncate(received);
    Ok(octets)
}

/// Octets that differ from place to place.
pub(crate) fn pattern(count: usize, seed: usize) -> Vec<u8> {
    (0..count)
        .map(|i| ((i + seed).wrapping_mul(0x9e37_79b1) >> 16) as u8)
        .collect()
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
