// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with the service contexts of a deadline.

use std::time::{Duration, UNIX_EPOCH};

use orbium_cdr::{CdrWriter, Format};
use orbium_giop::time::ReplyDeadline;
use orbium_giop::{
    GiopRequests, OperationTail, RequestTemplate, ResponseFlags, ServiceContext, Version,
    finish_message,
};

use crate::request_messages::{with_read, write};

const NOW: Duration = Duration::from_secs(1_800_000_000);

fn deadline() -> ReplyDeadline {
    ReplyDeadline::new(UNIX_EPOCH + NOW, Duration::from_secs(5))
}

/// A request before that deadline.
fn before(template: &RequestTemplate, name: &str, body: Option<u32>) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::plain(template.order(), 2));
    let tail = OperationTail::new(name);
    let begun = template.begin_before(&mut writer, 7, ResponseFlags::Full, &tail, deadline());
    let start = begun.unwrap();
    if let Some(value) = body {
        assert_eq!(writer.len(), start.position());
        writer.write_u32(value);
    }
    finish_message(&mut writer, start);
    writer.finish().unwrap()
}

/// The usual contexts of a deadline are written and read in one piece; all else reads them as any contexts.
#[test]
fn a_request_before_a_deadline_has_its_contexts() {
    let deadline = deadline();
    for name in ["noop", "operation_17", "abc", "abcdefg"] {
        let key = name.as_bytes();
        let template = RequestTemplate::new(Version::V1_2, key);
        for body in [None, Some(42)] {
            let mut message = before(&template, name, body);
            let (parts, contexts, read) = GiopRequests::split_before(&mut message).unwrap();
            assert_eq!((parts.request_id, parts.response), (7, ResponseFlags::Full));
            assert_eq!((parts.key, parts.operation), (key, key));
            assert_eq!((read, parts.body.len()), (deadline, body_len(body)));
            let contexts: Vec<_> = contexts
                .iter()
                .map(|it| (it.id, it.data.to_vec()))
                .collect();
            with_read(&mut message.clone(), |request, position, remaining| {
                let listed = request.contexts.iter().map(|it| (it.id, it.data.to_vec()));
                assert_eq!(listed.collect::<Vec<_>>(), contexts);
                assert_eq!(request.operation, key);
                assert_eq!(remaining, body_len(body), "{position}");
            });
            let borrowed: Vec<_> = contexts
                .iter()
                .map(|(id, data)| ServiceContext { id: *id, data })
                .collect();
            let written = write(&template, ResponseFlags::Full, name, &borrowed, body);
            assert_eq!(written, message);
        }
        // Anything shorter is none.
        let mut whole = before(&template, name, None);
        for len in 0..whole.len() {
            assert!(GiopRequests::split_before(&mut whole[..len]).is_none());
        }
        let mut plain = write(&template, ResponseFlags::Full, name, &[], None);
        assert!(GiopRequests::split_before(&mut plain).is_none());
    }
    let mut writer = CdrWriter::new(Format::native());
    let (old, long) = (RequestTemplate::new(Version::V1_1, b"x"), "x".repeat(50));
    let begin = |template: &RequestTemplate, writer: &mut CdrWriter<'_>, name: &str| {
        let tail = OperationTail::new(name);
        template.begin_before(writer, 7, ResponseFlags::Full, &tail, deadline)
    };
    assert_eq!(begin(&old, &mut writer, "noop"), None);
    let new = RequestTemplate::new(Version::V1_2, b"x");
    assert_eq!(begin(&new, &mut writer, &long), None);
    assert!(writer.is_empty());
}

/// Octets of a body.
fn body_len(body: Option<u32>) -> usize {
    body.map_or(0, |_| 4)
}
