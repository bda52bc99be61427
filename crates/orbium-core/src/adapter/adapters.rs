// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state shared by the object adapters of an ORB, and the functions of the ORB that they call.

use std::fmt;
use std::sync::{Arc, Weak};

use orbium_giop::{Ior, SystemException};

use orbium_adapter::gone;
use orbium_channel::protocol::ProfileComponents;
use orbium_interceptor::{Interceptors, IorInterceptors, OrbIdentity};
use orbium_lane::{Lanes, MainThread, OWN};
use orbium_request::ServerContext;

use crate::adapter::ior_table::Table;
use crate::adapter::{Policies, Registry};
use crate::{BidirectionalPolicy, Collocation, Hook, Lane, ObjectRef, Priority, ProtocolPolicy};

/// Makes references to objects of an ORB; makes the ORB listen when needed.
pub(crate) trait ReferenceFactory: Send + Sync {
    /// The ORB's own lane, listening.
    ///
    /// # Errors
    /// The ORB cannot listen, or was shut down.
    fn own_lane(&self) -> Result<Lane, SystemException>;

    /// Checks that the ORB has not been shut down, and that its threads belong to this process.
    ///
    /// # Errors
    /// BAD_INV_ORDER.
    fn check_serving(&self) -> Result<(), SystemException>;

    /// Ensures that the lane of the main thread exists.
    ///
    /// # Errors
    /// The ORB was shut down, or lacks resources.
    fn main_lane(&self) -> Result<(), SystemException>;

    /// The reference with that IOR.
    ///
    /// # Errors
    /// The ORB was shut down.
    fn received_reference(&self, ior: Ior) -> Result<ObjectRef, SystemException>;

    /// A reference to the object with that key, over `protocols` if given, with
    /// `components` in addition to the ORB's; served by these lanes, if there are any,
    /// at the object's priority.
    ///
    /// # Errors
    /// The ORB cannot listen, or has none of these protocols.
    fn reference(
        &self,
        key: &[u8],
        repository_id: &str,
        protocols: Option<&ProtocolPolicy>,
        components: ProfileComponents,
        lanes: (&[Lane], Option<Priority>),
    ) -> Result<ObjectRef, SystemException>;
}

/// State shared by all adapters of an ORB. The ORB owns it; adapters hold it weakly.
pub(crate) struct Adapters {
    pub(crate) registry: Registry,
    pub(crate) lanes: Lanes,
    pub(crate) context: Arc<ServerContext>,
    pub(crate) table: Table,
    pub(crate) main: MainThread,
    /// Hooks that decide where each request is served.
    pub(super) hook: Option<Hook>,
    /// Interceptors of requests, if any.
    pub(crate) interceptors: Option<Interceptors>,
    pub(super) identity: Arc<OrbIdentity>,
    /// Interceptors of the creation and destruction of adapters.
    pub(super) ior_interceptors: IorInterceptors,
    /// Whether clients that call by a bound key are forwarded to the whole reference.
    pub(super) forwards_bound_keys: bool,
    /// Whether collocated calls bypass POA managers and policies.
    pub(super) calls_directly: bool,
    /// Whether connections may be bidirectional.
    pub(super) goes_both_ways: bool,
    /// The bidirectional policy of adapters without one.
    pub(super) bidirectional: BidirectionalPolicy,
    factory: Weak<dyn ReferenceFactory>,
}

impl Adapters {
    pub(crate) fn new(
        config: &crate::Config,
        context: Arc<ServerContext>,
        factory: Weak<dyn ReferenceFactory>,
    ) -> Self {
        let lanes = Lanes::default();
        if !config.lanes.is_empty() {
            lanes.expect_shared();
        }
        Self {
            registry: Registry::new(config.awaits_adapters),
            lanes,
            table: Table::default(),
            main: MainThread::default(),
            context,
            hook: config.dispatch.clone(),
            interceptors: config.interceptors.of_requests(),
            identity: Arc::new(config.identity.clone()),
            ior_interceptors: (config.interceptors.of_references().clone())
                .of_minor(config.giop_minor.number()),
            forwards_bound_keys: config.forward_bound_keys.0,
            calls_directly: config.collocation == Collocation::Direct,
            goes_both_ways: config.may_go_both_ways(),
            bidirectional: config.bidirectional,
            factory,
        }
    }

    /// The factory of references; OBJECT_NOT_EXIST if the ORB is gone.
    pub(crate) fn factory(&self) -> Result<Arc<dyn ReferenceFactory>, SystemException> {
        self.factory.upgrade().ok_or_else(gone)
    }

    /// The lanes that serve an adapter; none if only the ORB's own lane does.
    pub(crate) fn lanes_of<'a>(&'a self, policies: &'a Policies) -> &'a [Lane] {
        if !policies.lanes.is_empty() || !self.lanes.are_shared() {
            return &policies.lanes;
        }
        if let Some(lanes) = self.lanes.shared() {
            return lanes;
        }
        // They begin when the ORB does. If it cannot, another function reports the error.
        if let Ok(own) = self.factory().and_then(|factory| factory.own_lane()) {
            self.lanes.begin_shared(vec![own]);
        }
        self.lanes.shared().unwrap_or_default()
    }

    /// The lane with that number, if it serves.
    pub(crate) fn lane_numbered(&self, number: u32) -> Option<Lane> {
        match number {
            OWN => self.factory().ok()?.own_lane().ok(),
            _ => self.lanes.numbered(number),
        }
    }

    /// Ensures that references to objects served by these lanes have an endpoint.
    pub(super) fn listens_for(&self, lanes: &[Lane]) -> Result<(), SystemException> {
        let factory = self.factory()?;
        if lanes.iter().all(|lane| lane.channels().is_empty()) {
            factory.own_lane().map(drop)
        } else {
            factory.check_serving()
        }
    }
}

impl fmt::Debug for Adapters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapters")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}
