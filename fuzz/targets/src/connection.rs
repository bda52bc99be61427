// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stream of octets, as it arrives in pieces at one side of a connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_channel::connection::{Bounds, Connection, Event, Role, Violation};
use orbium_channel::peer_memory::Budget;
use orbium_giop::numbers::Names;
use orbium_giop::{
    HEADER_LEN, Headers, MessageHeader, NumberedRequests, PlainRequest, ReassemblyLimits,
    RequestForm,
};

/// What all peers together may make the connection hold.
const BUDGET: usize = 64 << 10;

const BOUNDS: Bounds = Bounds {
    message: 4096,
    reassembly: ReassemblyLimits {
        message: 4096,
        messages: 3,
        total: 6000,
    },
    message_time: Some(Duration::from_secs(10)),
};

/// By the first octet: the role of this side, and which headers messages may have. By the
/// second: the length of the pieces.
/// Whatever arrives is found or refused, the same however it is cut, within the limits.
pub fn connection(input: &[u8]) {
    let [role, step, octets @ ..] = input else {
        return;
    };
    let headers = match role / 3 % 4 {
        0 => Headers::GIOP,
        1 => Headers::SHORT,
        2 => Headers::NUMBERED,
        _ => Headers::NUMBERED.with_native_bodies(),
    };
    let role = match role % 3 {
        0 => Role::Client,
        1 => Role::Server,
        _ => Role::Both,
    };
    let in_pieces = found(role, headers, octets, usize::from(*step) + 1);
    assert_eq!(in_pieces, found(role, headers, octets, usize::MAX));
}

/// The events, the octets of messages, and why there are no more.
type Found = (Vec<(Event, Vec<u8>)>, Option<Violation>);

fn found(role: Role, headers: Headers, octets: &[u8], step: usize) -> Found {
    let budget = Budget::new(Some(BUDGET), 1000);
    let names = headers.are_numbered().then(Arc::<Names>::default);
    let mut connection = Connection::new(role, BOUNDS, &budget)
        .with_headers(headers)
        .with_names(names.clone());
    let (start, mut rest, mut found) = (Instant::now(), octets, Vec::new());
    loop {
        match connection.next(&|| start) {
            Err(violation) => return (found, Some(violation)),
            Ok(Some(event)) => {
                let octets = taken(&mut connection, event);
                if let Some(names) = &names {
                    numbered(names, connection.received());
                }
                found.push((event, octets));
                if matches!(event, Event::Close | Event::MessageError) {
                    return (found, None);
                }
            }
            Ok(None) if rest.is_empty() => break,
            Ok(None) => {
                let piece = &rest[..step.min(rest.len())];
                let taken = connection.push(piece).expect("room for little");
                assert!(taken > 0, "nothing is found, and nothing taken");
                rest = &rest[taken..];
            }
        }
        assert!(budget.figures().most <= BUDGET);
    }
    (found, None)
}

/// A message, which is dropped; nothing of other events.
fn taken(connection: &mut Connection, event: Event) -> Vec<u8> {
    let Event::Message(header) = event else {
        return Vec::new();
    };
    let (message, _) = connection.message(&header);
    let octets = message.to_vec();
    assert_eq!(octets.len(), HEADER_LEN + header.size as usize);
    // With numbers of objects and operations, their names are longer.
    assert!(octets.len() <= BOUNDS.message + HEADER_LEN + NAMES);
    connection.consume(&header);
    octets
}

/// Octets by which a request with its names is longer than with numbers, at most.
const NAMES: usize = 2 * 255;

/// The ways to read a request with numbers agree.
fn numbered(names: &Names, octets: &[u8]) {
    let head = octets.first_chunk().and_then(MessageHeader::parse_short);
    let Some(header) = head.filter(|it| !it.order.is_foreign()) else {
        return;
    };
    let Some(message) = octets.get(..HEADER_LEN + header.size as usize) else {
        return;
    };
    if !Names::are_needed_for(message) {
        return;
    }
    let mut split = message.to_vec();
    let found = NumberedRequests::split(&mut split, Some(names));
    let mut named = Vec::new();
    assert_eq!(found.is_some(), names.named(message, &mut named).is_ok());
    if let Some(found) = found {
        let plain = PlainRequest::find_short(&named).expect("a request with names");
        assert_eq!(found.key, &named[HEADER_LEN..][plain.key]);
        assert_eq!(found.operation, &named[HEADER_LEN..][plain.operation]);
        assert_eq!(*found.body, named[HEADER_LEN + plain.body..]);
        assert_eq!(message[found.body_at..], *found.body);
        assert_eq!(
            (found.request_id, found.response),
            (plain.request_id, plain.response)
        );
    }
}
