// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interceptors of an ORB, in the order of their registration.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_budget::OperationBudget;
use orbium_cdr::Any;
use orbium_giop::{Ior, SystemException};

use crate::client::links as client_links;
use crate::client::points::ClientInterceptor;
use crate::errors::{initializer_panicked, invalid_name, nil_initial_reference};
use crate::policy::{Policy, PolicyError, PolicyFactories, PolicyFactory};
use crate::processing_mode::{Chains, ProcessingMode};
use crate::reference::ior::{IorInterceptor, IorInterceptors};
use crate::registration::identity::OrbIdentity;
use crate::registration::post_init::{PostInit, PostInitInfo};
use crate::request::slots::{OrbSlots, PiCurrent, SlotAllocator, SlotId};
use crate::server::links as server_links;
use crate::server::points::ServerInterceptor;

/// An interceptor of that kind and name is already registered (`ORBInitInfo::DuplicateName`).
#[derive(Clone, PartialEq, Eq)]
pub struct DuplicateName(pub String);

impl fmt::Display for DuplicateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an interceptor named {:?} is registered already", self.0)
    }
}

impl fmt::Debug for DuplicateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for DuplicateName {}

/// The interceptors of an ORB and its slots: created before the ORB is built, and immutable later.
/// Starting points run in the order of registration, ending points in reverse.
#[derive(Clone)]
pub struct Interceptors {
    pub(crate) client: Chains<dyn ClientInterceptor>,
    pub(crate) server: Chains<dyn ServerInterceptor>,
    ior: IorInterceptors,
    policies: PolicyFactories,
    /// Policies of all calls.
    orb_policies: Vec<Policy>,
    initializers: Vec<Arc<PostInit>>,
    /// Names and references registered by initialisers.
    initial_references: Vec<(String, String)>,
    /// Shared: initialisers allocate slots after the ORB has its copy, too.
    slots: SlotAllocator,
    /// Whether servants add service contexts to their replies.
    reply_contexts: bool,
    /// The id of the last request seen by a client interceptor.
    requests: Arc<AtomicU32>,
}

