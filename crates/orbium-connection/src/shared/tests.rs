// SPDX-License-Identifier: MIT OR Apache-2.0
//! Callers of a shared connection to a server that takes nothing until the deadline of one has passed.

use std::io::IoSlice;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::time::Duration;

use orbium_cdr::ByteOrder;
use orbium_channel::connection::Bounds;
use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind, Version};
use orbium_transport::Peer;

use super::*;

/// A stream that encrypts: after `WouldBlock` it goes on with the octets that it was given then.
#[derive(Clone, Debug, Default)]
struct Encrypting(Arc<Mutex<Sent>>);

#[derive(Debug, Default)]
struct Sent {
    /// There is room for more.
    has_room: bool,
    /// It encrypts before there is room.
    begins_early: bool,
    begun: Vec<u8>,
    wire: Vec<u8>,
}

impl ByteStream for Encrypting {
    fn receive(&self, _room: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        let mut sent = self.0.lock();
        if sent.begun.is_empty() && (sent.has_room || sent.begins_early) {
            sent.begun = octets.to_vec();
        }
        if octets.len() < sent.begun.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if !sent.has_room {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let begun = std::mem::take(&mut sent.begun);
        sent.wire.extend_from_slice(&begun);
        Ok(begun.len())
    }

    fn begun(&self) -> usize {
        self.0.lock().begun.len()
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        self.send(&pieces.concat())
    }

    fn set_timeouts(
        &self,
        _receive: Option<Option<Duration>>,
        _send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        Ok(())
    }

    fn set_nonblocking(&self, _nonblocking: bool) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self, _how: Shutdown) {}

    fn peer(&self) -> Peer {
        Peer::Unknown
    }

    fn source(&self) -> &dyn AsFd {
        panic!("no caller polls it");
    }
}

fn connection(stream: &Encrypting) -> Arc<MultiplexedConnection> {
    let counts = Arc::default();
    let counted = Counted::new(&counts, &Channel::giop("iiop", "127.0.0.1:1".to_owned()));
    let giop = Connection::new(Role::Client, Bounds::default(), &Budget::NONE);
    MultiplexedConnection::start(Box::new(stream.clone()), giop, false, counted).unwrap()
}

/// The next request of a caller, with so many octets behind its id.
fn request(slot: &CallSlot, octets: usize) -> Vec<u8> {
    let (last, distance) = slot.ids();
    let id = last + distance;
    let header = MessageHeader {
        version: Version::V1_2,
        order: ByteOrder::NATIVE,
        more_fragments: false,
        kind: MessageKind::Request,
        size: u32::try_from(4 + octets).unwrap(),
    };
    let mut message = header.encode().to_vec();
    message.extend_from_slice(&id.to_ne_bytes());
    message.resize(HEADER_LEN + 4 + octets, id.to_ne_bytes()[0]);
    message
}

/// The octets of the first were not repeated: a stream that encrypts sent them in place of those
/// of the second message, which it took for sent.
#[test]
fn a_message_that_the_stream_has_begun_with_goes_out_before_the_next() {
    for octets in [1, 100, 1000] {
        let stream = Encrypting::default();
        stream.0.lock().begins_early = true;
        let connection = connection(&stream);
        let (first, mut one) = connected(CallSlot::take(&connection).unwrap());
        let (second, mut other) = connected(CallSlot::take(&connection).unwrap());
        let messages = [request(&first, 100), request(&second, octets)];
        for stream in [&mut one, &mut other] {
            let timeout = Some(Duration::from_millis(20));
            stream.set_timeouts(None, Some(timeout)).unwrap();
        }
        let sent = one.send(&messages[0]);
        assert_eq!(sent.unwrap(), messages[0].len(), "the server may get it");
        let refused = other.send(&messages[1]).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        stream.0.lock().has_room = true;
        assert_eq!(other.send(&messages[1]).unwrap(), messages[1].len());
        assert_eq!(stream.0.lock().wire, messages.concat(), "{octets}");
    }
}

#[test]
fn a_message_that_the_stream_has_not_begun_with_is_not_sent_after_its_deadline() {
    let stream = Encrypting::default();
    let connection = connection(&stream);
    let (slot, caller) = connected(CallSlot::take(&connection).unwrap());
    let timeout = Some(Duration::from_millis(20));
    caller.set_timeouts(None, Some(timeout)).unwrap();
    let refused = caller.send(&request(&slot, 100)).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
    stream.0.lock().has_room = true;
    let message = request(&slot, 50);
    assert_eq!(caller.send(&message).unwrap(), message.len());
    assert_eq!(stream.0.lock().wire, message);
}
