// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references.

mod interface;
mod marshalling;
mod own;
mod questions;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_channel::protocol;
use orbium_giop::real_time::PublishedPolicies;
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};
use orbium_sync::lock::Mutex;
use orbium_sys::fork::PerProcess;

pub use interface::{AnyReference, Interface};
pub use questions::NarrowError;

use crate::client::{Binding, ConnectionPolicies};
use crate::orb::NOTICE_TIME_POLICY;
use crate::orb::policies::ThreadPolicies;
use crate::raises::Raises;
use crate::{Channel, OfferedProtocol, Operation, Orb, ProtocolPolicy, TimePolicies, client};

/// A reference to an object, wherever it is. One pointer, cheap to clone; nil
/// is `None` of `Option<ObjectRef>`.
#[derive(Clone)]
pub struct ObjectRef(Arc<Reference>);

pub(crate) struct Reference {
    pub(crate) orb: Orb,
    pub(crate) ior: Arc<Ior>,
    pub(crate) overrides: Overrides,
    /// Flags of what calls must check in addition to the ORB's: time policies.
    pub(crate) notice: u8,
    /// This object under the policies of threads that called it.
    under_thread_policies: PerProcess<Mutex<Vec<ObjectRef>>>,
    /// A forked child has connections of its own.
    binding: PerProcess<Result<Binding, SystemException>>,
    /// Where the server last said the object is.
    forward: PerProcess<Mutex<Option<ObjectRef>>>,
    is_forwarded: AtomicBool,
}

/// Sets of policies of threads that a reference remembers.
const THREAD_POLICIES_KNOWN: usize = 8;

/// What a reference asks of its calls, whatever the ORB does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) times: TimePolicies,
    pub(crate) protocols: Option<ProtocolPolicy>,
    pub(crate) connections: ConnectionPolicies,
    pub(crate) idempotent_retries: Option<u32>,
}

impl ObjectRef {
    pub(crate) fn new(orb: Orb, ior: Arc<Ior>, overrides: Overrides) -> Self {
        let times = overrides.times.or(orb.config().time_policies());
        Self(Arc::new(Reference {
            notice: if times.is_none() {
                0
            } else {
                NOTICE_TIME_POLICY
            },
            orb,
            ior,
            overrides,
            under_thread_policies: PerProcess::new(),
            binding: PerProcess::new(),
            forward: PerProcess::new(),
            is_forwarded: AtomicBool::new(false),
        }))
    }

    #[inline]
    pub(crate) fn state(&self) -> &Reference {
        &self.0
    }

    /// The interoperable object reference, as received or made.
    #[must_use]
    pub fn ior(&self) -> &Ior {
        &self.0.ior
    }

