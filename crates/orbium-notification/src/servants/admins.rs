// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admins as objects: they make proxies.

use std::sync::Arc;

use orbium::{Any, Call, ExceptionKind, Interface, ObjectRef, PoaError, SystemException};

use super::common::{Filtered, Governed};
use super::proxy_consumers::{self as consumers, Consumed};
use super::proxy_suppliers::{self as suppliers, Supplied, no_mapping_filter};
use super::{cos_event, proxy_suppliers};
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::consumer::Consumer;
use crate::filters::FilterGroup;
use crate::idl::cos_event_channel_admin as cos;
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_channel_admin::{
    AdminLimit, AdminLimitExceeded, AdminLimitExceededError, ClientType,
    ConsumerAdminObtainNotificationPullSupplierResults,
    ConsumerAdminObtainNotificationPushSupplierResults, ConsumerAdminServant, EventChannel,
    InterFilterGroupOperator, ProxyConsumer, ProxyNotFound, ProxyNotFoundError, ProxyPullSupplier,
    ProxyPushConsumer, ProxyPushSupplier, ProxySupplier, ProxyType, SequenceProxyPullSupplier,
    SequenceProxyPushConsumer, SequenceProxyPushSupplier, StructuredProxyPullSupplier,
    StructuredProxyPushConsumer, StructuredProxyPushSupplier,
    SupplierAdminObtainNotificationPullConsumerResults,
    SupplierAdminObtainNotificationPushConsumerResults, SupplierAdminServant,
};
use crate::idl::cos_notify_comm::{
    InvalidEventTypeError, NotifyPublishServant, NotifySubscribeServant,
};
use crate::idl::cos_notify_filter::MappingFilter;
use crate::producer::Producer;
use crate::qos::{Level, PROXY, QOS};

pub(super) struct ConsumerAdminObject {
    pub(super) channel: Arc<Channel>,
    pub(super) reference: EventChannel,
    pub(super) admin: Arc<Admin>,
}

pub(super) struct SupplierAdminObject {
    pub(super) channel: Arc<Channel>,
    pub(super) reference: EventChannel,
    pub(super) admin: Arc<Admin>,
}

/// The limit that one more proxy would exceed.
fn exceeded(name: &str, limit: i32) -> AdminLimitExceeded {
    AdminLimitExceeded {
        admin_property_err: AdminLimit {
            name: name.to_owned(),
            value: Any::from(limit),
        },
    }
}

fn proxy_level(admin: &Admin) -> Arc<Level> {
    Arc::new(Level::new(&QOS, PROXY, Some(Arc::clone(&admin.level))))
}

impl ConsumerAdminObject {
    /// A proxy with an object that `activate` makes.
    fn proxy(
        &self,
        kind: ProxyType,
        activate: impl FnOnce(Supplied) -> Result<ObjectRef, PoaError>,
    ) -> Result<(ObjectRef, i32), AdminLimitExceededError> {
        let channel = &self.channel;
        let counted = channel.count_proxy(Side::Consumers);
        counted.map_err(|limit| exceeded("MaxConsumers", limit))?;
        let (id, level) = (channel.next_id(), proxy_level(&self.admin));
        let is_sequence = matches!(kind, ProxyType::PushSequence | ProxyType::PullSequence);
        let rules = channel.rules(&level);
        let consumer = Consumer::new(id, Arc::clone(&self.admin), level, rules, is_sequence);
        let consumer = Arc::new(consumer);
        let object = activate(Supplied {
            channel: Arc::clone(channel),
            consumer: Arc::clone(&consumer),
            kind,
        });
        let object = object.map_err(|error| {
            channel.uncount_proxy(Side::Consumers);
            SystemException::from(error)
        })?;
        let pushes = matches!(
            kind,
            ProxyType::PushAny | ProxyType::PushStructured | ProxyType::PushSequence
        );
        self.admin.proxies().insert(id, (object.clone(), pushes));
        channel.add_consumer(&consumer);
        Ok((object, id))
    }
}

/// Activates a servant as an object of an interface.
macro_rules! object {
    ($base:ty, $interface:ty, $servant:expr) => {
        |base: $base| {
            let poa = base.channel.poa.clone();
            let object: $interface = poa.activate($servant(base))?;
            Ok(object.as_object().clone())
        }
    };
}

impl Governed for ConsumerAdminObject {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn level(&self) -> &Level {
        &self.admin.level
    }
}

impl Filtered for ConsumerAdminObject {
    fn filters(&self) -> &FilterGroup {
        &self.admin.filters
    }
}

impl NotifySubscribeServant for ConsumerAdminObject {
    fn subscription_change(
        &self,
        _: &Call<'_>,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        self.admin.types.change(added, removed);
        Ok(())
    }
}

