// SPDX-License-Identifier: MIT OR Apache-2.0
//! State of an ORB, and its construction.

use std::any;
use std::fmt;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, OnceLock, Weak};

use orbium_cdr::{Any, Owner, OwnerWithValues};
use orbium_channel::peer_memory::Budget;
use orbium_giop::SystemException;
use orbium_interceptor::{Policy, PolicyError};
use orbium_sync::lock::{Condvar, Mutex};
use orbium_sys::fork::PerProcess;
use orbium_transport::Endpoint;

use super::OrbError;
use super::builder::OrbBuilder;
use super::handle::Orb;
use crate::adapter::Adapters;
use crate::client::ClientContext;
use crate::initial::InitialReferences;
use crate::metrics::{Instruments, Watching};
use crate::{
    Channel, Config, Context, FlowControl, Lane, OpenRequests, PeerMemory, Poa, Protocols,
    value_copier,
};
use orbium_request::{Host, OrbFacts, ServerContext};

pub(super) const RUNNING: u8 = 0;
pub(super) const ENDING: u8 = 1;
pub(super) const ENDED: u8 = 2;

/// An addition of a feature to an ORB, ended with the ORB.
pub(crate) trait EndsWithOrb: any::Any + Send + Sync {
    /// Ends it permanently.
    fn end(&self);
}

pub(crate) struct OrbCore {
    pub(crate) config: Arc<Config>,
    /// The readers of asynchronous invocations, created by the first one.
    pub(crate) reply_readers: OnceLock<Box<dyn EndsWithOrb>>,
    pub(super) client: Arc<ClientContext>,
    pub(crate) initial: InitialReferences,
    pub(super) server: OnceLock<Result<Server, SystemException>>,
    /// The state shared with the server engine.
    pub(crate) serving: Arc<ServerContext>,
    pub(crate) adapters: Arc<Adapters>,
    instruments: Arc<Instruments>,
    /// The watch of the ORB.
    pub(crate) watching: Watching,
    pub(super) state: AtomicU8,
    pub(super) ending: PerProcess<Ending>,
    /// The properties of the default context.
    pub(super) default_context: Context,
    /// A weak reference to this value.
    this: Weak<OrbCore>,
}

/// The lock and condition variable of callers of `shutdown(true)` and `run`.
#[derive(Default)]
pub(super) struct Ending {
    pub(super) lock: Mutex<()>,
    pub(super) changed: Condvar,
}

/// The lane that an ORB has from the beginning; it stops with the last handle of the ORB.
pub(super) struct Server(pub(super) Lane);

impl Drop for Server {
    /// Stops accepting: the last handle of the ORB was dropped.
    fn drop(&mut self) {
        self.0.halt();
    }
}

/// The handle carried by readers, by which references in messages are bound to the ORB.
struct OwnerHandle(Weak<OrbCore>);

fn owner_of_readers(weak: &Weak<OrbCore>) -> Owner {
    Arc::new(OwnerWithValues {
        owner: Box::new(OwnerHandle(weak.clone())),
        values: value_copier::copier(),
    })
}

impl OrbCore {
    /// The handle of this ORB; `None` while it is dropped.
    pub(crate) fn handle(&self) -> Option<Orb> {
        self.this.upgrade().map(Orb::of)
    }
}

impl Orb {
    /// A builder with the defaults.
    pub fn builder() -> OrbBuilder {
        OrbBuilder::default()
    }

    /// Builds an ORB with that configuration.
    ///
    /// # Errors
    /// [`OrbError`]: the configuration is invalid, or a thread, priority or endpoint was refused.
    pub fn new(config: Config) -> Result<Self, OrbError> {
        let mut config = config.prepared()?;
        if config.may_go_both_ways() && config.endpoints.is_empty() && !config.lanes_listen() {
            // A connection announces the ORB's endpoints when it is opened.
            config.endpoints.push(Endpoint::anywhere());
        }
        let registered = config.interceptors.initial_references();
        config.initial_references.extend_from_slice(registered);
        orbium_invocation::story::prepare();
        let listen = !config.endpoints.is_empty();
        let budget = Budget::new(config.limits.peer_memory, config.limits.decompression_ratio);
        config.protocols.set_budget(budget);
        let bidirectional = config.bidirectional_connections()?;
        let watcher = config.watcher()?;
        let config = Arc::new(config);
        let instruments = Arc::<Instruments>::default();
        let core = Arc::new_cyclic(|weak: &Weak<OrbCore>| {
            let owner = owner_of_readers(weak);
            let number = weak.as_ptr() as usize;
            let facts = OrbFacts {
                fragment_size: config.fragment_size,
                collects_replies: config.reply_batching.0,
                budget: config.protocols.budget().clone(),
                number,
                owner: Arc::clone(&owner),
                instruments: Arc::clone(&instruments),
            };
            let serving = Arc::new(ServerContext::new(facts, config.limits.clone()));
            OrbCore {
                reply_readers: OnceLock::new(),
                default_context: Context::new(""),
                client: ClientContext::new(
                    config.of_client(bidirectional),
                    number,
                    owner,
                    Arc::clone(&instruments),
                ),
                adapters: Arc::new(Adapters::new(&config, Arc::clone(&serving), weak.clone())),
                serving,
                instruments,
                initial: InitialReferences::default(),
                server: OnceLock::new(),
                state: AtomicU8::new(RUNNING),
                ending: PerProcess::new(),
                watching: Watching::default(),
                config,
                this: weak.clone(),
            }
        });
        let orb = Self::of(Arc::clone(&core));
        let adapters = &core.adapters;
        adapters.begin(Poa::root(adapters));
        if core.config.metrics {
            orb.start_counting();
        }
        if listen {
            let server = orb.start_server(&core.config.endpoints)?;
            orb.start_lanes(Some(&server.0))?;
            let _ = core.server.set(Ok(server));
        } else if core.config.lanes_listen() {
            orb.start_lanes(None)?;
        }
        if let Some(watch) = watcher {
            watch(&orb)?;
        }
        let resolve = |name: &str| {
            let object = orb.resolve_initial_references(name).ok()?;
            Some(Arc::new(object.ior().clone()))
        };
        let config = &core.config;
        let initialized = config.interceptors.post_init(&config.identity, &resolve);
        initialized.map_err(OrbError::Initializer)?;
        Ok(orb)
    }

