// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery of an event to the consumer of a persistent channel: the id by which duplicates are
//! detected.

use crate::rtec::rtec_event_comm::Event;

/// The id of an event and the number of its delivery, from the header of an event of a persistent
/// channel.
///
/// An event that the stream delivers again, because the acknowledgement of an earlier delivery was
/// lost or the consumer failed, has the same `id` and a greater `number`.
///
/// ```
/// use orbium_event::new_event;
/// use orbium_event::persistent::Delivery;
/// use std::collections::HashSet;
///
/// let mut seen = HashSet::new();
/// let mut event = new_event(16, 1);
/// event.header.ec_recv_time = 7;
/// event.header.ec_send_time = 1;
/// assert!(seen.insert(Delivery::of(&event).id));
/// event.header.ec_send_time = 2;
/// assert!(Delivery::of(&event).is_repeated());
/// assert!(!seen.insert(Delivery::of(&event).id));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delivery {
    /// The id of the event.
    pub id: EventId,
    /// Counts the deliveries of the event to consumers of this name, from 1. NATS may skip a
    /// number: deliveries to a channel that does not listen any more are not counted.
    pub number: u64,
    /// Whether it was stored before its consumer connected and requested such events
    /// ([`connect_replaying_consumer`](crate::persistent::connect_replaying_consumer)).
    pub is_replayed: bool,
}

/// The bit of `ec_send_time` that marks replayed events.
const REPLAYED: u64 = 1 << 63;

/// Identity of an event of a persistent channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// The position of the event in the stream (`ec_recv_time` of its header): it increases, with
    /// gaps. 0 for the event of a timer, which is not in the stream.
    pub sequence: u64,
}

impl Delivery {
    /// The delivery of an event that a persistent channel has pushed.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        Self {
            id: EventId {
                sequence: event.header.ec_recv_time,
            },
            number: event.header.ec_send_time & !REPLAYED,
            is_replayed: event.header.ec_send_time & REPLAYED != 0,
        }
    }

    /// Whether the event was delivered before, to this consumer or one of the same name.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.number > 1
    }

    /// Writes it into the header of an event, for persistent channels.
    pub fn write_to(self, event: &mut Event) {
        let replayed = if self.is_replayed { REPLAYED } else { 0 };
        event.header.ec_recv_time = self.id.sequence;
        event.header.ec_send_time = self.number | replayed;
    }
}
