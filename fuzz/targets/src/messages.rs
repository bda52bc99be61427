// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stream of octets as a connection would take it.

use orbium_cdr::{CdrReader, CdrWriter, Decode, Encode, Format};
use orbium_giop::real_time::{
    priority_context, priority_range_context, read_priority_context, read_priority_range_context,
};
use orbium_giop::time::{EndTimes, TimeLeft};
use orbium_giop::{
    BodyStart, CancelRequest, FragmentPlan, HEADER_LEN, Ior, LocateReplyHeader, LocateRequest,
    LocateStatus, MessageHeader, MessageKind, OperationTail, Reassembly, ReassemblyLimits,
    ReplyHeader, ReplyStatus, RequestHeader, RequestTemplate, ServiceContext, ServiceContexts,
    SystemExceptionBody, TaggedProfile, Target, begin_locate_reply, begin_reply, codeset,
    finish_message, service_context, write_locate_request,
};

const LIMITS: ReassemblyLimits = ReassemblyLimits {
    message: 4096,
    messages: 3,
    total: 6000,
};

/// Messages one after the other, put together where they are fragments. What
/// can be read is written again and must read the same.
pub fn messages(input: &[u8]) {
    let mut assembly = Reassembly::new(LIMITS);
    let mut rest = input;
    while let Some((head, tail)) = rest.split_first_chunk::<HEADER_LEN>() {
        let Ok(header) = MessageHeader::parse(head) else {
            return;
        };
        assert_eq!(MessageHeader::parse(&header.encode()), Ok(header));
        let Some((body, next)) = tail.split_at_checked(header.size as usize) else {
            // What has arrived of a message must not be believed either.
            return message(header, tail, &[]);
        };
        rest = next;
        if header.more_fragments || header.kind == MessageKind::Fragment {
            if let Ok(Some(whole)) = assembly.accept(&header, body) {
                assert!(whole.len() <= LIMITS.message || header.kind != MessageKind::Fragment);
                message_of(&whole, &whole.seams);
            }
            assert!(assembly.len() <= LIMITS.messages && assembly.octets() <= LIMITS.total);
            assert_eq!(assembly.is_empty(), assembly.octets() == 0);
        } else {
            if header.kind == MessageKind::CancelRequest
                && let Ok(cancel) = CancelRequest::read(&mut header.reader(&mut body.to_vec()))
            {
                let id = cancel.request_id.to_ne_bytes();
                assembly.take(|_, octets| octets.get(HEADER_LEN..HEADER_LEN + 4) == Some(&id));
            }
            message(header, body, &[]);
        }
    }
}

fn message_of(whole: &[u8], seams: &[u32]) {
    let (head, body) = whole.split_first_chunk().expect("a whole message");
    let header = MessageHeader::parse(head).expect("the header of a whole message");
    assert!(!header.more_fragments);
    assert_eq!(header.size as usize, body.len());
    message(header, body, seams);
}

fn message(header: MessageHeader, body: &[u8], seams: &[u32]) {
    let octets = &mut body.to_vec();
    let reader = &mut header.reader(octets).with_fragment_boundaries(seams);
    let written = match header.kind {
        MessageKind::Request => request(header, reader),
        MessageKind::Reply => reply(header, reader),
        MessageKind::LocateRequest => locate_request(header, reader),
        MessageKind::LocateReply => locate_reply(header, reader),
        MessageKind::CancelRequest => {
            if let Ok(cancel) = CancelRequest::read(reader) {
                let message = cancel.message(header.version, header.order);
                let mut again = message[HEADER_LEN..].to_vec();
                assert_eq!(
                    CancelRequest::read(&mut header.reader(&mut again)),
                    Ok(cancel)
                );
            }
            None
        }
        MessageKind::CloseConnection | MessageKind::MessageError | MessageKind::Fragment => None,
    };
    if let Some(written) = written {
        cut(&written);
    }
}

/// A message cut into fragments is put together to the same message.
fn cut(message: &[u8]) {
    for limit in [28, 40, 200] {
        let Some(plan) = FragmentPlan::new(message, message.len(), limit) else {
            continue;
        };
        let mut assembly = Reassembly::new(ReassemblyLimits::default());
        let mut whole = None;
        for part in plan {
            let mut octets = part.head().to_vec();
            octets.extend_from_slice(&message[part.range]);
            assert!(octets.len() <= limit.max(28));
            let (head, body) = octets.split_first_chunk().expect("a header");
            let header = MessageHeader::parse(head).expect("the header of a fragment");
            assert_eq!(header.size as usize, body.len());
            assert!(whole.is_none(), "a fragment after the last");
            whole = assembly.accept(&header, body).expect("a fragment");
        }
        assert_eq!(whole.as_deref(), Some(message));
    }
}

