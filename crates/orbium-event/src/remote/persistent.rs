// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suppliers and consumers of a persistent channel in another process.

use orbium::{
    Call, Interface, Orb, SystemException,
    poa::{Poa, PoaError},
    policy::SyncScope,
    reference::NarrowError,
};

use super::{RemoteError, end_object};
use crate::retained::Replay;
use crate::rtec::orbium_event::set_consumer::EventFailed;
use crate::rtec::orbium_event::{
    DurableConsumerAdmin, EventFailedError, InvalidNameError, SetConsumer, SetConsumerServant,
};
use crate::rtec::rtec_event_channel_admin::{
    AlreadyConnectedError, AlreadyConnectedOrTypeErrorError, EventChannel, ProxyPushConsumer,
    ProxyPushSupplier, SupplierQos,
};
use crate::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use crate::subscription::pattern::Pattern;

/// A supplier: its pushes return when the channel has stored the events. Dropping it does not
/// disconnect it.
#[derive(Clone, Debug)]
pub struct PersistentSupplier {
    proxy: ProxyPushConsumer,
}

/// A consumer with a position in the stream. Dropping it does not disconnect it.
#[derive(Clone, Debug)]
pub struct PersistentConsumer {
    proxy: ProxyPushSupplier,
    consumer: PushConsumer,
}

/// Connects a supplier to a channel.
///
/// # Errors
/// [`RemoteError`]: the channel could not be called, or refuses.
pub fn connect_supplier(channel: &EventChannel) -> Result<PersistentSupplier, RemoteError> {
    let admin = channel.for_suppliers()?.ok_or(RemoteError::Nil)?;
    let proxy = admin.obtain_push_consumer()?.ok_or(RemoteError::Nil)?;
    match proxy.connect_push_supplier(None, &SupplierQos::default()) {
        Ok(()) => Ok(PersistentSupplier {
            proxy: proxy.with_sync_scope(SyncScope::WithTarget),
        }),
        Err(AlreadyConnectedError::System(exception)) => Err(exception.into()),
        Err(AlreadyConnectedError::AlreadyConnected(_)) => Err(RemoteError::Refused),
    }
}

/// Connects a consumer to a channel under a name: it continues where the last consumer of that name
/// ended, and disconnects that consumer if it is still connected. `on_event` is called with one
/// event after the other by threads of the ORB, which has to have an endpoint. An event for which
/// it returns an exception is delivered again, unless the exception is `BAD_PARAM` or `MARSHAL`;
/// those before and behind it, which may have arrived in the same push, are not.
///
/// # Errors
/// [`RemoteError`]: the channel could not be called, is not persistent, or refuses the name or the
/// subscription.
pub fn connect_consumer(
    orb: &Orb,
    channel: &EventChannel,
    named: (&str, &Pattern),
    on_event: impl Fn(&Event) -> Result<(), SystemException> + Send + Sync + 'static,
) -> Result<PersistentConsumer, RemoteError> {
    connect(orb, channel, named, |root| {
        let consumer: SetConsumer = root.activate(Closure(on_event))?;
        Ok(consumer.into())
    })
}

/// As [`connect_consumer`], for a subscription with conjunctions or timers: `on_events` is called
/// with the events that complete the subscription, an event of each child of a conjunction. If it
/// returns an exception, all of them are delivered again, together; they are acknowledged when it
/// returns. The events of timers are not stored: they begin with the connection, and their
/// [`EventId`](crate::persistent::EventId) has the sequence 0.
///
/// ```no_run
/// use orbium::Orb;
/// use orbium_event::Pattern;
/// use orbium_event::persistent::connect_set_consumer;
/// use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
///
/// # fn example(orb: &Orb, channel: &EventChannel) -> Result<(), orbium_event::RemoteError> {
/// // A position and a speed, however long the one comes after the other, whatever is killed between them.
/// let both = Pattern::Conjunction(vec![Pattern::of(16, 1), Pattern::of(17, 1)]);
/// let consumer = connect_set_consumer(orb, channel, ("navigator", &both), |events| {
///     println!("{} and {}", events[0].header.r#type, events[1].header.r#type);
///     Ok(())
/// })?;
/// # drop(consumer);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`connect_consumer`].
pub fn connect_set_consumer(
    orb: &Orb,
    channel: &EventChannel,
    named: (&str, &Pattern),
    on_events: impl Fn(&[Event]) -> Result<(), SystemException> + Send + Sync + 'static,
) -> Result<PersistentConsumer, RemoteError> {
    connect(orb, channel, named, |root| {
        root.activate(SetClosure(on_events))
    })
}