/// A limit as the operations of COS Event have it.
fn limited(error: &AdminLimitExceededError) -> SystemException {
    match error {
        AdminLimitExceededError::AdminLimitExceeded(_) => ExceptionKind::ImpLimit.into(),
        AdminLimitExceededError::System(exception) => *exception,
    }
}

impl cos::ConsumerAdminServant for ConsumerAdminObject {
    fn obtain_push_supplier(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<cos::ProxyPushSupplier>, SystemException> {
        let make = object!(Supplied, cos::ProxyPushSupplier, cos_event::PushSupplier);
        let (object, _) = self
            .proxy(ProxyType::PushAny, make)
            .map_err(|error| limited(&error))?;
        Ok(Some(Interface::from_object(object)))
    }

    fn obtain_pull_supplier(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<cos::ProxyPullSupplier>, SystemException> {
        let make = object!(Supplied, cos::ProxyPullSupplier, cos_event::PullSupplier);
        let (object, _) = self
            .proxy(ProxyType::PullAny, make)
            .map_err(|error| limited(&error))?;
        Ok(Some(Interface::from_object(object)))
    }
}

impl ConsumerAdminServant for ConsumerAdminObject {
    fn my_id(&self, _: &Call<'_>) -> Result<i32, SystemException> {
        Ok(self.admin.id)
    }

    fn my_channel(&self, _: &Call<'_>) -> Result<Option<EventChannel>, SystemException> {
        Ok(Some(self.reference.clone()))
    }

    fn my_operator(&self, _: &Call<'_>) -> Result<InterFilterGroupOperator, SystemException> {
        Ok(self.admin.operator)
    }

    fn priority_filter(&self, _: &Call<'_>) -> Result<Option<MappingFilter>, SystemException> {
        Ok(None)
    }

    fn set_priority_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        no_mapping_filter(value)
    }

    fn lifetime_filter(&self, _: &Call<'_>) -> Result<Option<MappingFilter>, SystemException> {
        Ok(None)
    }

    fn set_lifetime_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        no_mapping_filter(value)
    }

    fn pull_suppliers(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self.admin.ids(false))
    }

    fn push_suppliers(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self.admin.ids(true))
    }

    fn get_proxy_supplier(
        &self,
        _: &Call<'_>,
        proxy_id: i32,
    ) -> Result<Option<ProxySupplier>, ProxyNotFoundError> {
        match self.admin.proxies().get(&proxy_id) {
            Some((object, _)) => Ok(Some(ProxySupplier::from_object(object.clone()))),
            None => Err(ProxyNotFound {}.into()),
        }
    }

    fn obtain_notification_pull_supplier(
        &self,
        _: &Call<'_>,
        ctype: ClientType,
    ) -> Result<ConsumerAdminObtainNotificationPullSupplierResults, AdminLimitExceededError> {
        let (object, proxy_id) = match ctype {
            ClientType::AnyEvent => {
                let make = object!(Supplied, ProxyPullSupplier, suppliers::PullAny);
                self.proxy(ProxyType::PullAny, make)
            }
            ClientType::StructuredEvent => {
                let make = object!(
                    Supplied,
                    StructuredProxyPullSupplier,
                    suppliers::PullStructured
                );
                self.proxy(ProxyType::PullStructured, make)
            }
            ClientType::SequenceEvent => {
                let make = object!(Supplied, SequenceProxyPullSupplier, suppliers::PullSequence);
                self.proxy(ProxyType::PullSequence, make)
            }
        }?;
        Ok(ConsumerAdminObtainNotificationPullSupplierResults {
            result: Some(ProxySupplier::from_object(object)),
            proxy_id,
        })
    }

    fn obtain_notification_push_supplier(
        &self,
        _: &Call<'_>,
        ctype: ClientType,
    ) -> Result<ConsumerAdminObtainNotificationPushSupplierResults, AdminLimitExceededError> {
        let (object, proxy_id) = match ctype {
            ClientType::AnyEvent => {
                let make = object!(Supplied, ProxyPushSupplier, proxy_suppliers::PushAny);
                self.proxy(ProxyType::PushAny, make)
            }
            ClientType::StructuredEvent => {
                let make = object!(
                    Supplied,
                    StructuredProxyPushSupplier,
                    suppliers::PushStructured
                );
                self.proxy(ProxyType::PushStructured, make)
            }
            ClientType::SequenceEvent => {
                let make = object!(Supplied, SequenceProxyPushSupplier, suppliers::PushSequence);
                self.proxy(ProxyType::PushSequence, make)
            }
        }?;
        Ok(ConsumerAdminObtainNotificationPushSupplierResults {
            result: Some(ProxySupplier::from_object(object)),
            proxy_id,
        })
    }

    fn destroy(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.channel.end_admin(self.admin.id, Side::Consumers);
        Ok(())
    }
}

