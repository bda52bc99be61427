// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references as used by calls.

pub(crate) mod binding;
pub mod candidate;
mod forwarding;
pub(crate) mod object_url;
pub mod request_path;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use orbium_channel::{Channel, OfferedProtocol, ProtocolPolicy, protocol};
use orbium_giop::{Completion, Ior, SystemException};
use orbium_interceptor::{ContextList, SlotTable};
use orbium_invocation::{CancellationToken, Locality, RebindMode, SyncScope};
use orbium_sync::lock::Mutex;
use orbium_sys::fork::PerProcess;

use crate::call::notice;
use crate::collocation::local_orb::LocalOrb;
use crate::collocation::own_object::Collocated;
use crate::context::ClientContext;
use crate::policy::client_policies::ClientPolicies;
use crate::policy::overrides::Overrides;
use crate::reference::binding::{Binding, offered};
use crate::reference::forwarding::Forwarding;

/// Maximum number of sets of thread policies cached by a reference.
const THREAD_POLICIES_KNOWN: usize = 8;

/// A reference to an object, and the cached state of its profiles. Calls use it as `Reference<dyn
/// LocalOrb>`; the ORB uses the concrete type `O`.
pub struct Reference<O: ?Sized = dyn LocalOrb> {
    client: Arc<ClientContext>,
    ior: Arc<Ior>,
    overrides: Overrides,
    /// Flags of checks in addition to the ORB's.
    notice: u8,
    /// RelativeRoundtripTimeout, if it is the only reason for [`notice::TIME_POLICY`].
    timeout: Option<Duration>,
    /// The number of connections to the server lost before it was bound, plus one; 0 before
    /// binding.
    bound: AtomicU64,
    /// The generation of the client's settings under which it was created.
    generation: u32,
    locality: Locality,
    /// The address of the object for calls without a message; the lanes of a forked child belong to
    /// its parent.
    collocated: PerProcess<Option<Collocated>>,
    /// The derived references for policies of threads that have called it.
    under_thread_policies: PerProcess<Mutex<Vec<Arc<Reference>>>>,
    /// A forked child has separate connections.
    binding: PerProcess<Result<Binding, SystemException>>,
    /// The last forward by the server.
    forwarding: Forwarding<Reference>,
    /// The reference derived for policies of a thread, if this is it, or a forward of it.
    derived: OnceLock<Weak<Reference>>,
    /// Dropped last.
    orb: O,
}

impl<O> Reference<O> {
    /// A reference of an ORB with that client.
    pub fn new(orb: O, client: Arc<ClientContext>, ior: Arc<Ior>, overrides: Overrides) -> Self {
        let times = overrides.policies.times.or(client.config().times);
        let mut notice = 0;
        let messaging = &overrides.policies.messaging;
        let has_routers = !messaging.routers.is_none();
        if !times.is_none() || overrides.cancellation.is_some() || has_routers {
            notice |= notice::TIME_POLICY;
        }
        let is_timeout = times.is_roundtrip_timeout();
        let is_alone = is_timeout && overrides.cancellation.is_none() && !has_routers;
        if !overrides.contexts.is_empty() || overrides.reply_contexts.is_some() {
            notice |= notice::INTERCEPTED;
        }
        if messaging.rebind() == RebindMode::NoReconnect
            || messaging.sync_scope() != SyncScope::WithTransport
        {
            notice |= notice::MESSAGING;
        }
        Self {
            notice,
            timeout: times.roundtrip_timeout.filter(|_| is_alone),
            bound: AtomicU64::new(0),
            generation: client.generation(),
            client,
            ior,
            overrides,
            locality: Locality::default(),
            collocated: PerProcess::new(),
            under_thread_policies: PerProcess::new(),
            binding: PerProcess::new(),
            forwarding: Forwarding::new(),
            derived: OnceLock::new(),
            orb,
        }
    }
}

impl<O: ?Sized> Reference<O> {
    /// The ORB that it belongs to.
    #[inline]
    pub fn orb(&self) -> &O {
        &self.orb
    }

    /// The client that calls through it.
    #[inline]
    pub fn client(&self) -> &ClientContext {
        &self.client
    }

    /// The interoperable object reference, as received or made.
    #[inline]
    pub fn ior(&self) -> &Arc<Ior> {
        &self.ior
    }

    /// The overrides of this reference.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Whether it has overrides.
    pub fn has_policies(&self) -> bool {
        self.overrides.are_any()
    }

    /// Whether its calls were cancelled.
    #[cold]
    pub(crate) fn is_cancelled(&self) -> bool {
        let token = self.overrides.cancellation.as_ref();
        token.is_some_and(CancellationToken::is_cancelled)
    }

    /// Checks that its calls were not cancelled.
    ///
    /// # Errors
    /// TRANSIENT 3.
    #[cold]
    pub(crate) fn check_cancellation(&self, completed: Completion) -> Result<(), SystemException> {
        match &self.overrides.cancellation {
            Some(token) => token.check(completed),
            None => Ok(()),
        }
    }

