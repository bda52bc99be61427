// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests answered by the engine, since they have no object here or were refused.

use orbium_giop::{Completion, ExceptionKind, SystemException};

use orbium_request::UntypedReply;

/// Answers a request without an object here, or one that was refused.
#[cold]
pub(super) fn refuse_request(reply: &mut UntypedReply<'_>, refused: Option<SystemException>) {
    if reply.response().expects_reply() {
        let no_object = SystemException::omg(ExceptionKind::ObjectNotExist, 2, Completion::No);
        reply.system_exception(refused.unwrap_or(no_object));
    }
}
