// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that carry the requests of both sides, as the two sides of an ORB use them.

use std::fmt;
use std::io;
use std::sync::Arc;

use orbium_transport::Connector;

use crate::accepting::Accepting;
use crate::{Channel, Protocols};

/// The connections of an ORB that carry the requests of both sides (CORBA 3.3 Part 2, clause
/// 9.9). The crate `orbium-bidir` implements it.
pub trait BidirectionalConnections: fmt::Debug + Send + Sync {
    /// The acceptors of a lane that listens at those channels: its own, and one for the
    /// connections that the ORB opens, if no other lane has that one.
    ///
    /// # Errors
    /// No descriptors are left.
    fn accepting(
        self: Arc<Self>,
        accepting: Accepting,
        channels: &[Channel],
    ) -> io::Result<Accepting>;

    /// A connector to a channel over connections that go both ways; `inner` for a channel
    /// that can have none.
    fn connector(
        self: Arc<Self>,
        inner: Box<dyn Connector>,
        channel: &Channel,
        protocols: &Protocols,
    ) -> Box<dyn Connector>;
}
