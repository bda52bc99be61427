// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers behind references.

use orbium::Interface;

use crate::config::ChannelConfig;
use crate::delivery::health::DeliveryError;
use crate::observers::{Observer, Sums};
use crate::rtec::rtec_event_channel_admin as admin;

use crate::proxies::failure;

pub(super) struct RemoteObserver(admin::Observer);

impl RemoteObserver {
    pub(super) fn new(observer: &admin::Observer, config: &ChannelConfig) -> Self {
        Self(observer.with_timeout(config.ping_timeout))
    }
}

impl Observer for RemoteObserver {
    fn update(&self, sums: &Sums) -> Result<(), DeliveryError> {
        let updated = self.0.update_consumer(&sums.consumers);
        let updated = updated.and_then(|()| self.0.update_supplier(&sums.suppliers));
        updated.map_err(|exception| failure(&exception))
    }
}
