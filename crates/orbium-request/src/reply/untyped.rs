// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reply to a request, as written by skeletons.

use std::fmt;
use std::time::Instant;

use orbium_cdr::{ByteOrder, CdrWriter, Encode, Format};
use orbium_giop::{
    Completion, Ior, ReplyStatus, ResponseFlags, SystemException, SystemExceptionBody, Version,
    begin_reply, finish_message,
};
use orbium_interceptor::Interrupt;
use orbium_interceptor::server::InterceptedObject;
use orbium_invocation::raises::{DispatchError, ExceptionId, Raised, Raises, server_fault};
use orbium_invocation::spans::Scoped;
use tracing::Span;
use tracing::field::display;

use super::path::ReplyPath;
use crate::IncomingRequest;
use crate::PeerConnection;
use orbium_lane::{Decided, Lane};

/// The reply to a request, with the results marshalled by a skeleton: sent once, or not at all for
/// a oneway.
pub struct UntypedReply<'r> {
    pub(crate) path: &'r dyn ReplyPath,
    pub(crate) storage: &'r mut Vec<u8>,
    pub(crate) head: ReplyHead,
    pub(crate) answered: bool,
    /// Whether the reply is a user exception.
    pub(crate) raised: bool,
    /// Whether another lane has the request.
    pub(crate) moved: bool,
    /// Whether the reply is a forward.
    pub(crate) forwarded: bool,
}

/// The header of a reply, and whether a reply is expected.
#[derive(Clone, Copy)]
pub(crate) struct ReplyHead {
    pub(crate) request_id: u32,
    pub(crate) version: Version,
    pub(crate) response: ResponseFlags,
    pub(crate) format: Format,
}

impl ReplyHead {
    /// Whether it has no service contexts.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        matches!(self.version, Version::SHORT | Version::NATIVE)
    }

    /// The head with the version GIOP 1.2 in place of a short one: with service contexts.
    #[inline]
    pub(crate) fn lengthened(self) -> Self {
        if !self.is_short() {
            return self;
        }
        let (version, mut format) = (Version::V1_2, self.format);
        format.minor = version.minor;
        Self {
            version,
            format,
            ..self
        }
    }
}

impl fmt::Debug for UntypedReply<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UntypedReply")
            .field("request_id", &self.head.request_id)
            .field("answered", &self.answered)
            .finish_non_exhaustive()
    }
}

impl<'r> UntypedReply<'r> {
    /// The reply to that request, not yet sent.
    #[inline(always)]
    #[doc(hidden)]
    #[must_use]
    pub fn new(
        path: &'r dyn ReplyPath,
        storage: &'r mut Vec<u8>,
        version: Version,
        request_id: u32,
        format: Format,
        response: ResponseFlags,
    ) -> Self {
        let head = ReplyHead {
            request_id,
            version,
            response,
            format,
        };
        Self::with_head(path, storage, head)
    }

    /// A reply with that head.
    #[inline(always)]
    pub(crate) fn with_head(
        path: &'r dyn ReplyPath,
        storage: &'r mut Vec<u8>,
        head: ReplyHead,
    ) -> Self {
        Self {
            path,
            storage,
            head,
            answered: false,
            raised: false,
            moved: false,
            forwarded: false,
        }
    }
}

#[doc(hidden)]
impl<'r> UntypedReply<'r> {
    /// The reply that the client expects.
    #[must_use]
    pub fn response(&self) -> ResponseFlags {
        self.head.response
    }

    /// The path of the reply.
    #[must_use]
    pub fn path(&self) -> &'r dyn ReplyPath {
        self.path
    }

    /// Sends the reply on another path, which may lead to its own.
    pub fn on_path(&mut self, path: &dyn ReplyPath, serve: impl FnOnce(&mut UntypedReply<'_>)) {
        let mut inner = UntypedReply::with_head(path, self.storage, self.head);
        inner.answered = self.answered;
        serve(&mut inner);
        self.answered = inner.answered;
        self.raised = inner.raised;
        self.moved = inner.moved;
        self.forwarded = inner.forwarded;
    }
}

/// Queries of the ORB on a reply.
#[doc(hidden)]
impl UntypedReply<'_> {
    /// Whether it was sent.
    #[must_use]
    #[inline(always)]
    pub fn is_answered(&self) -> bool {
        self.answered
    }

    /// Whether it is a user exception.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised
    }

    /// The result of a servant with this reply, for interceptors and metrics.
    ///
    /// # Errors
    /// The reply is a user exception: its id is already in the span.
    #[doc(hidden)]
    pub fn ended(&self) -> Result<(), ExceptionId> {
        if self.is_raised() {
            Err(ExceptionId::User(""))
        } else {
            Ok(())
        }
    }

    /// Whether it is a forward.
    #[must_use]
    pub fn is_forwarded(&self) -> bool {
        self.forwarded
    }

    /// Whether another lane has the request.
    #[must_use]
    pub fn is_moved(&self) -> bool {
        self.moved
    }

    /// Has another lane serve the request and answer it, as decided; returns whether it will.
    pub fn move_to(&mut self, lane: &Lane, decided: Decided) -> bool {
        let moves = self.path.move_to(lane, decided);
        if moves {
            self.answered = true;
            self.moved = true;
        }
        moves
    }

    /// Calls `receive_request` of the interceptors, for a skeleton that has read the arguments.
    pub fn receive_request(&self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        self.path.receive_request(object)
    }

    /// Records that the connection was assigned a dedicated thread.
    pub fn note_dedicated(&self) {
        self.path.dedicated();
    }

    /// The arrival time of the request, if it was queued and is measured.
    #[must_use]
    pub fn arrived(&self) -> Option<Instant> {
        self.path.arrived()
    }

    /// The id of the request.
    #[must_use]
    pub fn request_id(&self) -> u32 {
        self.head.request_id
    }

    /// The version of the request.
    #[must_use]
    pub fn version(&self) -> Version {
        self.head.version
    }

    /// Whether the client expects a reply.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        self.head.response.expects_reply()
    }
}

