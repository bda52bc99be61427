// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scripted client over any transport and any messaging protocol.

use std::time::{Duration, Instant};

use orbium::Orb;
use orbium::giop::{HEADER_LEN, MessageHeader};
use orbium_giop::messaging;
use orbium_transport::ByteStream;

use crate::peer::receive_patiently;
use crate::transport_suite::Subject;
use crate::transport_suite::ends::patient;
use crate::waiting::PATIENCE;
use crate::{Message, Peer};

/// Maximum octets of a message from a server.
const LIMIT: usize = 64 << 20;

/// A connection to an ORB on which complete messages and arbitrary octets can be sent.
#[derive(Debug)]
pub(super) struct Wire {
    peer: Peer,
    session: Option<messaging::Session>,
    /// Received, but not decoded.
    received: Vec<u8>,
}

impl Wire {
    #[track_caller]
    pub(super) fn new(subject: &Subject, server: &Orb) -> Self {
        let stream = subject.try_connection(server);
        Self::over(subject, stream.expect("a listening server"))
    }

    #[track_caller]
    pub(super) fn over(subject: &Subject, stream: Box<dyn ByteStream>) -> Self {
        let layers = subject.layers();
        Self {
            peer: Peer::over(stream),
            session: layers.map(|layer| layer.session(messaging::Side::Client, LIMIT)),
            received: Vec::new(),
        }
    }

    /// The encoding of a GIOP message, after all messages before it.
    #[track_caller]
    pub(super) fn frame(&mut self, message: &[u8]) -> Vec<u8> {
        let Some(session) = &mut self.session else {
            return message.to_vec();
        };
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        let range = session
            .encoder
            .encode(messaging::Message::new(&[message]), &mut head, &mut tail)
            .expect("a message");
        [&head, &message[range], &tail].concat()
    }

    /// Sends a GIOP message.
    #[track_caller]
    pub(super) fn send(&mut self, message: &[u8]) {
        let frame = self.frame(message);
        self.peer.send(&frame);
    }

    /// Sends octets unchanged; returns whether the connection accepted them.
    pub(super) fn try_send_raw(&mut self, octets: &[u8]) -> bool {
        self.peer.try_send(octets)
    }

    /// The next message; `None` at the end.
    #[track_caller]
    pub(super) fn receive(&mut self) -> Option<Message> {
        let Some(session) = &mut self.session else {
            return self.peer.try_receive();
        };
        let limit = Instant::now() + PATIENCE;
        let mut octets = Vec::new();
        let mut room = vec![0; 1 << 16];
        loop {
            let whole = session
                .decoder
                .frame_len(&self.received)
                .expect("a frame of the server");
            if let Some(len) = whole.filter(|len| *len <= self.received.len()) {
                session
                    .decoder
                    .decode(&self.received[..len], &mut octets)
                    .expect("a frame of the server");
                self.received.drain(..len);
                if octets.is_empty() {
                    continue;
                }
                let header = MessageHeader::parse(octets.first_chunk().expect("twelve octets"))
                    .expect("a message header");
                assert_eq!(octets.len(), HEADER_LEN + header.size as usize);
                return Some(Message { header, octets });
            }
            assert!(Instant::now() < limit, "the peer sends nothing");
            match receive_patiently(self.peer.stream(), &mut room) {
                Ok(0) => return None,
                Ok(count) => self.received.extend_from_slice(&room[..count]),
                Err(error) => match error.kind() {
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                        panic!("the peer sends nothing")
                    }
                    _ => return None,
                },
            }
        }
    }

    #[track_caller]
    pub(super) fn expect_end(&mut self) {
        self.peer.expect_end();
    }

    pub(super) fn finish_sending(&self) {
        self.peer.finish_sending();
    }

    /// Whether the server ends the connection within a moment.
    pub(super) fn ends_within(&mut self, moment: Duration) -> bool {
        let stream = self.peer.stream();
        let _ = stream.set_timeouts(Some(Some(moment)), None);
        let received = stream.receive(&mut [0; 64]);
        patient(stream);
        !received.is_err_and(|error| crate::transport_suite::ends::is_full(&error))
    }
}
