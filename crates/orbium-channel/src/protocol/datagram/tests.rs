// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sockets that receive more than messages, and packets of several senders.

use std::num::NonZeroU8;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium_giop::{MessageHeader, MessageKind, Version};

use super::super::packets::Giop;
use super::*;

/// The position of the message id in each packet.
const ID: std::ops::Range<usize> = 20..32;

/// Receives that many invalid datagrams, then one message, and then the shutdown.
#[derive(Debug)]
struct Noise {
    left: AtomicUsize,
    message: Vec<u8>,
    sent: Mutex<Vec<Vec<u8>>>,
    source: UnixStream,
}

impl Noise {
    fn new(datagrams: usize, message: &[u8]) -> Self {
        Self {
            left: AtomicUsize::new(datagrams + 1),
            message: message.to_vec(),
            sent: Mutex::new(Vec::new()),
            source: UnixStream::pair().unwrap().0,
        }
    }
}

impl Datagrams for Noise {
    fn receive(&self, room: &mut [u8]) -> io::Result<(usize, Peer)> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Ok((0, Peer::Unknown));
        }
        self.left.store(left - 1, Ordering::Relaxed);
        let octets = if left == 1 {
            &self.message[..]
        } else {
            &b"noise"[..]
        };
        room[..octets.len()].copy_from_slice(octets);
        Ok((octets.len(), Peer::InProcess))
    }

    fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        let whole = pieces.iter().flat_map(|piece| piece.iter().copied());
        self.sent.lock().push(whole.collect());
        Ok(())
    }

    fn largest(&self) -> usize {
        1000
    }

    fn set_timeout(&self, _timeout: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn set_nonblocking(&self, _nonblocking: bool) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self) {}

    fn source(&self) -> &dyn AsFd {
        &self.source
    }

    fn address(&self) -> &'static str {
        "nowhere"
    }
}

fn message() -> Vec<u8> {
    let header = MessageHeader {
        version: Version::V1_2,
        order: orbium_cdr::ByteOrder::NATIVE,
        more_fragments: false,
        kind: MessageKind::CloseConnection,
        size: 0,
    };
    header.encode().to_vec()
}

/// Regression: any process can send to a port of datagrams. The receiving thread did not return
/// while invalid ones arrived, and neither served its other connections nor noticed the end of the
/// server.
#[test]
fn a_flood_of_noise_leaves_turns_to_others_and_hides_no_message() {
    let message = message();
    let stream = DatagramStream {
        socket: Arc::new(Noise::new(1000, &message)),
        packets: Packets::of("diop", 1 << 20, None),
        receiving: receiving(&Giop, Side::Server, 1 << 20),
        serves: true,
        end: None,
    };
    let mut room = [0; 100];
    let mut turns = 0;
    let count = loop {
        match stream.receive(&mut room) {
            Ok(count) => break count,
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
        turns += 1;
    };
    assert_eq!(room[..count], message);
    assert!(turns > 0, "a thousand datagrams in one turn");
}

/// Regression: each connection numbered its messages from zero, and a receiver that distinguishes
/// them by their ids alone mixed the packets of several.
#[test]
fn no_two_messages_of_a_process_have_the_same_id() {
    let socket = Noise::new(0, &[]);
    for _ in 0..2 {
        let packets = Packets::of("miop", 1 << 20, None);
        packets.send(&socket, &[IoSlice::new(&message())]).unwrap();
    }
    let sent = socket.sent.lock();
    assert_eq!(sent.len(), 2);
    assert_eq!(&sent[0][..4], b"MIOP");
    assert_ne!(sent[0][ID], sent[1][ID]);
}

/// A message in copies arrives once, as long as one copy of each of its packets does. A datagram of
/// DIOP has no id by which a receiver detects duplicates, and is sent once.
#[test]
fn copies_make_up_for_lost_packets_and_arrive_once() {
    let copies = NonZeroU8::new(2);
    let body = [7; 2500];
    let octets = [&message()[..], &body].concat();
    let socket = Noise::new(0, &[]);
    let sender = Packets::of("miop", 1 << 20, copies);
    sender.send(&socket, &[IoSlice::new(&octets)]).unwrap();
    let mut sent = socket.sent.lock().clone();
    assert_eq!(sent.len(), 6);
    // Of the first copy the middle packet is lost.
    sent.remove(1);
    let receiver = Packets::of("miop", 1 << 20, None);
    let mut received = Vec::new();
    for packet in sent {
        let mut whole = Vec::new();
        let taken = receiver.unpack(&Peer::InProcess, &packet, &mut whole);
        assert!(taken.is_ok());
        received.extend((!whole.is_empty()).then_some(whole));
    }
    assert_eq!(received, [octets]);

    let socket = Noise::new(0, &[]);
    let sender = Packets::of("diop", 1 << 20, copies);
    sender.send(&socket, &[IoSlice::new(&message())]).unwrap();
    assert_eq!(socket.sent.lock().len(), 1);
}
