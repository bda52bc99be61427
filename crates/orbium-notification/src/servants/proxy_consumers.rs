// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proxies that stand for the channel before suppliers.

use std::sync::Arc;

use orbium::{Any, Call, Interface, SystemException};

use super::common::{Filtered, Governed};
use crate::channel::{Channel, Side};
use crate::event::Body;
use crate::filter::filters::FilterGroup;
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
use crate::producer::{Notify, Producer};
use crate::qos::{Level, MESSAGE};

/// A proxy, without its form of events.
#[derive(Clone)]
pub(super) struct Consumed {
    pub(super) channel: Arc<Channel>,
    pub(super) producer: Arc<Producer>,
    pub(super) kind: ProxyType,
}

impl Consumed {
    /// Publishes what the connected supplier has pushed; false if none is connected.
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

    /// The supplier gets changes of subscribed types when it asks for them.
    pub(super) fn subscribes(&self, supplier: &impl Interface) {
        let peer = notify::NotifySubscribe::from_object(supplier.as_object().clone());
        self.producer.subscriber.connect(peer);
    }

    pub(super) fn disconnect(&self) {
        if let Some(notify) = self.channel.end_supplier(&self.producer) {
            notify();
        }
    }
}

macro_rules! proxies {
    ($($proxy:ident, $servant:path, $connect:ident, $supplier:ty, $disconnect:ident;)*) => {
        $(
            pub(super) struct $proxy(pub(super) Consumed);

            impl Governed for $proxy {
                fn channel(&self) -> &Arc<Channel> {
                    &self.0.channel
                }

                fn level(&self) -> &Level {
                    &self.0.producer.level
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
                    let timeout = self.0.channel.config.push_timeout;
                    let notify = push_supplier.map(|it| -> Notify {
                        let supplier = it.with_timeout(timeout);
                        self.0.subscribes(&supplier);
                        Box::new(move || {
                            // It may be gone.
                            let _ = supplier.$disconnect();
                        })
                    });
                    match self.0.producer.connect(notify) {
                        true => Ok(()),
                        false => Err(cos_admin::AlreadyConnected {}.into()),
                    }
                }
            }
        )*
    };
}

proxies! {
    PushAny, ProxyPushConsumerServant, connect_any_push_supplier,
        cos::PushSupplier, disconnect_push_supplier;
    PushStructured, StructuredProxyPushConsumerServant, connect_structured_push_supplier,
        notify::StructuredPushSupplier, disconnect_structured_push_supplier;
    PushSequence, SequenceProxyPushConsumerServant, connect_sequence_push_supplier,
        notify::SequencePushSupplier, disconnect_sequence_push_supplier;
}

pub(super) trait IsConsumed: Filtered {
    fn consumed(&self) -> &Consumed;
}

impl<T: IsConsumed> ProxyConsumerServant for T {
    fn my_type(&self, _: &Call<'_>) -> Result<ProxyType, SystemException> {
        Ok(self.consumed().kind)
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
        Ok(if consumed.producer.subscriber.obtain(mode) {
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
        consumed.channel.change_offer(types, added, removed);
        Ok(())
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
