// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request information for client interceptors, by interception point. A type for each point has
//! the attributes that the standard permits there: others do not compile (the standard raises
//! BAD_INV_ORDER 14 for them).
//!
//! ```compile_fail
//! fn early(request: &orbium_interceptor::SendRequest<'_>) {
//!     let _ = request.reply_status();
//! }
//! ```
//! ```compile_fail
//! fn early(request: &orbium_interceptor::SendPoll<'_>) {
//!     let _ = request.service_context(1);
//! }
//! ```
//! ```compile_fail
//! fn late(request: &mut orbium_interceptor::ReceiveReply<'_>) {
//!     let _ = request.add_service_context(1, Vec::new(), false);
//! }
//! ```
//! ```compile_fail
//! fn other(request: &orbium_interceptor::ReceiveReply<'_>) {
//!     let _ = request.received_exception();
//! }
//! ```

use std::fmt;
use std::ops::Deref;

use orbium_cdr::Any;
use orbium_channel::protocol;
use orbium_giop::{Ior, SystemException, TaggedComponent, TaggedProfile};
use orbium_invocation::SyncScope;

use super::call_outcome::CallOutcome;
use super::start::CallStart;
use crate::chain::{PointInfo, Unimplemented};
use crate::errors::{no_such_component, no_such_policy, not_kept};
use crate::policy::Policy;
use crate::request::context_list::ContextList;
use crate::request::dynamic::{DynamicInvocation, Parameter};
use crate::request::slots::{InvalidSlot, SlotId};
use crate::request::status::RequestStatus;

/// Request information available at every point of a call.
#[derive(Clone, Copy)]
pub struct ClientRequest<'f> {
    pub(super) id: u32,
    pub(super) start: CallStart<'f>,
}

impl ClientRequest<'_> {
    /// The unique id among the requests in progress; not the id in its message.
    #[must_use]
    pub fn request_id(&self) -> u32 {
        self.id
    }

    /// Name of the operation on the wire.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.start.operation.name()
    }

    /// Repository id of the interface through which it is called; empty if unknown.
    #[must_use]
    pub fn interface(&self) -> &'static str {
        self.start.operation.interface()
    }

    /// Whether the caller expects a reply.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        !self.start.operation.is_oneway()
    }

    /// A slot of the request: its value in the calling thread at the time of the call.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn get_slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        let current = self.start.orb.current();
        current.of_request(self.start.slots, slot)
    }

    /// The original reference of the call.
    #[must_use]
    pub fn target(&self) -> &Ior {
        self.start.target.target()
    }

    /// The reference to which the request is sent: another one after a forward.
    #[must_use]
    pub fn effective_target(&self) -> &Ior {
        self.start.target.effective_target()
    }

    /// The profile in use of the effective target.
    #[must_use]
    pub fn effective_profile(&self) -> Option<&TaggedProfile> {
        let at = self.start.target.profile();
        self.effective_target().profiles.get(at)
    }

    /// The policy of that type for the call: the reference's, or else the calling thread's, or else
    /// the ORB's (`get_request_policy`).
    ///
    /// # Errors
    /// INV_POLICY 2 if there is none.
    pub fn request_policy(&self, policy_type: u32) -> Result<Policy, SystemException> {
        let found = self.start.target.policy(policy_type);
        found.ok_or(no_such_policy())
    }

    /// The facts of a dynamic call.
    ///
    /// # Errors
    /// NO_RESOURCES 1: the call is made by a compiled stub.
    fn dynamic(&self) -> Result<&DynamicInvocation, SystemException> {
        let facts = self.start.slots.dynamic(self.start.operation);
        facts.ok_or(not_kept())
    }
}

impl fmt::Debug for ClientRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRequest")
            .field("id", &self.id)
            .field("operation", &self.operation())
            .finish_non_exhaustive()
    }
}

/// Information at [`send_request`](super::ClientInterceptor::send_request).
#[derive(Debug)]
pub struct SendRequest<'f> {
    pub(super) request: ClientRequest<'f>,
    /// The service contexts of the request, once an interceptor has added to those of the caller.
    pub(super) extended: Option<ContextList>,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`send_poll`](super::ClientInterceptor::send_poll).
#[derive(Debug)]
pub struct SendPoll<'f> {
    pub(super) request: ClientRequest<'f>,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`receive_reply`](super::ClientInterceptor::receive_reply).
