// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers and suppliers of a channel in another process.

mod closure;
pub(crate) mod persistent;
pub(crate) mod redelivery;

use std::fmt;
use std::sync::Arc;

use orbium::stub::ServedBy;
use orbium::{
    Call, Interface, Orb, Servant, SystemException, poa::PoaError, reference::NarrowError,
};

use crate::delivery::ordered::OrderedPush;
use crate::event::ANY;
use crate::retained::Replay;
use crate::rtec::orbium_event::ReplayingConsumerAdmin;
use crate::rtec::rtec_event_channel_admin::{
    AlreadyConnectedError, AlreadyConnectedOrTypeErrorError, ConsumerQos, EventChannel,
    ProxyPushConsumer, ProxyPushSupplier, SupplierQos,
};
use crate::rtec::rtec_event_comm::{Event, PushConsumer, PushSupplier, PushSupplierServant};
use crate::subscription::pattern::Pattern;
use crate::supply::publication::Publication;
use crate::supply::receive::Receiving;

/// Error of connecting a consumer or supplier to a channel.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum RemoteError {
    /// The channel refuses the subscription.
    Refused,
    /// The channel returned nil in place of an admin or a proxy.
    Nil,
    /// The channel could not be called, or has raised this exception.
    System(SystemException),
    /// The consumer could not be activated.
    Poa(PoaError),
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("the channel refuses the subscription"),
            Self::Nil => f.write_str("the channel returned a nil reference"),
            Self::System(exception) => exception.fmt(f),
            Self::Poa(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RemoteError {}

impl From<SystemException> for RemoteError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<PoaError> for RemoteError {
    fn from(error: PoaError) -> Self {
        Self::Poa(error)
    }
}

/// A consumer that is connected to a channel. Dropping it does not disconnect it.
#[derive(Clone, Debug)]
pub struct RemoteConsumer {
    proxy: ProxyPushSupplier,
    consumer: PushConsumer,
}

/// A supplier that is connected to a channel. Dropping it does not disconnect it.
///
/// Its events do not overtake each other: they are sent over a private connection.
#[derive(Clone, Debug)]
pub struct RemoteSupplier {
    proxy: ProxyPushConsumer,
    push: Arc<OrderedPush>,
    /// The object that the channel pings.
    supplier: Option<PushSupplier>,
}

/// Connects a consumer to a channel: `on_events` is called with each set of events, by threads of
/// the ORB, which has to have an endpoint. It is dropped when the channel disconnects the consumer.
///
/// # Errors
/// [`RemoteError`].
pub fn connect_consumer(
    orb: &Orb,
    channel: &EventChannel,
    pattern: &Pattern,
    on_events: impl Fn(&[Event]) + Send + Sync + 'static,
) -> Result<RemoteConsumer, RemoteError> {
    connect_scheduled_consumer(orb, channel, (pattern, 0), on_events)
}

/// As [`connect_consumer`], with the RT_Info of the consumer in the schedule of the channel, or 0.
///
/// # Errors
/// [`RemoteError`].
pub fn connect_scheduled_consumer(
    orb: &Orb,
    channel: &EventChannel,
    (pattern, rt_info): (&Pattern, i32),
    on_events: impl Fn(&[Event]) + Send + Sync + 'static,
) -> Result<RemoteConsumer, RemoteError> {
    connect_counting_consumer(orb, channel, (pattern, rt_info), uncounted(on_events))
}

/// Adapts a closure that ignores the number of dropped events.
fn uncounted(
    on_events: impl Fn(&[Event]) + Send + Sync + 'static,
) -> impl Fn(&[Event], u64) + Send + Sync + 'static {
    move |events, _| on_events(events)
}

/// As [`connect_scheduled_consumer`]; the closure also gets the number of events for the consumer
/// that the channel has dropped since its last push: the queue of the consumer was full, it had
/// failed, or they had expired.
///
/// # Errors
/// [`RemoteError`].
pub fn connect_counting_consumer(
    orb: &Orb,
    channel: &EventChannel,
    (pattern, rt_info): (&Pattern, i32),
    on_events: impl Fn(&[Event], u64) + Send + Sync + 'static,
) -> Result<RemoteConsumer, RemoteError> {
    let mut qos = pattern.to_qos();
    for dependency in &mut qos.dependencies {
        dependency.rt_info = rt_info;
    }
    connect_consumer_by(orb, channel, &qos, on_events)
}