    /// Whether the ORB was reconfigured after its creation.
    pub(crate) fn is_outdated(&self) -> bool {
        self.generation != self.client.generation()
    }

    /// Whether a call was made under NO_RECONNECT.
    pub(crate) fn is_bound(&self) -> bool {
        self.bound.load(Ordering::Relaxed) != 0
    }

    /// Binds it, if it is not bound, at that number of lost connections to the server; returns
    /// whether none was lost since it was bound.
    pub(crate) fn remains_bound(&self, lost: u64) -> bool {
        let now = lost + 1;
        let (set, fetched) = (Ordering::Relaxed, Ordering::Relaxed);
        let bound = self.bound.compare_exchange(0, now, set, fetched);
        bound.map_or_else(|since| since == now, |_| true)
    }

    /// The slots of this thread, if interceptors see its calls or they carry service contexts of
    /// their caller.
    pub fn slots_of_caller(&self) -> Option<SlotTable> {
        let all = &self.client.config().interceptors;
        let slots = || all.current().of_this_thread().into_owned();
        (self.notices() & notice::INTERCEPTED != 0).then(slots)
    }

    /// Stores the service contexts of a reply, if the caller has requested them.
    #[inline]
    pub fn keep_reply_contexts(&self, contexts: &ContextList) {
        if let Some(to) = &self.overrides.reply_contexts {
            to.set(contexts.clone());
        }
    }

    /// The locality of its object.
    #[inline(always)]
    pub(crate) fn locality(&self) -> &Locality {
        &self.locality
    }

    /// The address of the object for calls without a message, after its look-up.
    #[inline(always)]
    pub(crate) fn known_collocated(&self) -> &PerProcess<Option<Collocated>> {
        &self.collocated
    }

    /// Whether a server forwarded it.
    #[inline(always)]
    pub(crate) fn is_forwarded(&self) -> bool {
        self.forwarding.is_forwarded()
    }

    /// Flags of the checks before a call.
    #[inline(always)]
    pub(crate) fn notices(&self) -> u8 {
        self.client.notice() | self.notice
    }

    /// The RelativeRoundtripTimeout of its calls, if they have no other time policies.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Flags of the checks for the reference itself.
    pub(crate) fn own_notices(&self) -> u8 {
        self.notice
    }

    /// The maximum number of retries of idempotent operations.
    #[cold]
    pub fn idempotent_retries(&self) -> u32 {
        let own = self.overrides.idempotent_retries;
        own.unwrap_or(self.client.config().limits.idempotent_retries)
    }

    /// The ClientProtocolPolicy of the object, or else of the ORB.
    pub(crate) fn policy(&self) -> Option<&ProtocolPolicy> {
        let own = self.overrides.policies.protocols.as_ref();
        own.or(self.client.config().client_protocols.as_ref())
    }

    /// The ClientProtocolPolicy of the object, or else of this thread, or else of the client that
    /// uses it.
    ///
    /// # Errors
    /// BAD_INV_ORDER 4: the ORB of that client has ended.
    pub fn policy_for(
        &self,
        client: &ClientContext,
    ) -> Result<Option<ProtocolPolicy>, SystemException> {
        let of_thread = client.check_thread_policies(client.notice())?.protocols;
        let own = self.overrides.policies.protocols.clone();
        Ok(own
            .or(of_thread)
            .or_else(|| client.config().client_protocols.clone()))
    }

    /// The last forward of this reference.
    #[inline(always)]
    pub(crate) fn forwarded(&self) -> Option<Arc<Reference>> {
        if self.is_forwarded() {
            self.forwarding.get()
        } else {
            None
        }
    }

    /// The reference derived for policies of a thread, if calls of that thread use it or its
    /// forward: `self`.
    pub(crate) fn derived(&self) -> Option<Arc<Reference>> {
        self.derived.get()?.upgrade()
    }

    /// Marks the reference as used by calls under policies of a thread.
    pub(crate) fn derive_from(&self, derived: &Arc<Reference>) {
        self.derived.get_or_init(|| Arc::downgrade(derived));
    }

    /// Stores or removes the forward.
    pub(crate) fn set_forward(&self, to: Option<Arc<Reference>>) {
        self.forwarding.set(to, |first, to| first.ior() == to.ior());
    }
}

impl Reference {
    /// The candidates of the reference.
    ///
    /// # Errors
    /// INV_POLICY if there is none, or for inconsistent policies.
    #[inline]
    pub(crate) fn binding(&self) -> Result<&Binding, SystemException> {
        match self.binding.get().unwrap_or_else(|| self.bind()) {
            Ok(binding) => Ok(binding),
            Err(exception) => Err(*exception),
        }
    }

    #[cold]
    fn bind(&self) -> &Result<Binding, SystemException> {
        let is_own = |channel: &Channel| self.orb.is_own_channel(channel);
        self.binding.get_or_init(|| {
            Binding::new(
                &self.client,
                &is_own,
                &self.ior,
                self.policy(),
                &self.overrides,
            )
        })
    }