#[derive(Debug)]
pub struct ReceiveReply<'f> {
    pub(super) request: ClientRequest<'f>,
    pub(super) extended: &'f Option<ContextList>,
    pub(super) reply_contexts: &'f ContextList,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`receive_exception`](super::ClientInterceptor::receive_exception).
#[derive(Debug)]
pub struct ReceiveException<'f> {
    pub(super) request: ClientRequest<'f>,
    pub(super) extended: &'f Option<ContextList>,
    pub(super) reply_contexts: &'f ContextList,
    pub(super) outcome: &'f CallOutcome,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`receive_other`](super::ClientInterceptor::receive_other).
#[derive(Debug)]
pub struct ReceiveOther<'f> {
    pub(super) request: ClientRequest<'f>,
    pub(super) extended: &'f Option<ContextList>,
    pub(super) reply_contexts: &'f ContextList,
    pub(super) outcome: &'f CallOutcome,
    pub(super) unimplemented: Unimplemented,
}

/// Implementations common to all points.
macro_rules! points {
    ($($point:ident)*) => {$(
        impl<'f> Deref for $point<'f> {
            type Target = ClientRequest<'f>;

            fn deref(&self) -> &ClientRequest<'f> {
                &self.request
            }
        }

        impl PointInfo for $point<'_> {
            #[inline]
            fn unimplemented(&mut self) -> &mut Unimplemented {
                &mut self.unimplemented
            }
        }
    )*};
}

points!(SendRequest SendPoll ReceiveReply ReceiveException ReceiveOther);

/// Implementations for all points but `send_poll`.
macro_rules! of_request {
    ($($point:ident)*) => {$(
        impl $point<'_> {
            /// The data of a service context of the request added by an interceptor or the caller;
            /// those of the ORB itself are added later.
            ///
            /// # Errors
            /// BAD_PARAM 26 if there is none with that id.
            pub fn service_context(&self, id: u32) -> Result<&[u8], SystemException> {
                self.all_contexts().get(id)
            }

            /// The caller's service contexts, until an interceptor adds one.
            fn all_contexts(&self) -> &ContextList {
                self.extended.as_ref().unwrap_or(self.request.start.target.contexts())
            }

            /// The first component with that id of the profile in use.
            ///
            /// # Errors
            /// BAD_PARAM 28 if there is none.
            pub fn effective_component(&self, id: u32) -> Result<TaggedComponent, SystemException> {
                self.effective_components(id).map(|mut all| all.swap_remove(0))
            }

            /// All components with that id of the profile in use.
            ///
            /// # Errors
            /// BAD_PARAM 28 if there is none.
            pub fn effective_components(
                &self,
                id: u32,
            ) -> Result<Vec<TaggedComponent>, SystemException> {
                components(&self.request, id)
            }

            /// Types of the exceptions that the operation raises.
            ///
            /// # Errors
            /// NO_RESOURCES 1: compiled stubs do not retain them.
            pub fn exceptions(&self) -> Result<Vec<orbium_cdr::TypeCode>, SystemException> {
                self.request.dynamic()?.exceptions()
            }

            /// Names of the contexts of the operation.
            ///
            /// # Errors
            /// NO_RESOURCES 1: compiled stubs do not retain them.
            pub fn contexts(&self) -> Result<Vec<String>, SystemException> {
                self.request.dynamic()?.contexts()
            }

            /// Names and values of the context of the call, alternating.
            ///
            /// # Errors
            /// NO_RESOURCES 1: compiled stubs do not retain them.
            pub fn operation_context(&self) -> Result<Vec<String>, SystemException> {
                self.request.dynamic()?.operation_context()
            }

            /// The confirmation of a oneway: `NONE` is 0, `WITH_TRANSPORT` 1, `WITH_SERVER` 2,
            /// `WITH_TARGET` 3. A request with a reply waits for its servant: 3.
            pub fn sync_scope(&self) -> i16 {
                if self.request.response_expected() {
                    SyncScope::WithTarget as i16
                } else {
                    self.request.start.target.sync_scope() as i16
                }
            }
        }
    )*};
}

of_request!(SendRequest ReceiveReply ReceiveException ReceiveOther);

