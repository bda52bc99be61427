// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants and their requests: the upcall interface, and the information in a call.

mod incarnated;

use std::any::TypeId;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use orbium_cdr::{CdrReader, CdrWriter};
use orbium_giop::{ServiceContexts, SystemException};
use orbium_interceptor::server::{ServedRequest, add_to_reply, describe};
use orbium_interceptor::{DynamicInvocation, Interrupt};
use orbium_invocation::collocation::TypedServant;
use orbium_invocation::{Properties, read_properties};
use orbium_transport::Peer;

use crate::{DispatchError, Interface, OperationTable, Priority, UntypedReply, priority};
use orbium_request::{
    ConnectionWatch, DeferredReply, IncomingRequest, PeerConnection, ReceivedContext, Target,
};

pub use incarnated::IncarnatedObject;

/// A servant as called by the ORB: generated skeletons implement this around the user's
/// implementation of an interface's servant trait.
pub trait Servant: Send + Sync + 'static {
    /// Repository id of the most derived interface.
    fn repository_id(&self) -> &'static str;

    /// Whether the servant implements that interface: its own or a base.
    /// `CORBA::Object` is answered by the ORB.
    fn is_a(&self, repository_id: &str) -> bool;

    /// Repository id of the most derived interface of one of the servant's objects. Default:
    /// [`repository_id`](Self::repository_id), as generated skeletons are of one interface.
    fn interface_of(&self, object: &IncarnatedObject<'_>) -> Cow<'_, str> {
        let _ = object;
        Cow::Borrowed(self.repository_id())
    }

    /// As [`is_a`](Self::is_a), for one of the servant's objects.
    fn object_is_a(&self, object: &IncarnatedObject<'_>, repository_id: &str) -> bool {
        let _ = object;
        self.is_a(repository_id)
    }

    /// The operations that [`dispatch`](Self::dispatch) implements. Metrics have names of these
    /// only: a peer must not be able to create series. Default: none.
    fn operations(&self) -> Option<&'static OperationTable> {
        None
    }

    /// Whether the skeleton [shows](Call::show) its requests to interceptors after reading their
    /// arguments; default: the ORB does, before.
    #[doc(hidden)]
    fn shows_requests(&self) -> bool {
        false
    }

    /// The servant for collocated callers, by the `TypeId` of its trait object; default: none, and
    /// they marshal.
    #[doc(hidden)]
    fn typed(&self, _: TypeId) -> Option<TypedServant<'_>> {
        None
    }

    /// Runs an operation: reads the arguments, calls the implementation, and
    /// answers through `reply`.
    ///
    /// # Errors
    /// A [`DispatchError`] that the ORB answers with.
    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError>;
}

/// An interface that a servant of type `S` can implement.
pub trait ServedBy<S>: Interface {
    /// The skeleton around `S`.
    type Skeleton: Servant;
    /// Wraps a servant.
    fn skeleton(servant: S) -> Self::Skeleton;
}

/// The request that a servant is serving.
#[derive(Clone, Copy)]
pub struct Call<'r> {
    pub(crate) incoming: &'r IncomingRequest<'r>,
    pub(crate) object: &'r dyn Target,
}

