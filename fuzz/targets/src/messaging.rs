// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fuzzing of messaging protocols, multicast packets and media frames.

use std::sync::Arc;

use orbium::media::datagram::{Fragment, Received, Receiver, ReceiverLimits};
use orbium_giop::messaging::{
    Fixed, GiopLite, MAX_OVERHEAD, Message, Messaging, Session, Side, Stack, ziop::Ziop,
};
use orbium_giop::miop::{Accepted, Collector, CollectorLimits, PacketHeader, PacketPlan};
use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind, PlainRequest, ReplyHeader};

/// Octets of the largest message.
const LIMIT: usize = 4096;

/// Messaging protocols on top of one another, by number.
pub const STACKS: usize = 5;

const PACKETS: CollectorLimits = CollectorLimits {
    message: LIMIT,
    messages: 4,
    total: 6000,
    age: 40,
    remembered: 3,
};

const FRAMES: ReceiverLimits = ReceiverLimits {
    frame: LIMIT,
    frames: 4,
    total: 6000,
};

/// By the first octet: frames of a stack as they come from the wire; GIOP
/// messages through a stack and back; datagrams of MIOP; datagrams of media.
pub fn messaging(input: &[u8]) {
    let Some((which, octets)) = input.split_first() else {
        return;
    };
    let which = usize::from(*which);
    match which / STACKS {
        0 => from_the_wire(&stack(which), octets),
        1 => through_and_back(&stack(which - STACKS), octets),
        2 => packets(octets),
        _ => frames(octets),
    }
}

/// A stack by its number. `ziop` always tries, however small the message is.
#[must_use]
pub fn stack(number: usize) -> Stack {
    let ziop = || Arc::new(Ziop::default().with_low_water(0).with_level(1)) as Arc<dyn Messaging>;
    let layers: Vec<Arc<dyn Messaging>> = match number {
        0 => vec![Arc::new(GiopLite)],
        1 => vec![Arc::new(Fixed)],
        2 => vec![ziop()],
        3 => vec![Arc::new(GiopLite), ziop()],
        _ => vec![Arc::new(Fixed), ziop()],
    };
    Stack::new(layers).expect("a sensible stack")
}

/// What one end makes of the octets. Messages that came out go in again, and
/// must come out the same at the other end.
fn from_the_wire(layer: &Stack, octets: &[u8]) {
    let mut receiver = layer.session(Side::Server, LIMIT);
    let mut again = Relay::new(layer);
    let mut rest = octets;
    while let Ok(Some(len)) = receiver.decoder.frame_len(rest) {
        assert!(len > 0 && len <= LIMIT + 4 * MAX_OVERHEAD);
        let Some((frame, behind)) = rest.split_at_checked(len) else {
            break;
        };
        for short in 0..len.min(32) {
            let told = receiver.decoder.frame_len(&frame[..short]);
            assert!(matches!(told, Ok(None)) || told == Ok(Some(len)));
        }
        short_header(frame);
        let mut message = Vec::new();
        if receiver.decoder.decode(frame, &mut message).is_err() {
            return;
        }
        assert!(message.len() <= LIMIT);
        if Message::new(&[&message]).giop_header().is_ok() {
            let message = canonical(&message);
            assert_eq!(again.pass(&[&message]), message);
        }
        rest = behind;
    }
}

/// The ways to read a short header agree.
fn short_header(frame: &[u8]) {
    let Some(head) = frame.first_chunk() else {
        return;
    };
    let Some(header) = MessageHeader::parse_short(head) else {
        return;
    };
    let mut body = frame[HEADER_LEN..].to_vec();
    match header.kind {
        MessageKind::Request => {
            let mut reader = header.reader(&mut body);
            let read = header.read_request(head, &mut reader).ok();
            let found = PlainRequest::find_short(frame);
            let parts = found.map(|it| (it.request_id, it.response, it.operation));
            let read = read.map(|it| (it.request_id, it.response, it.operation.to_vec()));
            let named = |at: std::ops::Range<usize>| frame[HEADER_LEN..][at].to_vec();
            assert_eq!(
                read,
                parts.map(|(id, response, at)| (id, response, named(at)))
            );
        }
        _ => {
            if let Some(plain) = ReplyHeader::plain(&header, frame) {
                assert_eq!(plain.request_id, MessageHeader::short_id(head));
                assert!(plain.body <= frame.len());
            }
        }
    }
}

