// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plain requests, with or without a deadline.

use orbium_cdr::{ByteOrder, CdrReader, Format};
use orbium_channel::connection::Parts;
use orbium_giop::numbers::Names;
use orbium_giop::{GiopRequests, RequestForm, RequestParts, ServiceContexts};
use orbium_invocation::Expiry;
use orbium_request::IncomingRequest;

use super::contexts::Following;
use super::request::Asked;
use super::source::Source;
use super::state::State;
use crate::message_outcome::Outcome;

/// A request in its parts, with its service contexts and expiry.
type Split<'m> = (RequestParts<'m>, ServiceContexts<'m>, Expiry);

impl State {
    /// Serves a request of that form: most conditions of `serve` are compile-time constants here.
    /// `None` if it is not plain.
    #[inline(always)]
    pub(super) fn serve_plain<F: RequestForm>(
        &mut self,
        source: &Source<'_>,
        parts: Parts<'_>,
    ) -> Option<Outcome> {
        self.serve_parts::<F>(source, parts, |message, names| {
            let parts = F::split(message, names)?;
            Some((parts, ServiceContexts::EMPTY, Expiry::NEVER))
        })
    }

    /// As `serve_plain`, for a GIOP request with a relative time-out.
    pub(super) fn serve_before_deadline(
        &mut self,
        source: &Source<'_>,
        parts: Parts<'_>,
    ) -> Option<Outcome> {
        self.serve_parts::<GiopRequests>(source, parts, |message, _| {
            let (parts, contexts, deadline) = GiopRequests::split_before(message)?;
            let expiry = Expiry::of_reply(deadline, source.connection.peer());
            Some((parts, contexts, expiry))
        })
    }

    #[inline(always)]
    fn serve_parts<F: RequestForm>(
        &mut self,
        source: &Source<'_>,
        parts: Parts<'_>,
        split: impl for<'m> FnOnce(&'m mut [u8], Option<&'m Names>) -> Option<Split<'m>>,
    ) -> Option<Outcome> {
        if source.context.observes_requests() {
            return None;
        }
        let Parts {
            message,
            rest,
            continuation,
            ..
        } = parts;
        let names = source.connection.names.as_deref();
        let (parts, contexts, expiry) = split(message, names)?;
        let RequestParts {
            request_id,
            response,
            key,
            operation,
            body,
            body_at,
        } = parts;
        let Source {
            context,
            dispatcher,
            connection,
            ..
        } = *source;
        let incoming = IncomingRequest {
            context,
            key,
            operation,
            contexts,
            peer: Some(&**connection),
            response,
            expiry,
            lane: connection.lane(),
            decided: None,
        };
        let plain = Format::plain(ByteOrder::NATIVE, F::VERSION.minor);
        let format = continuation.code_sets.format(plain);
        let nesting = self.known.nesting;
        let asked = Asked {
            source,
            rest,
            continuation: &mut *continuation,
            version: F::VERSION,
            format,
            request_id,
            response,
        };
        let taken = asked.answer(self, |reply| {
            let mut arguments = CdrReader::at(body, body_at, format);
            arguments.set_owner(Some(&context.owner));
            arguments.set_nesting(nesting);
            dispatcher.serve_unobserved(&incoming, &mut arguments, reply);
        });
        if taken != Outcome::Forwarded {
            return Some(taken);
        }
        let following = Following {
            rest,
            continuation,
            limit: self.known.limit,
        };
        Some(self.move_plain_on(source, message, following))
    }
}
