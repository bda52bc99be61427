// SPDX-License-Identifier: MIT OR Apache-2.0
//! Malformed messages and references are values or errors: every message cut off at every
//! octet, and many changed at random.

use crate::octets::{Chance, octets};
use orbium_cdr::{ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium_giop::codeset::CodeSetContext;
use orbium_giop::service_context::MAX_SERVICE_CONTEXTS;
use orbium_giop::{
    CancelRequest, Component, FragmentPlan, IiopProfile, Ior, LocateReplyHeader, LocateRequest,
    LocateStatus, MessageHeader, MessageKind, ObjectUrl, Profile, Reassembly, ReassemblyLimits,
    ReplyHeader, ReplyStatus, RequestHeader, RequestTemplate, ResponseFlags, ServiceContext,
    ServiceContexts, SystemExceptionBody, TaggedComponent, TaggedProfile, Target, Version,
    begin_locate_reply, begin_reply, finish_message, write_locate_request,
};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];
const VERSIONS: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];
const CONTEXTS: [ServiceContext<'_>; 2] = [
    ServiceContext {
        id: 1,
        data: &[0, 0, 0],
    },
    ServiceContext { id: 5, data: &[] },
];

fn ior() -> Ior {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "h".into(),
        port: 1,
        object_key: b"Key".to_vec(),
        components: vec![
            TaggedComponent::orb_type(1),
            TaggedComponent::alternate_address("i", 2),
            TaggedComponent::code_sets(&orbium_giop::codeset::CodeSetComponentInfo::orbium(
                orbium_giop::codeset::NativeCharSet::Latin1,
            )),
        ],
    };
    Ior {
        type_id: "IDL:X:1.0".into(),
        profiles: vec![
            profile.encode(),
            TaggedProfile::multiple_components(&profile.components),
        ],
    }
}

/// One message of every kind, version, order and form; none has a body where
/// the header is what is read.
fn messages() -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    for order in ORDERS {
        for version in VERSIONS {
            let writer = || CdrWriter::new(Format::plain(order, version.minor));
            for contexts in [&[][..], &CONTEXTS] {
                let mut request = writer();
                let template = RequestTemplate::in_order(order, version, b"Key12");
                let full = ResponseFlags::Full;
                let start = template.begin(&mut request, 7, full, "operation", contexts);
                finish_message(&mut request, start);
                messages.push(request.finish().unwrap());

                let mut reply = writer();
                let status = ReplyStatus::NoException;
                let start = begin_reply(&mut reply, version, 7, status, contexts);
                finish_message(&mut reply, start);
                messages.push(reply.finish().unwrap());
            }
            let target = Target::Key(b"Key");
            let mut locate = writer();
            write_locate_request(&mut locate, version, 7, &target);
            messages.push(locate.finish().unwrap());

            let mut reply = writer();
            let status = LocateStatus::ObjectHere;
            let start = begin_locate_reply(&mut reply, version, 7, status);
            finish_message(&mut reply, start);
            messages.push(reply.finish().unwrap());

            let cancel = CancelRequest { request_id: 7 };
            messages.push(cancel.message(version, order).to_vec());
        }
    }
    let ior = ior();
    for template in [
        RequestTemplate::with_profile(Version::V1_2, &ior.profiles[0]),
        RequestTemplate::with_reference(Version::V1_2, 0, &ior),
    ] {
        let mut writer = CdrWriter::new(Format::native());
        let full = ResponseFlags::Full;
        let start = template
            .unwrap()
            .begin(&mut writer, 7, full, "op", &CONTEXTS);
        finish_message(&mut writer, start);
        messages.push(writer.finish().unwrap());
    }
    messages
}

/// Reads a message as far as this crate does; whether that went well.
fn read(message: &mut [u8]) -> bool {
    let Some((head, rest)) = message.split_first_chunk_mut::<12>() else {
        return false;
    };
    let Ok(header) = MessageHeader::parse(head) else {
        return false;
    };
    let minor = header.version.minor;
    let mut reader = header.reader(rest);
    match header.kind {
        MessageKind::Request => RequestHeader::read(&mut reader, minor).is_ok_and(|request| {
            let _ = request.target.object_key();
            see_contexts(&request.contexts)
        }),
        MessageKind::Reply => ReplyHeader::read(&mut reader, minor).is_ok_and(|reply| {
            if reply.status == ReplyStatus::SystemException {
                let _ = SystemExceptionBody::read(&mut reader).map(|body| body.exception());
            }
            see_contexts(&reply.contexts)
        }),
        MessageKind::CancelRequest => CancelRequest::read(&mut reader).is_ok(),
        MessageKind::LocateRequest => LocateRequest::read(&mut reader, minor)
            .inspect(|request| {
                let _ = request.target.object_key();
            })
            .is_ok(),
        MessageKind::LocateReply => LocateReplyHeader::read(&mut reader, minor).is_ok(),
        MessageKind::CloseConnection | MessageKind::MessageError | MessageKind::Fragment => true,
    }
}