/// GIOP messages, in pieces, from one end to the other.
fn through_and_back(layer: &Stack, octets: &[u8]) {
    let mut relay = Relay::new(layer);
    let mut rest = octets;
    while let Some((head, behind)) = rest.split_first_chunk::<HEADER_LEN>() {
        let Ok(header) = MessageHeader::parse(head) else {
            return;
        };
        let size = (header.size as usize).min(behind.len());
        if HEADER_LEN + size > LIMIT {
            return;
        }
        let (body, behind) = behind.split_at(size);
        let header = MessageHeader {
            size: size as u32,
            ..header
        };
        let message = [&header.encode()[..], body].concat();
        // Anywhere, but the same for the same input.
        let (first, second) = message.split_at(message.len() - size.min(rest.len() % 50));
        assert_eq!(relay.pass(&[first, second]), message);
        rest = behind;
    }
}

/// The message without bits of its flags that mean nothing.
fn canonical(message: &[u8]) -> Vec<u8> {
    let header = Message::new(&[message]).giop_header().expect("a message");
    [&header.encode()[..], &message[HEADER_LEN..]].concat()
}

struct Relay {
    sender: Session,
    receiver: Session,
}

impl Relay {
    fn new(layer: &Stack) -> Self {
        Self {
            sender: layer.session(Side::Client, LIMIT),
            receiver: layer.session(Side::Server, LIMIT),
        }
    }

    fn pass(&mut self, pieces: &[&[u8]]) -> Vec<u8> {
        let message = Message::new(pieces);
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        let sent = self.sender.encoder.encode(message, &mut head, &mut tail);
        let body: Vec<_> = message.slices(sent.expect("a GIOP message")).collect();
        let frame = [&head[..], &body.concat(), &tail].concat();
        assert!(frame.len() <= message.len() + 2 * MAX_OVERHEAD);
        let decoder = &mut self.receiver.decoder;
        assert_eq!(decoder.frame_len(&frame), Ok(Some(frame.len())));
        let mut received = Vec::new();
        decoder
            .decode(&frame, &mut received)
            .expect("what was sent");
        received
    }
}

/// Datagrams, each behind an octet for its length.
fn datagrams(mut octets: &[u8]) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let (len, rest) = octets.split_first()?;
        let (datagram, rest) = rest.split_at(rest.len().min(usize::from(*len)));
        octets = rest;
        Some(datagram)
    })
}

fn packets(octets: &[u8]) {
    let mut collector = Collector::new(PACKETS);
    for (now, packet) in datagrams(octets).enumerate() {
        let sender = packet.len() % 2;
        let message = match collector.accept(&sender, packet, now as u64) {
            Ok(Accepted::Whole(range)) => packet[range].to_vec(),
            Ok(Accepted::Completed(message)) => message,
            _ => Vec::new(),
        };
        assert!(message.len() <= PACKETS.message);
        assert!(collector.octets() <= PACKETS.total && collector.len() <= PACKETS.messages);
        let mut again = Collector::new(CollectorLimits::default());
        let mut came = None;
        for packet in PacketPlan::new(message.len(), [7; 12], 48).expect("room for data") {
            let packet = [&packet.head[..], &message[packet.range]].concat();
            assert!(PacketHeader::parse(&packet).is_ok());
            came = Some(again.accept(&(), &packet, 0).expect("what was cut"));
        }
        match came.expect("one at least") {
            Accepted::Whole(range) => assert_eq!(range.len(), message.len()),
            Accepted::Completed(whole) => assert_eq!(whole, message),
            other => panic!("{other:?}"),
        }
    }
    collector.expire(u64::MAX);
    assert!(collector.is_empty() && collector.octets() == 0);
}

fn frames(octets: &[u8]) {
    let stream = datagrams(octets).find_map(|datagram| {
        let fragment = Fragment::parse(datagram).ok()?;
        Some(fragment.header.stream)
    });
    let mut receiver = Receiver::new(stream.unwrap_or(0), FRAMES);
    let (mut frames, mut taken) = (0, 0);
    for datagram in datagrams(octets) {
        if let Ok(fragment) = Fragment::parse(datagram) {
            let head = fragment.header.encode(fragment.index, fragment.count);
            assert_eq!(head, datagram[..head.len()]);
        }
        match receiver.accept(datagram) {
            Ok(Received::Frame(frame)) => {
                assert!(frame.payload.len() <= FRAMES.frame);
                frames += 1;
            }
            Ok(_) => {}
            Err(_) => continue,
        }
        taken += 1;
        assert!(receiver.octets() <= FRAMES.total);
    }
    let told = receiver.statistics();
    assert_eq!(told.frames, frames);
    assert!(told.frames + told.duplicates + told.stale <= taken && told.late <= frames);
}
