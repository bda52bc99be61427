// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service context of a push, and of the reply to a pull: the number of events that the channel has dropped before.

use orbium::giop::service_context::ORBIUM_EVENTS_DROPPED;
use orbium::interceptor::ReplyContexts;
use orbium::{Call, Interface};

/// The reference for a push after the channel has dropped so many events.
pub(crate) fn after<C: Interface>(dropped: u64, consumer: &C) -> C {
    consumer.with_service_context(ORBIUM_EVENTS_DROPPED, dropped.to_be_bytes())
}

/// The number of events for a consumer that the channel has dropped since its last push, for
/// servants of push consumers: the queue of the consumer was full, it had failed, or they had
/// expired. 0 from channels that do not report it.
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
    number(call.service_context(ORBIUM_EVENTS_DROPPED))
}

/// As [`dropped_events`], for a pull consumer, by a reference with these [reply
/// contexts](Interface::with_reply_contexts): the number of events that were dropped before those
/// of the last reply.
///
/// ```no_run
/// use orbium::Interface;
/// use orbium::interceptor::ReplyContexts;
/// use orbium_event::cos_event::cos_event_comm::PullSupplier;
/// use orbium_event::dropped_before_reply;
///
/// # fn show(supplier: &PullSupplier) -> Result<(), Box<dyn std::error::Error>> {
/// let replied = ReplyContexts::default();
/// let any = supplier.with_reply_contexts(&replied).pull()?;
/// println!("{any:?} after {} that were dropped", dropped_before_reply(&replied));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn dropped_before_reply(replied: &ReplyContexts) -> u64 {
    let contexts = replied.get();
    number(contexts.get(ORBIUM_EVENTS_DROPPED).ok())
}

/// Adds to the reply of a pull the number of events that were dropped before those in it, for
/// servants of pull suppliers. Without effect if it is 0, and if the ORB was built without
/// [`with_reply_contexts`](orbium::interceptor::Interceptors::with_reply_contexts).
pub fn reply_after_dropped(call: &Call<'_>, dropped: u64) {
    if dropped > 0 {
        let data = dropped.to_be_bytes();
        // The ORB adds none: the consumer gets its events without the number.
        let _ = call.add_reply_service_context(ORBIUM_EVENTS_DROPPED, data, true);
    }
}

fn number(data: Option<&[u8]>) -> u64 {
    data.and_then(|it| it.try_into().ok())
        .map_or(0, u64::from_be_bytes)
}
