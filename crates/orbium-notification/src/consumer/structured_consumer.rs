// SPDX-License-Identifier: MIT OR Apache-2.0
//! A push consumer of structured events.

use orbium::{Call, SystemException};

use crate::idl::cos_notification::{EventType, StructuredEvent};
use crate::idl::cos_notify_comm::{
    DisconnectedError, InvalidEventTypeError, NotifyPublishServant, StructuredPushConsumerServant,
};

type OnEvent = dyn Fn(&StructuredEvent) -> Result<(), SystemException> + Send + Sync;

/// The servant of a push consumer that calls a closure with each structured event, by threads of the ORB.
///
/// Its object is deactivated when the channel disconnects it. It ignores changes of event types.
///
/// ```
/// use orbium::Orb;
/// use orbium_notification::StructuredConsumer;
/// use orbium_notification::idl::cos_notify_comm::StructuredPushConsumer;
///
/// let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
/// let root = orb.root_poa();
/// root.manager().activate()?;
/// let consumer: StructuredPushConsumer = root.activate(StructuredConsumer::new(|event| {
///     println!("{:?}", event.filterable_data);
///     Ok(())
/// }))?;
/// // proxy.connect_structured_push_consumer(Some(&consumer))?;
/// # drop(consumer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StructuredConsumer {
    on_event: Box<OnEvent>,
    on_disconnect: Box<dyn Fn() + Send + Sync>,
}

impl StructuredConsumer {
    /// Calls this with each event. Its exceptions are returned to the channel.
    #[must_use]
    pub fn new(
        on_event: impl Fn(&StructuredEvent) -> Result<(), SystemException> + Send + Sync + 'static,
    ) -> Self {
        Self {
            on_event: Box::new(on_event),
            on_disconnect: Box::new(|| {}),
        }
    }

    /// Calls this when the channel disconnects the consumer.
    #[must_use]
    pub fn on_disconnect(self, on_disconnect: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            on_disconnect: Box::new(on_disconnect),
            ..self
        }
    }
}

impl std::fmt::Debug for StructuredConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StructuredConsumer").finish_non_exhaustive()
    }
}

impl StructuredPushConsumerServant for StructuredConsumer {
    fn push_structured_event(
        &self,
        _: &Call<'_>,
        notification: &StructuredEvent,
    ) -> Result<(), DisconnectedError> {
        Ok((self.on_event)(notification)?)
    }

    fn disconnect_structured_push_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        (self.on_disconnect)();
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }
}

impl NotifyPublishServant for StructuredConsumer {
    fn offer_change(
        &self,
        _: &Call<'_>,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        Ok(())
    }
}
