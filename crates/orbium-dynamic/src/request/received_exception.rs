// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptional outcome of a request, before its types are applied.

use orbium_cdr::{CdrError, CdrReader, TypeCode};
use orbium_core::asynchronous::Asynchronous;
use orbium_core::{Completion, Raised, Raises, SystemException};
use orbium_interceptor::DynamicInvocation;

use super::{RequestError, reply_body};
use crate::body::Body;
use crate::operations::known;

/// A reply that is pending or has arrived; its types are applied when it is collected.
pub(super) type Deferred = Asynchronous<Body, Received>;

/// The repository id of an exception that the request does not list.
const UNLISTED: &str = "IDL:omg.org/CORBA/UnknownUserException:1.0";

/// An exception as it was received.
pub(super) enum Received {
    System(SystemException),
    User { id: String, members: Body },
}

impl Received {
    /// The exception by the types that the request lists.
    pub(super) fn resolve(self, listed: &[TypeCode]) -> RequestError {
        let (id, members) = match self {
            Self::System(exception) => return RequestError::System(exception),
            Self::User { id, members } => (id, members),
        };
        match reply_body::listed(listed, &id) {
            Some(code) => match members.exception(&code.unaliased()) {
                Ok(exception) => RequestError::User(exception),
                Err(error) => {
                    RequestError::System(SystemException::from_cdr(error, Completion::Yes))
                }
            },
            None => RequestError::Unlisted {
                id,
                members: members.octets().to_vec(),
            },
        }
    }
}

/// Passes the exception of the call on this thread to interceptors.
fn show(id: &str, members: &Body) {
    if let Some(facts) = DynamicInvocation::of_this_thread() {
        // Unreadable members are not passed: the caller gets the error.
        let _ = members.read(|reader| {
            facts.read_exception(id, reader);
            Ok(())
        });
    }
}

impl From<SystemException> for Received {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl Raises for Received {
    fn decode_raised(id: &str, reader: &mut CdrReader<'_>) -> Option<Result<Self, CdrError>> {
        let members = Body::take(reader).inspect(|members| show(id, members));
        Some(members.map(|members| Self::User {
            id: id.to_owned(),
            members,
        }))
    }

    fn raised(&self) -> Raised<'_> {
        match self {
            Self::System(exception) => Raised::System(*exception),
            // A server does not choose which ids are retained. The exception of a call by a message
            // is not written anywhere.
            Self::User { id, .. } => Raised::User(known(id).unwrap_or(UNLISTED), &()),
        }
    }
}
