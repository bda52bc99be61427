// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references.

pub(crate) mod answered;
mod by_message;
pub(crate) mod collocated;
mod detoured;
pub(crate) mod in_place_call;
pub(crate) mod intercepted;
mod interface;
pub(crate) mod lent;
mod marshalling;
mod own;
mod questions;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_channel::protocol;
use orbium_giop::real_time::PublishedPolicies;
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};

pub use interface::{AnyReference, Interface};
pub use orbium_client::ValidationError;

use crate::client::{Overrides, Reference};
use crate::raises::Raises;
use crate::{Channel, OfferedProtocol, Operation, Orb, ProtocolPolicy, TimePolicies, client};

/// A reference to an object in any process. One pointer, cheap to clone; nil is `None` of
/// `Option<ObjectRef>`.
#[derive(Clone)]
pub struct ObjectRef(pub(crate) Arc<Reference<Orb>>);

impl ObjectRef {
    pub(crate) fn new(orb: Orb, ior: Arc<Ior>, overrides: Overrides) -> Self {
        let client = Arc::clone(orb.client());
        Self(Arc::new(Reference::new(orb, client, ior, overrides)))
    }

    /// The reference in the form used by calls.
    #[inline]
    pub(crate) fn target(&self) -> &Reference {
        &*self.0
    }

    /// The overrides of policies of this reference.
    pub(crate) fn overrides(&self) -> &Overrides {
        self.0.overrides()
    }

    /// A copy of the reference with other overrides.
    pub(crate) fn overriding(&self, change: impl FnOnce(&mut Overrides)) -> Self {
        let mut overrides = self.overrides().clone();
        change(&mut overrides);
        self.with_overrides(overrides)
    }

    /// The interoperable object reference, as received or made.
    #[must_use]
    pub fn ior(&self) -> &Ior {
        self.0.ior()
    }