impl Interceptors {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self {
            client: Chains::default(),
            server: Chains::default(),
            ior: IorInterceptors::default(),
            policies: PolicyFactories::default(),
            orb_policies: Vec::new(),
            initializers: Vec::new(),
            initial_references: Vec::new(),
            slots: SlotAllocator::new(),
            reply_contexts: false,
            requests: Arc::default(),
        }
    }

    /// Adds an interceptor of calls.
    ///
    /// # Errors
    /// [`DuplicateName`] unless its name is empty.
    pub fn add_client<I: ClientInterceptor>(
        &mut self,
        interceptor: I,
    ) -> Result<(), DuplicateName> {
        self.add_client_with(interceptor, ProcessingMode::default())
    }

    /// Adds an interceptor of the calls of that mode
    /// (`add_client_request_interceptor_with_policy`): it has no cost for others.
    ///
    /// # Errors
    /// [`DuplicateName`] unless its name is empty.
    ///
    /// ```
    /// use orbium_interceptor::{ClientInterceptor, Interceptors, ProcessingMode};
    ///
    /// struct Accounting;
    /// impl ClientInterceptor for Accounting {}
    ///
    /// let mut interceptors = Interceptors::new();
    /// interceptors.add_client_with(Accounting, ProcessingMode::RemoteOnly)?;
    /// # Ok::<(), orbium_interceptor::DuplicateName>(())
    /// ```
    pub fn add_client_with<I: ClientInterceptor>(
        &mut self,
        interceptor: I,
        mode: ProcessingMode,
    ) -> Result<(), DuplicateName> {
        let name = free_name(self.client.all().names(), interceptor.name())?;
        self.client
            .push(mode, client_links::entry(name, interceptor));
        Ok(())
    }

    /// Adds an interceptor of requests to servants.
    ///
    /// # Errors
    /// [`DuplicateName`] unless its name is empty.
    pub fn add_server<I: ServerInterceptor>(
        &mut self,
        interceptor: I,
    ) -> Result<(), DuplicateName> {
        self.add_server_with(interceptor, ProcessingMode::default())
    }

    /// Adds an interceptor of the requests of that mode
    /// (`add_server_request_interceptor_with_policy`): it has no cost for others.
    ///
    /// # Errors
    /// [`DuplicateName`] unless its name is empty.
    pub fn add_server_with<I: ServerInterceptor>(
        &mut self,
        interceptor: I,
        mode: ProcessingMode,
    ) -> Result<(), DuplicateName> {
        let name = free_name(self.server.all().names(), interceptor.name())?;
        self.server
            .push(mode, server_links::entry(name, interceptor));
        Ok(())
    }

    /// Adds an interceptor of references.
    ///
    /// # Errors
    /// [`DuplicateName`] unless its name is empty.
    pub fn add_ior(&mut self, interceptor: impl IorInterceptor) -> Result<(), DuplicateName> {
        let name = free_name(self.ior.names(), interceptor.name())?;
        self.ior.push(name, interceptor);
        Ok(())
    }

    /// Registers a factory for policies of a type (`register_policy_factory`).
    ///
    /// # Errors
    /// BAD_INV_ORDER 16 if there is a factory for that type.
    pub fn register_policy_factory(
        &mut self,
        policy_type: u32,
        factory: impl PolicyFactory,
    ) -> Result<(), SystemException> {
        self.policies.register(policy_type, factory)?;
        self.ior.add_policy_type(policy_type);
        Ok(())
    }

    /// Makes a policy by a registered factory (`ORB::create_policy`).
    ///
    /// # Errors
    /// [`PolicyError::BadPolicyType`] without a factory for that type; the error of the factory.
    pub fn create_policy(&self, policy_type: u32, value: &Any) -> Result<Policy, PolicyError> {
        self.policies.create(policy_type, value)
    }

    /// Adds a program-defined policy for all calls of the ORB, if neither the reference nor the
    /// thread has one.
    pub fn add_policy(&mut self, policy: Policy) {
        self.orb_policies
            .retain(|it| it.policy_type() != policy.policy_type());
        self.orb_policies.push(policy);
    }

    /// The policies of all calls of the ORB.
    #[must_use]
    pub fn policies(&self) -> &[Policy] {
        &self.orb_policies
    }

    #[inline]
    pub(crate) fn slots(&self) -> &SlotAllocator {
        &self.slots
    }

    /// The slots of the ORB, for [`CallStart`](crate::client::CallStart).
    #[must_use]
    #[inline]
    pub fn orb_slots(&self) -> OrbSlots<'_> {
        (&self.slots).into()
    }

    pub(crate) fn keep_post_init(
        &mut self,
        post_init: impl Fn(&PostInitInfo<'_>) -> Result<(), SystemException> + Send + Sync + 'static,
    ) {
        self.initializers.push(Arc::new(post_init));
    }

    /// Runs `post_init` of each initialiser, in the order of registration, when the ORB exists.
    ///
    /// # Errors
    /// The exception of the first one that fails; UNKNOWN if it panics.
    pub fn post_init(
        &self,
        identity: &OrbIdentity,
        resolve: &dyn Fn(&str) -> Option<Arc<Ior>>,
    ) -> Result<(), SystemException> {
        let slots = &self.slots;
        let info = PostInitInfo {
            slots,
            identity,
            resolve,
        };
        for post_init in &self.initializers {
            let run = AssertUnwindSafe(|| slots.initialize(|| post_init(&info)));
            catch_unwind(run).map_err(|_| initializer_panicked())??;
        }
        Ok(())
    }

    pub(crate) fn register_initial_reference(
        &mut self,
        name: &str,
        object: &Ior,
    ) -> Result<(), SystemException> {
        let is_taken = self.initial_references.iter().any(|(it, _)| it == name);
        if name.is_empty() || is_taken {
            return Err(invalid_name());
        }
        if object.is_nil() {
            return Err(nil_initial_reference());
        }
        let url = object.to_string();
        self.initial_references.push((name.to_owned(), url));
        Ok(())
    }

    /// Names and object URLs registered by initialisers.
    #[must_use]
    pub fn initial_references(&self) -> &[(String, String)] {
        &self.initial_references
    }

    /// The interceptors of references.
    #[must_use]
    pub fn of_references(&self) -> &IorInterceptors {
        &self.ior
    }

    /// Adds the service contexts of servants to replies, without an interceptor. Each request then
    /// has about the cost of an interceptor.
    #[must_use]
    pub fn with_reply_contexts(mut self) -> Self {
        self.reply_contexts = true;
        self
    }

    /// Allocates a slot.
    pub fn allocate_slot(&mut self) -> SlotId {
        self.slots.allocate()
    }

    /// The slots of the calling thread, as allocated so far.
    #[must_use]
    #[inline]
    pub fn current(&self) -> PiCurrent {
        self.slots.current()
    }

    /// Whether calls of this thread carry neither slots nor facts of a dynamic call.
    #[must_use]
    #[inline]
    pub fn has_no_slots_for_calls(&self) -> bool {
        self.slots.carries_nothing() || self.current().has_none_for_calls()
    }

    /// Whether calls have an interceptor.
    #[must_use]
    pub fn intercepts_calls(&self) -> bool {
        !self.client.all().is_empty()
    }

    /// Whether interceptors of calls differ between collocated and remote calls.
    #[must_use]
    #[inline]
    pub fn distinguishes_calls(&self) -> bool {
        self.client.are_different()
    }

    /// Whether requests to servants have an interceptor, or replies carry service contexts added by
    /// servants.
    #[must_use]
    pub fn intercepts_requests(&self) -> bool {
        !self.server.all().is_empty() || self.reply_contexts
    }

    /// A copy, if it [intercepts requests](Self::intercepts_requests).
    #[must_use]
    pub fn of_requests(&self) -> Option<Self> {
        self.intercepts_requests().then(|| self.clone())
    }

    /// The operation budgets [watched](ServerInterceptor::budgets) by interceptors of requests, in
    /// the order of registration; without those of an interceptor that panics.
    #[must_use]
    pub fn budgets(&self) -> Vec<OperationBudget> {
        let budgets = self.server.all().iter().map(|interceptor| {
            let watched = catch_unwind(AssertUnwindSafe(|| interceptor.budgets()));
            watched.unwrap_or_default()
        });
        budgets.flatten().collect()
    }

    /// Ends the interceptors: `destroy` of each, in the order of registration. A panic is
    /// ignored.
    pub fn destroy(&self) {
        let run = |destroy: &dyn Fn()| {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(destroy));
        };
        for interceptor in self.client.all().iter() {
            run(&|| interceptor.destroy());
        }
        for interceptor in self.server.all().iter() {
            run(&|| interceptor.destroy());
        }
        self.ior.destroy();
    }

    /// An id for a request, unique among the requests in progress, of 31 bits.
    #[must_use]
    #[inline]
    pub fn next_request(&self) -> u32 {
        self.requests.fetch_add(1, Ordering::Relaxed) & (u32::MAX >> 1)
    }
}

