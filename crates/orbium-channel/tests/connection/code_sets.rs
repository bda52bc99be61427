// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code set negotiation between the two sides of a connection (clause 7.10.2.6).

use std::time::Instant;

use orbium_cdr::{ByteOrder, CdrErrorKind, CdrReader, CdrWriter, CharSet, Format, WChar, WideSet};
use orbium_channel::connection::{Bounds, CodeSets, Connection, Event, Role};
use orbium_channel::peer_memory::Budget;
use orbium_giop::codeset::{
    CodeSetComponent, CodeSetComponentInfo, CodeSetContext, CodeSetId, NativeCharSet, Negotiated,
};
use orbium_giop::{
    Completion, ExceptionKind, GiopRequests, HEADER_LEN, ReplyHeader, ReplyStatus, RequestHeader,
    RequestTemplate, ResponseFlags, ServiceContext, SystemException, Version, begin_reply,
    finish_message, service_context,
};

/// A client and a server; octets are handed over at once.
struct Pair {
    client: Connection,
    server: Connection,
    version: Version,
}

/// What a server found in a request.
#[derive(Debug, PartialEq)]
struct Asked {
    /// The request had a context about code sets.
    announced: bool,
    /// What it said, or what is wrong with it.
    said: Result<(String, Option<WChar>), CdrErrorKind>,
    /// Why it is refused, if it is.
    refused: Option<SystemException>,
}

impl Pair {
    fn of(version: Version, negotiated: Negotiated, many_peers: bool) -> Self {
        let end = |role, code_sets| {
            Connection::new(role, Bounds::default(), &Budget::NONE).with_code_sets(code_sets)
        };
        Self {
            client: end(Role::Client, CodeSets::of_client(negotiated)),
            server: end(Role::Server, CodeSets::of_server(many_peers)),
            version,
        }
    }

    /// As a client that has the reference of a server of orbium.
    fn negotiated(version: Version) -> Self {
        let server = CodeSetComponentInfo::orbium(NativeCharSet::Latin1);
        let negotiated = CodeSets::choose(version.minor, Some(&server), None).unwrap();
        Self::of(version, negotiated, false)
    }

    /// A request of the client, as its code sets have it.
    fn request(&self, text: &str, wide: Option<WChar>) -> Result<Vec<u8>, CdrErrorKind> {
        let context = self.client.code_sets().announcement();
        let context = context.map(|negotiated| negotiated.context().encode());
        let negotiated = self.client.code_sets().negotiated();
        request(self.version, negotiated, context.as_deref(), text, wide)
    }

    /// What the server makes of a request.
    fn serve(&mut self, octets: &[u8]) -> Asked {
        assert_eq!(self.server.push(octets).unwrap(), octets.len());
        let start = Instant::now();
        let Some(Event::Message(header)) = self.server.next(&|| start).unwrap() else {
            panic!("no request");
        };
        let parts = self.server.parts(&header);
        let code_sets = &mut parts.continuation.code_sets;
        let mut reader = header.reader(&mut parts.message[HEADER_LEN..]);
        let request = RequestHeader::read(&mut reader, header.version.minor).unwrap();
        let announced = request.contexts.find(service_context::CODE_SETS).is_some();
        let refused = code_sets.apply(&request.contexts).err();
        reader.set_format(code_sets.format(header.format()));
        let said = said(&mut reader);
        code_sets.end_message();
        self.server.consume(&header);
        Asked {
            announced,
            said,
            refused,
        }
    }

    /// The server answers, and the client learns of it.
    fn answer(&mut self, id: u32) {
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, self.version.minor));
        let status = ReplyStatus::NoException;
        let start = begin_reply(&mut writer, self.version, id, status, &[]);
        finish_message(&mut writer, start);
        self.client.push(&writer.finish().unwrap()).unwrap();
        let start = Instant::now();
        let Some(Event::Message(header)) = self.client.next(&|| start).unwrap() else {
            panic!("no reply");
        };
        let (message, _) = self.client.message(&header);
        let mut reader = header.reader(&mut message[HEADER_LEN..]);
        let reply = ReplyHeader::read(&mut reader, header.version.minor).unwrap();
        assert_eq!(reply.request_id, id);
        self.client.consume(&header);
        self.client.code_sets_mut().confirm();
    }
}

