// SPDX-License-Identifier: MIT OR Apache-2.0
//! Monitoring of a channel.

use orbium::{Call, SystemException};

use super::channel::ChannelObject;
use crate::idl::orbium_notification::{ChannelState, ConsumerState, MonitoredChannelServant};

impl MonitoredChannelServant for ChannelObject {
    fn state(&self, _: &Call<'_>) -> Result<ChannelState, SystemException> {
        let consumers = self.channel.consumers();
        let consumers = consumers.iter().map(|it| {
            let (counts, queued) = it.counts();
            ConsumerState {
                id: it.id,
                delivered: counts.delivered,
                discarded: counts.discarded,
                expired: counts.expired,
                lost: counts.lost,
                queued: queued as u64,
            }
        });
        Ok(ChannelState {
            received: self.channel.received(),
            suppliers: self.channel.suppliers().len() as u64,
            consumers: consumers.collect(),
        })
    }
}
