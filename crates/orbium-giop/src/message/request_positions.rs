// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers of requests as positions in their messages, for requests in a queue.

use std::ops::Range;

use orbium_cdr::CdrReader;

use crate::context::service_context::{ListForm, ServiceContexts};
use crate::{MessageHeader, RequestHeader, Target};

/// The header of a request as positions within its message. A queued message is moved, which
/// borrows do not permit; with positions the header is parsed only once.
///
/// ```
/// use orbium_giop::{MessageHeader, RequestPositions, split_header};
///
/// # use orbium_cdr::{CdrWriter, Format};
/// # use orbium_giop::{RequestTemplate, ResponseFlags, Version, finish_message};
/// # let mut writer = CdrWriter::new(Format::native());
/// # let start = RequestTemplate::new(Version::V1_2, b"Cube")
/// #     .begin(&mut writer, 7, ResponseFlags::Full, "square", &[]);
/// # writer.write_u32(12);
/// # finish_message(&mut writer, start);
/// # let mut message = writer.finish()?;
/// let addresses = message.as_ptr_range();
/// let (head, after) = split_header(&mut message);
/// let header = MessageHeader::parse(&head)?;
/// let mut reader = header.reader(after);
/// let request = header.read_request(&head, &mut reader)?;
/// let positions = RequestPositions::of(&request, &reader, &addresses);
///
/// // Later, by another thread, wherever the message has been moved:
/// let mut request = positions.request(&header, &mut message);
/// assert_eq!(request.operation, b"square");
/// assert_eq!(request.arguments.read_u32()?, 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestPositions {
    key: Key,
    operation: Range<usize>,
    contexts: Range<usize>,
    context_form: ListForm,
    body: usize,
}

/// The object key of a request.
#[derive(Clone, Debug)]
enum Key {
    InMessage(Range<usize>),
    /// The key of a profile or reference, unless the profile is not understood.
    OfProfile(Option<Box<[u8]>>),
}

/// A request resolved from its positions.
#[derive(Debug)]
pub struct PositionedRequest<'a> {
    /// The object key; `None` if the request is addressed by a profile without a known key.
    pub key: Option<&'a [u8]>,
    /// Operation name without the NUL; not checked to be UTF-8.
    pub operation: &'a [u8],
    /// Service contexts.
    pub contexts: ServiceContexts<'a>,
    /// Stands at the first argument.
    pub arguments: CdrReader<'a>,
}

impl RequestPositions {
    /// The positions of a request that was read from a message at these addresses; `reader` is at
    /// its body.
    #[must_use]
    pub fn of(
        request: &RequestHeader<'_>,
        reader: &CdrReader<'_>,
        message: &Range<*const u8>,
    ) -> Self {
        let position = |part: &[u8]| position(part, message);
        let contexts = request.contexts;
        let len = message.end.addr() - message.start.addr();
        Self {
            key: match &request.target {
                Target::Key(key) => Key::InMessage(position(key)),
                other => Key::OfProfile(other.object_key().map(|key| key.into_owned().into())),
            },
            operation: position(request.operation),
            contexts: position(contexts.octets()),
            context_form: contexts.form(),
            body: len - reader.remaining(),
        }
    }

    /// Resolves the positions in the message. Fragment boundaries, code sets, nesting and owner of
    /// the reader are not set.
    ///
    /// # Panics
    /// If a position is beyond the message, because it is not the message of the positions.
    #[must_use]
    pub fn request<'a>(
        &'a self,
        header: &MessageHeader,
        message: &'a mut [u8],
    ) -> PositionedRequest<'a> {
        let (front, body) = message.split_at_mut(self.body);
        let contexts = &front[self.contexts.clone()];
        PositionedRequest {
            key: self.key(front),
            operation: self.operation(front),
            contexts: ServiceContexts::checked(contexts, self.context_form),
            arguments: CdrReader::at(body, self.body, header.format()),
        }
    }

    /// The object key; `None` if the request is addressed by a profile without a known key.
    ///
    /// # Panics
    /// As [`RequestPositions::request`].
    #[must_use]
    pub fn key<'a>(&'a self, message: &'a [u8]) -> Option<&'a [u8]> {
        match &self.key {
            Key::InMessage(key) => Some(&message[key.clone()]),
            Key::OfProfile(key) => key.as_deref(),
        }
    }

    /// The operation name without the NUL.
    ///
    /// # Panics
    /// As [`RequestPositions::request`].
    #[must_use]
    pub fn operation<'a>(&self, message: &'a [u8]) -> &'a [u8] {
        &message[self.operation.clone()]
    }
}

