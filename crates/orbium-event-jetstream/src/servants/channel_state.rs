// SPDX-License-Identifier: MIT OR Apache-2.0
//! State shared by the objects of a channel.

use std::sync::Arc;

use orbium_event::Sums;

use crate::servants::named_consumers::Names;
use crate::servants::observation::{Observation, Observed};
use crate::servants::proxies::Proxies;
use crate::stream::Stream;

/// The shared state of the objects of a channel.
pub(crate) struct Shared {
    pub(crate) stream: Arc<Stream>,
    pub(crate) consumers: Proxies,
    pub(crate) suppliers: Proxies,
    pub(crate) names: Names,
    pub(crate) observation: Observation,
}

impl Observed for Shared {
    fn sums(&self) -> Sums {
        Sums::of(&self.consumers.subscriptions(), &self.suppliers.published())
    }
}
