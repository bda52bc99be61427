// SPDX-License-Identifier: MIT OR Apache-2.0
//! Demultiplexer of a bidirectional connection: requests go to the serving half, replies to
//! the calling halves.

use orbium_cdr::ByteOrder;
use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind};

use crate::pending_requests::{Calls, HalfId};

/// Header and request id.
pub(crate) const HEAD: usize = HEADER_LEN + 4;

/// Where the bytes of a message go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Serving,
    Calling(HalfId),
    /// The call has been given up: late replies are discarded.
    Discard,
    /// All halves: the end.
    All,
}

/// What the bytes are handed to.
pub(crate) trait Halves {
    /// Bytes for the server engine.
    fn serve(&mut self, bytes: &[u8]);

    /// Bytes for a calling half.
    fn answer(&mut self, half: HalfId, bytes: &[u8]);

    /// Bytes for every calling half.
    fn answer_all(&mut self, bytes: &[u8]);
}

/// The state between two receives.
#[derive(Debug)]
pub(crate) struct Splitter {
    head: [u8; HEAD],
    /// How much of the head is there.
    have: usize,
    way: Way,
    /// Bytes of the message still to come.
    left: usize,
    /// What comes is no message: the server engine finds out and says so.
    is_broken: bool,
    /// Number of the newest announcement of which the request was answered.
    pub(crate) answered: u32,
    /// Whether the peer has said that it takes no more requests.
    pub(crate) was_closed: bool,
}

/// A number in that byte order.
pub(crate) fn number(order: ByteOrder, octets: [u8; 4]) -> u32 {
    let number = u32::from_ne_bytes(octets);
    if order.is_foreign() {
        number.swap_bytes()
    } else {
        number
    }
}

/// The bytes of a number in that order.
pub(crate) fn octets(order: ByteOrder, value: u32) -> [u8; 4] {
    if order.is_foreign() {
        value.swap_bytes().to_ne_bytes()
    } else {
        value.to_ne_bytes()
    }
}

impl Splitter {
    pub(crate) const fn new() -> Self {
        Self {
            head: [0; HEAD],
            have: 0,
            way: Way::Serving,
            left: 0,
            is_broken: false,
            answered: 0,
            was_closed: false,
        }
    }

    /// Hands on what was received.
    pub(crate) fn split(&mut self, mut bytes: &[u8], calls: &mut Calls, to: &mut dyn Halves) {
        while !bytes.is_empty() {
            if self.is_broken {
                return to.serve(bytes);
            }
            bytes = match self.left {
                0 => self.take_head(bytes, calls, to),
                left => {
                    let (now, later) = bytes.split_at(left.min(bytes.len()));
                    self.left -= now.len();
                    hand(self.way, now, to);
                    later
                }
            };
        }
    }

    /// Takes of the head what is there; returns what is behind it.
    fn take_head<'b>(
        &mut self,
        bytes: &'b [u8],
        calls: &mut Calls,
        to: &mut dyn Halves,
    ) -> &'b [u8] {
        let wanted = if self.have < HEADER_LEN {
            HEADER_LEN
        } else {
            HEAD
        };
        let (now, later) = bytes.split_at((wanted - self.have).min(bytes.len()));
        self.head[self.have..self.have + now.len()].copy_from_slice(now);
        self.have += now.len();
        if self.have == wanted {
            self.decide(calls, to);
        }
        later
    }

    /// Decides the way of the message as soon as enough of it is there.
    fn decide(&mut self, calls: &mut Calls, to: &mut dyn Halves) {
        let head = self.head;
        let header = head.first_chunk().map(MessageHeader::parse);
        let Some(Ok(header)) = header else {
            self.is_broken = true;
            self.have = 0;
            return to.serve(&head[..HEADER_LEN]);
        };
        let size = header.size as usize;
        let has_id = header.version.minor >= 2 && size >= 4;
        let way = match header.kind {
            MessageKind::CloseConnection | MessageKind::MessageError => {
                self.was_closed = true;
                Way::All
            }
            MessageKind::Reply | MessageKind::LocateReply | MessageKind::Fragment if has_id => {
                if self.have < HEAD {
                    return;
                }
                self.way_of_answer(&header, calls)
            }
            // Replies of GIOP 1.0 and 1.1 answer nothing that was sent: the server engine
            // finds a message from the wrong side.
            _ => Way::Serving,
        };
        self.way = way;
        self.left = size - (self.have - HEADER_LEN);
        let head = self.head;
        hand(way, &head[..self.have], to);
        self.have = 0;
    }

    /// The way of a message that answers a request, or is a fragment of one that does. The
    /// id in the head becomes that of the calling half.
    fn way_of_answer(&mut self, header: &MessageHeader, calls: &mut Calls) -> Way {
        let [.., a, b, c, d] = self.head;
        let id = number(header.order, [a, b, c, d]);
        let is_fragment = header.kind == MessageKind::Fragment;
        if is_fragment && !calls.number(id) {
            return Way::Serving;
        }
        let Some(call) = calls.get(id) else {
            return Way::Discard;
        };
        self.answered = self.answered.max(call.announced);
        self.head[HEADER_LEN..].copy_from_slice(&octets(header.order, call.local));
        if !header.more_fragments {
            calls.end(id);
        }
        Way::Calling(call.half)
    }
}