/// The position of `part` in a message at these addresses. That of an empty part is arbitrary.
fn position(part: &[u8], message: &Range<*const u8>) -> Range<usize> {
    if part.is_empty() {
        return 0..0;
    }
    let start = part.as_ptr().addr() - message.start.addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IiopProfile, RequestTemplate, ServiceContext, TaggedProfile};
    use crate::{ResponseFlags, Version, finish_message, service_context::CODE_SETS, split_header};
    use orbium_cdr::{CdrWriter, Format};

    const ARGUMENT: u64 = 0x0102_0304_0506_0708;

    /// Reads the header once, moves the message, and resolves the request in it.
    fn moved(mut message: Vec<u8>, look: impl FnOnce(PositionedRequest<'_>)) {
        let addresses = message.as_ptr_range();
        let (head, after) = split_header(&mut message);
        let header = MessageHeader::parse(&head).unwrap();
        let mut reader = header.reader(after);
        let request = header.read_request(&head, &mut reader).unwrap();
        let positions = RequestPositions::of(&request, &reader, &addresses);
        let mut elsewhere = message.clone();
        message.fill(0xff);
        look(positions.request(&header, &mut elsewhere));
    }

    fn written(template: &RequestTemplate, contexts: &[ServiceContext<'_>]) -> Vec<u8> {
        let mut writer = CdrWriter::new(Format::native());
        let start = template.begin(&mut writer, 7, ResponseFlags::Full, "square", contexts);
        writer.write_u64(ARGUMENT);
        finish_message(&mut writer, start);
        writer.finish().unwrap()
    }

    #[test]
    fn requests_of_all_versions_are_found_with_their_contexts() {
        let context = ServiceContext {
            id: CODE_SETS,
            data: &[1, 2, 3],
        };
        for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
            for contexts in [&[][..], &[context]] {
                let template = RequestTemplate::new(version, b"Cube");
                moved(written(&template, contexts), |mut request| {
                    assert_eq!(request.key, Some(&b"Cube"[..]));
                    assert_eq!(request.operation, b"square");
                    let found: Vec<_> = request.contexts.iter().collect();
                    assert_eq!(found, contexts);
                    assert_eq!(request.arguments.read_u64(), Ok(ARGUMENT));
                    assert_eq!(request.arguments.remaining(), 0);
                });
            }
        }
    }

    #[test]
    fn the_key_of_a_profile_is_found_and_that_of_an_unknown_one_is_none() {
        let of = |tag, data: &[u8]| {
            let data = data.to_vec();
            let template =
                RequestTemplate::with_profile(Version::V1_2, &TaggedProfile { tag, data });
            written(&template.unwrap(), &[])
        };
        let profile = IiopProfile {
            version: Version::V1_2,
            host: "host".to_owned(),
            port: 2809,
            object_key: b"Cube".to_vec(),
            components: Vec::new(),
        };
        let profile = profile.encode();
        moved(of(profile.tag, &profile.data), |mut request| {
            assert_eq!(request.key, Some(&b"Cube"[..]));
            assert_eq!(request.operation, b"square");
            assert_eq!(request.arguments.read_u64(), Ok(ARGUMENT));
        });
        moved(of(0x7fff_0000, b"?"), |request| {
            assert_eq!(request.key, None);
        });
    }
}
