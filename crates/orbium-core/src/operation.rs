// SPDX-License-Identifier: MIT OR Apache-2.0
//! An operation as a caller names it.

use orbium_giop::OperationTail;

/// An operation of an interface: its name on the wire, and whether anybody
/// answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub(crate) name: &'static str,
    /// Repository id of the interface that it is called through, if that is known.
    pub(crate) interface: &'static str,
    pub(crate) oneway: bool,
    /// The name as it stands in a request.
    pub(crate) tail: OperationTail,
}

impl Operation {
    /// An operation with a reply.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self::of("", name)
    }

    /// An operation with a reply, of the interface with that repository id.
    #[must_use]
    pub const fn of(interface: &'static str, name: &'static str) -> Self {
        Self {
            name,
            interface,
            oneway: false,
            tail: OperationTail::new(name),
        }
    }

    /// An operation without a reply.
    #[must_use]
    pub const fn oneway(name: &'static str) -> Self {
        Self::oneway_of("", name)
    }

    /// An operation without a reply, of the interface with that repository id.
    #[must_use]
    pub const fn oneway_of(interface: &'static str, name: &'static str) -> Self {
        Self {
            name,
            interface,
            oneway: true,
            tail: OperationTail::new(name),
        }
    }

    /// Repository id of the interface that the operation is called through; empty
    /// if it was made without.
    #[must_use]
    pub const fn interface(&self) -> &'static str {
        self.interface
    }

    /// The name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}
