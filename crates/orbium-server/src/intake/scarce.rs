// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages for which there is no memory: their clients hear NO_RESOURCES, and the
//! connection goes on.

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_channel::peer_memory::NoMemory;
use orbium_channel::receive_buffer::SMALL;
use orbium_giop::{
    Completion, HEADER_LEN, MessageHeader, MessageKind, ReplyStatus, ResponseFlags,
    SystemExceptionBody, begin_reply, finish_message, split_header,
};

use super::source::Source;
use super::state::Intake;
use crate::connection::ServerConnection;
use crate::log::Recurring;
use crate::outcome::Outcome;

impl Intake {
    /// Refuses the message that has begun to arrive.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse_for_memory(&mut self, source: &Source<'_>) -> Outcome {
        let Ok(Some(header)) = self.framing.header() else {
            return Outcome::Close;
        };
        let taken = match header.kind {
            MessageKind::Fragment => self.refuse_assembly(source, &header),
            _ => refuse(source.connection, &header, self.framing.received()),
        };
        self.framing.skip();
        taken
    }

    /// Refuses a message that has arrived whole.
    #[cold]
    pub(super) fn refuse_whole(&mut self, source: &Source<'_>, header: &MessageHeader) -> Outcome {
        self.framing.budget().count_refused();
        let message = self.framing.message(header);
        let taken = refuse(source.connection, header, message);
        self.framing.consume(header);
        taken
    }

    /// Charges what a message in assembly grows by.
    pub(super) fn charge_fragment(&mut self, header: &MessageHeader) -> Result<(), NoMemory> {
        let known = &mut self.state.known;
        let total = known
            .reassembly
            .octets()
            .saturating_add(header.size as usize);
        match total {
            little if little <= SMALL => Ok(()),
            much => known.assembly_charge.set(much),
        }
    }

    /// Charges what is in assembly, which is less than before.
    pub(super) fn charge_assembly(&mut self) {
        let known = &mut self.state.known;
        let octets = match known.reassembly.octets() {
            little if little <= SMALL => 0,
            much => much,
        };
        let _ = known.assembly_charge.set(octets);
    }

    /// Refuses a message of which a fragment has arrived whole.
    #[cold]
    pub(super) fn refuse_fragment(
        &mut self,
        source: &Source<'_>,
        header: &MessageHeader,
    ) -> Outcome {
        if header.kind != MessageKind::Fragment {
            return self.refuse_whole(source, header);
        }
        self.framing.budget().count_refused();
        let taken = self.refuse_assembly(source, header);
        self.framing.consume(header);
        taken
    }

    /// Refuses the message that a Fragment continues, of which the beginning is
    /// there. What else comes of it is passed over.
    fn refuse_assembly(&mut self, source: &Source<'_>, header: &MessageHeader) -> Outcome {
        let body = &self.framing.received()[HEADER_LEN..];
        let known = &mut self.state.known;
        let begun = known.reassembly.give_up(header, body);
        self.state.watch_assembly(false);
        self.charge_assembly();
        match begun {
            // Without an id in its fragments, what follows would mean nothing.
            Some((first, _)) if first.version.minor < 2 => {
                source.connection.send_message_error();
                Outcome::Close
            }
            Some((first, octets)) => refuse(source.connection, &first, &octets),
            None => Outcome::Dispatched,
        }
    }
}

/// Answers the request that begins so, if it is one and expects an answer.
#[cold]
pub(super) fn refuse(
    connection: &ServerConnection,
    header: &MessageHeader,
    begins: &[u8],
) -> Outcome {
    if let Some(suppressed) = connection.tracked.admit(Recurring::NoMemory) {
        crate::log::warn!(
            target: "orbium::request",
            cause = Recurring::NoMemory.cause(),
            peer = %connection.peer(),
            octets = header.size,
            suppressed,
            "request refused: no memory for the message",
        );
    }
    connection.send_collected();
    let Some((request_id, response)) = answered_to(header, begins) else {
        connection.send_message_error();
        return Outcome::Close;
    };
    if response.expects_reply() {
        let minor_version = header.format().minor;
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, minor_version));
        let status = ReplyStatus::SystemException;
        let start = begin_reply(&mut writer, header.version, request_id, status, &[]);
        SystemExceptionBody::from(NoMemory::exception(Completion::No)).write(&mut writer);
        finish_message(&mut writer, start);
        connection.reply(&writer);
    }
    match connection.is_broken() {
        true => Outcome::Close,
        false => Outcome::Dispatched,
    }
}

/// The id of a request that begins so, and which answer it expects.
fn answered_to(header: &MessageHeader, begins: &[u8]) -> Option<(u32, ResponseFlags)> {
    if header.kind != MessageKind::Request {
        return None;
    }
    let minor_version = header.format().minor;
    let mut octets = begins.to_vec();
    let (head, after) = split_header(&mut octets);
    if let Ok(request) = header.read_request(&head, &mut header.reader(after)) {
        return Some((request.request_id, request.response));
    }
    if header.is_short() {
        return Some(MessageHeader::short_asked(&head));
    }
    // From GIOP 1.2 on both stand first, before contexts of whatever size.
    let mut octets = begins.to_vec();
    let mut reader = header.reader(&mut octets[HEADER_LEN..]);
    let id = reader.read_u32().ok().filter(|_| minor_version >= 2)?;
    let response = match reader.read_u8().ok()? & 3 {
        0 => ResponseFlags::None,
        3 => ResponseFlags::Full,
        _ => ResponseFlags::SyncWithServer,
    };
    Some((id, response))
}
