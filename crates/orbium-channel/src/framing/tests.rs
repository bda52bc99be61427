// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes of receives: batches of messages, slow senders and scarce memory.

use orbium_cdr::ByteOrder;
use orbium_giop::Version;

use super::*;

const LEN: usize = 1100;

/// `count` requests of [`LEN`] octets.
fn requests(count: usize) -> Vec<u8> {
    let header = MessageHeader {
        version: Version::V1_2,
        order: ByteOrder::NATIVE,
        more_fragments: false,
        kind: MessageKind::Request,
        size: u32::try_from(LEN - HEADER_LEN).unwrap(),
    };
    let mut message = vec![0; LEN];
    message[..HEADER_LEN].copy_from_slice(&header.encode());
    message.repeat(count)
}

/// Receives once from the peer's octets, and consumes the messages that have arrived whole. Returns
/// the number of octets received.
fn receive(framing: &mut Framing, sent: &[u8]) -> usize {
    let received = framing.push(sent).unwrap();
    while let Some(header) = framing.next().unwrap() {
        framing.consume(&header);
    }
    received
}

/// A connection over which messages follow each other without a pause.
fn flooded(budget: &Budget) -> Framing {
    let mut framing = Framing::new(1 << 20, budget);
    let sent = requests(300);
    let mut at = 0;
    while at < sent.len() {
        at += receive(&mut framing, &sent[at..]);
    }
    framing
}

/// Regression: a part of a message was moved to the start of the buffer before each receive.
#[test]
fn as_many_messages_are_received_as_are_whole() {
    let mut framing = flooded(&Budget::NONE);
    let sent = requests(300);
    for _ in 0..3 {
        let received = receive(&mut framing, &sent);
        assert!((BULK..BULK + LEN).contains(&received), "{received}");
        assert!(framing.received().is_empty());
    }
}

/// Regression: each pause of a sender released the buffer, and the next one had to be zeroed.
#[test]
fn room_is_kept_for_a_sender_that_pauses_now_and_then() {
    let budget = Budget::new(Some(64 << 20), 100);
    let mut framing = flooded(&budget);
    let one = requests(1);
    for _ in 1..MAX_SMALL_RECEIVES {
        receive(&mut framing, &one);
    }
    assert!(receive(&mut framing, &requests(300)) >= BULK);
    for _ in 0..MAX_SMALL_RECEIVES {
        receive(&mut framing, &one);
    }
    assert_eq!(budget.figures().held, 0, "it has given up");
    assert_eq!(receive(&mut framing, &requests(300)), SMALL);
}

#[test]
fn little_is_received_while_memory_is_scarce() {
    let budget = Budget::new(Some(256 << 10), 100);
    let mut framing = flooded(&budget);
    let mut other = budget.charge();
    other.set(70 << 10).unwrap();
    receive(&mut framing, &requests(2));
    assert_eq!(budget.figures().held, 70 << 10);
}

/// A stream from which nothing may be received.
#[derive(Debug)]
struct Untouched;

impl ByteStream for Untouched {
    fn receive(&self, _room: &mut [u8]) -> io::Result<usize> {
        panic!("bytes are received where messages are put");
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        Ok(octets.len())
    }

    fn send_vectored(&self, _pieces: &[io::IoSlice<'_>]) -> io::Result<usize> {
        Ok(0)
    }

    fn set_timeouts(
        &self,
        _receive: Option<Option<std::time::Duration>>,
        _send: Option<Option<std::time::Duration>>,
    ) -> io::Result<()> {
        Ok(())
    }

    fn set_nonblocking(&self, _nonblocking: bool) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self, _how: std::net::Shutdown) {}

    fn peer(&self) -> orbium_transport::Peer {
        orbium_transport::Peer::Unknown
    }

    fn source(&self) -> &dyn std::os::fd::AsFd {
        panic!("nothing is waited for");
    }
}

#[test]
fn where_messages_are_put_nothing_is_received() {
    let of = |octets: usize| {
        let mut message = requests(1);
        message.resize(octets, 0);
        let size = u32::try_from(octets - HEADER_LEN).unwrap();
        let header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
        message[..HEADER_LEN].copy_from_slice(&MessageHeader { size, ..header }.encode());
        message
    };
    for octets in [100, SMALL - 1, SMALL, SMALL + 1, 100_000] {
        let framing = Framing::with_octets(1 << 20, of(octets), &Budget::NONE);
        let mut framing = framing.with_deliveries(true);
        for _ in 0..2 {
            let two = [of(octets), of(100)].concat();
            while let Some(header) = framing.next().unwrap() {
                framing.consume(&header);
                assert!(framing.receive_little(&Untouched).is_none(), "{octets}");
            }
            assert!(framing.take_memory().len() <= SMALL);
            framing.put_messages(two);
        }
    }
}
