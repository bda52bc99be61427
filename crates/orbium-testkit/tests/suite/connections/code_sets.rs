// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code sets: agreed upon, announced, and refused.

use orbium::giop::codeset::{CodeSetComponent, CodeSetComponentInfo, CodeSetContext, CodeSetId};
use orbium::giop::{
    LocateStatus, MessageKind, ReplyStatus, ServiceContext, SystemExceptionBody, TaggedComponent,
    service_context,
};
use orbium::{Completion, ExceptionKind, Interface, SystemException, policy::BufferingConstraint};
use orbium_cdr::CdrReader;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Request, RequestLine, Served, each_strategy, locate_reply, reach, reference,
    request, within,
};

const NONE: CodeSetComponent = CodeSetComponent {
    native: CodeSetId::NONE,
    conversion: Vec::new(),
};

fn native(id: CodeSetId) -> CodeSetComponent {
    CodeSetComponent {
        native: id,
        conversion: Vec::new(),
    }
}

fn sets(char_data: CodeSetComponent, wchar_data: CodeSetComponent) -> TaggedComponent {
    TaggedComponent::code_sets(&CodeSetComponentInfo {
        char_data,
        wchar_data,
    })
}

fn scripted(minor: u8, components: &[TaggedComponent]) -> (FakeServer, orbium::Orb, Target) {
    let server = FakeServer::listen();
    let client = orbium_testkit::client();
    let ior = reference(minor, &[server.port()], b"x", components);
    let target = reach(&client, &ior.to_string());
    (server, client, target)
}

/// Answers the client's question where the object is: here, by the very reference that
/// it has.
fn is_here(peer: &mut Peer, minor: u8) {
    let (id, _) = peer.expect(MessageKind::LocateRequest).locate_request();
    peer.send(&locate_reply(minor, id, LocateStatus::ObjectHere, |_| {}));
}

/// The code-set context of a request.
fn announced(request: &Request) -> Option<CodeSetContext> {
    let data = request
        .contexts
        .iter()
        .find(|(id, _)| *id == service_context::CODE_SETS)?;
    Some(CodeSetContext::decode(&data.1).unwrap())
}

/// Conformance: code sets - the context, sent until answered, holds for the connection
#[test]
fn code_sets_are_announced_until_the_server_has_answered() {
    let (server, _client, target) = scripted(
        2,
        &[sets(native(CodeSetId::UTF_8), native(CodeSetId::UTF_16))],
    );
    let agreed = CodeSetContext::new(CodeSetId::UTF_8, CodeSetId::UTF_16);
    // Oneways have no reply.
    target.post(1).unwrap();
    target.post(2).unwrap();
    let mut peer = server.accept();
    for _ in 0..2 {
        assert_eq!(announced(&peer.expect_request("post")), Some(agreed));
    }
    let text = "é€";
    for first in [true, false] {
        let caller = target.clone();
        let call = orbium_testkit::spawn(move || caller.echo_string(text));
        let request = peer.expect_request("echo_string");
        assert_eq!(announced(&request), first.then_some(agreed));
        assert_eq!(&request.body[4..], [text.as_bytes(), b"\0"].concat());
        peer.answer(&request, |w| {
            w.write_octets(&[text.as_bytes(), b"\0"].concat());
        });
        assert_eq!(
            within("the call", move || call.join().unwrap()).unwrap(),
            text
        );
    }
}

/// Conformance: Messaging - buffered oneways - the first of a buffer announces code sets for all of it
#[test]
fn the_first_oneway_of_a_buffer_announces_code_sets() {
    let (server, _client, target) = scripted(
        2,
        &[sets(native(CodeSetId::UTF_8), native(CodeSetId::UTF_16))],
    );
    let agreed = CodeSetContext::new(CodeSetId::UTF_8, CodeSetId::UTF_16);
    let target = target.with_buffering(BufferingConstraint {
        message_count: Some(3),
        ..BufferingConstraint::default()
    });
    (0..6).for_each(|v| target.post(v).unwrap());
    let mut peer = server.accept();
    for first in [true, false, false, true, false, false] {
        let request = peer.expect_request("post");
        assert_eq!(announced(&request), first.then_some(agreed));
    }
}

/// Conformance: code sets - what cannot be converted: DATA_CONVERSION
#[test]
fn a_server_of_latin_1_gets_latin_1_and_what_it_lacks_is_not_sent() {
    let latin = sets(native(CodeSetId::ISO_8859_1), NONE);
    for components in [vec![], vec![latin]] {
        let (server, _client, target) = scripted(2, &components);
        let caller = target.clone();
        let call = orbium_testkit::spawn(move || caller.echo_string("é"));
        let mut peer = server.accept();
        let request = peer.expect_request("echo_string");
        assert_eq!(&request.body[4..], b"\xE9\0");
        peer.answer(&request, |w| w.write_octets(b"\xE4\0"));
        assert_eq!(
            within("the call", move || call.join().unwrap()).unwrap(),
            "ä"
        );
        let call = orbium_testkit::spawn(move || target.echo_string("€"));
        if components.is_empty() {
            // Its reference may say less than the object's own.
            is_here(&mut peer, 2);
        }
        let exception = within("the refusal", move || call.join().unwrap()).unwrap_err();
        let lacking = SystemException::omg(ExceptionKind::DataConversion, 1, Completion::No);
        assert_eq!(exception, lacking);
    }
}

