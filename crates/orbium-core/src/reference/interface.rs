// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed references.

use std::time::Duration;

use orbium_client::PolicyScope;
use orbium_interceptor::{Policy, ReplyContexts};

use crate::{
    BidirectionalPolicy, BufferingConstraint, CancellationToken, Completion, ExceptionKind,
    OBJECT_REPOSITORY_ID, ObjectRef, OverrideError, ProtocolPolicy, RebindMode, SetOverride,
    SyncScope, SystemException, TimePolicies, ValidationError,
};

/// A typed reference. Generated code implements this.
pub trait Interface: Clone + Send + Sync + 'static {
    /// Repository id of the interface.
    const REPOSITORY_ID: &'static str;

    /// Repository ids of all its bases, without `CORBA::Object`.
    const BASES: &'static [&'static str];

    /// Converts an untyped reference to this interface without checking it.
    fn from_object(object: ObjectRef) -> Self;

    /// The untyped reference.
    fn as_object(&self) -> &ObjectRef;

    /// A copy of the reference with a time-out for each call: for connecting, sending and waiting
    /// together.
    ///
    /// A call that takes longer raises TIMEOUT; the server may still execute it. Within one ORB the
    /// servant runs on the calling thread and cannot be interrupted: the call then ends with
    /// TIMEOUT when the servant returns.
    #[must_use]
    fn with_timeout(&self, timeout: Duration) -> Self {
        Self::from_object(self.as_object().with_timeout(timeout))
    }

    /// A copy of the reference with other time policies; see [`ObjectRef::with_time_policies`].
    #[must_use]
    fn with_time_policies(&self, times: TimePolicies) -> Self {
        Self::from_object(self.as_object().with_time_policies(times))
    }

    /// A copy of the reference with a ClientProtocolPolicy; see [`ObjectRef::with_protocols`].
    #[must_use]
    fn with_protocols(&self, policy: ProtocolPolicy) -> Self {
        Self::from_object(self.as_object().with_protocols(policy))
    }

    /// A copy of the reference with a limit of retries of idempotent operations after a lost
    /// connection; see [`ObjectRef::with_idempotent_retries`].
    #[must_use]
    fn with_idempotent_retries(&self, retries: u32) -> Self {
        Self::from_object(self.as_object().with_idempotent_retries(retries))
    }

    /// A copy of the reference with a RebindPolicy: whether calls follow forwards and reopen closed
    /// connections, or raise REBIND. Asynchronous calls under
    /// [`NoReconnect`](RebindMode::NoReconnect) are not checked before they are sent.
    #[must_use]
    fn with_rebind(&self, rebind: RebindMode) -> Self {
        Self::from_object(
            self.as_object()
                .overriding(|own| own.policies.messaging.rebind = Some(rebind)),
        )
    }

    /// A copy of the reference with a SyncScopePolicy: when oneways return, and which failures they
    /// raise. Under [`SyncScope::None`] oneways are buffered by their connection; see
    /// [`with_buffering`](Self::with_buffering).
    #[must_use]
    fn with_sync_scope(&self, scope: SyncScope) -> Self {
        Self::from_object(
            self.as_object()
                .overriding(|own| own.policies.messaging.sync_scope = Some(scope)),
        )
    }

    /// A copy of the reference with a BidirectionalPolicy: whether its calls use bidirectional
    /// connections, and so announce the ORB's endpoints. With [`Both`](BidirectionalPolicy::Both),
    /// calls raise INV_POLICY if the ORB does not permit it.
    #[must_use]
    fn with_bidirectional(&self, policy: BidirectionalPolicy) -> Self {
        let object = self.as_object();
        Self::from_object(object.overriding(|own| own.bidirectional = Some(policy)))
    }

    /// A copy of the reference with overrides of policies, by the numbers of their types
    /// (`set_policy_overrides`).
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use orbium_core::{Interface, ObjectRef, Orb, SetOverride, policy_type};
    /// use orbium_interceptor::Policy;
    ///
    /// const REGION: u32 = 0x5445_4E00;
    ///
    /// let orb = Orb::builder().build()?;
    /// let object: ObjectRef = orb.resolve("corbaloc::localhost:5000/Ledger")?;
    /// let within = Duration::from_secs(2);
    /// let policies = [
    ///     Policy::new(policy_type::RELATIVE_ROUNDTRIP_TIMEOUT, within),
    ///     Policy::new(REGION, "north"),
    /// ];
    /// let object = object.with_policies(&policies, SetOverride::Add)?;
    /// assert_eq!(object.policy_overrides(&[REGION]).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OverrideError`].
    fn with_policies(&self, policies: &[Policy], how: SetOverride) -> Result<Self, OverrideError> {
        let object = self.as_object();
        let overrides = object.overrides().with_policies(policies, how)?;
        Ok(Self::from_object(object.with_overrides(overrides)))
    }

    /// Its overrides of these types, or all for an empty list (`get_policy_overrides`).
    fn policy_overrides(&self, types: &[u32]) -> Vec<Policy> {
        self.as_object().overrides().policies(types)
    }

    /// The effective policy of that type for calls of this thread through the reference: its own,
    /// or else the thread's, or else the ORB's (`get_client_policy`).
    fn client_policy(&self, policy_type: u32) -> Option<Policy> {
        let policies = self.as_object().target().effective_policies();
        Policy::find(&policies, policy_type).cloned()
    }

    /// As [`client_policy`](Self::client_policy), reconciled with the policies in the reference
    /// (`get_policy`).
    ///
    /// # Errors
    /// INV_POLICY 1 if both set a policy that only one side may set, or their intersection is empty.
    fn policy(&self, policy_type: u32) -> Result<Option<Policy>, SystemException> {
        if self
            .as_object()
            .inconsistent_policies()
            .contains(&policy_type)
        {
            Err(SystemException::omg(
                ExceptionKind::InvPolicy,
                1,
                Completion::No,
            ))
        } else {
            Ok(self.as_object().target().reconciled_policy(policy_type))
        }
    }

    /// Opens the connection that a call of this thread would use now, with its priority and
    /// policies, unless it is open (`validate_connection`).
    ///
    /// # Errors
    /// [`ValidationError::Inconsistent`] with the types of the policies that are incompatible with
    /// the reference; [`ValidationError::System`] with the exception of connecting.
    fn validate_connection(&self) -> Result<(), ValidationError> {
        let inconsistent = self.as_object().inconsistent_policies();
        if inconsistent.is_empty() {
            self.as_object().connect().map_err(ValidationError::System)
        } else {
            Err(ValidationError::Inconsistent(inconsistent))
        }
    }

    /// A copy of the reference with a token that cancels its synchronous calls, from any thread. A
    /// call that waits for its reply raises TRANSIENT 3, completed MAYBE, within some 10 ms; its
    /// server receives a CancelRequest unless it is known to fail on them, and a late reply is
    /// discarded. A reply received before takes precedence. A call that begins later raises
    /// TRANSIENT 3, completed NO, and nothing is sent.
    ///
    /// Connecting and sending are not interrupted: [`Interface::with_timeout`] bounds them. Nor is
    /// a servant of the caller's own ORB. An asynchronous call (`asynchronous::Asynchronous`) is
    /// cancelled by dropping it.
    ///
    /// ```no_run
    /// use orbium_core::{CancellationToken, Interface, ObjectRef, Orb};
    ///
    /// let orb = Orb::builder().build()?;
    /// let object: ObjectRef = orb.resolve("corbaloc::localhost:5000/Ledger")?;
    /// let token = CancellationToken::new();
    /// let object = object.with_cancellation(&token);
    /// let call = std::thread::spawn(move || object.non_existent());
    /// token.cancel();
    /// println!("{:?}", call.join());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    fn with_cancellation(&self, token: &CancellationToken) -> Self {
        let object = self.as_object();
        Self::from_object(object.overriding(|own| own.cancellation = Some(token.clone())))
    }

    /// A copy of the reference: its oneways return once they are in the buffer of their connection
    /// ([`SyncScope::None`]), and stay there until the constraint is reached.
    ///
    /// The buffer is sent in one send: when a constraint is reached, before a call with a reply
    /// over the same connection, by [`flush_oneways`](Self::flush_oneways), and on orderly closure
    /// of the connection or shutdown of the ORB. Its size is at most `limits.buffered_oneways`
    /// octets. If a oneway does not fit and the connection accepts no data, it blocks until the
    /// deadline of the call, or not at all without a deadline, and then raises TRANSIENT. Oneways
    /// that could not be sent are counted in `buffered_oneways` of the metrics, as is each begin
    /// and end of flow control.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use orbium_core::{BufferingConstraint, Interface, ObjectRef, Orb};
    ///
    /// let orb = Orb::builder().build()?;
    /// let object: ObjectRef = orb.resolve("corbaloc::localhost:5000/Sensor")?;
    /// let object = object.with_buffering(BufferingConstraint {
    ///     timeout: Some(Duration::from_millis(10)),
    ///     message_bytes: Some(32 << 10),
    ///     ..BufferingConstraint::default()
    /// });
    /// object.flush_oneways(Duration::from_secs(1))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    fn with_buffering(&self, constraint: BufferingConstraint) -> Self {
        let object = self.as_object().with_sync_scope(SyncScope::None);
        Self::from_object(object.with_buffering_constraint(constraint))
    }

    /// Sends the oneways in the buffer of the connection, and waits for up to `within` if the
    /// server does not receive them.
    ///
    /// # Errors
    /// TIMEOUT: they are still in the buffer. COMM_FAILURE, or an exception of connecting: they are
    /// lost.
    fn flush_oneways(&self, within: Duration) -> Result<(), SystemException> {
        orbium_client::flush_oneways(self.as_object().target(), within)
    }

    /// A copy of the reference: its requests carry that service context, in place of one with the
    /// same id that was added before. A context of the ORB with that id takes precedence. Ids are
    /// assigned by the OMG; an organisation has the range of its VSCID.
    ///
    /// ```no_run
    /// use orbium_core::{Interface, ObjectRef, Orb};
    /// use orbium_interceptor::ReplyContexts;
    ///
    /// const TENANT: u32 = 0x5445_4E00;
    ///
    /// let orb = Orb::builder().build()?;
    /// let object: ObjectRef = orb.resolve("corbaloc::localhost:5000/Ledger")?;
    /// let replied = ReplyContexts::default();
    /// let object = object.with_service_context(TENANT, b"blue").with_reply_contexts(&replied);
    /// object.non_existent()?;
    /// println!("{:?}", replied.get().get(TENANT));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    fn with_service_context(&self, id: u32, data: impl Into<Vec<u8>>) -> Self {
        let object = self.as_object();
        Self::from_object(object.overriding(|own| own.contexts.set(id, data.into())))
    }

    /// A copy of the reference; the service contexts of each of its replies are stored in
    /// `contexts` before the call returns. Concurrent calls need separate references.
    #[must_use]
    fn with_reply_contexts(&self, contexts: &ReplyContexts) -> Self {
        Self::from_object(
            self.as_object()
                .overriding(|own| own.reply_contexts = Some(contexts.clone())),
        )
    }
}

