// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of CORBA Messaging for routers between a client and a server (CORBA 3.3 Part 1,
//! clause 17.2): priorities of queued messages, whether there may be routers, how many, and the
//! order of their queues.
//!
//! orbium has no router: it sends each request to its object. The policies are reconciled with
//! those of the reference and sent with the request, in the service context INVOCATION_POLICIES.

use orbium_cdr::{ByteOrder, CdrError, Decode, idl_fixed_struct};
use orbium_channel::protocol;
use orbium_giop::component::{PolicyValue, TAG_POLICIES};
use orbium_giop::time::{EndTimes, each_policy};
use orbium_giop::{Component, Ior, TaggedComponent, decode_encapsulation};

/// PolicyType of RequestPriorityPolicy.
pub const REQUEST_PRIORITY_POLICY: u32 = 25;
/// PolicyType of ReplyPriorityPolicy.
pub const REPLY_PRIORITY_POLICY: u32 = 26;
/// PolicyType of RoutingPolicy.
pub const ROUTING_POLICY: u32 = 33;
/// PolicyType of MaxHopsPolicy.
pub const MAX_HOPS_POLICY: u32 = 34;
/// PolicyType of QueueOrderPolicy.
pub const QUEUE_ORDER_POLICY: u32 = 35;

/// The request is sent to its object, not to a router (`Messaging::ROUTE_NONE`).
pub const ROUTE_NONE: i16 = 0;
/// Routers forward the request (`Messaging::ROUTE_FORWARD`).
pub const ROUTE_FORWARD: i16 = 1;
/// Routers store the request, and forward it (`Messaging::ROUTE_STORE_AND_FORWARD`).
pub const ROUTE_STORE_AND_FORWARD: i16 = 2;

idl_fixed_struct! {
    /// Range of priorities of a message in a queue, the value of RequestPriorityPolicy and of
    /// ReplyPriorityPolicy (`Messaging::PriorityRange`): including both ends, higher ones first.
    /// They are not the priorities of Real-time CORBA.
    ///
    /// ```
    /// use orbium_invocation::router_policies::PriorityRange;
    ///
    /// let own = PriorityRange { min: 0, max: 10 };
    /// let other = PriorityRange { min: 5, max: 20 };
    /// assert_eq!(own.intersect(other), PriorityRange { min: 5, max: 10 });
    /// assert!(own.intersect(PriorityRange { min: 11, max: 20 }).is_empty());
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct PriorityRange: PRIORITY_RANGE_TYPE = "IDL:omg.org/Messaging/PriorityRange:1.0" {
        /// The lowest.
        pub min: i16,
        /// The highest.
        pub max: i16,
    }
}

idl_fixed_struct! {
    /// Range of routing types of a request, the value of RoutingPolicy
    /// (`Messaging::RoutingTypeRange`): from [`ROUTE_NONE`] to [`ROUTE_STORE_AND_FORWARD`],
    /// including both ends.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct RoutingTypeRange: ROUTING_RANGE_TYPE = "IDL:omg.org/Messaging/RoutingTypeRange:1.0" {
        /// The minimum requirement.
        pub min: i16,
        /// The maximum allowed.
        pub max: i16,
    }
}

impl PriorityRange {
    /// Whether the range is empty, which makes it invalid.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.min > self.max
    }

    /// The intersection of both ranges.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        }
    }
}

impl RoutingTypeRange {
    /// Whether the range is empty, which makes it invalid.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.min > self.max
    }

    /// The intersection of both ranges.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        }
    }

    /// Whether the request may be sent to its object directly.
    #[must_use]
    pub const fn allows_none(self) -> bool {
        self.min <= ROUTE_NONE && ROUTE_NONE <= self.max
    }
}

/// The order in which routers may process their queues, the value of QueueOrderPolicy
/// (`Messaging::Ordering`): a set of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueOrder(pub u16);

impl QueueOrder {
    /// ORDER_ANY: any order.
    pub const ANY: Self = Self(1);
    /// ORDER_TEMPORAL: by arrival.
    pub const TEMPORAL: Self = Self(2);
    /// ORDER_PRIORITY: by [`PriorityRange`].
    pub const PRIORITY: Self = Self(4);
    /// ORDER_DEADLINE: by end time.
    pub const DEADLINE: Self = Self(8);