fn free_name<'n>(
    mut names: impl Iterator<Item = &'n str>,
    name: &str,
) -> Result<String, DuplicateName> {
    if !name.is_empty() && names.any(|it| it == name) {
        Err(DuplicateName(name.to_owned()))
    } else {
        Ok(name.to_owned())
    }
}

impl Default for Interceptors {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interceptors")
            .field("client", self.client.all())
            .field("server", self.server.all())
            .field("ior", &self.ior)
            .field("slots", &self.slots)
            .field("reply_contexts", &self.reply_contexts)
            .finish()
    }
}

impl PartialEq for Interceptors {
    /// Equal if both have the same interceptors, or none.
    fn eq(&self, other: &Self) -> bool {
        let sizes = |it: &Self| {
            let of_requests = it.client.all().len() + it.server.all().len();
            let of_orb = it.ior.len() + it.policies.len() + it.initializers.len();
            (of_requests, of_orb, it.current().slots)
        };
        sizes(self) == sizes(other)
            && self.reply_contexts == other.reply_contexts
            && self.orb_policies == other.orb_policies
            && (sizes(self) == (0, 0, 0) || self.current().owner == other.current().owner)
    }
}

impl Eq for Interceptors {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Configurations are compared: two without interceptors must be equal.
    #[test]
    fn lists_without_interceptors_are_equal() {
        assert_eq!(Interceptors::new(), Interceptors::default());
        let mut slotted = Interceptors::new();
        slotted.allocate_slot();
        assert_ne!(slotted, Interceptors::new());
        assert_eq!(slotted, slotted.clone());
    }
}
