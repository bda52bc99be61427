// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ORB itself: what it is built from, and how it ends.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use orbium_cdr::Owner;
use orbium_giop::messaging::Messaging;
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};
use orbium_sync::role;
use orbium_transport::{Endpoint, EndpointError, HostPort, Transport};

use crate::adapter::Registry;
use crate::client::{Pools, no_usable_protocol};
use crate::initial::InitialReferences;
use crate::reference::Overrides;
use crate::server::Server;
use crate::{Channel, Config, Limits, ObjectRef, Poa, ProtocolPolicy, ServerStrategy, protocol};

const RUNNING: u8 = 0;
const ENDING: u8 = 1;
const ENDED: u8 = 2;

const NOTICE_ENDED: u8 = 1;
const NOTICE_THREAD_POLICY: u8 = 2;

thread_local! {
    /// The protocol policies of this thread, by the number of the ORB.
    static THREAD_POLICIES: RefCell<Vec<(usize, ProtocolPolicy)>> = const { RefCell::new(Vec::new()) };
}

pub(crate) struct OrbCore {
    pub(crate) config: Arc<Config>,
    pub(crate) registry: Registry,
    pub(crate) pools: Pools,
    pub(crate) initial: InitialReferences,
    server: OnceLock<Result<Server, SystemException>>,
    state: AtomicU8,
    /// What a call has to know before it begins: that the ORB has ended, or
    /// that some thread has a policy of its own. Zero nearly always.
    notice: AtomicU8,
    ending: Mutex<()>,
    ended: Condvar,
    owner: Owner,
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

/// Why an ORB could not be built.
#[derive(Debug)]
pub enum OrbError {
    /// An endpoint that cannot be understood.
    Endpoint(EndpointError),
    /// An endpoint whose transport or messaging is not there, and why.
    Protocol(String, String),
    /// Choices that make no sense, or not together.
    Config(&'static str),
    /// An endpoint that cannot be listened at.
    Listen(String, io::Error),
}

impl fmt::Display for OrbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(error) => error.fmt(f),
            Self::Protocol(at, why) => write!(f, "cannot listen at {at}: {why}"),
            Self::Config(text) => f.write_str(text),
            Self::Listen(at, error) => write!(f, "cannot listen at {at}: {error}"),
        }
    }
}

impl std::error::Error for OrbError {}

impl From<EndpointError> for OrbError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

/// Chooses what an ORB is made of; see [`Config`] for each choice.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct OrbBuilder {
    config: Config,
}

impl OrbBuilder {
    /// Listens at an endpoint such as `iiop://host:port`; see [`Endpoint`]. May
    /// be repeated.
    ///
    /// # Errors
    /// The endpoint cannot be understood.
    pub fn endpoint(mut self, endpoint: &str) -> Result<Self, EndpointError> {
        self.config.endpoints.push(endpoint.parse()?);
        Ok(self)
    }

    /// Adds a transport; it takes the place of one with the same scheme.
    pub fn transport(mut self, transport: Transport) -> Self {
        self.config.protocols.register(transport);
        self
    }

    /// Adds a messaging half; it takes the place of one with the same name.
    pub fn messaging(mut self, half: impl Messaging + 'static) -> Self {
        self.config.protocols.register_messaging(Arc::new(half));
        self
    }

    /// Protocols to call with, best first; those not named are not used.
    pub fn client_protocols(mut self, policy: ProtocolPolicy) -> Self {
        self.config.client_protocols = Some(policy);
        self
    }

    /// How connections are served.
    pub fn strategy(mut self, strategy: ServerStrategy) -> Self {
        self.config.strategy = strategy;
        self
    }

    /// Bounds on what peers can make the ORB hold or wait for.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Time each call may take.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.config.call_timeout = Some(timeout);
        self
    }

    /// Everything at once.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Builds the ORB, and listens if endpoints were given.
    ///
    /// # Errors
    /// [`OrbError::Listen`].
    pub fn build(self) -> Result<Orb, OrbError> {
        Orb::new(self.config)
    }
}