impl UntypedReply<'_> {
    /// Replies with results: `write` marshals the return value, then the inout and out arguments.
    /// The reply is sent before this returns, so borrowed values may be local.
    ///
    /// # Errors
    /// A result cannot be marshalled: it exceeds a bound, or the code set lacks a character.
    #[inline]
    pub fn result<'v>(
        &mut self,
        write: impl FnOnce(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        orbium_trace::probe!(Upcall);
        if self.head.response != ResponseFlags::Full {
            self.answered = true;
            return Ok(());
        }
        self.answer(ReplyStatus::NoException, write)
    }

    /// Replies with an exception.
    ///
    /// # Errors
    /// A member of the exception cannot be marshalled.
    #[cold]
    pub fn raise(&mut self, error: &impl Raises) -> Result<(), DispatchError> {
        self.raised = true;
        if crate::log::wants_spans()
            && let Raised::User(id, _) = error.raised()
        {
            note_user_exception(id);
        }
        if self.head.response != ResponseFlags::Full {
            self.answered = true;
            return Ok(());
        }
        match error.raised() {
            Raised::System(exception) => Err(exception.into()),
            Raised::User(id, members) => self.say(ReplyStatus::UserException, &mut |writer| {
                writer.write_name(id);
                members.encode(writer);
            }),
        }
    }

    /// Replies with a system exception; always possible.
    #[doc(hidden)]
    pub fn system_exception(&mut self, exception: SystemException) {
        // Never fails: an id, two numbers.
        let _ = self.say(ReplyStatus::SystemException, &mut |writer| {
            SystemExceptionBody::from(exception).write(writer);
        });
    }

    /// Forwards the client: LOCATION_FORWARD to that reference, or LOCATION_FORWARD_PERM if it is
    /// `permanent` and the version of GIOP supports it. For a request that no servant has begun; a
    /// oneway is discarded.
    #[cold]
    #[doc(hidden)]
    pub fn forward(&mut self, to: &Ior, permanent: bool) -> Result<(), DispatchError> {
        self.forwarded = true;
        if !self.is_expected() {
            self.answered = true;
            return Ok(());
        }
        let status = if permanent && self.head.version.minor >= 2 {
            ReplyStatus::LocationForwardPerm
        } else {
            ReplyStatus::LocationForward
        };
        self.say(status, &mut |writer| to.encode(writer))
    }

    /// [`UntypedReply::result`] for rare cases: compiled once for all closures.
    #[cold]
    #[doc(hidden)]
    pub fn write_result<'v>(
        &mut self,
        write: &mut dyn FnMut(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        self.result(write)
    }

    /// As [`write_result`](Self::write_result), with a status.
    #[cold]
    #[doc(hidden)]
    pub fn say<'v>(
        &mut self,
        status: ReplyStatus,
        write: &mut dyn FnMut(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        self.path.announce(status);
        self.answer(status, write)
    }

    /// Confirms the arrival of the request before the servant begins: the confirmation does not
    /// wait for later replies.
    #[cold]
    #[doc(hidden)]
    pub fn confirm(&mut self, peer: Option<&dyn PeerConnection>) -> Result<(), DispatchError> {
        self.say(ReplyStatus::NoException, &mut |_| {})?;
        if let Some(peer) = peer {
            peer.send_collected();
        }
        Ok(())
    }

    /// Confirms a oneway under SYNC_WITH_SERVER.
    #[inline(always)]
    #[doc(hidden)]
    pub fn confirm_oneway(&mut self, request: &IncomingRequest<'_>) -> Result<(), DispatchError> {
        match request.response {
            ResponseFlags::SyncWithServer => self.confirm(request.peer),
            _ => Ok(()),
        }
    }

    pub(crate) fn answer<'v>(
        &mut self,
        status: ReplyStatus,
        write: impl FnOnce(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        let format = self.head.format.with_order(ByteOrder::NATIVE);
        let mut writer = CdrWriter::reuse(std::mem::take(self.storage), format);
        let start = begin_reply(
            &mut writer,
            self.head.version,
            self.head.request_id,
            status,
            &[],
        );
        orbium_trace::probe!(MessagingSend);
        write(&mut writer);
        orbium_trace::probe!(Marshal);
        finish_message(&mut writer, start);
        if let Some(error) = writer.error() {
            writer.return_storage(self.storage);
            return Err(server_fault(error, Completion::Yes).into());
        }
        orbium_trace::probe!(MessagingSend);
        self.path.send(&writer);
        orbium_trace::probe!(TransportSend);
        self.answered = true;
        writer.return_storage(self.storage);
        Ok(())
    }
}

/// Records in the span of the request of this thread that it ends with a user exception.
#[cold]
pub(crate) fn note_user_exception(id: &str) {
    let span = Span::current();
    let is_of_request = |it: &tracing::Metadata<'_>| it.target() == "orbium::request";
    if span.metadata().is_some_and(is_of_request) {
        span.record("error.type", display(Scoped(id)));
    }
}
