// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proxies of suppliers.

pub(super) mod push_receiver;

use std::sync::Arc;

use orbium::{Any, Call, Interface, ObjectRef, SystemException};

use super::common::{Filtered, Governed};
use crate::channel::{Channel, Side};
use crate::event::Body;
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_event_channel_admin as cos_admin;
use crate::idl::cos_event_comm as cos;
use crate::idl::cos_notification::{
    EventType, NamedPropertyRange, Property, StructuredEvent, UnsupportedQoS,
};
use crate::idl::cos_notify_channel_admin::{
    AlreadyConnectedError, ObtainInfoMode, ProxyConsumerServant, ProxyPushConsumerServant,
    ProxyType, SequenceProxyPushConsumerServant, StructuredProxyPushConsumerServant, SupplierAdmin,
    UnsupportedQoSError,
};
use crate::idl::cos_notify_comm::{self as notify, InvalidEventTypeError, NotifyPublishServant};
use crate::producer::notice::notice;
use crate::producer::source::source_of;
use crate::producer::{Notify, Producer, puller};
use crate::qos::{Level, MESSAGE};

/// A proxy, without its form of events.
#[derive(Clone)]
pub(super) struct Consumed {
    pub(super) channel: Arc<Channel>,
    pub(super) producer: Arc<Producer>,
}

impl Consumed {
    /// Publishes an event of the connected supplier; false if none is connected.
    pub(super) fn publish(&self, body: impl FnOnce() -> Body) -> Result<bool, SystemException> {
        let is_connected = self.producer.is_connected();
        if is_connected {
            self.channel.publish(&self.producer, body())?;
        }
        Ok(is_connected)
    }

    pub(super) fn is_connected(&self) -> bool {
        self.producer.is_connected()
    }

    /// Connects a supplier and records it; false if one is connected.
    pub(super) fn connect(&self, peer: Option<&ObjectRef>) -> Result<bool, SystemException> {
        if !self.connect_peer(peer)? {
            return Ok(false);
        }
        self.save()?;
        Ok(true)
    }

    /// Connects a supplier, and starts to pull from a pull supplier; false if one is connected. A
    /// supplier of COS Notification gets changes of subscribed types when it requests them.
    pub(super) fn connect_peer(&self, peer: Option<&ObjectRef>) -> Result<bool, SystemException> {
        let (config, producer) = (&self.channel.config, &self.producer);
        let kind = producer.kind;
        let source = peer.and_then(|it| source_of(kind.form, it, config.pull_timeout));
        let notify = match &source {
            Some(source) => {
                let supplier = Arc::clone(source);
                Some(Box::new(move || supplier.disconnect()) as Notify)
            }
            None => peer.and_then(|it| notice(kind.form, it, config.push_timeout)),
        };
        if !producer.connect(peer, notify) {
            return Ok(false);
        }
        if let Some(peer) = peer.filter(|_| !kind.is_cos_event) {
            let peer = notify::NotifySubscribe::from_object(peer.clone());
            producer
                .subscriber
                .connect(peer.with_timeout(config.push_timeout));
        }
        if let Some(source) = source {
            puller::start(&self.channel, producer, source)?;
        }
        Ok(true)
    }

    pub(super) fn save(&self) -> Result<(), SystemException> {
        self.channel.save_supplier(&self.producer)
    }

    pub(super) fn disconnect(&self) {
        if let Some(notify) = self.channel.end_supplier(&self.producer) {
            notify();
        }
    }
}

