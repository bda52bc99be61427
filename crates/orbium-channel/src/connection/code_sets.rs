// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code sets of a connection (CORBA 3.3 Part 2, clause 7.10.2.6): the client chooses them from
//! the server's reference and sends them in the first requests; from then on both sides read and
//! write text in them.

use orbium_cdr::Format;
use orbium_giop::codeset::{CodeSetComponentInfo, CodeSetContext, Negotiated};
use orbium_giop::{Completion, ExceptionKind, ServiceContexts, SystemException, service_context};

/// The code sets that one side of a connection uses, and whether the other side has received them.
///
/// A client sends the context until the first reply, which shows that the server has received it,
/// as requests are read in the order in which they were sent. A server uses the last context that
/// it received. GIOP 1.0 has no such contexts: both sides use ISO 8859-1 and no wide characters.
#[derive(Clone, Copy, Debug)]
pub struct CodeSets {
    negotiated: Negotiated,
    /// Whether the peer has not yet confirmed them.
    is_unconfirmed: bool,
    /// Each message may come from another peer: its code sets do not apply to the next.
    for_one_message: bool,
}

impl CodeSets {
    /// Code sets of a connection without negotiation: ISO 8859-1, and no wide characters.
    pub const DEFAULT: Self = Self::of_client(Negotiated::DEFAULT);

    /// The choice of a client for a connection of GIOP 1.`minor` to a server with this
    /// component in its reference: see [`Negotiated::with_server`].
    ///
    /// # Errors
    /// CODESET_INCOMPATIBLE, minor 1: no code set for `char` is shared.
    pub fn choose(
        minor: u8,
        server: Option<&CodeSetComponentInfo>,
        orb: Option<u32>,
    ) -> Result<Negotiated, SystemException> {
        // GIOP 1.0 has no service context for it.
        let server = server.filter(|_| minor > 0);
        Negotiated::with_server(server, orb).map_err(|_| incompatible(1))
    }

    /// The code sets selected by a client from the reference of the server.
    #[must_use]
    pub const fn of_client(negotiated: Negotiated) -> Self {
        Self {
            negotiated,
            is_unconfirmed: !negotiated.is_default(),
            for_one_message: false,
        }
    }

    /// The initial code sets of a server. `has_many_peers` of a datagram socket: the code sets of a
    /// message apply to that message only.
    #[must_use]
    pub const fn of_server(has_many_peers: bool) -> Self {
        Self {
            negotiated: Negotiated::DEFAULT,
            is_unconfirmed: false,
            for_one_message: has_many_peers,
        }
    }

    /// The code sets in use.
    #[must_use]
    #[inline]
    pub const fn negotiated(&self) -> Negotiated {
        self.negotiated
    }

    /// The format of a message of the format `plain`, with the negotiated code sets.
    #[must_use]
    #[inline]
    pub const fn format(&self, plain: Format) -> Format {
        Format {
            char_set: self.negotiated.char_set,
            wide_set: self.negotiated.wide_set,
            ..plain
        }
    }

    /// The code sets to be announced in the next request: `None` once the server has received them,
    /// and if they are the default.
    #[must_use]
    #[inline]
    pub const fn announcement(&self) -> Option<Negotiated> {
        if self.is_unconfirmed {
            Some(self.negotiated)
        } else {
            None
        }
    }

    /// Notes a reply: the server has read the request with its context.
    #[inline]
    pub const fn confirm(&mut self) {
        self.is_unconfirmed = false;
    }

    /// Applies the code sets in the contexts of a request.
    ///
    /// # Errors
    /// CODESET_INCOMPATIBLE, minor 2: they name a set that orbium does not support, or are
    /// malformed. The request is refused, and the previous code sets remain in effect.
    pub fn apply(&mut self, contexts: &ServiceContexts<'_>) -> Result<(), SystemException> {
        let Some(data) = contexts.find(service_context::CODE_SETS) else {
            return Ok(());
        };
        match CodeSetContext::decode(data).map(Negotiated::from_context) {
            Ok(Ok(agreed)) => {
                self.negotiated = agreed;
                Ok(())
            }
            _ => Err(incompatible(2)),
        }
    }

    /// Ends the processing of a message: the next may come from another peer.
    #[inline]
    pub const fn end_message(&mut self) {
        if self.for_one_message {
            self.negotiated = Negotiated::DEFAULT;
        }
    }
}

fn incompatible(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::CodesetIncompatible, minor, Completion::No)
}
