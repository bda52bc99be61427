// SPDX-License-Identifier: MIT OR Apache-2.0
//! References that ask something of their connections, or whose connections ask
//! their server for something.

use std::sync::Arc;

use orbium_giop::dedication::DedicationReply;
use orbium_giop::real_time::PriorityBand;

use super::{ObjectRef, Overrides};
use crate::client::{Own, Wishes};
use crate::{Priority, ProtocolProperties};

impl ObjectRef {
    /// The same object with connections for bands of priorities: each call goes
    /// over the connection of the band that its priority lies in
    /// (PriorityBandedConnectionPolicy). Who makes the bands sees to it that
    /// they make sense.
    #[must_use]
    pub fn with_bands(&self, bands: &[PriorityBand]) -> Self {
        self.with_wishes(Wishes {
            bands: Some(bands.into()),
            ..self.state().overrides.wishes.clone()
        })
    }

    /// The same object with connections that no other reference uses
    /// (PrivateConnectionPolicy). A connection has one call at a time; others
    /// that are made meanwhile open further ones.
    #[must_use]
    pub fn with_private_connections(&self) -> Self {
        self.with_wishes(Wishes {
            private: true,
            ..self.state().overrides.wishes.clone()
        })
    }

    /// The same object with connections whose sockets are asked for these
    /// properties rather than for the ORB's.
    #[must_use]
    pub fn with_properties(&self, properties: ProtocolProperties) -> Self {
        self.with_wishes(Wishes {
            properties: Some(properties),
            ..self.state().overrides.wishes.clone()
        })
    }

    /// The same object with connections that no other reference uses, each of
    /// which asks the server for a thread of its own at that priority: with a
    /// marker in its first request, which servers that do not know it pass over.
    /// [`dedication`](Self::dedication) tells what became of it.
    #[must_use]
    pub fn with_dedicated_thread(&self, priority: Option<Priority>) -> Self {
        self.with_own(Own::marked(priority))
    }

    /// What the server has said to the marker of the connection made last; `None`
    /// as long as it has said nothing, as one never does that knows no markers.
    #[must_use]
    pub fn dedication(&self) -> Option<DedicationReply> {
        self.state().overrides.wishes.own.as_ref()?.said()
    }

    /// The same object with one connection, made by its first call, that no other
    /// reference uses but those made from this one. When it has ended calls raise
    /// REBIND. Whatever is marked for the network by priorities is marked for that
    /// one.
    #[must_use]
    pub fn with_one_connection(&self, priority: Option<Priority>) -> Self {
        self.with_own(Own::once(priority))
    }

    fn with_own(&self, own: Arc<Own>) -> Self {
        self.with_wishes(Wishes {
            own: Some(own),
            ..self.state().overrides.wishes.clone()
        })
    }

    fn with_wishes(&self, wishes: Wishes) -> Self {
        self.with_overrides(Overrides {
            wishes,
            ..self.state().overrides.clone()
        })
    }
}
