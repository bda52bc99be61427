// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies that are sent as whole messages, once interceptors have seen them.

use std::cell::{Cell, RefCell};

use orbium_cdr::CdrWriter;
use orbium_giop::Version;

use super::kept::HeldBack;
use super::untyped::UntypedReply;

/// What a servant has left when it returned.
pub(crate) enum KeptReply {
    /// A whole message; empty if there is none.
    Message(Vec<u8>),
    /// It answers later, by itself.
    Late,
}

impl UntypedReply<'_> {
    /// Runs `serve` with an answer that is kept, in a version of GIOP that has service
    /// contexts in replies.
    #[cold]
    pub(crate) fn kept<R>(
        &mut self,
        serve: impl FnOnce(&mut UntypedReply<'_>) -> R,
    ) -> (R, KeptReply) {
        let mut storage = Vec::new();
        let kept = HeldBack {
            message: RefCell::default(),
            path: self.path,
            is_late: Cell::new(false),
        };
        let mut format = self.format;
        let version = self.version_with_contexts();
        format.minor = version.minor;
        let (id, response) = (self.request_id, self.response);
        let mut inner = UntypedReply::new(&kept, &mut storage, version, id, format, response);
        let served = serve(&mut inner);
        (self.raised, self.forwarded) = (inner.raised, inner.forwarded);
        let reply = match kept.is_late.get() {
            true => KeptReply::Late,
            false => KeptReply::Message(kept.message.into_inner()),
        };
        (served, reply)
    }

    /// The version of replies with service contexts: short headers have no place for them.
    pub(crate) fn version_with_contexts(&self) -> Version {
        match self.version {
            Version::SHORT | Version::NATIVE => Version::V1_2,
            version => version,
        }
    }

    /// Answers with a whole message.
    #[cold]
    pub(crate) fn send_message(&mut self, message: &CdrWriter<'_>) {
        self.path.send(message);
        self.answered = true;
    }

    /// The client expects no (further) answer.
    pub(crate) fn note_unanswered(&mut self) {
        self.answered = true;
    }
}