fn said(reader: &mut CdrReader<'_>) -> Result<(String, Option<WChar>), CdrErrorKind> {
    let read = |reader: &mut CdrReader<'_>| {
        let text = reader.read_str()?.into_owned();
        let wide = if reader.read_bool()? {
            Some(reader.read_wchar()?)
        } else {
            None
        };
        Ok((text, wide))
    };
    read(reader).map_err(|error: orbium_cdr::CdrError| error.kind)
}

fn request(
    version: Version,
    negotiated: Negotiated,
    context: Option<&[u8]>,
    text: &str,
    wide: Option<WChar>,
) -> Result<Vec<u8>, CdrErrorKind> {
    let contexts: Vec<_> = context
        .map(|data| ServiceContext {
            id: service_context::CODE_SETS,
            data,
        })
        .into_iter()
        .collect();
    let mut writer = CdrWriter::new(Format {
        char_set: negotiated.char_set,
        wide_set: negotiated.wide_set,
        ..Format::plain(ByteOrder::NATIVE, version.minor)
    });
    let template = RequestTemplate::new(version, b"key");
    let start = template.begin(&mut writer, 2, ResponseFlags::Full, "work", &contexts);
    writer.write_str(text);
    writer.write_bool(wide.is_some());
    if let Some(wide) = wide {
        writer.write_wchar(wide);
    }
    finish_message(&mut writer, start);
    writer.finish().map_err(|error| error.kind)
}

fn heard(announced: bool, text: &str, wide: Option<WChar>) -> Asked {
    Asked {
        announced,
        said: Ok((text.to_owned(), wide)),
        refused: None,
    }
}

const EURO: Option<WChar> = Some(WChar(0x20AC));

/// GIOP 1.1 writes a `wchar` as a short, 1.2 as counted octets.
#[test]
fn text_of_any_script_travels_once_agreed() {
    for version in [Version::V1_1, Version::V1_2] {
        let mut pair = Pair::negotiated(version);
        let octets = pair.request("Žofie €", EURO).unwrap();
        assert_eq!(pair.serve(&octets), heard(true, "Žofie €", EURO));
        let agreed = pair.server.code_sets().negotiated();
        assert_eq!(agreed.char_set, CharSet::Utf8);
        assert_eq!(agreed.wide_set, Some(WideSet::Utf16));
    }
}

#[test]
fn requests_announce_the_code_sets_until_the_first_reply() {
    let mut pair = Pair::negotiated(Version::V1_2);
    // The second is sent before the reply to the first has come.
    for _ in 0..2 {
        let octets = pair.request("é", None).unwrap();
        assert_eq!(pair.serve(&octets), heard(true, "é", None));
    }
    pair.answer(2);
    let octets = pair.request("é", EURO).unwrap();
    assert_eq!(pair.serve(&octets), heard(false, "é", EURO));
}

#[test]
fn without_a_component_both_sides_stay_with_latin_1() {
    let negotiated = CodeSets::choose(2, None, None).unwrap();
    let mut pair = Pair::of(Version::V1_2, negotiated, false);
    let octets = pair.request("é", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(false, "é", None));
    let refused = pair.request("Ž", None).unwrap_err();
    assert_eq!(refused, CdrErrorKind::CannotConvert);
    let refused = pair.request("", EURO).unwrap_err();
    assert_eq!(refused, CdrErrorKind::WideNotNegotiated);
}