fn hand(way: Way, bytes: &[u8], to: &mut dyn Halves) {
    match way {
        Way::Serving => to.serve(bytes),
        Way::Calling(half) => to.answer(half, bytes),
        Way::Discard => {}
        Way::All => {
            to.answer_all(bytes);
            to.serve(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending_requests::Call;
    use orbium_giop::{Version, close_connection};
    use std::collections::HashMap;

    #[derive(Debug, Default, PartialEq)]
    struct Heard {
        served: Vec<u8>,
        answered: HashMap<u64, Vec<u8>>,
    }

    impl Halves for Heard {
        fn serve(&mut self, bytes: &[u8]) {
            self.served.extend_from_slice(bytes);
        }

        fn answer(&mut self, half: HalfId, bytes: &[u8]) {
            self.answered
                .entry(half.0)
                .or_default()
                .extend_from_slice(bytes);
        }

        fn answer_all(&mut self, bytes: &[u8]) {
            self.answered
                .values_mut()
                .for_each(|it| it.extend_from_slice(bytes));
        }
    }

    fn message(kind: MessageKind, order: ByteOrder, id: u32, more: bool) -> Vec<u8> {
        let mut body = octets(order, id).to_vec();
        body.extend_from_slice(b"0123456789ab");
        let header = MessageHeader {
            version: Version::V1_2,
            order,
            more_fragments: more,
            kind,
            size: body.len() as u32,
        };
        [&header.encode()[..], &body].concat()
    }

    /// What is heard of the messages, cut into pieces of that size.
    fn heard(messages: &[Vec<u8>], piece: usize) -> (Heard, bool) {
        let mut calls = Calls::new(true);
        for (half, local) in [(7, 2), (8, 2)] {
            let half = HalfId(half);
            let is_answered = true;
            calls.begin(Call {
                half,
                local,
                is_answered,
                announced: 3,
            });
        }
        let (mut splitter, mut heard) = (Splitter::new(), Heard::default());
        heard.answered.insert(7, Vec::new());
        heard.answered.insert(8, Vec::new());
        for bytes in messages.concat().chunks(piece) {
            splitter.split(bytes, &mut calls, &mut heard);
        }
        (heard, calls.get(2).is_none() && calls.get(4).is_none())
    }

    #[test]
    fn messages_go_their_ways_however_they_are_cut() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let of = |kind, id, more| message(kind, order, id, more);
            let messages = [
                of(MessageKind::Request, 1, true),
                of(MessageKind::Reply, 4, true),
                of(MessageKind::Fragment, 1, false),
                of(MessageKind::Reply, 2, false),
                of(MessageKind::Fragment, 4, false),
                of(MessageKind::Reply, 6, false),
                of(MessageKind::LocateRequest, 3, false),
                of(MessageKind::CancelRequest, 3, false),
                close_connection(Version::V1_2).to_vec(),
            ];
            let close = &messages[8];
            let expected = Heard {
                served: [0, 2, 6, 7, 8].map(|at| messages[at].clone()).concat(),
                answered: HashMap::from([
                    (7, [messages[3].clone(), close.clone()].concat()),
                    (
                        8,
                        [
                            of(MessageKind::Reply, 2, true),
                            of(MessageKind::Fragment, 2, false),
                            close.clone(),
                        ]
                        .concat(),
                    ),
                ]),
            };
            for piece in [1, 5, 12, 16, 17, 1000] {
                let (heard, all_ended) = heard(&messages, piece);
                assert_eq!(heard, expected, "{piece}");
                assert!(all_ended);
            }
        }
    }

    #[test]
    fn malformed_messages_go_to_the_server_engine() {
        let good = message(MessageKind::Request, ByteOrder::NATIVE, 1, false);
        let bad = b"GIOQ is no message, and what follows is none".to_vec();
        for piece in [1, 12, 1000] {
            let (heard, _) = heard(&[good.clone(), bad.clone()], piece);
            assert_eq!(heard.served, [good.clone(), bad.clone()].concat());
        }
    }
}