/// Implementations for all ending points.
macro_rules! of_reply {
    ($($point:ident)*) => {$(
        impl $point<'_> {
            /// The data of a service context of the reply.
            ///
            /// # Errors
            /// BAD_PARAM 26 if there is none with that id.
            pub fn reply_service_context(&self, id: u32) -> Result<&[u8], SystemException> {
                self.reply_contexts.get(id)
            }
        }
    )*};
}

of_reply!(ReceiveReply ReceiveException ReceiveOther);

fn components(
    request: &ClientRequest<'_>,
    id: u32,
) -> Result<Vec<TaggedComponent>, SystemException> {
    let profile = request.effective_profile().ok_or(no_such_component())?;
    let alone = Ior {
        type_id: String::new(),
        profiles: vec![profile.clone()],
    };
    let mut found = Vec::new();
    if let Some(offer) = protocol::offers(&alone).first() {
        found.extend(offer.components.iter().filter(|it| it.tag == id).cloned());
    }
    if found.is_empty() {
        Err(no_such_component())
    } else {
        Ok(found)
    }
}

impl SendRequest<'_> {
    /// Adds a service context to the request. A context of the ORB with the same id takes
    /// precedence.
    ///
    /// # Errors
    /// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set.
    pub fn add_service_context(
        &mut self,
        id: u32,
        data: impl Into<Vec<u8>>,
        replace: bool,
    ) -> Result<(), SystemException> {
        let of_caller = self.request.start.target.contexts();
        let all = self.extended.get_or_insert_with(|| of_caller.clone());
        all.add(id, data.into(), replace)
    }

    /// The arguments of a dynamic call: `in` and `inout` ones have values.
    ///
    /// # Errors
    /// NO_RESOURCES 1: compiled stubs do not retain them.
    pub fn arguments(&self) -> Result<Vec<Parameter>, SystemException> {
        Ok(self.request.dynamic()?.arguments.clone())
    }
}

impl ReceiveReply<'_> {
    /// [`RequestStatus::Successful`].
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        RequestStatus::Successful
    }

    /// The arguments of a dynamic call, with the returned values.
    ///
    /// # Errors
    /// NO_RESOURCES 1: compiled stubs do not retain them, or those of the reply to an asynchronous
    /// call cannot be decoded.
    pub fn arguments(&self) -> Result<Vec<Parameter>, SystemException> {
        Ok(self.request.dynamic()?.returned()?.arguments.clone())
    }

    /// The result of a dynamic call; of type void, or null, if there is none.
    ///
    /// # Errors
    /// As for [`arguments`](Self::arguments).
    pub fn result(&self) -> Result<Any, SystemException> {
        Ok(self.request.dynamic()?.returned()?.result.clone())
    }
}

impl ReceiveException<'_> {
    /// [`RequestStatus::SystemException`] or [`RequestStatus::UserException`].
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        self.outcome.status()
    }

    /// The system exception; `None` for a user exception, which has an id.
    #[must_use]
    pub fn received_exception(&self) -> Option<SystemException> {
        match self.outcome {
            CallOutcome::Raised(exception) => Some(*exception),
            _ => None,
        }
    }

    /// Repository id of the exception.
    #[must_use]
    pub fn received_exception_id(&self) -> &str {
        match self.outcome {
            CallOutcome::Raised(exception) => exception.kind.repository_id(),
            CallOutcome::UserException(id) => id,
            _ => "",
        }
    }

    /// The user exception of a dynamic call.
    ///
    /// # Errors
    /// NO_RESOURCES 1: it is a system exception, or of a type that the call does not list, or
    /// compiled stubs do not retain it.
    pub fn received_user_exception(&self) -> Result<Any, SystemException> {
        match self.outcome {
            CallOutcome::UserException(_) => self.request.dynamic()?.raised(),
            _ => Err(not_kept()),
        }
    }
}

impl ReceiveOther<'_> {
    /// [`RequestStatus::LocationForward`], [`RequestStatus::TransportRetry`],
    /// [`RequestStatus::Unknown`] for an asynchronous request that was sent, or
    /// [`RequestStatus::Successful`] for a oneway.
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        self.outcome.status()
    }

    /// The reference to which the request is forwarded; `None` if it is not.
    #[must_use]
    pub fn forward_reference(&self) -> Option<&Ior> {
        match self.outcome {
            CallOutcome::Forward(to) => Some(to),
            _ => None,
        }
    }
}
