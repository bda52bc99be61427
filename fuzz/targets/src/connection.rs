// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stream of octets, as it arrives in pieces at one side of a connection.

use std::time::{Duration, Instant};

use orbium_channel::connection::{Bounds, Connection, Event, Role, Violation};
use orbium_channel::peer_memory::Budget;
use orbium_giop::{HEADER_LEN, ReassemblyLimits};

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

/// By the first octet: the role of this side. By the second: the length of the pieces.
/// Whatever arrives is found or refused, the same however it is cut, within the limits.
pub fn connection(input: &[u8]) {
    let [role, step, octets @ ..] = input else {
        return;
    };
    let role = match role % 3 {
        0 => Role::Client,
        1 => Role::Server,
        _ => Role::Both,
    };
    let in_pieces = found(role, octets, usize::from(*step) + 1);
    assert_eq!(in_pieces, found(role, octets, usize::MAX));
}

/// The events, the octets of messages, and why there are no more.
type Found = (Vec<(Event, Vec<u8>)>, Option<Violation>);

fn found(role: Role, octets: &[u8], step: usize) -> Found {
    let budget = Budget::new(Some(BUDGET), 1000);
    let mut connection = Connection::new(role, BOUNDS, &budget);
    let (start, mut rest, mut found) = (Instant::now(), octets, Vec::new());
    loop {
        match connection.next(&|| start) {
            Err(violation) => return (found, Some(violation)),
            Ok(Some(event)) => {
                let octets = taken(&mut connection, event);
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
    assert!(octets.len() <= BOUNDS.message + HEADER_LEN);
    connection.consume(&header);
    octets
}