    /// The ORB that calls through this reference.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.0.orb
    }

    /// Calls an operation and waits for its results.
    ///
    /// `arguments` may run more than once: when the server closed the
    /// connection before it began, or said that the object is elsewhere.
    ///
    /// # Errors
    /// A user exception that `E` knows, or a system exception.
    #[inline]
    pub fn call<'a, T, E: Raises>(
        &self,
        operation: &'static Operation,
        arguments: impl Fn(&mut CdrWriter<'a>),
        results: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, E> {
        client::call(self, operation, arguments, results)
    }

    /// Sends a oneway request. Success means that the transport has taken it.
    ///
    /// # Errors
    /// A system exception: no connection, or arguments that cannot be sent.
    pub fn send<'a>(
        &self,
        operation: &'static Operation,
        arguments: impl Fn(&mut CdrWriter<'a>),
    ) -> Result<(), SystemException> {
        client::send(self, operation, arguments)
    }

    /// The same object with a bound on the time of each call.
    #[must_use]
    #[inline]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        self.with_time_policies(TimePolicies {
            roundtrip_timeout: Some(timeout),
            ..TimePolicies::NONE
        })
    }

    /// The same object with time policies of its own. For one call, make the call
    /// through what this returns; what is not set stays as it was.
    ///
    /// A call with a deadline that has passed already raises TIMEOUT, completed NO, and
    /// nothing is sent.
    #[must_use]
    #[inline]
    pub fn with_time_policies(&self, times: TimePolicies) -> Self {
        self.with_overrides(Overrides {
            times: times.or(self.0.overrides.times),
            ..self.0.overrides.clone()
        })
    }

    /// The same object with a ClientProtocolPolicy of its own: the protocols to
    /// call it with, best first. For one call, make the call through what this
    /// returns: connections are shared all the same.
    #[must_use]
    #[inline]
    pub fn with_protocols(&self, policy: ProtocolPolicy) -> Self {
        self.with_overrides(Overrides {
            protocols: Some(policy),
            ..self.0.overrides.clone()
        })
    }

    /// The same object, with a limit of retries of idempotent operations after a lost
    /// connection; it overrides [`Limits::idempotent_retries`](crate::Limits).
    #[must_use]
    #[inline]
    pub fn with_idempotent_retries(&self, retries: u32) -> Self {
        self.with_overrides(Overrides {
            idempotent_retries: Some(retries),
            ..self.0.overrides.clone()
        })
    }

    /// Types of the policies that the reference and the client both have, though
    /// only one of them may.
    #[must_use]
    #[inline]
    pub fn inconsistent_policies(&self) -> Vec<u32> {
        let published = protocol::published_policies(&self.0.ior);
        let connections = self.0.overrides.connections.or_of(&self.0.orb);
        client::conflicts(&published, &connections, self.0.policy().is_some())
    }

    /// What the reference says of priorities.
    #[must_use]
    #[inline]
    pub fn published_policies(&self) -> PublishedPolicies {
        protocol::published_policies(&self.0.ior)
    }

    /// Makes the connection that a call of this thread would use now, unless it
    /// is there: the call then finds it. One that has ended is replaced.
    ///
    /// # Errors
    /// INV_POLICY for inconsistent policies; NO_RESOURCES 2 if no band holds the
    /// priority; what connecting raises.
    #[inline]
    pub fn connect(&self) -> Result<(), SystemException> {
        client::connect(self, 1)
    }

    /// As [`connect`](Self::connect), for so many calls at once: none of them
    /// waits for a connection to be made. Where callers share a connection it is
    /// one for all; where each thread has its own they are the calling thread's.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    #[inline]
    pub fn connect_many(&self, calls: usize) -> Result<(), SystemException> {
        client::connect(self, calls)
    }

    /// Another object of the same server, reached in the same ways and over the
    /// same connections; `None` if it is not known how.
    #[must_use]
    #[inline]
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
        let overrides = self.state().overrides.clone();
        Some(Self::new(self.orb().clone(), Arc::new(ior), overrides))
    }

    fn with_overrides(&self, overrides: Overrides) -> Self {
        Self::new(self.0.orb.clone(), Arc::clone(&self.0.ior), overrides)
    }

    /// The protocols that the reference offers, in the order in which they are
    /// tried, then those that cannot be used, and why not.
    #[must_use]
    pub fn protocols(&self) -> Vec<OfferedProtocol> {
        self.0.orb.offered(&self.0.ior, self.0.policy())
    }

    /// The channel that calls through this reference take: the one that answered
    /// last, or the first that is tried. `None` for an object of this very ORB,
    /// and if there is no way at all: [`protocols`](Self::protocols) says why.
    #[must_use]
    #[inline]
    pub fn channel(&self) -> Option<Channel> {
        let forwarded = self.0.forwarded();
        let state = forwarded.as_ref().unwrap_or(self).state();
        let binding = state.binding().ok()?;
        let candidate = binding.candidates.get(binding.preferred());
        let candidate = candidate.or_else(|| binding.datagrams.first())?;
        candidate.channel().cloned()
    }

    /// The same object under the policies of the calling thread, where it has
    /// none of its own. Remembered for the next calls.
    #[cold]
    pub(crate) fn under_thread_policies(&self, of_thread: &ThreadPolicies) -> Option<Self> {
        let own = &self.0.overrides;
        let protocols = own.protocols.as_ref().or(of_thread.protocols.as_ref());
        let connections = own.connections.or(&of_thread.connections);
        let is_such = |overrides: &Overrides| {
            overrides.protocols.as_ref() == protocols
                && overrides.connections.shares_as(&connections)
        };
        if is_such(own) {
            return self.0.forwarded();
        }
        let mut known = self
            .0
            .under_thread_policies
            .get_or_init(Mutex::default)
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let object = match known.iter().find(|known| is_such(&known.0.overrides)) {
            Some(known) => known.clone(),
            None => {
                let object = self.with_overrides(Overrides {
                    protocols: protocols.cloned(),
                    connections: connections.clone(),
                    ..own.clone()
                });
                if known.len() == THREAD_POLICIES_KNOWN {
                    known.remove(0);
                }
                known.push(object.clone());
                object
            }
        };
        Some(object.0.forwarded().unwrap_or(object))
    }

    /// The ClientProtocolPolicy of the object, or else of this thread, or else
    /// of the ORB.
    #[cfg(feature = "media")]
    pub(crate) fn policy_here(&self, orb: &Orb) -> Result<Option<ProtocolPolicy>, SystemException> {
        let of_thread = orb.check_thread_policies(orb.notice())?.protocols;
        let own = self.0.overrides.protocols.clone();
        Ok(own
            .or(of_thread)
            .or_else(|| orb.config().client_protocols.clone()))
    }

    /// The object key, if this ORB itself serves the object.
    pub(crate) fn own_key(&self) -> Option<Vec<u8>> {
        for offer in &protocol::offers(&self.0.ior) {
            if offer.target.is_none() && self.0.orb.is_own_channel(&offer.channel) {
                return Some(offer.object_key.clone());
            }
        }
        None
    }
}