impl<'r> Call<'r> {
    /// Name of the operation on the wire.
    #[must_use]
    #[inline]
    pub fn operation(&self) -> &'r [u8] {
        self.incoming.operation
    }

    /// Id of the object called.
    #[must_use]
    pub fn object_id(&self) -> &'r [u8] {
        self.object.object_id()
    }

    /// The CORBA priority at which the request is served; `None` if it has none.
    #[must_use]
    #[inline]
    pub fn priority(&self) -> Option<Priority> {
        priority::current()
    }

    /// The priority assigned to the object.
    #[must_use]
    pub fn object_priority(&self) -> Option<Priority> {
        self.object.priority()
    }

    /// The client; `None` for a collocated call.
    #[must_use]
    #[inline]
    pub fn peer(&self) -> Option<&'r Peer> {
        self.incoming.peer.map(PeerConnection::peer)
    }

    /// The connection of the request, for servants that check later whether it is still open.
    /// `None` for a collocated call.
    #[must_use]
    pub fn connection(&self) -> Option<ConnectionWatch> {
        self.incoming.peer.map(PeerConnection::watch)
    }

    /// Whether the client is still connected. Costs one system call. Always true for a
    /// collocated call.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.incoming.peer.is_none_or(PeerConnection::is_open)
    }

    /// The service contexts of the request.
    #[must_use]
    pub fn service_contexts(&self) -> ServiceContexts<'r> {
        self.incoming.contexts
    }

    /// The data of a service context of the request; `None` if it has none with that id.
    #[must_use]
    pub fn service_context(&self, id: u32) -> Option<&'r [u8]> {
        self.incoming.contexts.find(id)
    }

    /// Adds a service context to the reply, for results and exceptions. The ORB has to be built
    /// with [`Interceptors::with_reply_contexts`], or with an interceptor of requests; a deferred
    /// reply does not carry it.
    ///
    /// ```
    /// use orbium_core::{Call, SystemException};
    ///
    /// fn balance(call: &Call<'_>) -> Result<i32, SystemException> {
    ///     let tenant = call.service_context(0x5445_4E00).unwrap_or(b"none");
    ///     call.add_reply_service_context(0x5445_4E00, tenant, false)?;
    ///     Ok(7)
    /// }
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set; BAD_INV_ORDER 14 if
    /// the ORB was built with neither, or another thread serves the request.
    ///
    /// [`Interceptors::with_reply_contexts`]: orbium_interceptor::Interceptors::with_reply_contexts
    pub fn add_reply_service_context(
        &self,
        id: u32,
        data: impl Into<Vec<u8>>,
        replace: bool,
    ) -> Result<(), SystemException> {
        add_to_reply(ServedRequest::of(self.incoming), id, data.into(), replace)
    }

    /// The deadline of the request: the client stops waiting for the reply then, or considers
    /// a oneway obsolete; `None` if the client sent none. Long-running servants
    /// may check it, and pass it on to the calls they make.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.incoming.expiry.deadline().instant()
    }

    /// The token that answers the request after the servant has returned: a skeleton passes it to
    /// the servant.
    ///
    /// # Errors
    /// TRANSIENT 1: the limit of open requests of the adapter is reached.
    #[doc(hidden)]
    pub fn defer<T, E>(
        &self,
        reply: &mut UntypedReply<'_>,
        write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
    ) -> Result<DeferredReply<T, E>, DispatchError> {
        reply.defer(self.incoming, Target::adapter(self.object), write)
    }

    /// The properties that the client sent of its [`Context`](crate::Context), if IDL gives the
    /// operation a `context` clause: names and values. Empty for a collocated call by the stub
    /// without a context.
    ///
    /// ```
    /// use orbium_core::{Call, SystemException};
    ///
    /// fn greet(call: &Call<'_>) -> Result<String, SystemException> {
    ///     let user = call.context().iter().find(|(name, _)| name == "user");
    ///     Ok(user.map_or_else(String::new, |(_, value)| value.clone()))
    /// }
    /// ```
    #[must_use]
    pub fn context(&self) -> &[(String, String)] {
        self.object.context()
    }

    /// Reads the properties after the arguments; empty if the caller sent no context.
    ///
    /// # Errors
    /// MARSHAL: they are not pairs, or cannot be decoded.
    #[doc(hidden)]
    pub fn received_context(
        &self,
        arguments: &mut CdrReader<'_>,
    ) -> Result<ReceivedContext<'r>, SystemException> {
        let properties = match arguments.remaining() {
            0 => Properties::new(),
            _ => read_properties(arguments)?,
        };
        Ok(ReceivedContext::new(self.object, properties))
    }

    /// The properties passed by a collocated caller.
    #[doc(hidden)]
    #[must_use]
    pub fn lent_context(&self, properties: &Properties) -> ReceivedContext<'r> {
        ReceivedContext::new(self.object, properties.clone())
    }

    /// A copy of the call with those properties.
    #[doc(hidden)]
    #[must_use]
    pub fn in_context<'c>(&self, context: &'c ReceivedContext<'c>) -> Call<'c>
    where
        'r: 'c,
    {
        Call {
            incoming: self.incoming,
            object: context,
        }
    }

    /// Describes the request to its interceptors, if any: returns the description for them.
    #[doc(hidden)]
    pub fn describe(
        &self,
        facts: impl FnOnce() -> DynamicInvocation,
    ) -> Option<Arc<DynamicInvocation>> {
        describe(ServedRequest::of(self.incoming), facts)
    }

    /// Runs `receive_request` of the interceptors, for a skeleton that has read the arguments.
    ///
    /// # Errors
    /// The interrupt of the request.
    #[doc(hidden)]
    pub fn show(&self, reply: &UntypedReply<'_>) -> Result<(), Interrupt> {
        reply.receive_request(self.object)
    }

    /// Whether the caller expects a reply.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.incoming.response.expects_reply()
    }
}

impl fmt::Debug for Call<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &String::from_utf8_lossy(self.operation()))
            .field("object_id", &self.object.object_id())
            .field("peer", &self.peer())
            .finish_non_exhaustive()
    }
}