fn see_contexts(contexts: &ServiceContexts<'_>) -> bool {
    assert_eq!(contexts.iter().count(), contexts.len());
    for context in contexts {
        assert!(contexts.find(context.id).is_some());
        let _ = CodeSetContext::decode(context.data);
    }
    true
}

/// Conformance: robustness - messages cut and changed at random
#[test]
fn a_message_cut_off_anywhere_is_an_error() {
    for message in messages() {
        assert!(read(&mut message.clone()), "whole: {message:02x?}");
        for len in 0..message.len() {
            let mut cut = message[..len].to_vec();
            assert!(!read(&mut cut), "{len} octets of {message:02x?}");
        }
    }
}

/// Conformance: robustness - messages cut and changed at random
#[test]
fn messages_changed_at_random_are_read_or_refused() {
    let messages = messages();
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..40_000 {
        let mut message = messages[chance.below(messages.len())].clone();
        chance.mutate(&mut message);
        if read(&mut message) {
            good += 1;
        } else {
            bad += 1;
        }
    }
    assert!(good > 1000 && bad > 1000, "{good} read, {bad} refused");
}

#[test]
fn system_exception_bodies_cut_off_anywhere_are_an_error() {
    let body = octets("00000004 49444c00 4f4d0001 00000002");
    let read = |body: &mut [u8]| {
        let format = Format::plain(ByteOrder::Big, 2);
        let mut reader = CdrReader::at(body, 24, format);
        SystemExceptionBody::read(&mut reader).map(|body| body.exception())
    };
    assert!(read(&mut body.clone()).is_ok());
    for len in 0..body.len() {
        assert!(read(&mut body[..len].to_vec()).is_err());
    }
}

/// Conformance: robustness - references changed at random
#[test]
fn references_changed_at_random_are_read_or_refused() {
    let mut chance = Chance(0x0123_4567_89ab_cdef);
    let mut good = 0;
    for round in 0..40_000 {
        let format = Format::plain(ORDERS[round % 2], 2);
        let mut writer = CdrWriter::new(format);
        let ior = ior();
        ior.encode(&mut writer);
        let mut bytes = writer.finish().unwrap();
        chance.mutate(&mut bytes);
        let Ok(read) = Ior::decode(&mut CdrReader::new(&mut bytes, format)) else {
            continue;
        };
        for profile in &read.profiles {
            let _ = profile.object_key();
            let Ok(profile) = Profile::parse(profile) else {
                continue;
            };
            for component in profile.components() {
                if let Ok(component) = Component::parse(component) {
                    let _ = component.to_string();
                    good += 1;
                }
            }
        }
        assert_eq!(Ior::from_string(&read.to_string()), Ok(read));
    }
    assert!(good > 1000, "{good} components read");
}

/// Conformance: robustness - references changed at random
#[test]
fn components_changed_at_random_are_read_or_refused() {
    let mut chance = Chance(0x0fed_cba9_8765_4321);
    for round in 0..40_000 {
        let tag = match round % 130 {
            124..=129 => 0x4154_5400 + round % 130 - 124,
            123 => orbium_giop::component::TAG_TAO_ENDPOINTS,
            tag => tag,
        };
        let mut data = octets("01 000000 02000000 02000000 6100 5000 02000000 6200 5000 00000000");
        chance.mutate(&mut data);
        if let Ok(component) = Component::parse(&TaggedComponent { tag, data }) {
            let _ = component.to_string();
        }
    }
}

