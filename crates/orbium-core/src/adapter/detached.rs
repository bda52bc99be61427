// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests taken away from the connection they came by, to be served by
//! another thread.

use std::fmt;
use std::ops::Range;

use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Format};
use orbium_giop::{HEADER_LEN, ResponseFlags, ServiceContexts, SystemException, Version};
use orbium_sync::role::while_serving_own_thread;

use super::{Expiry, Incoming};
use crate::Orb;
use crate::lane::{Decided, SETTLED};
use crate::servant::{Reply, ReplyPath};
use crate::server::LateReply;

/// A request with octets of its own. It is served, or refused; dropped, it is
/// neither, and nobody is told.
pub struct DetachedRequest {
    orb: Orb,
    path: LateReply,
    /// Arguments, key, operation and service contexts.
    octets: Vec<u8>,
    body: Range<usize>,
    key: Range<usize>,
    operation: Range<usize>,
    contexts: Range<usize>,
    /// Where the arguments were in the message.
    position: usize,
    seams: Box<[u32]>,
    expiry: Expiry,
    version: Version,
    format: Format,
    request_id: u32,
    response: ResponseFlags,
}

impl fmt::Debug for DetachedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetachedRequest")
            .field("request_id", &self.request_id)
            .field("octets", &self.octets.len())
            .finish_non_exhaustive()
    }
}

/// A reply that is announced before it is sent.
struct Announced<'a> {
    path: &'a LateReply,
    answering: &'a dyn Fn(),
}

impl ReplyPath for Announced<'_> {
    fn send(&self, message: &CdrWriter<'_>) {
        (self.answering)();
        self.path.send(message);
    }
}

/// Who has taken a request away serves it.
const HERE: Decided = Decided {
    priority: None,
    scheduling: None,
};

/// Octets put behind others; where they are then.
fn put(octets: &mut Vec<u8>, more: &[u8]) -> Range<usize> {
    let start = octets.len();
    octets.extend_from_slice(more);
    start..octets.len()
}

/// Octets in front of the arguments, so that they lie as they lay in the
/// message: a buffer starts at a multiple of eight.
const fn phase(position: usize) -> usize {
    position % 8
}

impl DetachedRequest {
    /// Takes the request away; `None` if it cannot be answered from elsewhere,
    /// or its arguments cannot be had.
    pub(super) fn new(
        incoming: &Incoming<'_>,
        mut arguments: CdrReader<'_>,
        reply: &Reply<'_>,
    ) -> Option<Self> {
        let path = reply.path.detach()?;
        let (position, format) = (arguments.position(), arguments.format());
        let body_len = arguments.remaining();
        let mut octets = vec![0; phase(position)];
        let body = put(&mut octets, arguments.take(body_len).ok()?);
        let key = put(&mut octets, incoming.key);
        let operation = put(&mut octets, incoming.operation);
        let mut contexts = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 0));
        contexts.write_count(incoming.contexts.len());
        for context in &incoming.contexts {
            contexts.write_u32(context.id);
            contexts.write_octets(context.data);
        }
        let contexts = put(&mut octets, &contexts.finish().ok()?);
        Some(Self {
            orb: incoming.orb.clone(),
            path,
            octets,
            body,
            key,
            operation,
            contexts,
            position,
            seams: incoming.seams.into(),
            expiry: incoming.expiry,
            version: reply.version,
            format,
            request_id: reply.request_id,
            // Who wanted to know that it arrived was told.
            response: match reply.response {
                ResponseFlags::SyncWithServer => ResponseFlags::None,
                other => other,
            },
        })
    }

    /// Octets held.
    #[must_use]
    pub fn size(&self) -> usize {
        self.octets.len()
    }

    /// Whether the client waits for the reply.
    #[must_use]
    pub fn expects_reply(&self) -> bool {
        self.response.expects_reply()
    }

    /// Serves the request on this thread, and answers it; `answering` runs just
    /// before the answer is sent, if there is one: the servant has returned.
    pub fn serve(mut self, answering: &dyn Fn()) {
        let contexts = self.octets.get_mut(self.contexts.clone());
        // Written above, so it can be read.
        let mut contexts = contexts.map(|it| it.to_vec()).unwrap_or_default();
        let mut reader = CdrReader::new(&mut contexts, Format::plain(ByteOrder::NATIVE, 0));
        let contexts = ServiceContexts::read(&mut reader).unwrap_or(ServiceContexts::EMPTY);
        let (body, rest) = self.octets.split_at_mut(self.body.end);
        let start = self.body.end;
        let part = |at: &Range<usize>| rest.get(at.start - start..at.end - start);
        let incoming = Incoming {
            orb: &self.orb,
            key: part(&self.key).unwrap_or_default(),
            operation: part(&self.operation).unwrap_or_default(),
            contexts,
            peer: Some(self.path.connection()),
            response: self.response,
            seams: &self.seams,
            expiry: self.expiry,
            lane: SETTLED,
            decided: Some(&HERE),
        };
        let path = Announced {
            path: &self.path,
            answering,
        };
        let mut reply = Reply {
            path: &path,
            storage: &mut Vec::new(),
            version: self.version,
            request_id: self.request_id,
            format: self.format,
            response: self.response,
            answered: false,
        };
        let (position, format) = (self.position, self.format);
        let (seams, orb) = (&*self.seams, &self.orb);
        let body = &mut body[self.body.start..];
        debug_assert!(position >= HEADER_LEN);
        while_serving_own_thread(orb.number(), || {
            incoming.serve(
                || {
                    let mut arguments = CdrReader::at(body, position, format);
                    if !seams.is_empty() {
                        arguments.set_seams(seams);
                    }
                    arguments.set_owner(Some(orb.owner()));
                    arguments.set_nesting(orb.config().limits.nesting);
                    arguments
                },
                &mut reply,
            );
        });
    }

    /// Answers with an exception: the request was not begun.
    pub fn refuse(self, exception: SystemException) {
        if !self.response.expects_reply() {
            tracing::debug!(%exception, "a oneway is dropped");
            return;
        }
        let mut reply = Reply {
            path: &self.path,
            storage: &mut Vec::new(),
            version: self.version,
            request_id: self.request_id,
            format: self.format,
            response: self.response,
            answered: false,
        };
        reply.system_exception(exception);
    }
}
