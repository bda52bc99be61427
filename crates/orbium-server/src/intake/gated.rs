// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inspection of requests before they are processed: for the marker of their connection, and by the
//! gate of a dedicated thread.

use orbium_giop::numbers::Names;
use orbium_giop::{MessageHeader, MessageKind, split_header};

use super::queued::Queued;
use super::source::Source;
use super::state::Intake;
use crate::ServerConnection;
use crate::dedication::dedication_state::Marker;
use orbium_invocation::dedication::{Admittance, Arrival, Gate};

impl Intake {
    /// Whether the request with that header is for the dedicated thread of the connection: its
    /// marker was just granted.
    pub(super) fn is_marked(&mut self, source: &Source<'_>, header: &MessageHeader) -> bool {
        let (head, after) = split_header(self.giop.message(header).0);
        let mut reader = header.reader(after);
        let request = header.read_request(&head, &mut reader);
        request.is_ok_and(|request| {
            let marker = source.connection.marker(source.context, &request.contexts);
            marker == Some(Marker::Due)
        })
    }

    /// The decision of a gate about the next message, if that is a complete request.
    pub(crate) fn at_gate(
        &mut self,
        connection: &ServerConnection,
        gate: &dyn Gate,
        waiting: (usize, usize),
    ) -> Option<Admittance> {
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
    /// The decision of a gate about the request.
    pub(crate) fn at_gate(&self, gate: &dyn Gate, waiting: (usize, usize)) -> Admittance {
        let key = self.positions.key(&self.octets).unwrap_or_default();
        let operation = self.positions.operation(&self.octets);
        arrived(gate, (key, operation), self.octets.len(), waiting)
    }
}

fn ask(
    gate: &dyn Gate,
    header: &MessageHeader,
    message: &mut [u8],
    waiting: (usize, usize),
) -> Option<Admittance> {
    let octets = message.len();
    let (head, body) = split_header(message);
    let mut reader = header.reader(body);
    let request = header.read_request(&head, &mut reader).ok()?;
    let key = request.target.object_key().unwrap_or_default();
    Some(arrived(gate, (&key, request.operation), octets, waiting))
}

fn arrived(
    gate: &dyn Gate,
    (object_key, operation): (&[u8], &[u8]),
    octets: usize,
    (waiting, waiting_octets): (usize, usize),
) -> Admittance {
    gate.arrived(&Arrival {
        object_key,
        operation,
        octets,
        waiting,
        waiting_octets,
    })
}