/// Conformance: code sets - no component: ISO 8859-1 only
#[test]
fn wide_text_needs_a_server_that_says_how_it_wants_it() {
    let refused = |minor| {
        let (server, _client, target) = scripted(minor, &[]);
        let call = orbium_testkit::spawn(move || target.echo_wstring("w"));
        is_here(&mut server.accept(), minor);
        within("the refusal", move || call.join().unwrap()).unwrap_err()
    };
    let missing = SystemException::omg(ExceptionKind::InvObjref, 2, Completion::No);
    assert_eq!(refused(2), missing);
    let wide = SystemException::omg(ExceptionKind::Marshal, 5, Completion::No);
    assert_eq!(refused(0), wide);
}

/// Conformance: code sets - a component without a set for wide characters: INV_OBJREF 1
#[test]
fn wide_text_needs_a_set_for_wide_characters_in_the_component() {
    let narrow = sets(native(CodeSetId::ISO_8859_1), NONE);
    let (_server, _client, target) = scripted(2, &[narrow]);
    let result = within("the refusal", move || target.echo_wstring("w"));
    let unnamed = SystemException::omg(ExceptionKind::InvObjref, 1, Completion::No);
    assert_eq!(result, Err(unnamed));
}

/// Conformance: code sets - CODESET_INCOMPATIBLE
#[test]
fn a_server_with_unknown_sets_is_incompatible() {
    let ebcdic = CodeSetId(0x1002_0025);
    let (_server, _client, target) = scripted(2, &[sets(native(ebcdic), NONE)]);
    let incompatible = SystemException::omg(ExceptionKind::CodesetIncompatible, 1, Completion::No);
    let result = within("the call", move || target.echo_string("x"));
    assert_eq!(result, Err(incompatible));
}

fn context(char_data: u32, wchar_data: u32) -> Vec<u8> {
    CodeSetContext::new(CodeSetId(char_data), CodeSetId(wchar_data)).encode()
}

/// Conformance: code sets - the context, sent until answered, holds for the connection
/// Conformance: complaint 23 - advertised code sets change with a linked library
#[test]
fn a_server_applies_the_context_for_the_rest_of_the_connection() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let echo = |peer: &mut Peer, data: Option<&[u8]>, text: &[u8]| {
            let contexts: Vec<_> = data
                .map(|data| ServiceContext {
                    id: service_context::CODE_SETS,
                    data,
                })
                .into_iter()
                .collect();
            let line = RequestLine {
                contexts: &contexts,
                ..RequestLine::new(2, "echo_string")
            };
            peer.send(&request(line, |w| w.write_octets(text)));
            let (_, status, body) = peer.receive().reply();
            (status, body)
        };
        // Latin-1 while nothing is said.
        let (status, body) = echo(&mut peer, None, b"\xE9\0");
        assert_eq!(
            (status, &body[4..]),
            (ReplyStatus::NoException, &b"\xE9\0"[..])
        );
        let utf_8 = context(CodeSetId::UTF_8.0, CodeSetId::UTF_16.0);
        for data in [Some(&utf_8[..]), None] {
            let (status, body) = echo(&mut peer, data, b"\xC3\xA9\0");
            assert_eq!(
                (status, &body[4..]),
                (ReplyStatus::NoException, &b"\xC3\xA9\0"[..])
            );
        }
        let unknown = context(0x1002_0025, 0);
        let (status, body) = echo(&mut peer, Some(&unknown), b"x\0");
        assert_eq!(status, ReplyStatus::SystemException);
        assert!(String::from_utf8_lossy(&body).contains("CODESET_INCOMPATIBLE"));
        let (status, body) = echo(&mut peer, Some(b"\x09"), b"x\0");
        assert_eq!(status, ReplyStatus::SystemException);
        assert!(String::from_utf8_lossy(&body).contains("CORBA"));
        served.end();
    });
}

/// Conformance: code sets - the context, sent until answered, holds for the connection
#[test]
fn wide_text_without_a_context_is_refused_by_the_server() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        peer.send(&request(RequestLine::new(2, "echo_wstring"), |w| {
            w.write_octets(&[0, b'w']);
        }));
        let message = peer.receive();
        let (_, status, mut body) = message.reply();
        assert_eq!(status, ReplyStatus::SystemException);
        let mut reader = CdrReader::at(&mut body, 24, message.header.format());
        let exception = SystemExceptionBody::read(&mut reader).unwrap().exception();
        let refused = SystemException::omg(ExceptionKind::BadParam, 23, Completion::No);
        assert_eq!(exception, refused);
        assert_eq!(served.state.calls(), 0);
        served.end();
    });
}
