// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of an adapter (CORBA 3.3 Part 1, clause 15.3.8).

use crate::{Extension, Hook, Lane, ProtocolPolicy};

/// How long references stay good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifespan {
    /// As long as the adapter that made them. The default.
    #[default]
    Transient,
    /// For ever: an adapter of the same path and address serves them again, in
    /// a later process too.
    Persistent,
}

/// Where object ids come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdAssignment {
    /// The adapter: ids are slots in a table. The default.
    #[default]
    System,
    /// The user.
    User,
}

/// How many objects one servant may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdUniqueness {
    /// One. The default.
    #[default]
    Unique,
    /// Any number.
    Multiple,
}

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
    /// How long references stay good.
    pub lifespan: Lifespan,
    /// Where object ids come from.
    pub id_assignment: IdAssignment,
    /// How many objects one servant may be.
    pub id_uniqueness: IdUniqueness,
    /// ServerProtocolPolicy: the protocols that references offer, in this order.
    /// Default: all that the ORB listens with, in the order of its endpoints.
    pub protocols: Option<ProtocolPolicy>,
    /// The lanes that serve the adapter's objects and provide the endpoints of its
    /// references; none for those of the configuration
    /// ([`Config::lanes`](crate::Config)), or else the ORB's own. Of several, each
    /// request is served by that of its priority: the object's own, or what the client
    /// asks for (RTCorbaPriority). That is the highest lane that is not above it; below
    /// all of them it is refused with INV_POLICY. Without any priority it is served by
    /// the lane of the endpoint it arrived at, or by the lowest.
    pub lanes: Vec<Lane>,
    /// Overrides that choice; see [`DispatchHook`](crate::DispatchHook).
    pub dispatch: Option<Hook>,
    /// What is added to the adapter from above.
    pub extension: Option<Extension>,
}
