// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers behind references.

use std::time::Duration;

use orbium::Interface;

use crate::delivery::health::DeliveryError;
use crate::observers::{Observer, Sums};
use crate::proxies::failure;
use crate::rtec::rtec_event_channel_admin as admin;

/// An observer behind a reference.
#[derive(Clone, Debug)]
pub struct RemoteObserver(admin::Observer);

impl RemoteObserver {
    /// With a time-out for each of its two calls.
    #[must_use]
    pub fn new(observer: &admin::Observer, timeout: Duration) -> Self {
        Self(observer.with_timeout(timeout))
    }
}

impl Observer for RemoteObserver {
    fn update(&self, sums: &Sums) -> Result<(), DeliveryError> {
        let updated = self.0.update_consumer(&sums.consumers);
        let updated = updated.and_then(|()| self.0.update_supplier(&sums.suppliers));
        updated.map_err(|exception| failure(&exception))
    }
}
