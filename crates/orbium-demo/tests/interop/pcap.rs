// SPDX-License-Identifier: MIT OR Apache-2.0
//! A capture file, written by hand: Ethernet, IPv4, TCP, and a message in each
//! packet.

use crate::relay::{Chunk, Side};

/// The port of every server in the capture: the one registered for IIOP.
pub(crate) const SERVER_PORT: u16 = 2809;

/// Octets of a GIOP header.
const HEADER: usize = 12;

const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// A capture in the making.
#[derive(Debug)]
pub(crate) struct Capture {
    octets: Vec<u8>,
    frames: u32,
    conversations: u16,
    /// The messages, with the number of the frame that each is in.
    pub(crate) messages: Vec<(u32, Vec<u8>)>,
}

/// One TCP connection: where each side is.
struct Conversation {
    number: u16,
    /// The next sequence numbers: the client's, the server's.
    next: [u32; 2],
    /// Octets of messages that are not whole yet.
    begun: [Vec<u8>; 2],
}

fn place(side: Side) -> usize {
    match side {
        Side::Client => 0,
        Side::Server => 1,
    }
}

/// The messages that octets begin with; what is left of them stays.
fn whole_messages(octets: &mut Vec<u8>) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some(header) = octets.first_chunk::<HEADER>() {
        assert_eq!(&header[..4], b"GIOP", "not sent by orbium, or broken");
        let [.., a, b, c, d] = *header;
        // The lowest bit of the flags is the byte order, in every version.
        let size = match header[6] & 1 {
            1 => u32::from_le_bytes([a, b, c, d]),
            _ => u32::from_be_bytes([a, b, c, d]),
        };
        let len = HEADER + size as usize;
        if octets.len() < len {
            break;
        }
        let rest = octets.split_off(len);
        messages.push(std::mem::replace(octets, rest));
    }
    messages
}

/// The sum of 16-bit words that IP and TCP check.
fn checksum(octets: &[u8]) -> [u8; 2] {
    let mut sum = 0u32;
    for pair in octets.chunks(2) {
        let low = pair.get(1).copied().unwrap_or(0);
        sum += u32::from(u16::from_be_bytes([pair[0], low]));
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

impl Capture {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let mut octets = Vec::new();
        // Magic, version 2.4, no time zone, no accuracy, longest packet, Ethernet.
        octets.extend(0xA1B2_C3D4_u32.to_be_bytes());
        octets.extend(2u16.to_be_bytes());
        octets.extend(4u16.to_be_bytes());
        for field in [0u32, 0, 1 << 18, 1] {
            octets.extend(field.to_be_bytes());
        }
        Self {
            octets,
            frames: 0,
            conversations: 0,
            messages: Vec::new(),
        }
    }

    /// The file.
    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Adds the connections of a relay: what the sides in `ours` sent. Every
    /// connection has addresses of its own.
    pub(crate) fn add(&mut self, chunks: &[Chunk], ours: &[Side]) {
        let connections = chunks.iter().map(|chunk| chunk.connection + 1).max();
        for connection in 0..connections.unwrap_or(0) {
            let mut conversation = self.open();
            for chunk in chunks {
                if chunk.connection == connection && ours.contains(&chunk.from) {
                    let begun = &mut conversation.begun[place(chunk.from)];
                    begun.extend_from_slice(&chunk.octets);
                    for message in whole_messages(begun) {
                        self.segment(&mut conversation, chunk.from, PSH | ACK, &message);
                        self.messages.push((self.frames, message));
                    }
                }
            }
            assert!(
                conversation.begun.iter().all(Vec::is_empty),
                "a message was not sent whole"
            );
        }
    }

    /// A new connection, with the three packets that open it.
    fn open(&mut self) -> Conversation {
        self.conversations += 1;
        let number = self.conversations;
        let mut conversation = Conversation {
            number,
            next: [u32::from(number) << 16, u32::from(number) << 20],
            begun: Default::default(),
        };
        self.segment(&mut conversation, Side::Client, SYN, &[]);
        self.segment(&mut conversation, Side::Server, SYN | ACK, &[]);
        self.segment(&mut conversation, Side::Client, ACK, &[]);
        conversation
    }

    fn segment(&mut self, conversation: &mut Conversation, from: Side, flags: u8, data: &[u8]) {
        let here = place(from);
        let [high, low] = conversation.number.to_be_bytes();
        let hosts = [[10, 1, high, low], [10, 2, high, low]];
        let ports = [40_000 + conversation.number, SERVER_PORT];
        let acknowledged = if flags & ACK == 0 {
            0
        } else {
            conversation.next[1 - here]
        };

        let mut tcp = Vec::with_capacity(20 + data.len());
        tcp.extend(ports[here].to_be_bytes());
        tcp.extend(ports[1 - here].to_be_bytes());
        tcp.extend(conversation.next[here].to_be_bytes());
        tcp.extend(acknowledged.to_be_bytes());
        // Five words of header; a window; checksum and urgent pointer.
        tcp.extend([5 << 4, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
        tcp.extend_from_slice(data);
        let len = u16::try_from(tcp.len()).expect("a message that fits into a packet");
        let mut checked = [hosts[here], hosts[1 - here]].concat();
        checked.extend([0, 6]);
        checked.extend(len.to_be_bytes());
        checked.extend_from_slice(&tcp);
        tcp[16..18].copy_from_slice(&checksum(&checked));

        let total = len.checked_add(20).expect("room for the header of IP");
        let mut ip = vec![0x45, 0];
        ip.extend(total.to_be_bytes());
        // No identification, not to be fragmented, 64 hops, TCP, checksum.
        ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        ip.extend(hosts[here]);
        ip.extend(hosts[1 - here]);
        let sum = checksum(&ip);
        ip[10..12].copy_from_slice(&sum);

        let mut frame = Vec::new();
        for side in [1 - here, here] {
            frame.extend([2, 0, 0, side as u8, high, low]);
        }
        frame.extend([0x08, 0x00]);
        frame.extend(ip);
        frame.extend(tcp);
        self.frame(&frame);
        let counted = data.len() as u32 + u32::from(flags & SYN != 0);
        conversation.next[here] = conversation.next[here].wrapping_add(counted);
    }

    fn frame(&mut self, frame: &[u8]) {
        self.frames += 1;
        // A millisecond between packets.
        let (seconds, rest) = (self.frames / 1000, self.frames % 1000);
        let len = frame.len() as u32;
        for field in [seconds, rest * 1000, len, len] {
            self.octets.extend(field.to_be_bytes());
        }
        self.octets.extend_from_slice(frame);
    }
}