    /// The protocols that the reference offers, in the order in which they are tried, then unusable
    /// ones with the reason.
    pub fn protocols(&self) -> Vec<OfferedProtocol> {
        let is_own = |channel: &Channel| self.orb.is_own_channel(channel);
        offered(&self.client, &is_own, &self.ior, self.policy())
    }

    /// The channel of calls: that of the last reply, or the first that is tried. `None` for a
    /// collocated object, and if no profile is usable.
    pub fn channel(&self) -> Option<Channel> {
        // By the latest settings of the ORB, as for calls.
        let latest = self
            .is_outdated()
            .then(|| self.forwarded_under(&self.client.wider_policies()));
        let latest = latest.flatten().or_else(|| self.forwarded());
        let target = latest.as_deref().unwrap_or(self);
        let binding = target.binding().ok()?;
        let candidate = binding.preferred_candidate();
        let candidate = candidate.or_else(|| binding.datagrams.first())?;
        candidate.channel().cloned()
    }

    /// The object key, if its ORB serves the object.
    pub fn own_key(&self) -> Option<Vec<u8>> {
        for offer in &protocol::offers(&self.ior) {
            if offer.target.is_none() && self.orb.is_own_channel(&offer.channel) {
                return Some(offer.object_key.to_vec());
            }
        }
        None
    }

    /// The reference for calls under these policies of a thread: a derived one, or its forward;
    /// `None` if the policies change nothing.
    #[cold]
    pub(crate) fn forwarded_under(&self, wider: &ClientPolicies) -> Option<Arc<Self>> {
        let derived = self.under_policies(wider);
        derived.map(|derived| derived.forwarded().unwrap_or(derived))
    }

    /// The derived reference for calls of this thread, if the thread or the ORB has Messaging
    /// policies that the reference itself lacks.
    #[cold]
    pub fn under_wider_messaging(&self) -> Option<Arc<Self>> {
        if self.notices() & notice::THREAD_POLICY == 0 {
            return None;
        }
        let wider = self.client.wider_policies();
        let own = self.overrides.policies.messaging;
        if own.or(wider.messaging) == own {
            None
        } else {
            self.under_policies(&wider)
        }
    }

    /// The reference derived for these policies, as far as it has no overrides; `None` if they
    /// change nothing. Cached for later calls.
    fn under_policies(&self, wider: &ClientPolicies) -> Option<Arc<Self>> {
        let own = &self.overrides.policies;
        let protocols = own.protocols.as_ref().or(wider.protocols.as_ref());
        let connections = own.connections.clone().or(&wider.connections);
        let messaging = own.messaging.or(wider.messaging);
        let generation = self.client.generation();
        let is_such = |policies: &ClientPolicies| {
            policies.protocols.as_ref() == protocols
                && policies.connections == connections
                && policies.messaging == messaging
        };
        if is_such(own) && self.generation == generation {
            return None;
        }
        let is_right = |known: &&Arc<Self>| {
            known.generation == generation && is_such(&known.overrides.policies)
        };
        let mut known = self
            .under_thread_policies
            .get_or_init(Mutex::default)
            .lock();
        if let Some(known) = known.iter().find(is_right) {
            return Some(Arc::clone(known));
        }
        let overrides = Overrides {
            policies: ClientPolicies {
                protocols: protocols.cloned(),
                connections: connections.clone(),
                messaging,
                ..own.clone()
            },
            ..self.overrides.clone()
        };
        let object = self.derive(overrides);
        // References with outdated settings, with their connections.
        let outdated: Vec<_> = known
            .extract_if(.., |it| it.generation != generation)
            .collect();
        if known.len() == THREAD_POLICIES_KNOWN {
            known.remove(0);
        }
        known.push(Arc::clone(&object));
        // Closing connections takes time.
        drop(known);
        drop(outdated);
        Some(object)
    }

    /// A reference to the same object for calls under policies of a thread.
    fn derive(&self, overrides: Overrides) -> Arc<Self> {
        let object = self.orb.reference(Arc::clone(&self.ior), overrides);
        object.derive_from(&object);
        object
    }

    /// The reference that was derived from `original` for policies of a thread, if calls of that
    /// thread use it or its forward: `self`. A new one if calls under other policies have replaced
    /// it, as a forward has the same policies.
    #[cold]
    pub(crate) fn derived_from(&self, original: &Self) -> Option<Arc<Self>> {
        let derived = self.derived.get()?;
        let again = || original.derive(self.overrides.clone());
        Some(derived.upgrade().unwrap_or_else(again))
    }
}

impl<O: ?Sized> fmt::Debug for Reference<O> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ObjectRef");
        out.field("type_id", &self.ior.type_id);
        for profile in self.ior.iiop_profiles() {
            out.field("at", &format_args!("{}:{}", profile.host, profile.port));
        }
        out.finish_non_exhaustive()
    }
}
