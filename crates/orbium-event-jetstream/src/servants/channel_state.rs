// SPDX-License-Identifier: MIT OR Apache-2.0
//! State shared by the objects of a channel.

use std::sync::Arc;

use crate::servants::named_consumers::Names;
use crate::servants::observation::Observation;
use crate::servants::proxies::Proxies;
use crate::stream::Stream;

/// What the objects of a channel share.
pub(crate) struct Shared {
    pub(crate) stream: Arc<Stream>,
    pub(crate) consumers: Proxies,
    pub(crate) suppliers: Proxies,
    pub(crate) names: Names,
    pub(crate) observation: Observation,
}
