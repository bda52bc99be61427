// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events received from a group.

use std::sync::Arc;

use orbium::giop::service_context::ORBIUM_EVENT_ORIGIN;
use orbium::lock::Mutex;
use orbium::{Call, Orb, SystemException};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};

use super::{address_of, config_of, group_of, refused};
use crate::gateway_config::{GatewayError, GroupConfig};
use crate::sequence::{Arrival, Mark, Origin, Sequences};
use crate::shared::Shared;

/// Membership of a group, until it is dropped.
pub(crate) struct GroupReceiver {
    orb: Orb,
}

impl GroupReceiver {
    /// Passes events of the group to a gateway, except those of its own channel.
    pub(crate) fn join(
        reference: &str,
        own: Origin,
        group: &GroupConfig,
        shared: &Arc<Shared>,
    ) -> Result<Self, GatewayError> {
        let mut config = config_of(group)?;
        let endpoint = format!("miop://{}", address_of(reference)?);
        config.endpoints = vec![endpoint.parse().map_err(|it| refused(&it))?];
        let orb = Orb::new(config).map_err(|it| refused(&it))?;
        let receiver = Self { orb };
        let orb = &receiver.orb;
        let root = orb.root_poa();
        let member = Member {
            own,
            shared: Arc::clone(shared),
            sequences: Mutex::default(),
        };
        let member: PushConsumer = root.activate(member).map_err(|it| refused(&it))?;
        let group = group_of(orb, reference)?;
        orb.join_group(&group, &member).map_err(|it| refused(&it))?;
        root.manager().activate().map_err(|it| refused(&it))?;
        Ok(receiver)
    }
}

impl Drop for GroupReceiver {
    fn drop(&mut self) {
        // It does not receive any more.
        let _ = self.orb.shutdown(true);
    }
}

struct Member {
    own: Origin,
    shared: Arc<Shared>,
    sequences: Mutex<Sequences>,
}

impl Member {
    /// Whether the events of a request are not duplicates here. Those of senders without marks are
    /// new.
    fn is_new(&self, mark: Option<Mark>, events: usize) -> bool {
        let Some(mark) = mark else { return true };
        if mark.origin == self.own {
            self.shared.left_out(events);
            return false;
        }
        let arrival = self.sequences.lock().arrived(mark);
        match arrival {
            Arrival::Next { missing } => self.shared.missing(missing),
            Arrival::Late => self.shared.late_arrival(),
            Arrival::Repeated => {}
        }
        arrival != Arrival::Repeated
    }
}

impl PushConsumerServant for Member {
    fn push(&self, call: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        let mark = call.service_context(ORBIUM_EVENT_ORIGIN);
        if self.is_new(mark.and_then(Mark::decode), data.len()) {
            self.shared.offer(data);
        }
        Ok(())
    }

    /// A group has no connection to disconnect.
    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}