    /// The ORB that calls through this reference.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        self.0.orb()
    }

    /// Whether interceptors see its calls.
    #[doc(hidden)]
    #[must_use]
    pub fn is_intercepted(&self) -> bool {
        let config = self.target().client().config();
        config.interceptors.intercepts_calls()
    }

    /// Calls an operation and waits for its results.
    ///
    /// `arguments` may run several times: after the server has closed the connection before the
    /// request began, or has forwarded it; `results` too, when an interceptor that has seen them
    /// forwards the request.
    ///
    /// # Errors
    /// A user exception of `E`, or a system exception.
    #[inline]
    pub fn call<'a, T, E: Raises>(
        &self,
        operation: &'static Operation,
        arguments: impl Fn(&mut CdrWriter<'a>),
        results: impl FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, E> {
        client::call(self.target(), operation, arguments, results)
    }

    /// Sends a oneway request. Success means that the transport has accepted it.
    ///
    /// # Errors
    /// A system exception: no connection, or arguments that cannot be sent.
    pub fn send<'a>(
        &self,
        operation: &'static Operation,
        arguments: impl Fn(&mut CdrWriter<'a>),
    ) -> Result<(), SystemException> {
        client::send(self.target(), operation, arguments)
    }

    /// A copy of the reference with a time-out for each call.
    #[must_use]
    #[inline]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        self.with_time_policies(TimePolicies {
            roundtrip_timeout: Some(timeout),
            ..TimePolicies::NONE
        })
    }

    /// A copy of the reference with other time policies; those not set are unchanged. For a single
    /// call, call through the copy.
    ///
    /// If the deadline has already passed, a call raises TIMEOUT, completed NO, and nothing is
    /// sent.
    #[must_use]
    #[inline]
    pub fn with_time_policies(&self, times: TimePolicies) -> Self {
        self.overriding(|own| own.policies.times = times.or(own.policies.times))
    }

    /// The time policies of the reference itself; those of the thread and the ORB apply where it
    /// has none.
    #[must_use]
    pub fn time_policies(&self) -> TimePolicies {
        self.overrides().policies.times
    }

    /// A copy of the reference with a ClientProtocolPolicy: the protocols for its calls, best
    /// first. For a single call, call through the copy: connections are shared nevertheless.
    #[must_use]
    #[inline]
    pub fn with_protocols(&self, policy: ProtocolPolicy) -> Self {
        self.overriding(|own| own.policies.protocols = Some(policy))
    }

    /// A copy of the reference with a limit of retries of idempotent operations after a lost
    /// connection; it overrides [`Limits::idempotent_retries`](crate::Limits).
    #[must_use]
    #[inline]
    pub fn with_idempotent_retries(&self, retries: u32) -> Self {
        self.overriding(|own| own.idempotent_retries = Some(retries))
    }

    /// Types of the policies of calls of this thread that conflict with those of the reference or
    /// the ORB.
    #[must_use]
    #[inline]
    pub fn inconsistent_policies(&self) -> Vec<u32> {
        self.target().inconsistent_policies()
    }

    /// The priority policies of the reference.
    #[must_use]
    #[inline]
    pub fn published_policies(&self) -> PublishedPolicies {
        protocol::published_policies(self.ior())
    }

    /// Opens the connection that a call of this thread would use now, unless it is open: the call
    /// then finds it. A closed one is replaced.
    ///
    /// # Errors
    /// INV_POLICY for inconsistent policies; NO_RESOURCES 2 if no band contains the priority; the
    /// exceptions of connecting.
    #[inline]
    pub fn connect(&self) -> Result<(), SystemException> {
        client::connect(self.target(), 1)
    }

    /// As [`connect`](Self::connect), for that number of concurrent calls: none of them has to open
    /// a connection. If callers share a connection, one is opened for all; if each thread has its
    /// own, they belong to the calling thread. No more are opened than the limits permit.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    #[inline]
    pub fn connect_many(&self, calls: usize) -> Result<(), SystemException> {
        client::connect(self.target(), calls)
    }

    /// Another object of the same server, reached by the same profiles and over the same
    /// connections; `None` if no profile permits it.
    #[must_use]
    pub fn with_object_key(&self, object_key: &[u8], type_id: &str) -> Option<Self> {
        let mut profiles = Vec::new();
        for profile in &self.ior().profiles {
            if let Some(profile) = profile.with_object_key(object_key) {
                profiles.push(profile);
            }
        }
        if profiles.is_empty() {
            return None;
        }
        let ior = Ior {
            type_id: type_id.to_owned(),
            profiles,
        };
        let overrides = self.overrides().clone();
        Some(Self::new(self.orb().clone(), Arc::new(ior), overrides))
    }

    fn with_overrides(&self, overrides: Overrides) -> Self {
        Self::new(self.orb().clone(), Arc::clone(self.0.ior()), overrides)
    }

    /// The protocols that the reference offers, in the order in which they are tried, then unusable
    /// ones with the reason.
    #[must_use]
    pub fn protocols(&self) -> Vec<OfferedProtocol> {
        self.target().protocols()
    }

    /// The channel of calls through this reference: that of the last reply, or the first that is
    /// tried. `None` for an object of the same ORB, and if no profile is usable:
    /// [`protocols`](Self::protocols) has the reasons.
    #[must_use]
    #[inline]
    pub fn channel(&self) -> Option<Channel> {
        self.target().channel()
    }

    /// The ClientProtocolPolicy of the object, or else of this thread, or else of the ORB that will
    /// use the reference.
    ///
    /// # Errors
    /// BAD_INV_ORDER 4: that ORB has ended.
    pub fn policy_here(&self, orb: &Orb) -> Result<Option<ProtocolPolicy>, SystemException> {
        self.0.policy_for(orb.client())
    }

    /// As [`protocols`](Self::protocols), for another ORB that will use the reference under that
    /// policy.
    #[must_use]
    pub fn protocols_under(
        &self,
        orb: &Orb,
        policy: Option<&ProtocolPolicy>,
    ) -> Vec<OfferedProtocol> {
        let is_own = |channel: &Channel| orb.is_own_channel(channel);
        client::offered(orb.client(), &is_own, self.ior(), policy)
    }

    /// The object key, if this ORB serves the object.
    pub(crate) fn own_key(&self) -> Option<Vec<u8>> {
        self.target().own_key()
    }
}

impl PartialEq for ObjectRef {
    /// Equal references have equal IORs.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.0.ior(), other.0.ior()) || self.ior() == other.ior()
    }
}

impl fmt::Debug for ObjectRef {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Raised by calls through a nil reference: INV_OBJREF.
#[must_use]
pub fn nil_reference() -> SystemException {
    SystemException::orbium(
        ExceptionKind::InvObjref,
        orbium_giop::minor::NIL_REFERENCE,
        Completion::No,
    )
}
