// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ORB itself.

mod builder;
mod dedication;
mod dispatching;
mod ending;
mod error;
mod lanes;
pub(crate) mod policies;
mod references;
mod short_forms;
#[cfg(feature = "tls")]
mod tls;

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};

use orbium_cdr::Owner;
use orbium_channel::peer_memory::Budget;
use orbium_giop::SystemException;
use orbium_sys::fork::PerProcess;

use crate::adapter::Adapters;
use crate::client::Pools;
use crate::initial::InitialReferences;
use crate::metrics::{ConnectionBook, Instruments, Measurements};
use crate::server::{Host, Server, ServerContext};
use crate::watch::Watching;
use crate::{Config, Lane, PeerMemory, Poa, RealTime};

pub use builder::OrbBuilder;
pub use error::OrbError;
pub use short_forms::ResolveError;

const RUNNING: u8 = 0;
const ENDING: u8 = 1;
const ENDED: u8 = 2;

const NOTICE_ENDED: u8 = 1;
const NOTICE_THREAD_POLICY: u8 = 2;
/// Of a reference with time policies.
pub(crate) const NOTICE_TIME_POLICY: u8 = 4;
/// Calls are measured.
pub(crate) const NOTICE_METRICS: u8 = 8;

pub(crate) struct OrbCore {
    pub(crate) config: Arc<Config>,
    pools: PerProcess<Pools>,
    reply_readers: PerProcess<crate::client::ReplyReaders>,
    pub(crate) initial: InitialReferences,
    server: OnceLock<Result<Server, SystemException>>,
    /// Real-time extension that provides the priorities of calls.
    pub(crate) real_time: OnceLock<Arc<dyn RealTime>>,
    /// The facts that the server engine asks for.
    pub(crate) serving: Arc<ServerContext>,
    pub(crate) adapters: Arc<Adapters>,
    pub(crate) instruments: Arc<Instruments>,
    /// What shows the ORB to its owner.
    pub(crate) watching: Watching,
    state: AtomicU8,
    /// What a call has to know before it begins: that the ORB has ended, or
    /// that some thread has a policy of its own. Zero nearly always.
    notice: AtomicU8,
    ending: PerProcess<Ending>,
    owner: Owner,
}

/// Where callers of `shutdown(true)` and `run` block.
#[derive(Default)]
struct Ending {
    lock: Mutex<()>,
    changed: Condvar,
}

/// An Object Request Broker: a value, of which any number live side by side in
/// one process. Cheap to clone; clones are the same ORB.
///
/// ```
/// use orbium_core::Orb;
///
/// let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
/// println!("listening at {:?}", orb.addresses()?);
/// orb.shutdown(true)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Orb(Arc<OrbCore>);

/// What readers carry so that references in messages can be bound.
struct OwnerHandle(Weak<OrbCore>);

impl OrbCore {
    /// The connections to servers. A forked child begins without any.
    pub(crate) fn pools(&self) -> &Pools {
        let new = || Pools::new(Arc::clone(&self.config), self.book());
        self.pools.get_or_renew(new, Pools::leave)
    }

    /// The connections of this process.
    pub(crate) fn book(&self) -> &ConnectionBook {
        self.instruments.book()
    }

    /// What is counted, once metrics are on.
    pub(crate) fn measurements(&self) -> Option<&Arc<Measurements>> {
        self.instruments.measurements()
    }

    /// What receives for asynchronous calls; in a forked child threads of its own.
    pub(crate) fn reply_readers(&self) -> &crate::client::ReplyReaders {
        let new = crate::client::ReplyReaders::default;
        self.reply_readers.get_or_init(new)
    }
}

impl From<Arc<OrbCore>> for Orb {
    fn from(core: Arc<OrbCore>) -> Self {
        Self(core)
    }
}

impl Orb {
    /// A builder with the defaults.
    pub fn builder() -> OrbBuilder {
        OrbBuilder::default()
    }

