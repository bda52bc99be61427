// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request information for server interceptors, by interception point. A type for each point
//! has the questions that the standard allows there: others do not compile (the standard has
//! BAD_INV_ORDER 14 for them).
//!
//! ```compile_fail
//! fn early(request: &orbium_interceptor::ReceiveContexts<'_, '_>) {
//!     let _ = request.object_id();
//! }
//! ```
//! ```compile_fail
//! fn early(request: &orbium_interceptor::ReceiveRequest<'_, '_>) {
//!     let _ = request.reply_status();
//! }
//! ```
//! ```compile_fail
//! fn late(request: &orbium_interceptor::SendReply<'_, '_>) {
//!     let _ = request.target_most_derived_interface();
//! }
//! ```
//! ```compile_fail
//! fn other(request: &orbium_interceptor::SendOther<'_, '_>) {
//!     let _ = request.sending_exception();
//! }
//! ```

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use orbium_cdr::{Any, TypeCode};
use orbium_giop::{Ior, ResponseFlags, ServiceContexts, SystemException};

use super::request_outcome::RequestOutcome;
use crate::chain::{PointInfo, Unimplemented};
use crate::errors::{no_such_context, no_such_policy, not_kept};
use crate::policy::Policy;
use crate::processing_mode::Locality;
use crate::registration::identity::OrbIdentity;
use crate::request::context_list::ContextList;
use crate::request::slots::{InvalidSlot, PiCurrent, SlotId, SlotTable};
use crate::request::status::RequestStatus;

/// The object of a request, as its adapter knows it.
pub trait InterceptedObject {
    /// Its id in its adapter.
    fn object_id(&self) -> &[u8];

    /// The path of its adapter, as `RootPOA/child`, and what distinguishes this incarnation.
    fn adapter(&self) -> (String, u64);

    /// What identifies its adapter in the ORB, this incarnation of it.
    fn adapter_id(&self) -> Vec<u8> {
        let (path, stamp) = self.adapter();
        [path.as_bytes(), &stamp.to_be_bytes()].concat()
    }

    /// The names of its adapter and those above, `RootPOA` first.
    fn adapter_name(&self) -> Vec<String> {
        let (path, _) = self.adapter();
        path.split('/').map(str::to_owned).collect()
    }

    /// What its ORB and server are called.
    fn identity(&self) -> Arc<OrbIdentity> {
        Arc::default()
    }

    /// Repository id of the servant's most derived interface.
    fn repository_id(&self) -> Cow<'_, str>;

    /// Whether the servant implements that interface.
    fn is_a(&self, repository_id: &str) -> bool;

    /// The policies of its adapter that the program defines.
    fn defined_policies(&self) -> &[Policy] {
        &[]
    }
}

/// Facts of a request with which its flow begins.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'r> {
    /// The id of the request in its message.
    pub request_id: u32,
    /// Name of the operation on the wire.
    pub operation: &'r [u8],
    /// Service contexts of the request.
    pub contexts: ServiceContexts<'r>,
    /// Which answer the client expects.
    pub response: ResponseFlags,
    /// Whether its client is of the same ORB.
    pub locality: Locality,
}

/// Request information available at every point of a request.
pub struct ServerRequest<'r> {
    pub(super) facts: RequestFacts<'r>,
    pub(super) object: Option<&'r dyn InterceptedObject>,
    pub(super) current: PiCurrent,
    /// `None` while nothing was set or added: a flow is moved, and dropped.
    kept: Option<Box<Kept>>,
}

/// What is set or added on the way of a request.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) slots: SlotTable,
    /// The slots that the thread had, while the servant has those of the request.
    pub(super) slots_before: SlotTable,
    pub(super) reply_contexts: ContextList,
}

impl<'r> ServerRequest<'r> {
    #[inline(always)]
    pub(super) fn new(facts: RequestFacts<'r>, current: PiCurrent) -> Self {
        Self {
            facts,
            object: None,
            current,
            kept: None,
        }
    }

    #[inline]
    pub(super) fn kept(&self) -> Option<&Kept> {
        self.kept.as_deref()
    }

    #[inline]
    pub(super) fn kept_if_any(&mut self) -> Option<&mut Kept> {
        self.kept.as_deref_mut()
    }

    pub(super) fn keep(&mut self) -> &mut Kept {
        self.kept.get_or_insert_default()
    }
}