macro_rules! proxies {
    ($($proxy:ident, $servant:path, $connect:ident, $supplier:ty;)*) => {
        $(
            pub(super) struct $proxy(pub(super) Consumed);

            impl Governed for $proxy {
                fn channel(&self) -> &Arc<Channel> {
                    &self.0.channel
                }

                fn level(&self) -> &Level {
                    &self.0.producer.level
                }

                fn save(&self) -> Result<(), SystemException> {
                    self.0.save()
                }
            }

            impl Filtered for $proxy {
                fn filters(&self) -> &FilterGroup {
                    &self.0.producer.filters
                }
            }

            impl IsConsumed for $proxy {
                fn consumed(&self) -> &Consumed {
                    &self.0
                }
            }

            impl $servant for $proxy {
                fn $connect(
                    &self,
                    _: &Call<'_>,
                    push_supplier: Option<&$supplier>,
                ) -> Result<(), AlreadyConnectedError> {
                    if self.0.connect(push_supplier.map(Interface::as_object))? {
                        Ok(())
                    } else {
                        Err(cos_admin::AlreadyConnected {}.into())
                    }
                }
            }
        )*
    };
}

proxies! {
    PushAny, ProxyPushConsumerServant, connect_any_push_supplier, cos::PushSupplier;
    PushStructured, StructuredProxyPushConsumerServant, connect_structured_push_supplier,
        notify::StructuredPushSupplier;
    PushSequence, SequenceProxyPushConsumerServant, connect_sequence_push_supplier,
        notify::SequencePushSupplier;
}

pub(super) trait IsConsumed: Filtered {
    fn consumed(&self) -> &Consumed;
}

impl<T: IsConsumed> ProxyConsumerServant for T {
    fn my_type(&self, _: &Call<'_>) -> Result<ProxyType, SystemException> {
        Ok(self.consumed().producer.kind.form)
    }

    fn my_admin(&self, _: &Call<'_>) -> Result<Option<SupplierAdmin>, SystemException> {
        let consumed = self.consumed();
        let admins = consumed.channel.admins(Side::Suppliers);
        let admin = admins.get(&consumed.producer.admin.id);
        Ok(admin.map(|(_, object)| SupplierAdmin::from_object(object.clone())))
    }

    fn obtain_subscription_types(
        &self,
        _: &Call<'_>,
        mode: ObtainInfoMode,
    ) -> Result<Vec<EventType>, SystemException> {
        let consumed = self.consumed();
        let wants_now = consumed.producer.subscriber.obtain(mode);
        consumed.save()?;
        Ok(if wants_now {
            consumed.channel.subscribed()
        } else {
            Vec::new()
        })
    }

    fn validate_event_qos(
        &self,
        _: &Call<'_>,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, UnsupportedQoSError> {
        let validated = self.level().validate(MESSAGE, required_qos);
        Ok(validated.map_err(|qos_err| UnsupportedQoS { qos_err })?)
    }
}

impl<T: IsConsumed> NotifyPublishServant for T {
    fn offer_change(
        &self,
        _: &Call<'_>,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        let consumed = self.consumed();
        let types = &consumed.producer.types;
        consumed.channel.change_offer(types, added, removed)?;
        Ok(consumed.save()?)
    }
}

impl notify::PushConsumerServant for PushAny {}

impl cos::PushConsumerServant for PushAny {
    fn push(&self, _: &Call<'_>, data: &Any) -> Result<(), cos::DisconnectedError> {
        if self.0.publish(|| Body::Any(data.clone()))? {
            Ok(())
        } else {
            Err(cos::Disconnected {}.into())
        }
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

impl notify::StructuredPushConsumerServant for PushStructured {
    fn push_structured_event(
        &self,
        _: &Call<'_>,
        notification: &StructuredEvent,
    ) -> Result<(), notify::DisconnectedError> {
        if self.0.publish(|| Body::Structured(notification.clone()))? {
            Ok(())
        } else {
            Err(cos::Disconnected {}.into())
        }
    }

    fn disconnect_structured_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

impl notify::SequencePushConsumerServant for PushSequence {
    fn push_structured_events(
        &self,
        _: &Call<'_>,
        notifications: &[StructuredEvent],
    ) -> Result<(), notify::DisconnectedError> {
        for event in notifications {
            if !self.0.publish(|| Body::Structured(event.clone()))? {
                return Err(cos::Disconnected {}.into());
            }
        }
        Ok(())
    }

    fn disconnect_sequence_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}
