// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests looked at before anything is done with them: for the marker of their
//! connection, and by the gate of one that has a thread of its own.

use orbium_giop::numbers::Names;
use orbium_giop::{MessageHeader, MessageKind, PlainRequest, Version, split_header};

use super::queued::Queued;
use super::source::Source;
use super::state::Intake;
use crate::ServerConnection;
use crate::dedication::dedication_state::Marker;
use orbium_invocation::dedication::{Arrival, Gate, Pass};

impl Intake {
    /// Whether the request with that header is for a dedicated thread of the
    /// connection: its marker was just granted.
    pub(super) fn is_marked(&mut self, source: &Source<'_>, header: &MessageHeader) -> bool {
        let (head, after) = split_header(self.giop.message(header).0);
        let mut reader = header.reader(after);
        let request = header.read_request(&head, &mut reader);
        request.is_ok_and(|request| {
            let marker = source.connection.marker(source.context, &request.contexts);
            marker == Some(Marker::Due)
        })
    }

    /// What a gate says to the next message, if that is a whole request.
    pub(crate) fn at_gate(
        &mut self,
        connection: &ServerConnection,
        gate: &dyn Gate,
        waiting: (usize, usize),
    ) -> Option<Pass> {
        let header = self.giop.peek().ok()??;
        if header.kind != MessageKind::Request || header.more_fragments {
            return None;
        }
        let message = self.giop.message(&header).0;
        if header.is_short() && Names::concern(message) {
            let (header, mut octets) = connection.named(message).ok()?;
            return ask(gate, &header, &mut octets, waiting);
        }
        ask(gate, &header, message, waiting)
    }
}

impl Queued {
    /// What a gate says to the request.
    pub(crate) fn at_gate(
        &self,
        gate: &dyn Gate,
        (waiting, waiting_octets): (usize, usize),
    ) -> Pass {
        gate.arrived(&Arrival {
            object_key: self.positions.key(&self.octets).unwrap_or_default(),
            operation: self.positions.operation(&self.octets),
            octets: self.octets.len(),
            waiting,
            waiting_octets,
        })
    }
}

fn ask(
    gate: &dyn Gate,
    header: &MessageHeader,
    message: &mut [u8],
    (waiting, waiting_octets): (usize, usize),
) -> Option<Pass> {
    let octets = message.len();
    let arrived = |object_key: &[u8], operation: &[u8]| {
        gate.arrived(&Arrival {
            object_key,
            operation,
            octets,
            waiting,
            waiting_octets,
        })
    };
    let (head, body) = split_header(message);
    if header.version == Version::V1_2
        && let Some(plain) = PlainRequest::find(body, header.order)
    {
        return Some(arrived(&body[plain.key], &body[plain.operation]));
    }
    let mut reader = header.reader(body);
    let request = header.read_request(&head, &mut reader).ok()?;
    let key = request.target.object_key().unwrap_or_default();
    Some(arrived(&key, request.operation))
}