/// As [`connect_consumer`], without a name: the consumer gets the last event of each type and
/// source, or those from a position or a time on, then later ones;
/// [`Delivery::is_replayed`](crate::persistent::Delivery) marks those that were stored before it
/// connected. The channel disconnects it after three failures, and retains no state of it.
///
/// ```no_run
/// use orbium::Orb;
/// use orbium_event::persistent::{Delivery, connect_replaying_consumer};
/// use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
/// use orbium_event::{Pattern, Replay};
///
/// # fn example(orb: &Orb, channel: &EventChannel) -> Result<(), orbium_event::RemoteError> {
/// let last = (Replay::Last, &Pattern::of(16, 0));
/// let consumer = connect_replaying_consumer(orb, channel, last, |event| {
///     let state = if Delivery::of(event).is_replayed { "was" } else { "is" };
///     println!("source {} {state} {:?}", event.header.source, event.data.payload);
///     Ok(())
/// })?;
/// # drop(consumer);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`RemoteError`]: the channel could not be called, or refuses.
pub fn connect_replaying_consumer(
    orb: &Orb,
    channel: &EventChannel,
    (replay, pattern): (Replay, &Pattern),
    on_event: impl Fn(&Event) -> Result<(), SystemException> + Send + Sync + 'static,
) -> Result<PersistentConsumer, RemoteError> {
    let admin = durable(channel)?;
    let proxy = admin.obtain_replaying_push_supplier(&replay.to_idl())?;
    connect_to(orb, (proxy, pattern), |root| {
        let consumer: SetConsumer = root.activate(Closure(on_event))?;
        Ok(consumer.into())
    })
}

fn durable(channel: &EventChannel) -> Result<DurableConsumerAdmin, RemoteError> {
    let admin = channel.for_consumers()?.ok_or(RemoteError::Nil)?;
    admin.as_object().narrow().map_err(|error| match error {
        NarrowError::System(exception) => exception.into(),
        NarrowError::Nil | NarrowError::WrongType => RemoteError::Refused,
    })
}

fn connect(
    orb: &Orb,
    channel: &EventChannel,
    (name, pattern): (&str, &Pattern),
    activate: impl FnOnce(&Poa) -> Result<PushConsumer, PoaError>,
) -> Result<PersistentConsumer, RemoteError> {
    let admin = durable(channel)?;
    let proxy = admin.obtain_durable_push_supplier(name);
    let proxy = proxy.map_err(|error| match error {
        InvalidNameError::System(exception) => exception.into(),
        InvalidNameError::InvalidName(_) => RemoteError::Refused,
    })?;
    connect_to(orb, (proxy, pattern), activate)
}

fn connect_to(
    orb: &Orb,
    (proxy, pattern): (Option<ProxyPushSupplier>, &Pattern),
    activate: impl FnOnce(&Poa) -> Result<PushConsumer, PoaError>,
) -> Result<PersistentConsumer, RemoteError> {
    let proxy = proxy.ok_or(RemoteError::Nil)?;
    let root = orb.root_poa();
    root.manager().activate()?;
    let consumer = activate(&root)?;
    let connected = PersistentConsumer { proxy, consumer };
    let proxy = &connected.proxy;
    match proxy.connect_push_consumer(Some(&connected.consumer), &pattern.to_qos()) {
        Ok(()) => Ok(connected),
        Err(error) => {
            // The proxy is useless; its exceptions matter less than the error that is returned.
            let _ = connected.disconnect();
            Err(match error {
                AlreadyConnectedOrTypeErrorError::System(exception) => exception.into(),
                _ => RemoteError::Refused,
            })
        }
    }
}

impl PersistentSupplier {
    /// Pushes a set of events, and returns when the channel has stored them.
    ///
    /// # Errors
    /// They may not be stored. The same events, with their creation times, may be pushed again, to
    /// this channel or to another one of the same stream: the stream discards duplicates.
    pub fn push(&self, events: &[Event]) -> Result<(), SystemException> {
        self.proxy.push(events)
    }

    /// Disconnects the supplier.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn disconnect(&self) -> Result<(), SystemException> {
        self.proxy.disconnect_push_consumer()
    }
}

impl PersistentConsumer {
    /// Suspends deliveries: events wait in the stream.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn suspend(&self) -> Result<(), SystemException> {
        self.proxy.suspend_connection()
    }

    /// Ends [`suspend`](Self::suspend).
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn resume(&self) -> Result<(), SystemException> {
        self.proxy.resume_connection()
    }

    /// Whether the channel still serves this consumer; otherwise it has to connect again.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn is_connected(&self) -> Result<bool, SystemException> {
        Ok(!self.proxy.as_object().non_existent()?)
    }

    /// Disconnects the consumer, and deactivates its object whatever the channel replies. Its
    /// events wait for the next consumer of the same name.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn disconnect(&self) -> Result<(), SystemException> {
        end_object(&self.consumer);
        self.proxy.disconnect_push_supplier()
    }
}

struct Closure<F>(F);

impl<F> PushConsumerServant for Closure<F>
where
    F: Fn(&Event) -> Result<(), SystemException> + Send + Sync + 'static,
{
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        data.iter().try_for_each(&self.0)
    }

    fn disconnect_push_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }
}

impl<F> SetConsumerServant for Closure<F>
where
    F: Fn(&Event) -> Result<(), SystemException> + Send + Sync + 'static,
{
    fn push_set(&self, _: &Call<'_>, data: &[Event]) -> Result<(), EventFailedError> {
        for (processed, event) in (0..).zip(data) {
            (self.0)(event).map_err(|exception| EventFailed {
                processed,
                id: exception.kind.repository_id().to_owned(),
                minor_code: exception.minor,
                completed: exception.completed as u32,
            })?;
        }
        Ok(())
    }
}

/// A consumer of complete sets.
struct SetClosure<F>(F);

impl<F> PushConsumerServant for SetClosure<F>
where
    F: Fn(&[Event]) -> Result<(), SystemException> + Send + Sync + 'static,
{
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        (self.0)(data)
    }

    fn disconnect_push_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }
}