impl Reference {
    #[inline]
    pub(crate) fn binding(&self) -> Result<&Binding, SystemException> {
        match self.binding.get().unwrap_or_else(|| self.bind()) {
            Ok(binding) => Ok(binding),
            Err(exception) => Err(*exception),
        }
    }

    #[cold]
    #[inline(never)]
    fn bind(&self) -> &Result<Binding, SystemException> {
        self.binding
            .get_or_init(|| Binding::new(&self.orb, &self.ior, self.policy(), &self.overrides))
    }

    /// How often calls of idempotent operations are sent again.
    #[cold]
    pub(crate) fn idempotent_retries(&self) -> u32 {
        let own = self.overrides.idempotent_retries;
        own.unwrap_or(self.orb.config().limits.idempotent_retries)
    }

    /// The ClientProtocolPolicy of the object, or else of the ORB.
    fn policy(&self) -> Option<&ProtocolPolicy> {
        let own = self.overrides.protocols.as_ref();
        own.or(self.orb.config().client_protocols.as_ref())
    }

    /// The reference that a server forwarded this one to.
    #[inline]
    pub(crate) fn forwarded(&self) -> Option<ObjectRef> {
        match self.is_forwarded.load(Ordering::Acquire) {
            true => self.forward(),
            false => None,
        }
    }

    #[inline(never)]
    fn forward(&self) -> Option<ObjectRef> {
        let forward = self.forward.get()?;
        let forward = forward.lock().unwrap_or_else(PoisonError::into_inner);
        forward.clone()
    }

    /// Remembers, or forgets, where the server forwarded to.
    pub(crate) fn set_forward(&self, to: Option<ObjectRef>) {
        let forward = self.forward.get_or_init(Mutex::default);
        let mut forward = forward.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_forwarded.store(to.is_some(), Ordering::Release);
        *forward = to;
    }
}

impl PartialEq for ObjectRef {
    /// Equal references have equal IORs.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.ior, &other.0.ior) || self.0.ior == other.0.ior
    }
}

impl fmt::Debug for ObjectRef {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ObjectRef");
        out.field("type_id", &self.0.ior.type_id);
        for profile in self.0.ior.iiop_profiles() {
            out.field("at", &format_args!("{}:{}", profile.host, profile.port));
        }
        out.finish_non_exhaustive()
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