    /// The intersection of both sets; ORDER_ANY contains all orders.
    #[must_use]
    pub const fn intersect(self, other: Self) -> Self {
        match (self.0 & Self::ANY.0, other.0 & Self::ANY.0) {
            (0, 0) => Self(self.0 & other.0),
            (0, _) => self,
            _ => other,
        }
    }

    /// Whether it is a non-empty set of specified orders.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.0 != 0 && self.0 < 16
    }
}

/// The union of both sets.
impl std::ops::BitOr for QueueOrder {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The policies for routers; `None` if not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RouterPolicies {
    /// RequestPriorityPolicy.
    pub request_priority: Option<PriorityRange>,
    /// ReplyPriorityPolicy.
    pub reply_priority: Option<PriorityRange>,
    /// RoutingPolicy.
    pub routing: Option<RoutingTypeRange>,
    /// MaxHopsPolicy: the maximum number of routers of a request.
    pub max_hops: Option<u16>,
    /// QueueOrderPolicy.
    pub queue_order: Option<QueueOrder>,
}

impl RouterPolicies {
    /// No policy.
    pub const NONE: Self = Self {
        request_priority: None,
        reply_priority: None,
        routing: None,
        max_hops: None,
        queue_order: None,
    };

    /// Whether no policy is set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// These policies, completed by those of `wider`.
    #[must_use]
    pub fn or(self, wider: Self) -> Self {
        Self {
            request_priority: self.request_priority.or(wider.request_priority),
            reply_priority: self.reply_priority.or(wider.reply_priority),
            routing: self.routing.or(wider.routing),
            max_hops: self.max_hops.or(wider.max_hops),
            queue_order: self.queue_order.or(wider.queue_order),
        }
    }

    /// Types of the policies that no request without a router can satisfy: those with empty
    /// ranges, those that require a router, and unknown orders.
    pub fn unsatisfiable(&self) -> impl Iterator<Item = u32> + use<> {
        let is_empty = |range: Option<PriorityRange>| range.is_some_and(PriorityRange::is_empty);
        let routes = |range: RoutingTypeRange| !range.is_empty() && range.allows_none();
        [
            (REQUEST_PRIORITY_POLICY, is_empty(self.request_priority)),
            (REPLY_PRIORITY_POLICY, is_empty(self.reply_priority)),
            (ROUTING_POLICY, self.routing.is_some_and(|it| !routes(it))),
            (
                QUEUE_ORDER_POLICY,
                self.queue_order.is_some_and(|it| !it.is_valid()),
            ),
        ]
        .into_iter()
        .filter_map(|(kind, is_wrong)| is_wrong.then_some(kind))
    }

    /// The type of a policy that an adapter cannot have: MaxHopsPolicy, or one that no request can
    /// satisfy.
    #[must_use]
    pub fn not_of_adapters(&self) -> Option<u32> {
        let of_clients = self.max_hops.map(|_| MAX_HOPS_POLICY);
        of_clients.or_else(|| self.unsatisfiable().next())
    }

    /// The policies of requests through a reference with published policies: the intersection if
    /// both sides have one. [`Self::unsatisfiable`] returns the empty ones.
    #[must_use]
    pub fn reconcile(self, published: Self) -> Self {
        fn both<T>(own: Option<T>, other: Option<T>, intersect: fn(T, T) -> T) -> Option<T> {
            match (own, other) {
                (Some(own), Some(other)) => Some(intersect(own, other)),
                (own, _) => own,
            }
        }
        let priority = |own, other| both(own, other, PriorityRange::intersect);
        Self {
            request_priority: priority(self.request_priority, published.request_priority),
            reply_priority: priority(self.reply_priority, published.reply_priority),
            routing: both(self.routing, published.routing, RoutingTypeRange::intersect),
            max_hops: self.max_hops,
            queue_order: both(
                self.queue_order,
                published.queue_order,
                QueueOrder::intersect,
            ),
        }
    }

    /// The data of the service context INVOCATION_POLICIES with these policies after the deadlines.
    #[must_use]
    pub fn encode_behind(&self, ends: &EndTimes) -> Vec<u8> {
        let mut data = ends.encode().as_slice().to_vec();
        let mut count = u32::from(ends.request.is_some()) + u32::from(ends.reply.is_some());
        self.each(&mut |kind, value| {
            data.resize(data.len().next_multiple_of(4), 0);
            data.extend(kind.to_ne_bytes());
            data.extend((value.len() as u32).to_ne_bytes());
            data.extend(value);
            count += 1;
        });
        data[4..8].copy_from_slice(&count.to_ne_bytes());
        data
    }