/// As [`connect_consumer`], for a gateway: observers of the channel do not see its subscription.
///
/// # Errors
/// [`RemoteError`].
pub fn connect_gateway_consumer(
    orb: &Orb,
    channel: &EventChannel,
    pattern: &Pattern,
    on_events: impl Fn(&[Event]) + Send + Sync + 'static,
) -> Result<RemoteConsumer, RemoteError> {
    let qos = ConsumerQos {
        is_gateway: true,
        ..pattern.to_qos()
    };
    connect_consumer_by(orb, channel, &qos, uncounted(on_events))
}

/// As [`connect_consumer`], for a consumer that first gets earlier events: the last of each type
/// and source, of a channel with a [`Retention`](crate::Retention), or those from a position or
/// time on, of a persistent channel.
///
/// # Errors
/// [`RemoteError`]; `Refused` if it is not a channel of orbium's, NO_IMPLEMENT if it has no such
/// events.
pub fn connect_replaying_consumer(
    orb: &Orb,
    channel: &EventChannel,
    (replay, pattern): (Replay, &Pattern),
    on_events: impl Fn(&[Event]) + Send + Sync + 'static,
) -> Result<RemoteConsumer, RemoteError> {
    let admin = channel.for_consumers()?.ok_or(RemoteError::Nil)?;
    let admin: Result<ReplayingConsumerAdmin, _> = admin.as_object().narrow();
    let admin = admin.map_err(|error| match error {
        NarrowError::System(exception) => exception.into(),
        NarrowError::Nil | NarrowError::WrongType => RemoteError::Refused,
    })?;
    let proxy = admin.obtain_replaying_push_supplier(&replay.to_idl())?;
    let proxy = proxy.ok_or(RemoteError::Nil)?;
    connect_to(orb, proxy, &pattern.to_qos(), uncounted(on_events))
}

fn connect_consumer_by(
    orb: &Orb,
    channel: &EventChannel,
    qos: &ConsumerQos,
    on_events: impl Fn(&[Event], u64) + Send + Sync + 'static,
) -> Result<RemoteConsumer, RemoteError> {
    let admin = channel.for_consumers()?.ok_or(RemoteError::Nil)?;
    let proxy = admin.obtain_push_supplier()?.ok_or(RemoteError::Nil)?;
    connect_to(orb, proxy, qos, on_events)
}