impl ServerRequest<'_> {
    /// The id of the request in its message.
    #[must_use]
    pub fn request_id(&self) -> u32 {
        self.facts.request_id
    }

    /// Name of the operation on the wire.
    #[must_use]
    pub fn operation(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.facts.operation)
    }

    /// Whether the client expects a reply.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.facts.response.expects_reply()
    }

    /// The confirmation of the request: `NONE` or `WITH_TRANSPORT` (both 1 here),
    /// `WITH_SERVER` 2, `WITH_TARGET` 3.
    #[must_use]
    pub fn sync_scope(&self) -> i16 {
        match self.facts.response {
            ResponseFlags::Full => 3,
            ResponseFlags::SyncWithServer => 2,
            _ => 1,
        }
    }

    /// A slot of the request.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn get_slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        match self.kept() {
            Some(kept) => self.current.of_request(&kept.slots, slot),
            None => self.current.of_request(&SlotTable::default(), slot),
        }
    }

    /// Sets a slot of the request.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn set_slot(&mut self, slot: SlotId, value: Any) -> Result<(), InvalidSlot> {
        let current = self.current;
        current.set_of_request(&mut self.keep().slots, slot, value)
    }

    /// The data of a service context of the request.
    ///
    /// # Errors
    /// BAD_PARAM 26 if there is none with that id.
    pub fn service_context(&self, id: u32) -> Result<&[u8], SystemException> {
        self.facts.contexts.find(id).ok_or(no_such_context())
    }

    /// Adds a service context to the reply.
    ///
    /// # Errors
    /// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set.
    pub fn add_reply_service_context(
        &mut self,
        id: u32,
        data: impl Into<Vec<u8>>,
        replace: bool,
    ) -> Result<(), SystemException> {
        self.keep().reply_contexts.add(id, data.into(), replace)
    }
}

impl fmt::Debug for ServerRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("facts", &self.facts)
            .field("reply_contexts", &self.kept().map(|it| &it.reply_contexts))
            .finish_non_exhaustive()
    }
}

/// At [`receive_request_service_contexts`](super::ServerInterceptor::receive_request_service_contexts).
#[derive(Debug)]
pub struct ReceiveContexts<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) unimplemented: Unimplemented,
}

/// At [`receive_request`](super::ServerInterceptor::receive_request).
pub struct ReceiveRequest<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) object: &'f dyn InterceptedObject,
    pub(super) unimplemented: Unimplemented,
}

/// At [`send_reply`](super::ServerInterceptor::send_reply).
#[derive(Debug)]
pub struct SendReply<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) unimplemented: Unimplemented,
}

/// At [`send_exception`](super::ServerInterceptor::send_exception).
#[derive(Debug)]
pub struct SendException<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) outcome: &'f RequestOutcome,
    pub(super) unimplemented: Unimplemented,
}

/// At [`send_other`](super::ServerInterceptor::send_other).
#[derive(Debug)]
pub struct SendOther<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) outcome: &'f RequestOutcome,
    pub(super) unimplemented: Unimplemented,
}

impl fmt::Debug for ReceiveRequest<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReceiveRequest").field(self.request).finish()
    }
}

/// What each point is, whatever can be asked there.
macro_rules! points {
    ($($point:ident)*) => {$(
        impl<'r> Deref for $point<'_, 'r> {
            type Target = ServerRequest<'r>;

            fn deref(&self) -> &ServerRequest<'r> {
                self.request
            }
        }

        impl<'r> DerefMut for $point<'_, 'r> {
            fn deref_mut(&mut self) -> &mut ServerRequest<'r> {
                self.request
            }
        }

        impl PointInfo for $point<'_, '_> {
            #[inline]
            fn unimplemented(&mut self) -> &mut Unimplemented {
                &mut self.unimplemented
            }
        }
    )*};
}

points!(ReceiveContexts ReceiveRequest SendReply SendException SendOther);

