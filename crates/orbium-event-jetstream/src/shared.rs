// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the objects of a channel share.

use std::sync::Arc;

use crate::names::Names;
use crate::proxies::Proxies;
use crate::stream::Stream;

/// What the objects of a channel share.
pub(crate) struct Shared {
    pub(crate) stream: Arc<Stream>,
    pub(crate) consumers: Proxies,
    pub(crate) suppliers: Proxies,
    pub(crate) names: Names,
}
