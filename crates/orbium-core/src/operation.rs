// SPDX-License-Identifier: MIT OR Apache-2.0
//! An operation as a caller names it.

use orbium_giop::OperationTail;

/// An operation of an interface: its name on the wire, and whether anybody
/// answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub(crate) name: &'static str,
    pub(crate) oneway: bool,
    /// The name as it stands in a request.
    pub(crate) tail: OperationTail,
}

impl Operation {
    /// An operation with a reply.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            oneway: false,
            tail: OperationTail::new(name),
        }
    }

    /// An operation without a reply.
    #[must_use]
    pub const fn oneway(name: &'static str) -> Self {
        Self {
            name,
            oneway: true,
            tail: OperationTail::new(name),
        }
    }

    /// The name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}
