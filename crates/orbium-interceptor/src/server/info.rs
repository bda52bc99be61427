// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request information for server interceptors, by interception point. A type for each point has
//! the attributes that the standard permits there: others do not compile (the standard raises
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
use orbium_giop::{Ior, SystemException};

use super::request_info::{InterceptedObject, ServerRequest};
use super::request_outcome::RequestOutcome;
use crate::chain::{PointInfo, Unimplemented};
use crate::errors::{no_such_context, no_such_policy, not_kept};
use crate::policy::Policy;
use crate::registration::identity::OrbIdentity;
use crate::request::dynamic::Parameter;
use crate::request::status::RequestStatus;

/// Information at
/// [`receive_request_service_contexts`](super::ServerInterceptor::receive_request_service_contexts).
#[derive(Debug)]
pub struct ReceiveContexts<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`receive_request`](super::ServerInterceptor::receive_request).
pub struct ReceiveRequest<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) object: &'f dyn InterceptedObject,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`send_reply`](super::ServerInterceptor::send_reply).
#[derive(Debug)]
pub struct SendReply<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`send_exception`](super::ServerInterceptor::send_exception).
#[derive(Debug)]
pub struct SendException<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) outcome: &'f RequestOutcome,
    pub(super) unimplemented: Unimplemented,
}

/// Information at [`send_other`](super::ServerInterceptor::send_other).
#[derive(Debug)]
pub struct SendOther<'f, 'r> {
    pub(super) request: &'f mut ServerRequest<'r>,
    pub(super) outcome: &'f RequestOutcome,
    pub(super) unimplemented: Unimplemented,
}

impl<'f, 'r> ReceiveContexts<'f, 'r> {
    #[inline(always)]
    pub(super) fn of(request: &'f mut ServerRequest<'r>) -> Self {
        Self {
            request,
            unimplemented: Unimplemented::default(),
        }
    }
}

impl<'f, 'r> ReceiveRequest<'f, 'r> {
    #[inline(always)]
    pub(super) fn of(
        request: &'f mut ServerRequest<'r>,
        object: &'f dyn InterceptedObject,
    ) -> Self {
        Self {
            request,
            object,
            unimplemented: Unimplemented::default(),
        }
    }
}

impl<'f, 'r> SendReply<'f, 'r> {
    #[inline(always)]
    pub(super) fn of(request: &'f mut ServerRequest<'r>) -> Self {
        Self {
            request,
            unimplemented: Unimplemented::default(),
        }
    }
}

impl fmt::Debug for ReceiveRequest<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReceiveRequest").field(self.request).finish()
    }
}

/// Implementations common to all points.
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

/// Implementations for the points after the first: information on the object.
macro_rules! of_object {
    ($($point:ident)*) => {$(
        impl $point<'_, '_> {
            /// Id of the object in its adapter; empty if the request has no object.
            #[must_use]
            pub fn object_id(&self) -> &[u8] {
                self.request.object.map_or(&[], InterceptedObject::object_id)
            }

            /// The identity of the adapter in the ORB, including its incarnation.
            #[must_use]
            pub fn adapter_id(&self) -> Vec<u8> {
                self.request.object.map_or_else(Vec::new, InterceptedObject::adapter_id)
            }

            /// The names of the adapter and its ancestors, `RootPOA` first.
            #[must_use]
            pub fn adapter_name(&self) -> Vec<String> {
                self.request.object.map_or_else(Vec::new, InterceptedObject::adapter_name)
            }

            /// The name of the ORB; empty if the request has no object.
            #[must_use]
            pub fn orb_id(&self) -> String {
                self.identity().orb_id.clone()
            }

            /// The name of the server; empty if the request has no object.
            #[must_use]
            pub fn server_id(&self) -> String {
                self.identity().server_id.clone()
            }

            fn identity(&self) -> Arc<OrbIdentity> {
                self.request.object.map_or_else(Arc::default, InterceptedObject::identity)
            }

            /// The policy of that type with which the adapter was created.
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
            /// NO_RESOURCES 1: compiled skeletons do not retain them, nor does a dynamic servant
            /// without the signature.
            pub fn exceptions(&self) -> Result<Vec<TypeCode>, SystemException> {
                self.request.dynamic()?.exceptions()
            }

            /// Names of the contexts of the operation.
            ///
            /// # Errors
            /// As for `exceptions`.
            pub fn contexts(&self) -> Result<Vec<String>, SystemException> {
                self.request.dynamic()?.contexts()
            }
        }
    )*};
}