impl SupplierAdminObject {
    /// A proxy with an object that `activate` makes.
    fn proxy(
        &self,
        kind: ProxyType,
        activate: impl FnOnce(Consumed) -> Result<ObjectRef, PoaError>,
    ) -> Result<(ObjectRef, i32), AdminLimitExceededError> {
        let channel = &self.channel;
        let counted = channel.count_proxy(Side::Suppliers);
        counted.map_err(|limit| exceeded("MaxSuppliers", limit))?;
        let (id, level) = (channel.next_id(), proxy_level(&self.admin));
        let producer = Arc::new(Producer::new(id, Arc::clone(&self.admin), level));
        let object = activate(Consumed {
            channel: Arc::clone(channel),
            producer: Arc::clone(&producer),
            kind,
        });
        let object = object.map_err(|error| {
            channel.uncount_proxy(Side::Suppliers);
            SystemException::from(error)
        })?;
        self.admin.proxies().insert(id, (object.clone(), true));
        channel.add_supplier(&producer);
        Ok((object, id))
    }
}

impl Governed for SupplierAdminObject {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn level(&self) -> &Level {
        &self.admin.level
    }
}

impl Filtered for SupplierAdminObject {
    fn filters(&self) -> &FilterGroup {
        &self.admin.filters
    }
}

impl NotifyPublishServant for SupplierAdminObject {
    fn offer_change(
        &self,
        _: &Call<'_>,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        self.admin.types.change(added, removed);
        Ok(())
    }
}

impl cos::SupplierAdminServant for SupplierAdminObject {
    fn obtain_push_consumer(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<cos::ProxyPushConsumer>, SystemException> {
        let make = object!(Consumed, cos::ProxyPushConsumer, cos_event::PushConsumer);
        let (object, _) = self
            .proxy(ProxyType::PushAny, make)
            .map_err(|error| limited(&error))?;
        Ok(Some(Interface::from_object(object)))
    }

    fn obtain_pull_consumer(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<cos::ProxyPullConsumer>, SystemException> {
        Err(ExceptionKind::NoImplement.into())
    }
}

impl SupplierAdminServant for SupplierAdminObject {
    fn my_id(&self, _: &Call<'_>) -> Result<i32, SystemException> {
        Ok(self.admin.id)
    }

    fn my_channel(&self, _: &Call<'_>) -> Result<Option<EventChannel>, SystemException> {
        Ok(Some(self.reference.clone()))
    }

    fn my_operator(&self, _: &Call<'_>) -> Result<InterFilterGroupOperator, SystemException> {
        Ok(self.admin.operator)
    }

    fn pull_consumers(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self.admin.ids(false))
    }

    fn push_consumers(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self.admin.ids(true))
    }

    fn get_proxy_consumer(
        &self,
        _: &Call<'_>,
        proxy_id: i32,
    ) -> Result<Option<ProxyConsumer>, ProxyNotFoundError> {
        match self.admin.proxies().get(&proxy_id) {
            Some((object, _)) => Ok(Some(ProxyConsumer::from_object(object.clone()))),
            None => Err(ProxyNotFound {}.into()),
        }
    }

    fn obtain_notification_pull_consumer(
        &self,
        _: &Call<'_>,
        _: ClientType,
    ) -> Result<SupplierAdminObtainNotificationPullConsumerResults, AdminLimitExceededError> {
        Err(SystemException::from(ExceptionKind::NoImplement).into())
    }

    fn obtain_notification_push_consumer(
        &self,
        _: &Call<'_>,
        ctype: ClientType,
    ) -> Result<SupplierAdminObtainNotificationPushConsumerResults, AdminLimitExceededError> {
        let (object, proxy_id) = match ctype {
            ClientType::AnyEvent => {
                let make = object!(Consumed, ProxyPushConsumer, consumers::PushAny);
                self.proxy(ProxyType::PushAny, make)
            }
            ClientType::StructuredEvent => {
                let make = object!(
                    Consumed,
                    StructuredProxyPushConsumer,
                    consumers::PushStructured
                );
                self.proxy(ProxyType::PushStructured, make)
            }
            ClientType::SequenceEvent => {
                let make = object!(Consumed, SequenceProxyPushConsumer, consumers::PushSequence);
                self.proxy(ProxyType::PushSequence, make)
            }
        }?;
        Ok(SupplierAdminObtainNotificationPushConsumerResults {
            result: Some(ProxyConsumer::from_object(object)),
            proxy_id,
        })
    }

    fn destroy(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.channel.end_admin(self.admin.id, Side::Suppliers);
        Ok(())
    }
}
