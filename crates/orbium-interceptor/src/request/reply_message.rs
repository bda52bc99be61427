// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies that were written completely before their service contexts were known.

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Decode, Format};
use orbium_giop::{
    BodyStart, Completion, HEADER_LEN, Ior, MessageHeader, ReplyHeader, ReplyStatus,
    ServiceContext, SystemException, SystemExceptionBody, Version, begin_reply, finish_message,
    service_context,
};

use crate::request::context_list::ContextList;
use crate::server::RequestOutcome;

/// A reply written by this process, in its own byte order.
#[derive(Debug)]
pub struct ReplyMessage {
    octets: Vec<u8>,
    version: Version,
    request_id: u32,
    status: ReplyStatus,
    contexts: ContextList,
    body: usize,
}

impl ReplyMessage {
    /// Parses a message; `None` if it is not a reply.
    #[must_use]
    pub fn read(mut octets: Vec<u8>) -> Option<Self> {
        let (header, rest) = octets.split_first_chunk_mut::<HEADER_LEN>()?;
        let header = MessageHeader::parse(header).ok()?;
        let mut reader = header.reader(rest);
        let reply = ReplyHeader::read(&mut reader, header.version.minor).ok()?;
        let (request_id, status) = (reply.request_id, reply.status);
        let contexts = ContextList::of(&reply.contexts);
        let body = reader.position();
        Some(Self {
            octets,
            version: header.version,
            request_id,
            status,
            contexts,
            body,
        })
    }

    /// The version of GIOP.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The id of its request.
    #[must_use]
    pub fn request_id(&self) -> u32 {
        self.request_id
    }

    /// Takes the service contexts of the reply.
    #[must_use]
    pub fn take_contexts(&mut self) -> ContextList {
        std::mem::take(&mut self.contexts)
    }

    /// The outcome of the request.
    #[must_use]
    pub fn outcome(&mut self) -> RequestOutcome {
        let broken = RequestOutcome::Raised(SystemException::new(
            orbium_giop::ExceptionKind::Internal,
            0,
            Completion::Maybe,
        ));
        let status = self.status;
        let read = match status {
            ReplyStatus::NoException => return RequestOutcome::Results,
            ReplyStatus::UserException => self.read_body(|reader| {
                let id = reader.read_owned_name()?;
                Ok(RequestOutcome::UserException(id))
            }),
            ReplyStatus::SystemException => self.read_body(|reader| {
                let body = SystemExceptionBody::read(reader)?;
                let raised = SystemException::from_body(body.id, body.minor, body.completed);
                Ok(RequestOutcome::Raised(raised))
            }),
            _ => self.read_body(|reader| Ok(RequestOutcome::Forward(Ior::decode(reader)?.into()))),
        };
        read.unwrap_or(broken)
    }

    fn read_body<T>(
        &mut self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        let format = Format::plain(orbium_cdr::ByteOrder::NATIVE, self.version.minor);
        let body = self.octets.get_mut(self.body..).unwrap_or_default();
        read(&mut CdrReader::at(body, self.body, format))
    }

    /// The same reply with other service contexts.
    #[must_use]
    pub fn rewritten(&self, contexts: &ContextList) -> CdrWriter<'static> {
        let body = self.octets.get(self.body..).unwrap_or_default();
        let (mut writer, mut start) = self.head(&contexts.borrowed());
        if start.position() % 8 != self.body % 8 && !body.is_empty() {
            // Before GIOP 1.2 the body follows without padding: a filler moves it to a position at
            // which its values are aligned.
            let mut filled = contexts.borrowed();
            filled.push(ServiceContext {
                id: service_context::TAO_FILLER,
                data: &[0; 4],
            });
            (writer, start) = self.head(&filled);
        }
        writer.write_raw(body);
        finish_message(&mut writer, start);
        writer
    }

    fn head(&self, contexts: &[ServiceContext<'_>]) -> (CdrWriter<'static>, BodyStart) {
        let mut writer = CdrWriter::new(format());
        let (version, id, status) = (self.version, self.request_id, self.status);
        let start = begin_reply(&mut writer, version, id, status, contexts);
        (writer, start)
    }
}

fn format() -> Format {
    Format::plain(orbium_cdr::ByteOrder::NATIVE, 2)
}

/// Writes a reply with service contexts.
pub fn with_contexts<'a>(
    version: Version,
    request_id: u32,
    status: ReplyStatus,
    contexts: &ContextList,
    body: impl FnOnce(&mut CdrWriter<'a>),
) -> CdrWriter<'a> {
    let mut writer = CdrWriter::new(Format::plain(orbium_cdr::ByteOrder::NATIVE, version.minor));
    let start = begin_reply(
        &mut writer,
        version,
        request_id,
        status,
        &contexts.borrowed(),
    );
    body(&mut writer);
    finish_message(&mut writer, start);
    writer
}
