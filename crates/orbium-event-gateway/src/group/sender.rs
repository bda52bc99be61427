// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events sent to a group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::giop::service_context::ORBIUM_EVENT_ORIGIN;
use orbium::interceptor::{ClientInterceptor, Interrupt, SendRequest};
use orbium::{Orb, SystemException};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer};

use super::{address_of, config_of, group_of, refused, requests_to};
use crate::gateway_config::{GatewayError, GroupConfig};
use crate::sequence::{Mark, Origin};

/// Pushes sets of events to a group.
pub(crate) struct GroupSender {
    orb: Orb,
    group: PushConsumer,
}

impl GroupSender {
    /// A sender of the events of that channel.
    pub(crate) fn open(
        reference: &str,
        origin: Origin,
        group: &GroupConfig,
    ) -> Result<Self, GatewayError> {
        let address = address_of(reference)?;
        let mut config = config_of(group)?;
        config.client_protocols = Some("miop".parse().map_err(|it| refused(&it))?);
        let numbering = Numbering {
            origin,
            sent: requests_to(address, origin),
        };
        config
            .interceptors
            .add_client(numbering)
            .map_err(|it| refused(&it))?;
        let orb = Orb::new(config).map_err(|it| refused(&it))?;
        let group = group_of(&orb, reference)?;
        Ok(Self { orb, group })
    }

    /// Sends a set of events: one request, in as many packets as needed.
    ///
    /// # Errors
    /// It cannot be encoded or sent.
    pub(crate) fn send(&self, set: &[Event]) -> Result<(), SystemException> {
        self.group.push(set)
    }
}

impl Drop for GroupSender {
    fn drop(&mut self) {
        // Sent requests have left the ORB.
        let _ = self.orb.shutdown(true);
    }
}

/// Marks each request with the channel of its events and its number.
struct Numbering {
    origin: Origin,
    sent: Arc<AtomicU64>,
}

impl ClientInterceptor for Numbering {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        let mark = Mark {
            origin: self.origin,
            number: self.sent.fetch_add(1, Ordering::Relaxed) + 1,
        };
        request.add_service_context(ORBIUM_EVENT_ORIGIN, mark.encode(), true)?;
        Ok(())
    }
}
