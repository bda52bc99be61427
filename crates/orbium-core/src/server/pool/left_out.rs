// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of a lane in a program without the feature `strategies`: who reads a
//! request serves it, so nothing comes to it.

use std::sync::Arc;

use orbium_sync::ThreadCache;

use crate::lane::thread::Setup;
use crate::server::intake::{Queued, Sink};
use crate::{LaneConfig, Orb};

pub(crate) struct Pool;

impl Pool {
    pub(super) fn new(
        _: &Orb,
        _: u32,
        _: &LaneConfig,
        _: &Arc<Setup>,
        _: &ThreadCache,
    ) -> Arc<Self> {
        Arc::new(Self)
    }

    pub(super) fn refused(&self) -> u64 {
        0
    }

    pub(super) fn count_refused(&self, _requests: usize) {}

    pub(crate) fn waiting(&self) -> usize {
        0
    }

    pub(crate) fn capacity(&self) -> usize {
        0
    }

    pub(super) fn look_again(&self) {}

    pub(super) fn forget(&self, _connection: u64) {}

    pub(super) fn close(&self) {}
}

impl Sink for Arc<Pool> {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        Err(Box::new(request))
    }

    fn cancel(&self, _connection: u64, _request_id: u32) -> bool {
        false
    }
}
