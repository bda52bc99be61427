// SPDX-License-Identifier: MIT OR Apache-2.0
//! Key of a connection pool.

use std::hash::{Hash, Hasher};

use orbium_channel::Channel;
use orbium_giop::codeset::Negotiated;

use crate::pools::partition::ConnectionPartition;

/// Common properties of the connections of one pool: the channel, and the code sets, which cannot
/// change once they are negotiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolKey {
    /// The channel of the connections.
    pub channel: Channel,
    /// The code sets that both sides use.
    pub negotiated: Negotiated,
    /// The properties that separate them from those of calls with other policies.
    pub partition: ConnectionPartition,
}

impl Hash for PoolKey {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.channel.hash(state);
    }
}
