// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service context of a push: the number of events that the channel has dropped before.

use orbium::giop::service_context::ORBIUM_EVENTS_DROPPED;
use orbium::{Call, Interface};

/// The reference for a push after so many events were dropped.
pub(crate) fn after<C: Interface>(dropped: u64, consumer: &C) -> C {
    consumer.with_service_context(ORBIUM_EVENTS_DROPPED, dropped.to_be_bytes())
}

/// The number of events that were for a consumer and that the channel has dropped since its last push, for servants of push
/// consumers: the queue of the consumer was full, it had failed, or they had expired. 0 of channels that do not say so.
///
/// ```
/// use orbium::{Call, SystemException};
/// use orbium_event::dropped_events;
/// use orbium_event::rtec::rtec_event_comm::{Event, PushConsumerServant};
///
/// struct Display;
///
/// impl PushConsumerServant for Display {
///     fn push(&self, call: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
///         println!("{} events after {} that were dropped", data.len(), dropped_events(call));
///         Ok(())
///     }
///
///     fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
///         Ok(())
///     }
/// }
/// ```
#[must_use]
pub fn dropped_events(call: &Call<'_>) -> u64 {
    let data = call.service_context(ORBIUM_EVENTS_DROPPED);
    data.and_then(|it| it.try_into().ok())
        .map_or(0, u64::from_be_bytes)
}