    /// Makes a policy from its value: a standard one of clients, or one of a type that the
    /// program defines.
    ///
    /// # Errors
    /// As [`Interceptors::create_policy`](orbium_interceptor::Interceptors::create_policy).
    pub fn create_policy(&self, policy_type: u32, value: &Any) -> Result<Policy, PolicyError> {
        let standard = orbium_client::standard_policy(policy_type, value);
        standard.unwrap_or_else(|| self.config().interceptors.create_policy(policy_type, value))
    }

    /// Installs an observer, called when the buffer of oneways of a connection becomes full, and
    /// when it accepts oneways again. It runs on a separate thread without a lock of the ORB, so
    /// that it may block, make calls and panic; the next change waits. `false` if there is an
    /// observer already.
    pub fn observe_flow_control(
        &self,
        observer: impl FnMut(&Channel, FlowControl) + Send + 'static,
    ) -> bool {
        self.client().observe_flow_control(observer)
    }

    /// The ORB's own lane, if it listens.
    pub(crate) fn started_lane(&self) -> Option<Lane> {
        let server = self.core().server.get()?.as_ref().ok()?;
        Some(server.0.clone())
    }

    /// The client of this ORB.
    #[inline]
    pub(crate) fn client(&self) -> &Arc<ClientContext> {
        &self.core().client
    }

    /// The book of connections, and the metrics.
    #[inline]
    pub(crate) fn instruments(&self) -> &Instruments {
        &self.core().instruments
    }

    #[inline]
    pub(crate) fn core(&self) -> &OrbCore {
        match self.0.downcast_ref() {
            Some(core) => core,
            None => unreachable!("every ORB is made by `of`"),
        }
    }

    fn of(core: Arc<OrbCore>) -> Self {
        Self(core)
    }

    #[inline]
    pub(crate) fn owner(&self) -> &Owner {
        &self.core().client.decoding().owner
    }

    /// Identifies this ORB within the process.
    pub(crate) fn number(&self) -> usize {
        self.core().serving.number
    }

    pub(crate) fn downgrade(&self) -> Weak<OrbCore> {
        self.core().this.clone()
    }

    /// The ORB as seen by its lanes.
    pub(crate) fn host(&self) -> Host {
        let dispatcher: Weak<OrbCore> = self.downgrade();
        Host::new(Arc::clone(&self.core().serving), dispatcher)
    }

    #[inline]
    pub(crate) fn from_owner(owner: &Owner) -> Option<Self> {
        let core = OwnerWithValues::owner_of::<OwnerHandle>(owner)?
            .0
            .upgrade()?;
        Some(Self::of(core))
    }

    /// The root adapter. Its manager holds requests until it is activated.
    #[must_use]
    pub fn root_poa(&self) -> Poa {
        match self.core().adapters.root() {
            Some(root) => root,
            // Set before `new` returns.
            None => unreachable!("an ORB has a root adapter"),
        }
    }

    /// Requests with deferred replies.
    #[must_use]
    pub fn open_requests(&self) -> &OpenRequests {
        &self.core().serving.open_requests
    }

    /// The number of requests refused so far because all threads were busy and the queue was full:
    /// answered TRANSIENT, or discarded if they were oneways.
    #[must_use]
    #[inline]
    pub fn refused_requests(&self) -> u64 {
        let own = match self.core().server.get() {
            Some(Ok(server)) => server.0.refused_requests(),
            _ => 0,
        };
        own + self.lane_list().refused_requests()
    }

    /// The memory that peers make the ORB hold beyond what connections need for small messages:
    /// receive buffers, messages in assembly, queued requests, replies that clients have not
    /// received, and decompressed data. For clients and servers of this ORB together.
    #[must_use]
    pub fn peer_memory(&self) -> PeerMemory {
        self.budget().figures()
    }

    /// The budget that connections are charged to.
    #[inline]
    pub(crate) fn budget(&self) -> &Budget {
        self.core().config.protocols.budget()
    }

    /// The outermost context (`get_default_context`): empty until the program sets properties.
    #[must_use]
    pub fn default_context(&self) -> &Context {
        &self.core().default_context
    }

    /// The protocols of the ORB, including those registered later.
    #[must_use]
    pub fn protocols(&self) -> &Protocols {
        &self.client().latest_config().protocols
    }

    /// The configuration from which the ORB was built.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.core().config
    }
}

impl fmt::Debug for Orb {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orb")
            .field("strategy", &self.core().config.strategy)
            .finish_non_exhaustive()
    }
}
