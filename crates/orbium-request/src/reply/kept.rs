// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies retained in memory: for a caller on this same stack, or until it is decided that they
//! are sent.

use std::cell::{Cell, OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_giop::{ReplyStatus, ResponseFlags, SystemException, Version};
use orbium_interceptor::Interrupt;
use orbium_interceptor::server::InterceptedObject;
use orbium_invocation::LateAnswer;
use orbium_transport::Deadline;

use super::path::ReplyPath;
use super::untyped::UntypedReply;
use crate::deferred::{AnswerPath, WaitingCaller};

/// Retains the reply for the caller.
#[derive(Debug, Default)]
pub struct Kept {
    message: RefCell<Vec<u8>>,
    /// The receiver of a deferred reply.
    late: OnceCell<Arc<WaitingCaller>>,
}

impl Kept {
    /// The reply of a servant to a collocated caller, by a message retained here.
    #[must_use]
    pub fn answer<'r>(
        &'r self,
        storage: &'r mut Vec<u8>,
        format: Format,
        response: ResponseFlags,
    ) -> UntypedReply<'r> {
        let version = Version {
            major: 1,
            minor: format.minor,
        };
        UntypedReply::new(self, storage, version, 0, format, response)
    }

    /// Whether there is a message yet.
    #[must_use]
    pub fn has_message(&self) -> bool {
        !self.message.borrow().is_empty()
    }

    /// Whether the reply is deferred.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.late.get().is_some()
    }

    /// The message; empty if there was none. Blocks for a deferred one.
    ///
    /// # Errors
    /// TIMEOUT: the deadline of the call has passed before it.
    pub fn into_message(self, until: Deadline) -> Result<Vec<u8>, SystemException> {
        match self.late.into_inner() {
            Some(caller) => caller.wait(until),
            None => Ok(self.message.into_inner()),
        }
    }

    /// The message, empty if there was none; `None` for a deferred one: `later` makes its receiver.
    pub fn into_message_or(self, later: impl FnOnce() -> Box<dyn LateAnswer>) -> Option<Vec<u8>> {
        match self.late.into_inner() {
            Some(caller) => caller.leave_to(later()),
            None => Some(self.message.into_inner()),
        }
    }
}

impl ReplyPath for Kept {
    fn send(&self, message: &CdrWriter<'_>) {
        keep(&self.message, message);
    }

    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        let caller = self.late.get_or_init(Arc::default);
        Some(Box::new(Arc::clone(caller)))
    }
}

fn keep(kept: &RefCell<Vec<u8>>, message: &CdrWriter<'_>) {
    let mut kept = kept.borrow_mut();
    for piece in message.pieces() {
        kept.extend_from_slice(piece);
    }
}

/// Retains a reply that may not be sent; a deferred reply has its own path.
pub(super) struct HeldBack<'a> {
    pub(super) message: RefCell<Vec<u8>>,
    pub(super) path: &'a dyn ReplyPath,
    pub(super) is_late: Cell<bool>,
}

impl ReplyPath for HeldBack<'_> {
    fn send(&self, message: &CdrWriter<'_>) {
        keep(&self.message, message);
    }

    fn announce(&self, status: ReplyStatus) {
        self.path.announce(status);
    }

    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        let way = self.path.late();
        self.is_late.set(way.is_some());
        way
    }

    fn receive_request(&self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        self.path.receive_request(object)
    }
}

impl UntypedReply<'_> {
    /// Runs `serve` with a retained reply, and sends it if `serve` succeeds. The result of `serve`
    /// makes no difference to a deferred reply.
    ///
    /// # Errors
    /// The error of `serve`; only the confirmation of a oneway was sent then.
    ///
    /// # Panics
    /// If `serve` panics.
    #[cold]
    #[doc(hidden)]
    pub fn keeping<E>(
        &mut self,
        serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut storage = Vec::new();
        let kept = HeldBack {
            message: RefCell::default(),
            path: self.path,
            is_late: Cell::new(false),
        };
        let mut inner = UntypedReply::with_head(&kept, &mut storage, self.head);
        let served = catch_unwind(AssertUnwindSafe(|| serve(&mut inner)));
        // The servant was called after the confirmation, whatever its result.
        let is_confirmed = self.head.response == ResponseFlags::SyncWithServer
            && !kept.message.borrow().is_empty();
        let served = match served {
            Ok(Err(error)) if !kept.is_late.get() && !is_confirmed => return Err(error),
            Err(panic) if !is_confirmed => resume_unwind(panic),
            served => served,
        };
        (self.answered, self.raised, self.forwarded) =
            (inner.answered, inner.raised, inner.forwarded);
        let message = kept.message.into_inner();
        if !message.is_empty() {
            let mut writer = CdrWriter::new(self.head.format.with_order(ByteOrder::NATIVE));
            writer.write_raw(&message);
            self.path.send(&writer);
        }
        match served {
            Err(panic) => resume_unwind(panic),
            Ok(served) if is_confirmed => served,
            Ok(_) => Ok(()),
        }
    }
}