/// A finished message, split for reading again.
fn finished(mut writer: CdrWriter<'_>, start: BodyStart, body: &[u8]) -> Option<Vec<u8>> {
    writer.write_raw(body);
    finish_message(&mut writer, start);
    writer.finish().ok()
}

/// Reads what was just written.
fn again<R>(message: &[u8], read: impl FnOnce(&MessageHeader, &mut CdrReader<'_>) -> R) -> R {
    let (head, body) = message.split_first_chunk().expect("a header");
    let header = MessageHeader::parse(head).expect("a header that was written");
    assert_eq!(header.size as usize, body.len());
    let octets = &mut body.to_vec();
    read(&header, &mut header.reader(octets))
}

fn request(header: MessageHeader, reader: &mut CdrReader<'_>) -> Option<Vec<u8>> {
    let minor = header.version.minor;
    let request = RequestHeader::read(reader, minor).ok()?;
    if minor >= 2 {
        assert!(reader.position().is_multiple_of(8) || reader.remaining() == 0);
    }
    contexts_hold(&request.contexts, header.format());
    let _ = request.target.object_key();
    // A stub has no operation that is not text, or has a NUL inside.
    let operation = str::from_utf8(request.operation).ok()?;
    let template = match &request.target {
        Target::Key(key) => RequestTemplate::in_order(header.order, header.version, key),
        Target::Profile { tag, data } => {
            let (tag, data) = (*tag, data.to_vec());
            RequestTemplate::with_profile(header.version, &TaggedProfile { tag, data })?
        }
        Target::Reference { index, ior } => {
            RequestTemplate::with_reference(header.version, *index, ior)?
        }
    };
    let contexts: Vec<_> = request.contexts.iter().collect();
    let format = Format::plain(template.order(), minor);
    let mut writer = CdrWriter::new(format);
    let (id, response) = (request.request_id, request.response);
    let start = template.begin(&mut writer, id, response, operation, &contexts);
    assert!(!contexts.is_empty() || start.position() <= template.header_len(operation));
    let body = reader.take(reader.remaining()).expect("the rest");
    let message = finished(writer, start, body)?;
    again(&message, |_, reader| {
        let read = RequestHeader::read(reader, minor).expect("a request that was written");
        assert_eq!((read.request_id, read.response), (id, response));
        assert_eq!(read.target, request.target);
        assert_eq!(read.operation, request.operation);
        assert!(read.contexts.iter().eq(contexts.iter().copied()));
        assert_eq!(reader.take(reader.remaining()).expect("the rest"), body);
    });
    if contexts.is_empty() && !template.order().is_foreign() {
        let mut writer = CdrWriter::new(format);
        let tail = OperationTail::new(operation);
        if let Some(start) = template.begin_giop(&mut writer, id, response, &tail) {
            assert_eq!(finished(writer, start, body).as_deref(), Some(&*message));
        }
    }
    Some(message)
}

fn reply(header: MessageHeader, reader: &mut CdrReader<'_>) -> Option<Vec<u8>> {
    let minor = header.version.minor;
    let reply = ReplyHeader::read(reader, minor).ok()?;
    contexts_hold(&reply.contexts, header.format());
    let contexts: Vec<ServiceContext<'_>> = reply.contexts.iter().collect();
    let mut writer = CdrWriter::new(header.format());
    let (id, status) = (reply.request_id, reply.status);
    let start = begin_reply(&mut writer, header.version, id, status, &contexts);
    let at = reader.position();
    let body = reader.take(reader.remaining()).expect("the rest");
    let message = finished(writer, start, body)?;
    again(&message, |_, reader| {
        let read = ReplyHeader::read(reader, minor).expect("a reply that was written");
        assert_eq!((read.request_id, read.status), (id, status));
        assert!(read.contexts.iter().eq(contexts.iter().copied()));
        assert_eq!(reader.take(reader.remaining()).expect("the rest"), body);
    });
    let reader = &mut CdrReader::at(body, at, header.format());
    match status {
        ReplyStatus::NoException | ReplyStatus::UserException => {}
        ReplyStatus::SystemException => exception_holds(reader),
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => reference_holds(reader),
        ReplyStatus::NeedsAddressingMode => {
            let _ = reader.read_u16();
        }
    }
    Some(message)
}

fn locate_request(header: MessageHeader, reader: &mut CdrReader<'_>) -> Option<Vec<u8>> {
    let minor = header.version.minor;
    let request = LocateRequest::read(reader, minor).ok()?;
    let _ = request.target.object_key();
    let mut writer = CdrWriter::new(header.format());
    write_locate_request(
        &mut writer,
        header.version,
        request.request_id,
        &request.target,
    );
    let message = writer.finish().expect("a target that was read");
    again(&message, |_, reader| {
        let read = LocateRequest::read(reader, minor).expect("what was written");
        assert_eq!(
            (read.request_id, &read.target),
            (request.request_id, &request.target)
        );
        assert_eq!(reader.remaining(), 0);
    });
    Some(message)
}

fn locate_reply(header: MessageHeader, reader: &mut CdrReader<'_>) -> Option<Vec<u8>> {
    let minor = header.version.minor;
    let reply = LocateReplyHeader::read(reader, minor).ok()?;
    let mut writer = CdrWriter::new(header.format());
    let start = begin_locate_reply(&mut writer, header.version, reply.request_id, reply.status);
    let at = reader.position();
    let body = reader.take(reader.remaining()).expect("the rest");
    let message = finished(writer, start, body)?;
    again(&message, |_, reader| {
        assert_eq!(LocateReplyHeader::read(reader, minor), Ok(reply));
        assert_eq!(reader.take(reader.remaining()).expect("the rest"), body);
    });
    let reader = &mut CdrReader::at(body, at, header.format());
    match reply.status {
        LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => reference_holds(reader),
        LocateStatus::SystemException => exception_holds(reader),
        _ => {}
    }
    Some(message)
}

fn exception_holds(reader: &mut CdrReader<'_>) {
    let format = reader.format();
    let Ok(body) = SystemExceptionBody::read(reader) else {
        return;
    };
    let _ = body.exception().to_string();
    let mut writer = CdrWriter::new(format);
    body.write(&mut writer);
    let octets = &mut writer.finish().expect("an exception that was read");
    let read = SystemExceptionBody::read(&mut CdrReader::new(octets, format));
    assert_eq!(read, Ok(body));
}

fn reference_holds(reader: &mut CdrReader<'_>) {
    let format = reader.format();
    let Ok(ior) = Ior::decode(reader) else {
        return;
    };
    let mut writer = CdrWriter::new(format);
    ior.encode(&mut writer);
    let octets = &mut writer.finish().expect("a reference that was read");
    assert_eq!(Ior::decode(&mut CdrReader::new(octets, format)), Ok(ior));
}

fn contexts_hold(contexts: &ServiceContexts<'_>, format: Format) {
    assert_eq!(contexts.iter().count(), contexts.len());
    assert_eq!(contexts.is_empty(), contexts.iter().next().is_none());
    for context in contexts {
        assert!(contexts.find(context.id).is_some());
        let _ = service_context::name(context.id);
        if let Ok(priority) = read_priority_context(context.data) {
            assert_eq!(
                read_priority_context(&priority_context(priority)),
                Ok(priority)
            );
        }
        if let Ok(range) = read_priority_range_context(context.data) {
            let again = priority_range_context(range);
            assert_eq!(read_priority_range_context(&again), Ok(range));
        }
        if let Ok(ends) = EndTimes::decode(context.data) {
            assert_eq!(EndTimes::decode(ends.encode().as_slice()), Ok(ends));
            for time in [ends.request, ends.reply].into_iter().flatten() {
                let _ = time.to_system_time();
            }
        }
        if let Ok(left) = TimeLeft::decode(context.data) {
            assert_eq!(TimeLeft::decode(left.encode().as_slice()), Ok(left));
        }
    }
    let Some(data) = contexts.find(service_context::CODE_SETS) else {
        return;
    };
    if let Ok(sets) = codeset::CodeSetContext::decode(data) {
        assert_eq!(codeset::CodeSetContext::decode(&sets.encode()), Ok(sets));
        if let Ok(negotiated) = codeset::Negotiated::from_context(sets) {
            let _ = (negotiated.context(), format);
        }
    }
}
