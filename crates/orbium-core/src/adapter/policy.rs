// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of an adapter (CORBA 3.3 Part 1, clause 15.3.8).

use crate::{Extension, ProtocolPolicy};

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

/// Who names objects.
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
    /// Who names objects.
    pub id_assignment: IdAssignment,
    /// How many objects one servant may be.
    pub id_uniqueness: IdUniqueness,
    /// ServerProtocolPolicy: the protocols that references offer, in this order.
    /// Default: all that the ORB listens with, in the order of its endpoints.
    pub protocols: Option<ProtocolPolicy>,
    /// What is added to the adapter from above.
    pub extension: Option<Extension>,
}