impl Interface for ObjectRef {
    const REPOSITORY_ID: &'static str = OBJECT_REPOSITORY_ID;
    const BASES: &'static [&'static str] = &[];

    fn from_object(object: ObjectRef) -> Self {
        object
    }

    fn as_object(&self) -> &ObjectRef {
        self
    }
}

/// Argument for a parameter of the IDL type `Object`: a reference to an object of any
/// interface, typed (`&greeter`) or not (`&object`), an `Option<&ObjectRef>`, or `None` for
/// nil.
///
/// ```
/// use orbium_core::{AnyReference, ObjectRef, Orb};
///
/// fn is_nil(reference: impl AnyReference) -> bool {
///     reference.untyped().is_none()
/// }
///
/// let orb = Orb::builder().build()?;
/// let object: Option<ObjectRef> = orb.string_to_object("corbaloc::localhost:5000/Cube")?;
/// assert!(is_nil(None));
/// assert!(!is_nil(object.as_ref()));
/// assert!(!is_nil(&object.ok_or("nil")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait AnyReference {
    /// The untyped reference; `None` is nil.
    fn untyped(&self) -> Option<&ObjectRef>;
}

impl<I: Interface> AnyReference for &I {
    #[inline]
    fn untyped(&self) -> Option<&ObjectRef> {
        Some(self.as_object())
    }
}

// Not for every `Option`: the type of a bare `None` would be ambiguous.
impl AnyReference for Option<&ObjectRef> {
    #[inline]
    fn untyped(&self) -> Option<&ObjectRef> {
        *self
    }
}

/// Implements the traits common to typed references, for `struct Name(ObjectRef)` or one that holds
/// the reference to a base; `Name = "name"` if the IDL name differs. Inline: a program compiles
/// only the functions that it uses.
#[macro_export]
macro_rules! interface {
    ($name:ident, $id:literal, [$($base:expr),* $(,)?]) => {
        $crate::interface!($name = stringify!($name), $id, [$($base),*]);
    };
    ($name:ident = $idl:expr, $id:literal, [$($base:expr),* $(,)?]) => {
        $crate::idl_interface_impls! { $crate $name [$idl] $id [$($base),*] }
    };
}