fn connect_to(
    orb: &Orb,
    proxy: ProxyPushSupplier,
    qos: &ConsumerQos,
    on_events: impl Fn(&[Event], u64) + Send + Sync + 'static,
) -> Result<RemoteConsumer, RemoteError> {
    let root = orb.root_poa();
    root.manager().activate()?;
    let closure = Arc::new(closure::Closure(on_events));
    let servant: Arc<dyn Servant> = Arc::new(Receiving {
        skeleton: PushConsumer::skeleton(Arc::clone(&closure)),
        receiver: closure,
    });
    let consumer = PushConsumer::from_object(root.activate_servant(&servant)?);
    let connected = RemoteConsumer { proxy, consumer };
    let proxy = &connected.proxy;
    match proxy.connect_push_consumer(Some(&connected.consumer), qos) {
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

/// Connects a supplier of events of these types and sources to a channel.
///
/// # Errors
/// [`RemoteError`].
pub fn connect_supplier(
    channel: &EventChannel,
    published: &[(i32, i32)],
) -> Result<RemoteSupplier, RemoteError> {
    let published = published.iter();
    let published = published.map(|(r#type, source)| Publication::of(*r#type, *source));
    connect_scheduled_supplier(channel, &published.collect::<Vec<_>>())
}

/// As [`connect_supplier`], with the operations that push the events, in the schedule of the channel.
///
/// # Errors
/// [`RemoteError`].
pub fn connect_scheduled_supplier(
    channel: &EventChannel,
    published: &[Publication],
) -> Result<RemoteSupplier, RemoteError> {
    let qos = SupplierQos {
        publications: published.iter().map(|it| it.to_rtec()).collect(),
        is_gateway: false,
    };
    connect_supplier_by(channel, None, &qos)
}

/// Connects a gateway that supplies events of other channels, of all types and sources: the
/// channel's observers do not see it, and it drops events that it has received before. The channel
/// pings the gateway, by an object of this ORB, which has to have an endpoint.
///
/// # Errors
/// [`RemoteError`].
pub fn connect_gateway_supplier(
    orb: &Orb,
    channel: &EventChannel,
) -> Result<RemoteSupplier, RemoteError> {
    let qos = SupplierQos {
        publications: vec![Publication::of(ANY, ANY).to_rtec()],
        is_gateway: true,
    };
    let root = orb.root_poa();
    root.manager().activate()?;
    let supplier: PushSupplier = root.activate(Pinged)?;
    let connected = connect_supplier_by(channel, Some(supplier.clone()), &qos);
    if connected.is_err() {
        end_object(&supplier);
    }
    connected
}

fn connect_supplier_by(
    channel: &EventChannel,
    supplier: Option<PushSupplier>,
    qos: &SupplierQos,
) -> Result<RemoteSupplier, RemoteError> {
    let admin = channel.for_suppliers()?.ok_or(RemoteError::Nil)?;
    let proxy = admin.obtain_push_consumer()?.ok_or(RemoteError::Nil)?;
    match proxy.connect_push_supplier(supplier.as_ref(), qos) {
        Ok(()) => {
            let push = Arc::new(OrderedPush::new(&proxy.clone().into(), None));
            push.open()?;
            Ok(RemoteSupplier {
                proxy,
                push,
                supplier,
            })
        }
        Err(AlreadyConnectedError::System(exception)) => Err(exception.into()),
        Err(AlreadyConnectedError::AlreadyConnected(_)) => Err(RemoteError::Refused),
    }
}

/// Deactivates an object of the root POA. A call of the channel may have deactivated it.
fn end_object(object: &impl Interface) {
    let root = object.as_object().orb().root_poa();
    if let Ok(id) = root.reference_to_id(object) {
        let _ = root.deactivate(&id);
    }
}

/// The object of a supplier that a channel pings.
struct Pinged;

impl PushSupplierServant for Pinged {
    fn disconnect_push_supplier(&self, call: &Call<'_>) -> Result<(), SystemException> {
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }
}

impl RemoteConsumer {
    /// Drops events from now on.
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

    /// Disconnects the consumer, and deactivates its object whatever the channel replies.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn disconnect(&self) -> Result<(), SystemException> {
        end_object(&self.consumer);
        self.proxy.disconnect_push_supplier()
    }

    /// Whether the consumer is still connected to the channel.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn is_connected(&self) -> Result<bool, SystemException> {
        Ok(!self.proxy.as_object().non_existent()?)
    }
}

impl RemoteSupplier {
    /// Pushes a set of events. It returns once the request is sent: a supplier that the channel has
    /// disconnected gets no error.
    ///
    /// # Errors
    /// The channel could not be reached.
    pub fn push(&self, events: &[Event]) -> Result<(), SystemException> {
        self.push.push(events)
    }

    /// Waits until the channel has served all earlier pushes.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn flush(&self) -> Result<(), SystemException> {
        self.push.flush()
    }

    /// Whether the supplier is still connected to the channel.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn is_connected(&self) -> Result<bool, SystemException> {
        Ok(!self.proxy.as_object().non_existent()?)
    }

    /// Disconnects the supplier.
    ///
    /// # Errors
    /// The channel could not be called.
    pub fn disconnect(&self) -> Result<(), SystemException> {
        if let Some(supplier) = &self.supplier {
            end_object(supplier);
        }
        self.proxy.disconnect_push_consumer()
    }
}