/// What the points behind the first have: of the object.
macro_rules! of_object {
    ($($point:ident)*) => {$(
        impl $point<'_, '_> {
            /// Id of the object in its adapter; empty if the request reached none.
            #[must_use]
            pub fn object_id(&self) -> &[u8] {
                self.request.object.map_or(&[], InterceptedObject::object_id)
            }

            /// The identity of the adapter in the ORB, this incarnation of it.
            #[must_use]
            pub fn adapter_id(&self) -> Vec<u8> {
                self.request.object.map_or_else(Vec::new, InterceptedObject::adapter_id)
            }

            /// The names of the adapter and those above, `RootPOA` first.
            #[must_use]
            pub fn adapter_name(&self) -> Vec<String> {
                self.request.object.map_or_else(Vec::new, InterceptedObject::adapter_name)
            }

            /// The name of the ORB; empty if the request reached no object.
            #[must_use]
            pub fn orb_id(&self) -> String {
                self.identity().orb_id.clone()
            }

            /// The name of the server; empty if the request reached no object.
            #[must_use]
            pub fn server_id(&self) -> String {
                self.identity().server_id.clone()
            }

            fn identity(&self) -> Arc<OrbIdentity> {
                self.request.object.map_or_else(Arc::default, InterceptedObject::identity)
            }

            /// The policy of that type that the adapter was made with.
            ///
            /// # Errors
            /// INV_POLICY 2 if it has none of that type.
            pub fn server_policy(&self, policy_type: u32) -> Result<&Policy, SystemException> {
                let object = self.request.object.ok_or(no_such_policy())?;
                let found = Policy::find(object.defined_policies(), policy_type);
                found.ok_or(no_such_policy())
            }

            /// Types of the exceptions that the operation raises.
            ///
            /// # Errors
            /// NO_RESOURCES 1: skeletons of a compiler do not keep them.
            pub fn exceptions(&self) -> Result<Vec<TypeCode>, SystemException> {
                Err(not_kept())
            }

            /// Names of the contexts of the operation.
            ///
            /// # Errors
            /// NO_RESOURCES 1: skeletons of a compiler do not keep them.
            pub fn contexts(&self) -> Result<Vec<String>, SystemException> {
                Err(not_kept())
            }
        }
    )*};
}

of_object!(ReceiveRequest SendReply SendException SendOther);

/// What compiled skeletons refuse where the standard has arguments.
macro_rules! of_arguments {
    ($($point:ident)*) => {$(
        impl $point<'_, '_> {
            /// The arguments of the request.
            ///
            /// # Errors
            /// NO_RESOURCES 1: skeletons of a compiler do not keep them.
            pub fn arguments(&self) -> Result<Vec<Any>, SystemException> {
                Err(not_kept())
            }

            /// Names and values of the context of the call.
            ///
            /// # Errors
            /// NO_RESOURCES 1: skeletons of a compiler do not keep them.
            pub fn operation_context(&self) -> Result<Vec<String>, SystemException> {
                Err(not_kept())
            }
        }
    )*};
}

of_arguments!(ReceiveRequest SendReply);

/// What the ending points have.
macro_rules! of_reply {
    ($($point:ident)*) => {$(
        impl $point<'_, '_> {
            /// The data of a service context of the reply.
            ///
            /// # Errors
            /// BAD_PARAM 26 if there is none with that id.
            pub fn reply_service_context(&self, id: u32) -> Result<&[u8], SystemException> {
                let kept = self.request.kept().ok_or(no_such_context())?;
                kept.reply_contexts.get(id)
            }
        }
    )*};
}

of_reply!(SendReply SendException SendOther);

impl ReceiveRequest<'_, '_> {
    /// Repository id of the servant's most derived interface.
    #[must_use]
    pub fn target_most_derived_interface(&self) -> Cow<'_, str> {
        self.object.repository_id()
    }

    /// Whether the servant implements that interface.
    #[must_use]
    pub fn target_is_a(&self, repository_id: &str) -> bool {
        self.object.is_a(repository_id)
    }
}

impl SendReply<'_, '_> {
    /// [`RequestStatus::Successful`].
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        RequestStatus::Successful
    }

    /// The result.
    ///
    /// # Errors
    /// NO_RESOURCES 1: skeletons of a compiler do not keep it.
    pub fn result(&self) -> Result<Any, SystemException> {
        Err(not_kept())
    }
}

impl SendException<'_, '_> {
    /// [`RequestStatus::SystemException`] or [`RequestStatus::UserException`].
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        self.outcome.status()
    }

    /// The system exception; `None` if it is a user exception, of which the id is known.
    #[must_use]
    pub fn sending_exception(&self) -> Option<SystemException> {
        match self.outcome {
            RequestOutcome::Raised(exception) => Some(*exception),
            _ => None,
        }
    }

    /// Repository id of the exception.
    #[must_use]
    pub fn sending_exception_id(&self) -> &str {
        match self.outcome {
            RequestOutcome::Raised(exception) => exception.kind.repository_id(),
            RequestOutcome::UserException(id) => id,
            _ => "",
        }
    }
}

impl SendOther<'_, '_> {
    /// [`RequestStatus::LocationForward`], or [`RequestStatus::Successful`] for a request
    /// without results, or [`RequestStatus::Unknown`] if the servant answers later.
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        self.outcome.status()
    }

    /// The reference to which the client is sent; `None` if it is not.
    #[must_use]
    pub fn forward_reference(&self) -> Option<&Ior> {
        match self.outcome {
            RequestOutcome::Forward(to) => Some(to),
            _ => None,
        }
    }
}
