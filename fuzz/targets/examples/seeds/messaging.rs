// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeds of the target `messaging`: messages of all kinds, the frames that the
//! stacks make of them, and datagrams.

use orbium::media::datagram::{FrameHeader, FrameKind, Time};
use orbium_cdr::ByteOrder;
use orbium_fuzz_targets::{STACKS, stack};
use orbium_giop::messaging::{Message, Messaging, Side};
use orbium_giop::miop::PacketPlan;
use orbium_giop::{CancelRequest, Version, message_error};

use super::{Seeds, replies, requests};

impl Seeds {
    pub(super) fn messaging(&mut self) {
        for (minor, order) in [
            (0, ByteOrder::Little),
            (2, ByteOrder::Little),
            (2, ByteOrder::Big),
        ] {
            let version = Version { major: 1, minor };
            let mut all = requests(version, order);
            all.extend(replies(version, order));
            all.push(
                CancelRequest { request_id: 7 }
                    .message(version, order)
                    .to_vec(),
            );
            all.push(message_error(version).to_vec());
            // What comes again is shorter in some stacks.
            all.extend_from_within(..);
            for number in 0..STACKS {
                self.stacked(number, &all);
            }
        }
        let message = &requests(Version::V1_2, ByteOrder::NATIVE)[0];
        self.packets(message);
        self.frames();
    }

    fn stacked(&mut self, number: usize, messages: &[Vec<u8>]) {
        let mut session = stack(number).session(Side::Client, 4096);
        let mut frames = vec![number as u8];
        let mut plain = vec![(STACKS + number) as u8];
        for octets in messages {
            let pieces = [&octets[..]];
            let message = Message::new(&pieces);
            let (mut head, mut tail) = (Vec::new(), Vec::new());
            let sent = session.encoder.encode(message, &mut head, &mut tail);
            frames.extend(head);
            frames.extend(&octets[sent.expect("a GIOP message")]);
            frames.extend(tail);
            plain.extend(octets);
        }
        self.put(&frames);
        self.put(&plain);
    }

    fn packets(&mut self, message: &[u8]) {
        for largest in [64, 250] {
            let mut octets = vec![2 * STACKS as u8];
            for packet in PacketPlan::new(message.len(), [7; 12], largest).expect("room") {
                put_datagram(&mut octets, &[&packet.head, &message[packet.range]]);
            }
            self.put(&octets);
        }
    }

    fn frames(&mut self) {
        let mut octets = vec![3 * STACKS as u8];
        for (sequence, len) in [(0, 100), (1, 0), (4, 300), (2, 20), (70, 5)] {
            let header = FrameHeader {
                stream: 7,
                sequence,
                kind: FrameKind::Predicted,
                time: Time::Ticks(u64::from(sequence) * 3600),
            };
            let payload = vec![sequence as u8; len];
            for part in header.fragments(len, 90).expect("room") {
                put_datagram(&mut octets, &[&part.head, &payload[part.range]]);
            }
        }
        self.put(&octets);
    }
}

fn put_datagram(octets: &mut Vec<u8>, pieces: &[&[u8]]) {
    let datagram = pieces.concat();
    octets.push(u8::try_from(datagram.len()).expect("a small datagram"));
    octets.extend(datagram);
}
