// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole GIOP messages, written and parsed.

use orbium::giop::{
    BodyStart, CancelRequest, HEADER_LEN, Ior, LocateRequest, LocateStatus, MessageHeader,
    MessageKind, ReplyHeader, ReplyStatus, RequestHeader, RequestTemplate, ResponseFlags,
    ServiceContext, Version, begin_locate_reply, begin_reply, finish_message,
};
use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Encode, Format};

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its header.
    pub header: MessageHeader,
    /// All its octets, including the header.
    pub octets: Vec<u8>,
}

/// A request without its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Version and byte order of the message.
    pub header: MessageHeader,
    /// Its id.
    pub id: u32,
    /// The requested reply.
    pub response: ResponseFlags,
    /// The operation.
    pub operation: String,
    /// The object key, in any addressing mode.
    pub key: Vec<u8>,
    /// The addressing mode: 0 by key, 1 by profile, 2 by reference.
    pub addressing: u16,
    /// Service contexts: ids and data.
    pub contexts: Vec<(u32, Vec<u8>)>,
    /// The arguments' octets.
    pub body: Vec<u8>,
}

impl Message {
    /// The kind of message.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.header.kind
    }

    /// Reads the content behind the header.
    pub fn read<T>(&self, read: impl FnOnce(&mut CdrReader<'_>) -> T) -> T {
        let mut octets = self.octets.clone();
        read(&mut self.header.reader(&mut octets[HEADER_LEN..]))
    }

    /// The message as a request.
    ///
    /// # Panics
    /// It is not a request.
    #[must_use]
    #[track_caller]
    pub fn request(&self) -> Request {
        assert_eq!(self.kind(), MessageKind::Request);
        self.read(|reader| {
            let request =
                RequestHeader::read(reader, self.header.version.minor).expect("a request");
            Request {
                header: self.header,
                id: request.request_id,
                response: request.response,
                operation: String::from_utf8_lossy(request.operation).into_owned(),
                key: request.target.object_key().unwrap_or_default().into_owned(),
                addressing: request.target.disposition() as u16,
                contexts: request
                    .contexts
                    .iter()
                    .map(|context| (context.id, context.data.to_vec()))
                    .collect(),
                body: self.octets[reader.position()..].to_vec(),
            }
        })
    }

    /// The id, status and body of a reply.
    ///
    /// # Panics
    /// It is not a reply.
    #[track_caller]
    pub fn reply(&self) -> (u32, ReplyStatus, Vec<u8>) {
        assert_eq!(self.kind(), MessageKind::Reply);
        self.read(|reader| {
            let reply = ReplyHeader::read(reader, self.header.version.minor).expect("a reply");
            let body = self.octets[reader.position()..].to_vec();
            (reply.request_id, reply.status, body)
        })
    }

    /// The id of a cancelled request.
    ///
    /// # Panics
    /// The message is not a CancelRequest.
    #[must_use]
    #[track_caller]
    pub fn cancelled(&self) -> u32 {
        assert_eq!(self.kind(), MessageKind::CancelRequest);
        self.read(|reader| {
            CancelRequest::read(reader)
                .expect("a CancelRequest")
                .request_id
        })
    }

    /// Id and addressing mode of a LocateRequest.
    ///
    /// # Panics
    /// It is not a LocateRequest.
    #[must_use]
    #[track_caller]
    pub fn locate_request(&self) -> (u32, u16) {
        assert_eq!(self.kind(), MessageKind::LocateRequest);
        self.read(|reader| {
            let request =
                LocateRequest::read(reader, self.header.version.minor).expect("a LocateRequest");
            (request.request_id, request.target.disposition() as u16)
        })
    }
}

/// A request to be sent: its variable parts, with the defaults of a plain call.
#[derive(Clone, Copy, Debug)]
pub struct RequestLine<'a> {
    /// GIOP 1.`minor`.
    pub minor: u8,
    /// Byte order.
    pub order: ByteOrder,
    /// Its id.
    pub id: u32,
    /// The requested reply.
    pub response: ResponseFlags,
    /// The object key.
    pub key: &'a [u8],
    /// The operation.
    pub operation: &'a str,
    /// Service contexts.
    pub contexts: &'a [ServiceContext<'a>],
}

impl<'a> RequestLine<'a> {
    /// A twoway of GIOP 1.2 to the object with the key `Target`.
    #[must_use]
    pub fn new(id: u32, operation: &'a str) -> Self {
        Self {
            minor: 2,
            order: ByteOrder::NATIVE,
            id,
            response: ResponseFlags::Full,
            key: b"Target",
            operation,
            contexts: &[],
        }
    }
}

/// A whole request message.
///
/// # Panics
/// The arguments cannot be written.
#[must_use]
pub fn request(line: RequestLine<'_>, arguments: impl FnOnce(&mut CdrWriter<'_>)) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::plain(line.order, line.minor));
    let start = begin_request(&line, &mut writer);
    arguments(&mut writer);
    whole(writer, start)
}

fn begin_request(line: &RequestLine<'_>, writer: &mut CdrWriter<'_>) -> BodyStart {
    let version = Version {
        major: 1,
        minor: line.minor,
    };
    let template = RequestTemplate::in_order(line.order, version, line.key);
    template.begin(
        writer,
        line.id,
        line.response,
        line.operation,
        line.contexts,
    )
}

fn whole(mut writer: CdrWriter<'_>, start: BodyStart) -> Vec<u8> {
    finish_message(&mut writer, start);
    writer.finish().expect("a message")
}

/// Writes a reference, which need not outlive the writer. The writer is at a multiple of eight, as
/// in a reply's body.
///
/// # Panics
/// The reference cannot be written.
pub fn write_reference(ior: &Ior, writer: &mut CdrWriter<'_>) {
    let mut encapsulated = CdrWriter::new(writer.format());
    ior.encode(&mut encapsulated);
    writer.write_raw(&encapsulated.finish().expect("a reference"));
}

/// A whole reply message.
///
/// # Panics
/// The results cannot be written.
#[must_use]
pub fn reply(
    minor: u8,
    order: ByteOrder,
    id: u32,
    status: ReplyStatus,
    results: impl FnOnce(&mut CdrWriter<'_>),
) -> Vec<u8> {
    let version = Version { major: 1, minor };
    let mut writer = CdrWriter::new(Format::plain(order, minor));
    let start = begin_reply(&mut writer, version, id, status, &[]);
    results(&mut writer);
    whole(writer, start)
}

/// A whole LocateReply in the native order.
///
/// # Panics
/// The body cannot be written.
#[must_use]
pub fn locate_reply<'a>(
    minor: u8,
    id: u32,
    status: LocateStatus,
    body: impl FnOnce(&mut CdrWriter<'a>),
) -> Vec<u8> {
    let version = Version { major: 1, minor };
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, minor));
    let start = begin_locate_reply(&mut writer, version, id, status);
    body(&mut writer);
    whole(writer, start)
}
