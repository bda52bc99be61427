// SPDX-License-Identifier: MIT OR Apache-2.0
//! An operation as used by a caller.

pub(crate) mod decoding;
pub(crate) mod idl_context;
pub(crate) mod locality;
pub(crate) mod operation_table;
pub mod typed_reply;
use orbium_giop::{OperationTail, ResponseFlags};

/// An operation of an interface: its name on the wire, and whether it has a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    name: &'static str,
    /// Repository id of the interface through which it is called, if known.
    interface: &'static str,
    oneway: bool,
    /// Whether calls may be retried though they may have been served.
    idempotent: bool,
    /// The encoded name in a request.
    tail: OperationTail,
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
            idempotent: false,
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
            idempotent: false,
            tail: OperationTail::new(name),
        }
    }

    /// The same operation, marked as idempotent (`@idempotent` in IDL): a call may be retried after
    /// its connection was lost; see `Limits::idempotent_retries`.
    #[must_use]
    pub const fn idempotent(self) -> Self {
        Self {
            idempotent: true,
            ..self
        }
    }

    /// Whether a second execution has no further effect.
    #[must_use]
    pub const fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    /// Repository id of the interface through which the operation is called; empty if it was made
    /// without one.
    #[must_use]
    pub const fn interface(&self) -> &'static str {
        self.interface
    }

    /// The name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether there is no reply.
    #[must_use]
    #[inline]
    pub const fn is_oneway(&self) -> bool {
        self.oneway
    }

    /// The reply that a request expects of its server, unless a policy changes it.
    #[must_use]
    #[inline(always)]
    pub const fn response(&self) -> ResponseFlags {
        if self.oneway {
            ResponseFlags::None
        } else {
            ResponseFlags::Full
        }
    }

    /// The encoded name in a request.
    #[must_use]
    #[inline]
    pub const fn tail(&self) -> &OperationTail {
        &self.tail
    }
}