/// It has no service context for them, whatever the reference says.
#[test]
fn giop_1_0_agrees_on_nothing() {
    let mut pair = Pair::negotiated(Version::V1_0);
    assert_eq!(pair.client.code_sets().announcement(), None);
    let octets = pair.request("é", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(false, "é", None));
    let refused = pair.request("", EURO).unwrap_err();
    assert_eq!(refused, CdrErrorKind::WideInGiop10);
}

#[test]
fn a_server_without_a_shared_code_set_is_incompatible() {
    let ebcdic = CodeSetComponent {
        native: CodeSetId(0x1002_0025),
        conversion: Vec::new(),
    };
    let server = CodeSetComponentInfo {
        char_data: ebcdic,
        wchar_data: CodeSetComponent::default(),
    };
    let refused = CodeSets::choose(2, Some(&server), None).unwrap_err();
    let wanted = SystemException::omg(ExceptionKind::CodesetIncompatible, 1, Completion::No);
    assert_eq!(refused, wanted);
}

/// The request is refused; the connection goes on with what it had.
#[test]
fn a_context_with_an_unknown_code_set_is_incompatible() {
    let mut pair = Pair::negotiated(Version::V1_2);
    let octets = pair.request("Ž", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(true, "Ž", None));
    let agreed = pair.server.code_sets().negotiated();
    let unknown = CodeSetContext::new(CodeSetId(0x1002_0025), CodeSetId::NONE).encode();
    let wanted = SystemException::omg(ExceptionKind::CodesetIncompatible, 2, Completion::No);
    let malformed = unknown[..7].to_vec();
    for context in [&unknown[..], &malformed, &[]] {
        let octets = request(pair.version, agreed, Some(context), "Ž", None).unwrap();
        let asked = pair.serve(&octets);
        assert_eq!((asked.announced, asked.refused), (true, Some(wanted)));
        assert_eq!(pair.server.code_sets().negotiated(), agreed);
    }
    pair.answer(2);
    let octets = pair.request("Ž", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(false, "Ž", None));
}

/// A client may choose anew, as a bridge does that carries several clients: what was said
/// last holds.
#[test]
fn a_second_context_replaces_the_first() {
    let mut pair = Pair::negotiated(Version::V1_2);
    let octets = pair.request("Ž", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(true, "Ž", None));
    let latin1 = Negotiated::DEFAULT;
    let context = CodeSetContext::new(CodeSetId::ISO_8859_1, CodeSetId::NONE).encode();
    let octets = request(pair.version, latin1, Some(&context), "é", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(true, "é", None));
    assert_eq!(pair.server.code_sets().negotiated(), latin1);
    // What is announced no more holds too.
    let octets = request(pair.version, latin1, None, "é", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(false, "é", None));
}

/// Datagrams of a socket come from many clients.
#[test]
fn code_sets_of_a_datagram_hold_for_itself_alone() {
    let server = CodeSetComponentInfo::orbium(NativeCharSet::Latin1);
    let negotiated = CodeSets::choose(2, Some(&server), None).unwrap();
    let mut pair = Pair::of(Version::V1_2, negotiated, true);
    let octets = pair.request("Ž", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(true, "Ž", None));
    let octets = request(pair.version, Negotiated::DEFAULT, None, "é", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(false, "é", None));
}

/// A thread that continues the connection knows them.
#[test]
fn code_sets_go_with_the_connection_to_another_thread() {
    let mut pair = Pair::negotiated(Version::V1_2);
    let octets = pair.request("Ž", None).unwrap();
    assert_eq!(pair.serve(&octets), heard(true, "Ž", None));
    pair.answer(2);
    let octets = pair.request("Ž", EURO).unwrap();
    pair.server.push(&octets).unwrap();
    let parts = pair.server.next_request::<GiopRequests>().unwrap();
    let continuation = parts.continuation.take();
    let limit = Bounds::default().message;
    pair.server = Connection::continued(Role::Server, limit, &[], continuation, &Budget::NONE);
    assert_eq!(pair.serve(&octets), heard(false, "Ž", EURO));
}
