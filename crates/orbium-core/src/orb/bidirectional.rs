// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bidirectional connections, of the feature `bidir`.

use std::io;
use std::sync::Arc;

use orbium_channel::accepting::Accepting;
use orbium_channel::{BidirectionalConnections, Channel};

use crate::{Config, Orb, OrbError};

type Constructor = fn(&Config) -> Arc<dyn BidirectionalConnections>;

impl Config {
    /// The bidirectional connections; `None` unless `bidirectional` turns them on.
    ///
    /// # Errors
    /// [`OrbError::Feature`]: it is on, and the program was built without the feature `bidir`.
    pub(super) fn bidirectional_connections(
        &self,
    ) -> Result<Option<Arc<dyn BidirectionalConnections>>, OrbError> {
        let constructors: &[Constructor] = &[
            #[cfg(feature = "bidir")]
            |config| {
                let limits = &config.limits;
                let bounds = orbium_channel::connection::Bounds {
                    message: limits.message_size,
                    reassembly: limits.reassembly(),
                    message_time: Some(limits.message_time),
                };
                let budget = config.protocols.budget().clone();
                orbium_bidir::Hub::new(config.bidirectional_hosts.clone(), bounds, budget)
            },
        ];
        if !self.may_go_both_ways() {
            return Ok(None);
        }
        match constructors.first() {
            Some(construct) => Ok(Some(construct(self))),
            None => Err(OrbError::Feature(
                "bidirectional = both, or bidirectional_overrides".to_owned(),
                "bidir",
            )),
        }
    }
}

impl Orb {
    /// The acceptors of a lane that listens at those channels: with bidirectional connections,
    /// including theirs.
    pub(super) fn accepting_both_ways(
        &self,
        accepting: Accepting,
        channels: &[Channel],
    ) -> io::Result<Accepting> {
        match self.client().bidirectional() {
            Some(both) => Arc::clone(both).accepting(accepting, channels),
            None => Ok(accepting),
        }
    }
}