/// Conformance: robustness - references changed at random
#[test]
fn object_urls_changed_at_random_are_read_or_refused() {
    let seeds = [
        "corbaloc:iiop:1.2@[::1]:5000,:h:80/Dev/Tr%61der".to_owned(),
        "corbaloc:uiop:1.2@/run/x|a,omniunix:1.2@/run/x:/K".to_owned(),
        "corbaname:rir:/NS#a%20b/c.d".to_owned(),
        "corbaname::h:80,iiop:1.1@[::1]/NS#a%20b/c.d".to_owned(),
        "corbaloc:miop:1.0@1.0-Domain-7-20/225.1.2.3:5000".to_owned(),
        "corbaloc:miop:1.0@1.0-D-7/[ff02::7]:50;iiop:h/K".to_owned(),
        "corbaloc:orbium:shmiop+giop-lite@/run/x|K".to_owned(),
        ior().to_string(),
    ];
    let mut chance = Chance(0x1357_9bdf_0246_8ace);
    for round in 0..40_000 {
        let mut bytes = seeds[round % seeds.len()].clone().into_bytes();
        chance.mutate(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        match ObjectUrl::parse(&text) {
            Ok(url) => {
                let again = ObjectUrl::parse(&url.to_string());
                assert_eq!(again, Ok(url), "printed from {text:?}");
            }
            Err(error) => {
                assert!(error.offset <= text.trim().len(), "{text:?}: {error}");
                assert!((7..=10).contains(&error.minor()));
            }
        }
    }
}

/// That of `corbaloc:miop:1.0@1.0-D-7-20`, which lacks an address, lay behind its end.
///
/// Conformance: robustness - references changed at random
#[test]
fn errors_of_object_urls_cut_off_anywhere_lie_within_them() {
    for whole in [
        "corbaloc:miop:1.0@1.0-D-7-20/225.1.2.3:5000/K%61",
        "corbaloc:miop:1.0@1.0-D-7-20/[ff02::7]:5000/K",
        "corbaloc:iiop:1.2@[::1]:5000,:h:80/Dev/Tr%61der",
        "corbaloc:uiop:1.2@/run/x|a,omniunix:1.2@/run/x:/K",
        "corbaloc:ssliop:1.2@host:684,diop:h:1/K",
        "corbaloc:rir:/NameService",
        "corbaname:rir:/NS#a%20b/c.d",
        "corbaname:iiop:1.2@h:80/NS#a%20b/%c3%a4",
        "IOR:000000000000000d49444c3a58",
    ] {
        for end in 0..=whole.len() {
            for text in [&whole[..end], &format!("  {}  ", &whole[..end])] {
                if let Err(error) = ObjectUrl::parse(text) {
                    assert!(error.offset <= text.trim().len(), "{text:?}: {error}");
                }
            }
        }
    }
}

/// Conformance: robustness - messages cut and changed at random
#[test]
fn fragments_changed_at_random_stay_within_the_limits() {
    let limits = ReassemblyLimits {
        message: 400,
        messages: 4,
        total: 1000,
    };
    let message = {
        let mut writer = CdrWriter::new(Format::native());
        let template = RequestTemplate::new(Version::V1_2, b"Key");
        let start = template.begin(&mut writer, 7, ResponseFlags::Full, "f", &[]);
        writer.write_raw(&[7; 200]);
        finish_message(&mut writer, start);
        writer.finish().unwrap()
    };
    let parts: Vec<Vec<u8>> = FragmentPlan::new(&message, message.len(), 64)
        .unwrap()
        .map(|part| [part.head(), &message[part.range.clone()]].concat())
        .collect();
    let mut chance = Chance(0x2468_ace0_1357_9bdf);
    let mut assembly = Reassembly::new(limits);
    let mut complete = 0;
    for _ in 0..40_000 {
        let mut part = parts[chance.below(parts.len())].clone();
        if chance.below(2) == 0 {
            chance.mutate(&mut part);
        }
        let Some((head, body)) = part.split_first_chunk() else {
            continue;
        };
        let Ok(header) = MessageHeader::parse(head) else {
            continue;
        };
        if let Ok(Some(mut whole)) = assembly.accept(&header, body) {
            let header = MessageHeader::parse(whole.first_chunk().unwrap()).unwrap();
            assert_eq!(header.size as usize + 12, whole.len());
            assert!(!header.more_fragments);
            read(&mut whole);
            complete += 1;
        }
        assert!(assembly.len() <= limits.messages && assembly.octets() <= limits.total);
    }
    assert!(complete > 100, "{complete} came together");
}

/// Conformance: robustness - messages cut and changed at random
#[test]
fn counts_beyond_the_data_are_refused_before_anything_is_reserved() {
    let format = Format::plain(ByteOrder::Big, 2);
    for (text, kind) in [
        // Service contexts: more than fit, and more than are allowed.
        ("ffffffff 00000000 00000000", CdrErrorKind::CountTooLarge),
        ("00000002 00000000 00000000", CdrErrorKind::CountTooLarge),
        ("00000001 00000001 ffffffff", CdrErrorKind::Truncated),
        ("00000001 00000001 00000001", CdrErrorKind::Truncated),
    ] {
        let mut bytes = octets(text);
        let mut reader = CdrReader::new(&mut bytes, format);
        let error = ServiceContexts::read(&mut reader).unwrap_err();
        assert_eq!(error.kind, kind, "{text}");
    }
    let many = MAX_SERVICE_CONTEXTS + 1;
    let mut bytes = (many as u32).to_be_bytes().to_vec();
    bytes.resize(4 + many * 8, 0);
    let mut reader = CdrReader::new(&mut bytes, format);
    let error = ServiceContexts::read(&mut reader).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::CountTooLarge);
    for text in ["00000001 00 000000 ffffffff", "ffffffff 00"] {
        let mut bytes = octets(text);
        let error = Ior::decode(&mut CdrReader::new(&mut bytes, format)).unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::CountTooLarge);
    }
}
