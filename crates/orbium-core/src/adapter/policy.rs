// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of an adapter (CORBA 3.3 Part 1, clause 15.3.8).

use orbium_adapter::{
    IdAssignment, IdUniqueness, Lifespan, RequestProcessing, ServantRetention, ThreadModel,
};
use orbium_interceptor::Policy;
use orbium_invocation::router_policies::RouterPolicies;

use crate::{BidirectionalPolicy, Extension, Hook, Lane, ProtocolPolicy, policy_type};

/// The policies of an adapter; [`Default`] is the standard's.
///
/// ```
/// use orbium_core::{IdAssignment, Lifespan, Policies};
///
/// let durable = Policies {
///     lifespan: Lifespan::Persistent,
///     id_assignment: IdAssignment::User,
///     ..Policies::default()
/// };
/// assert_ne!(durable, Policies::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policies {
    /// LifespanPolicy: how long references are valid.
    pub lifespan: Lifespan,
    /// IdAssignmentPolicy: the origin of object ids.
    pub id_assignment: IdAssignment,
    /// IdUniquenessPolicy: whether a servant may incarnate several objects.
    pub id_uniqueness: IdUniqueness,
    /// Whether [`Poa::servant_to_reference`](crate::Poa::servant_to_reference) and
    /// [`Poa::servant_to_id`](crate::Poa::servant_to_id) activate servants. The root
    /// adapter does.
    pub implicit_activation: bool,
    /// Whether there is a map of active objects.
    pub servant_retention: ServantRetention,
    /// The processing of requests for objects that are not in the map.
    pub request_processing: RequestProcessing,
    /// The threads that run servants.
    pub thread_model: ThreadModel,
    /// Whether code without access to the [`Call`](crate::Call) may use
    /// [`PoaCurrent`](crate::PoaCurrent) within requests. Adapters with servant managers, default
    /// servants or a thread model other than the default always allow it; in others requests cost a
    /// little more with it.
    pub current: bool,
    /// ServerProtocolPolicy: the protocols in references, in this order. Default: all that the ORB
    /// listens with, in the order of its endpoints.
    pub protocols: Option<ProtocolPolicy>,
    /// The lanes that serve the adapter's objects and provide the endpoints of its references;
    /// empty for those of the configuration ([`Config::lanes`](crate::Config)), or else the ORB's
    /// own. Of several, each request is served by the lane for its priority: the object's, or the
    /// priority that the client propagates (RTCorbaPriority). That is the highest lane not above
    /// it; a request below all of them is refused with INV_POLICY. A request without priority is
    /// served by the lane of the endpoint it arrived at, or by the lowest.
    pub lanes: Vec<Lane>,
    /// Overrides that choice; see [`DispatchHook`](crate::DispatchHook).
    pub dispatch: Option<Hook>,
    /// The extension of the adapter by a layer above.
    pub extension: Option<Extension>,
    /// RequestPriorityPolicy, ReplyPriorityPolicy, RoutingPolicy and QueueOrderPolicy, published in
    /// references. MaxHopsPolicy applies to clients only.
    pub routers: RouterPolicies,
    /// BidirectionalPolicy: whether objects are called over connections that their ORB has opened,
    /// and whether requests to them permit call-backs over the connections of their clients.
    /// [`Both`](BidirectionalPolicy::Both) requires an ORB with the same policy, or
    /// [`Config::bidirectional_overrides`](crate::Config). Default: that of the ORB
    /// ([`Config::bidirectional`](crate::Config)).
    pub bidirectional: Option<BidirectionalPolicy>,
    /// Policies of types that the program defines, for its interceptors.
    pub defined: Vec<Policy>,
}

impl Policies {
    /// Checks that the policies are consistent (CORBA 3.3 Part 1, clause 15.3.8). The error is the
    /// type of the inconsistent policy minus that of the first (16). `goes_both_ways`: connections
    /// of the ORB may be bidirectional.
    pub(super) fn check(&self, goes_both_ways: bool) -> Result<(), u16> {
        let retains = self.servant_retention == ServantRetention::Retain;
        let unique = self.id_uniqueness == IdUniqueness::Unique;
        let system = self.id_assignment == IdAssignment::System;
        if let Some(policy) = self.routers.not_of_adapters() {
            return Err(policy as u16 - 16);
        }
        if self.bidirectional.is_some_and(BidirectionalPolicy::is_both) && !goes_both_ways {
            return Err(policy_type::BIDIRECTIONAL as u16 - 16);
        }
        match self.request_processing {
            _ if self.implicit_activation && !(system && retains) => Err(4),
            RequestProcessing::ActiveObjectMapOnly if !retains => Err(5),
            RequestProcessing::DefaultServant if unique => Err(6),
            _ => Ok(()),
        }
    }

    /// Whether an upcall needs more than the servant in the map.
    pub(super) fn is_special(&self) -> bool {
        self.current
            || self.request_processing != RequestProcessing::ActiveObjectMapOnly
            || self.thread_model != ThreadModel::OrbControlled
    }

    /// Whether the adapter's policy excludes bidirectional requests.
    pub(super) fn goes_one_way(&self) -> bool {
        self.bidirectional == Some(BidirectionalPolicy::Normal)
    }

    /// Whether there is a map of active objects.
    pub(super) fn retains(&self) -> bool {
        self.servant_retention == ServantRetention::Retain
    }

    /// Whether deactivated objects are etherealized.
    pub(super) fn etherealizes(&self) -> bool {
        self.retains() && self.request_processing == RequestProcessing::ServantManager
    }
}