of_object!(ReceiveRequest SendReply SendException SendOther);

/// Implementations for points with arguments.
macro_rules! of_arguments {
    ($($point:ident)*) => {$(
        impl $point<'_, '_> {
            /// Names and values of the context of the call, alternating.
            ///
            /// # Errors
            /// NO_RESOURCES 1: compiled skeletons do not retain them, nor does a dynamic servant
            /// before reading them.
            pub fn operation_context(&self) -> Result<Vec<String>, SystemException> {
                self.request.dynamic()?.operation_context()
            }
        }
    )*};
}

of_arguments!(ReceiveRequest SendReply);

/// Implementations for the ending points.
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
    /// The arguments of a request to a dynamic servant, which has read them: `in` and `inout` ones
    /// have values.
    ///
    /// # Errors
    /// NO_RESOURCES 1: compiled skeletons do not retain them.
    pub fn arguments(&self) -> Result<Vec<Parameter>, SystemException> {
        Ok(self.request.dynamic()?.arguments.clone())
    }

    /// Repository id of the servant's most derived interface.
    #[must_use]
    pub fn target_most_derived_interface(&self) -> Cow<'_, str> {
        self.object.repository_id()
    }

    /// Name of the operation, if the servant's skeleton has it or the ORB answers it for every object: a
    /// peer chooses any other one. `None` for every operation of a dynamic servant.
    #[must_use]
    pub fn known_operation(&self) -> Option<&'static str> {
        self.object
            .known_operation(self.request.message.operation())
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

    /// The arguments as set by a dynamic servant.
    ///
    /// # Errors
    /// NO_RESOURCES 1: compiled skeletons do not retain them.
    pub fn arguments(&self) -> Result<Vec<Parameter>, SystemException> {
        Ok(self.request.dynamic()?.returned()?.arguments.clone())
    }

    /// The result of a dynamic servant; of type void, or null, if there is none.
    ///
    /// # Errors
    /// NO_RESOURCES 1: compiled skeletons do not retain it.
    pub fn result(&self) -> Result<Any, SystemException> {
        Ok(self.request.dynamic()?.returned()?.result.clone())
    }
}

impl SendException<'_, '_> {
    /// [`RequestStatus::SystemException`] or [`RequestStatus::UserException`].
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        self.outcome.status()
    }

    /// The system exception; `None` for a user exception, which has an id.
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

    /// The user exception of a dynamic servant.
    ///
    /// # Errors
    /// NO_RESOURCES 1: it is a system exception, or compiled skeletons do not retain it.
    pub fn sending_user_exception(&self) -> Result<Any, SystemException> {
        match self.outcome {
            RequestOutcome::UserException(_) => self.request.dynamic()?.raised(),
            _ => Err(not_kept()),
        }
    }
}

impl SendOther<'_, '_> {
    /// [`RequestStatus::LocationForward`], or [`RequestStatus::Successful`] for a request without
    /// results, or [`RequestStatus::Unknown`] for a deferred reply.
    #[must_use]
    pub fn reply_status(&self) -> RequestStatus {
        self.outcome.status()
    }

    /// The reference to which the client is forwarded; `None` if it is not.
    #[must_use]
    pub fn forward_reference(&self) -> Option<&Ior> {
        match self.outcome {
            RequestOutcome::Forward(to) => Some(to),
            _ => None,
        }
    }
}
