// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with numbers, read with the names that these mean.

use orbium_giop::messaging::MessagingError;
use orbium_giop::numbers::Names;
use orbium_giop::{Assembled, MessageHeader};

use super::assembly::Whole;
use super::assembly::header_of;
use super::event::{Cause, Event, Violation};
use super::{Connection, refusal};
use crate::framing::FramingError;
use crate::peer_memory::{Charge, NoMemory};
use crate::receive_buffer::SMALL;

impl Connection {
    /// Replaces the request with that header, which has or defines numbers, by the equivalent with
    /// names.
    #[cold]
    pub(super) fn named(&mut self, header: &MessageHeader) -> Result<Event, Violation> {
        let Some(names) = self.names.clone() else {
            let none = MessagingError::Refused("numbers where there are none");
            return Err(Violation::Numbers(none));
        };
        let Ok((mut octets, charge)) = self.room_for(header) else {
            return self.unnamed(&names, header);
        };
        let message = self.framing.message(header);
        let named = names.named(message, &mut octets);
        named.map_err(Violation::Numbers)?;
        self.framing.consume(header);
        let seams = Vec::new();
        let message = Assembled { octets, seams };
        let whole = Whole { message, charge };
        let header = header_of(&whole).ok_or(Violation::Framing(FramingError::NoMemory))?;
        self.whole = Some(whole);
        Ok(Event::Message(header))
    }

    /// Memory for that request and its names.
    fn room_for(&mut self, header: &MessageHeader) -> Result<(Vec<u8>, Charge), NoMemory> {
        let len = Names::most_named(header);
        let mut charge = self.budget().charge();
        if len > SMALL {
            charge.set(len)?;
        }
        let mut room = std::mem::take(&mut self.spare);
        room.clear();
        room.try_reserve(len).map_err(|_| NoMemory)?;
        Ok((room, charge))
    }

    /// There is no memory for a request with its names: the numbers that it defines are stored
    /// nevertheless.
    fn unnamed(&mut self, names: &Names, header: &MessageHeader) -> Result<Event, Violation> {
        self.budget().count_refused();
        let message = self.framing.message(header);
        names.define(message).map_err(Violation::Numbers)?;
        let refused = refusal::refused(header, message, Cause::NoMemory);
        let refused = refused.ok_or(Violation::Framing(FramingError::NoMemory))?;
        self.framing.consume(header);
        Ok(Event::Refused(refused))
    }

    /// Stores the numbers that a discarded request, begun by these octets, defines, as later
    /// requests use them; returns whether it could.
    pub(super) fn define_all(&self, begun: &[u8]) -> bool {
        match &self.names {
            Some(names) => names.define(begun).is_ok(),
            None => true,
        }
    }

    /// Retains the buffer of a request with its names for the next one, if it is small.
    pub(super) fn keep_spare(&mut self, octets: Vec<u8>) {
        if octets.capacity() <= SMALL {
            self.spare = octets;
        }
    }
}