    /// An ORB of that configuration.
    ///
    /// # Errors
    /// [`OrbError::Listen`].
    pub fn new(mut config: Config) -> Result<Self, OrbError> {
        config.check().map_err(OrbError::Config)?;
        #[cfg(feature = "tls")]
        {
            config = config.with_tls()?;
        }
        crate::client::prepare_stories();
        let listen = !config.endpoints.is_empty();
        let budget = Budget::new(config.limits.peer_memory, config.limits.decompression_ratio);
        config.protocols.set_budget(budget);
        let config = Arc::new(config);
        let instruments = Arc::<Instruments>::default();
        let orb = Self(Arc::new_cyclic(|weak: &Weak<OrbCore>| {
            let owner: Owner = Arc::new(OwnerHandle(weak.clone()));
            let number = weak.as_ptr() as usize;
            let serving = Arc::new(ServerContext::new(
                config.limits.clone(),
                (config.fragment_size, config.reply_batching.0),
                config.protocols.budget().clone(),
                (number, Arc::clone(&owner)),
                Arc::clone(&instruments),
            ));
            let factory: Weak<OrbCore> = weak.clone();
            OrbCore {
                adapters: Arc::new(Adapters::new(&config, Arc::clone(&serving), factory)),
                serving,
                instruments,
                reply_readers: PerProcess::new(),
                initial: InitialReferences::default(),
                server: OnceLock::new(),
                real_time: OnceLock::new(),
                state: AtomicU8::new(RUNNING),
                notice: AtomicU8::new(0),
                ending: PerProcess::new(),
                owner,
                pools: PerProcess::new(),
                watching: Watching::default(),
                config,
            }
        }));
        let adapters = &orb.0.adapters;
        adapters.begin(Poa::root(adapters));
        if orb.0.config.metrics {
            orb.enable_metrics();
        }
        if listen {
            let server = orb.start_server(&orb.0.config.endpoints)?;
            orb.start_lanes(Some(&server.0))?;
            let _ = orb.0.server.set(Ok(server));
        } else if orb.0.config.lanes_listen() {
            orb.start_lanes(None)?;
        }
        if orb.0.config.watch {
            orb.watch()?;
        }
        Ok(orb)
    }

    /// From now on calls have to know of that before they begin.
    pub(crate) fn set_notice(&self, notice: u8) {
        self.0.notice.fetch_or(notice, Ordering::Release);
    }

    /// The ORB's own lane, if it listens.
    pub(crate) fn started_lane(&self) -> Option<Lane> {
        let server = self.0.server.get()?.as_ref().ok()?;
        Some(server.0.clone())
    }

    #[inline]
    pub(crate) fn core(&self) -> &OrbCore {
        &self.0
    }

    #[inline]
    pub(crate) fn owner(&self) -> &Owner {
        &self.0.owner
    }

    /// Identifies this ORB within the process.
    pub(crate) fn number(&self) -> usize {
        self.0.serving.number
    }

    #[inline(never)]
    pub(crate) fn downgrade(&self) -> Weak<OrbCore> {
        Arc::downgrade(&self.0)
    }

    /// The ORB, as its lanes know it.
    pub(crate) fn host(&self) -> Host {
        let dispatcher: Weak<OrbCore> = self.downgrade();
        Host::new(Arc::clone(&self.0.serving), dispatcher)
    }

    #[inline]
    pub(crate) fn from_owner(owner: &Owner) -> Option<Self> {
        owner.downcast_ref::<OwnerHandle>()?.0.upgrade().map(Self)
    }

    /// The root adapter. Its manager holds requests until it is activated.
    #[must_use]
    pub fn root_poa(&self) -> Poa {
        match self.0.adapters.root() {
            Some(root) => root,
            // Set before `new` returns.
            None => unreachable!("an ORB has a root adapter"),
        }
    }

    /// Requests refused so far because neither a thread nor the queue had room
    /// for them: answered TRANSIENT, or dropped if they were oneways.
    #[must_use]
    #[inline]
    pub fn refused_requests(&self) -> u64 {
        let own = match self.0.server.get() {
            Some(Ok(server)) => server.0.refused_requests(),
            _ => 0,
        };
        let lanes = self.lanes();
        own + lanes.iter().map(Lane::refused_requests).sum::<u64>()
    }

    /// What peers make the ORB hold beyond what connections need for small messages:
    /// in receive buffers, messages in assembly, requests that wait, replies that
    /// clients do not take, and what was decompressed. For clients and servers of
    /// this ORB together.
    #[must_use]
    pub fn peer_memory(&self) -> PeerMemory {
        self.budget().figures()
    }

    /// What connections are charged to.
    #[inline]
    pub(crate) fn budget(&self) -> &Budget {
        self.0.config.protocols.budget()
    }

    /// What the ORB was built from.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.config
    }
}

impl PartialEq for Orb {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Orb {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orb")
            .field("strategy", &self.0.config.strategy)
            .finish_non_exhaustive()
    }
}