    /// Adds the policies to the published ones in these components of a reference (TAG_POLICIES).
    pub fn publish_in(&self, components: &mut Vec<TaggedComponent>) {
        if self.is_none() {
            return;
        }
        let published = components.iter().position(|it| it.tag == TAG_POLICIES);
        let published = published.map(|place| components.swap_remove(place));
        let mut all = published.as_ref().map(policies_of).unwrap_or_default();
        self.each(&mut |kind, value| {
            let data = value.to_vec();
            all.push(PolicyValue { kind, data });
        });
        components.push(TaggedComponent::policies(&all));
    }

    /// Visits each policy: its type, and the encapsulation of its value.
    fn each(&self, visit: &mut dyn FnMut(u32, &[u8])) {
        let mut range = |kind, range: Option<(i16, i16)>| {
            if let Some((min, max)) = range {
                let ([a, b], [c, d]) = (min.to_ne_bytes(), max.to_ne_bytes());
                visit(kind, &[ByteOrder::NATIVE.flag(), 0, a, b, c, d]);
            }
        };
        let ends = |it: PriorityRange| (it.min, it.max);
        range(REQUEST_PRIORITY_POLICY, self.request_priority.map(ends));
        range(REPLY_PRIORITY_POLICY, self.reply_priority.map(ends));
        range(ROUTING_POLICY, self.routing.map(|it| (it.min, it.max)));
        let mut number = |kind, number: Option<u16>| {
            if let Some([a, b]) = number.map(u16::to_ne_bytes) {
                visit(kind, &[ByteOrder::NATIVE.flag(), 0, a, b]);
            }
        };
        number(MAX_HOPS_POLICY, self.max_hops);
        number(QUEUE_ORDER_POLICY, self.queue_order.map(|it| it.0));
    }

    /// Decodes the policies from the data of a service context INVOCATION_POLICIES. Other policies
    /// are skipped; values are not checked.
    ///
    /// # Errors
    /// `CdrErrorKind::Truncated`; `CdrErrorKind::CountTooLarge` for more than 64 policies.
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        let mut policies = Self::NONE;
        each_policy(data, &mut |kind, value| policies.take(kind, value))?;
        Ok(policies)
    }

    /// The policies in the components of a profile. Malformed ones are skipped, as are unknown
    /// components.
    #[must_use]
    pub fn find(components: &[TaggedComponent]) -> Self {
        let mut found = Self::NONE;
        for component in components.iter().filter(|it| it.tag == TAG_POLICIES) {
            for policy in policies_of(component) {
                let _ = found.take(policy.kind, &policy.data);
            }
        }
        found
    }

    /// The policies published by a reference: those of the first profile with any.
    #[must_use]
    pub fn published(ior: &Ior) -> Self {
        let offers = protocol::offers(ior);
        let found = offers.iter().map(|it| Self::find(&it.components));
        let mut set = found.filter(|it| !it.is_none());
        set.next().unwrap_or_default()
    }

    fn take(&mut self, kind: u32, value: &[u8]) -> Result<(), CdrError> {
        let priorities = || decode_encapsulation(value, PriorityRange::decode);
        let number = || decode_encapsulation(value, u16::decode);
        match kind {
            REQUEST_PRIORITY_POLICY => self.request_priority = Some(priorities()?),
            REPLY_PRIORITY_POLICY => self.reply_priority = Some(priorities()?),
            ROUTING_POLICY => {
                self.routing = Some(decode_encapsulation(value, RoutingTypeRange::decode)?);
            }
            MAX_HOPS_POLICY => self.max_hops = Some(number()?),
            QUEUE_ORDER_POLICY => self.queue_order = Some(QueueOrder(number()?)),
            _ => {}
        }
        Ok(())
    }
}

/// The policies of a component; empty if it is malformed.
fn policies_of(component: &TaggedComponent) -> Vec<PolicyValue> {
    match Component::parse(component) {
        Ok(Component::Policies(policies)) => policies,
        _ => Vec::new(),
    }
}