fn already_shut_down() -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No)
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
    pub fn new(config: Config) -> Result<Self, OrbError> {
        config.check().map_err(OrbError::Config)?;
        let listen = !config.endpoints.is_empty();
        let config = Arc::new(config);
        let orb = Self(Arc::new_cyclic(|weak: &Weak<OrbCore>| OrbCore {
            registry: Registry::new(),
            pools: Pools::new(Arc::clone(&config)),
            initial: InitialReferences::default(),
            server: OnceLock::new(),
            state: AtomicU8::new(RUNNING),
            notice: AtomicU8::new(0),
            ending: Mutex::new(()),
            ended: Condvar::new(),
            owner: Arc::new(OwnerHandle(weak.clone())),
            config,
        }));
        let root = Poa::root(&orb.0);
        // Nobody else can have set it.
        let _ = orb.0.registry.root.set(root);
        if listen {
            let server = Server::start(&orb, &orb.0.config.endpoints)?;
            let _ = orb.0.server.set(Ok(server));
        }
        Ok(orb)
    }

    #[inline]
    pub(crate) fn core(&self) -> &OrbCore {
        &self.0
    }

    #[inline]
    pub(crate) fn owner(&self) -> &Owner {
        &self.0.owner
    }

    /// Tells this ORB from the others of the process.
    pub(crate) fn number(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    pub(crate) fn downgrade(&self) -> Weak<OrbCore> {
        Arc::downgrade(&self.0)
    }

    pub(crate) fn from_owner(owner: &Owner) -> Option<Self> {
        owner.downcast_ref::<OwnerHandle>()?.0.upgrade().map(Self)
    }

    /// The root adapter. Its manager holds requests until it is activated.
    #[must_use]
    pub fn root_poa(&self) -> Poa {
        match self.0.registry.root.get() {
            Some(root) => root.clone(),
            // Set before `new` returns.
            None => unreachable!("an ORB has a root adapter"),
        }
    }

    /// What the ORB was built from.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The server half, listening on a free port if no endpoint was given.
    pub(crate) fn published(&self) -> Result<&Server, SystemException> {
        self.check_running()?;
        let server = self.0.server.get_or_init(|| {
            let any = Endpoint {
                scheme: "iiop".into(),
                address: String::new(),
                parameters: Vec::new(),
            };
            Server::start(self, &[any]).map_err(|error| {
                tracing::error!(%error, "cannot listen");
                SystemException::new(ExceptionKind::Initialize, 0, Completion::No)
            })
        });
        server.as_ref().map_err(|exception| *exception)
    }

    /// The addresses published in references over TCP, with the ports that were
    /// taken.
    ///
    /// # Errors
    /// The ORB cannot listen, or was shut down.
    pub fn addresses(&self) -> Result<Vec<HostPort>, SystemException> {
        let channels = self.channels()?.into_iter();
        let plain = channels.filter(|at| at.scheme == "iiop" && at.messaging.is_empty());
        Ok(plain.filter_map(|at| at.address.parse().ok()).collect())
    }

    /// Everything that is published in references.
    ///
    /// # Errors
    /// The ORB cannot listen, or was shut down.
    pub fn channels(&self) -> Result<Vec<Channel>, SystemException> {
        Ok(self.published()?.published().to_vec())
    }

    pub(crate) fn is_own_channel(&self, channel: &Channel) -> bool {
        let Some(Ok(server)) = self.0.server.get() else {
            return false;
        };
        server.published().contains(channel)
    }

    /// A reference to the object with that key of ours, over these protocols if
    /// they are given.
    pub(crate) fn reference_to_key(
        &self,
        key: &[u8],
        repository_id: &str,
        protocols: Option<&ProtocolPolicy>,
    ) -> Result<ObjectRef, SystemException> {
        let served = self.published()?.published();
        let minor = self.0.config.giop_minor.number();
        let profiles = match protocols {
            None => protocol::profiles(served, key, minor),
            Some(policy) => {
                let offered = policy.choose(served);
                if offered.is_empty() {
                    return Err(no_usable_protocol());
                }
                protocol::profiles(&offered, key, minor)
            }
        };
        let ior = Ior {
            type_id: repository_id.to_owned(),
            profiles,
        };
        Ok(ObjectRef::new(
            self.clone(),
            Arc::new(ior),
            Overrides::default(),
        ))
    }

    /// Makes an object reachable under a plain key too, as in
    /// `corbaloc::host:port/Name`.
    ///
    /// # Errors
    /// The reference is not to an object of this ORB (BAD_PARAM).
    pub fn bind_key(
        &self,
        plain: &str,
        object: &impl crate::Interface,
    ) -> Result<(), SystemException> {
        let key = object
            .as_object()
            .own_key()
            .ok_or_else(|| SystemException::new(ExceptionKind::BadParam, 0, Completion::No))?;
        self.0.registry.bind_plain_key(plain.as_bytes(), &key);
        Ok(())
    }

    /// Makes an object a member of a multicast group: from now on it is called
    /// by the requests that come to the group at one of this ORB's `miop://`
    /// endpoints (`associate_reference_with_id` of the `PortableGroup::GOA`). A
    /// group has one member in an ORB; another takes its place.
    ///
    /// ```no_run
    /// # fn f(orb: &orbium_core::Orb, sensor: &orbium_core::ObjectRef)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let group = orb.string_to_object("corbaloc:miop:1.0@1.0-lab-7/239.255.0.7:5007")?;
    /// orb.join_group(&group.ok_or("nil")?, sensor)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// BAD_PARAM: the first is no reference to a group, or the second to no
    /// object of this ORB.
    pub fn join_group(
        &self,
        group: &impl crate::Interface,
        member: &impl crate::Interface,
    ) -> Result<(), SystemException> {
        let bad = || SystemException::new(ExceptionKind::BadParam, 0, Completion::No);
        let key = member.as_object().own_key().ok_or_else(bad)?;
        let groups: Vec<_> = protocol::groups(group.as_object().ior()).collect();
        if groups.is_empty() {
            return Err(bad());
        }
        for group in groups {
            self.0.registry.bind_plain_key(&group.object_key(), &key);
        }
        Ok(())
    }

    /// What a call has to heed before it begins; zero nearly always.
    #[inline]
    pub(crate) fn notice(&self) -> u8 {
        self.0.notice.load(Ordering::Acquire)
    }

    /// Checks that the ORB has not ended; the protocol policy of this thread, if
    /// it has one.
    #[cold]
    pub(crate) fn heed(&self, notice: u8) -> Result<Option<ProtocolPolicy>, SystemException> {
        if notice & NOTICE_ENDED != 0 {
            return Err(already_shut_down());
        }
        Ok(THREAD_POLICIES.with_borrow(|policies| {
            let mut own = policies.iter().filter(|(orb, _)| *orb == self.number());
            own.next().map(|(_, policy)| policy.clone())
        }))
    }

    fn check_running(&self) -> Result<(), SystemException> {
        self.heed(self.notice()).map(drop)
    }

    /// ClientProtocolPolicy of the calls that this thread makes through this
    /// ORB from now on; `None` goes back to the ORB's. A reference's own policy
    /// comes before it.
    pub fn set_thread_protocols(&self, policy: Option<ProtocolPolicy>) {
        THREAD_POLICIES.with_borrow_mut(|policies| {
            policies.retain(|(orb, _)| *orb != self.number());
            policies.extend(policy.map(|policy| (self.number(), policy)));
        });
        self.0
            .notice
            .fetch_or(NOTICE_THREAD_POLICY, Ordering::Release);
    }

    /// Blocks until the ORB was shut down.
    ///
    /// # Errors
    /// BAD_INV_ORDER if it was already.
    pub fn run(&self) -> Result<(), SystemException> {
        self.check_running()?;
        if role::is_serving(self.number()) {
            // This very request has to end before the ORB can.
            role::about_to_block();
            self.wait_while(|state| state == RUNNING);
        } else {
            self.wait_while(|state| state != ENDED);
        }
        Ok(())
    }

    fn wait_while(&self, waiting: impl Fn(u8) -> bool) {
        let mut guard = self.0.ending.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting(self.0.state.load(Ordering::Acquire)) {
            guard = self
                .0
                .ended
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the ORB: requests being served are completed and answered, others
    /// are told that the connection closes. With `wait`, returns when that is
    /// done: no thread and no descriptor is left. A second call does nothing
    /// but wait.
    ///
    /// # Errors
    /// BAD_INV_ORDER for waiting from within a request: that would be for ever.
    pub fn shutdown(&self, wait: bool) -> Result<(), SystemException> {
        if wait && role::is_serving(self.number()) {
            return Err(SystemException::omg(
                ExceptionKind::BadInvOrder,
                3,
                Completion::No,
            ));
        }
        if self.change_state(RUNNING, ENDING) {
            let orb = self.clone();
            // Whatever servants do when they are dropped, they cannot wait for
            // this very thread.
            let end = move || role::while_serving_own_thread(orb.number(), || orb.end());
            if wait {
                end();
            } else {
                let thread = std::thread::Builder::new().name("orbium-shutdown".into());
                if let Err(error) = thread.spawn(end) {
                    tracing::error!(%error, "no thread to shut down on");
                    self.change_state(ENDING, RUNNING);
                    return Err(SystemException::new(
                        ExceptionKind::NoResources,
                        0,
                        Completion::No,
                    ));
                }
            }
        }
        if wait {
            self.wait_while(|state| state != ENDED);
        }
        Ok(())
    }

    /// Whether this call changed the state, rather than somebody before it.
    fn change_state(&self, from: u8, to: u8) -> bool {
        let _guard = self.0.ending.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &self.0.state;
        let changed = state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok();
        if changed && to == ENDED {
            self.0.notice.fetch_or(NOTICE_ENDED, Ordering::Release);
        }
        self.0.ended.notify_all();
        changed
    }

    fn end(&self) {
        if let Some(Ok(server)) = self.0.server.get() {
            server.stop(self);
        }
        if let Some(root) = self.0.registry.root.get() {
            root.deactivate_managers();
            root.end_with_orb();
        }
        self.0.pools.close();
        self.0.initial.clear();
        self.change_state(ENDING, ENDED);
    }
}

impl PartialEq for Orb {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Orb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orb")
            .field("strategy", &self.0.config.strategy)
            .finish_non_exhaustive()
    }
}
