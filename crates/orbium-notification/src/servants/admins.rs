// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admins of consumers as objects: they make proxies.

use std::sync::Arc;

use orbium::{Any, Call, ExceptionKind, Interface, ObjectRef, PoaError, SystemException};

use super::common::{Filtered, Governed};
use super::mapping_filters::attach;
use super::proxy_suppliers::Supplied;
use super::{cos_event, proxy_suppliers, pull_suppliers};
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::consumer::Consumer;
use crate::filter::filters::FilterGroup;
use crate::idl::cos_event_channel_admin as cos;
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_channel_admin::{
    AdminLimit, AdminLimitExceeded, AdminLimitExceededError, ClientType,
    ConsumerAdminObtainNotificationPullSupplierResults,
    ConsumerAdminObtainNotificationPushSupplierResults, ConsumerAdminServant, EventChannel,
    InterFilterGroupOperator, ProxyNotFound, ProxyNotFoundError, ProxyPullSupplier,
    ProxyPushSupplier, ProxySupplier, ProxyType, SequenceProxyPullSupplier,
    SequenceProxyPushSupplier, StructuredProxyPullSupplier, StructuredProxyPushSupplier,
};
use crate::idl::cos_notify_comm::{InvalidEventTypeError, NotifySubscribeServant};
use crate::idl::cos_notify_filter::MappingFilter;
use crate::qos::{Level, PROXY};

pub(super) struct ConsumerAdminObject {
    pub(super) channel: Arc<Channel>,
    pub(super) reference: EventChannel,
    pub(super) admin: Arc<Admin>,
}

/// The limit that one more proxy would exceed.
pub(super) fn exceeded(name: &str, limit: i32) -> AdminLimitExceeded {
    AdminLimitExceeded {
        admin_property_err: AdminLimit {
            name: name.to_owned(),
            value: Any::from(limit),
        },
    }
}

pub(super) fn proxy_level(admin: &Admin) -> Arc<Level> {
    Arc::new(admin.level.below(PROXY))
}

impl ConsumerAdminObject {
    /// A proxy with an object that `activate` makes.
    fn proxy(
        &self,
        kind: ProxyType,
        activate: impl FnOnce(Supplied) -> Result<ObjectRef, PoaError>,
    ) -> Result<(ObjectRef, i32), AdminLimitExceededError> {
        self.named_proxy((kind, None), activate)
    }

    /// As [`proxy`](Self::proxy), of a consumer with a position in the journal.
    pub(super) fn named_proxy(
        &self,
        (kind, name): (ProxyType, Option<&str>),
        activate: impl FnOnce(Supplied) -> Result<ObjectRef, PoaError>,
    ) -> Result<(ObjectRef, i32), AdminLimitExceededError> {
        let channel = &self.channel;
        let counted = channel.count_proxy(Side::Consumers);
        counted.map_err(|limit| exceeded("MaxConsumers", limit))?;
        let (id, level) = (channel.next_id(), proxy_level(&self.admin));
        let is_sequence = matches!(kind, ProxyType::PushSequence | ProxyType::PullSequence);
        let rules = channel.rules(&level);
        let consumer = Consumer::new(id, Arc::clone(&self.admin), level, rules, is_sequence);
        let consumer = Arc::new(consumer.with_name(name));
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

pub(super) use object;

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
        let types = &self.admin.types;
        self.channel.change_subscription(types, added, removed);
        Ok(())
    }
}

/// A limit as the operations of COS Event have it.
pub(super) fn limited(error: &AdminLimitExceededError) -> SystemException {
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
        Ok(self.admin.mappings.priority.get())
    }

    fn set_priority_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        attach(&self.admin.mappings.priority, &self.channel, value);
        Ok(())
    }

    fn lifetime_filter(&self, _: &Call<'_>) -> Result<Option<MappingFilter>, SystemException> {
        Ok(self.admin.mappings.lifetime.get())
    }

    fn set_lifetime_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        attach(&self.admin.mappings.lifetime, &self.channel, value);
        Ok(())
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
                let make = object!(Supplied, ProxyPullSupplier, pull_suppliers::PullAny);
                self.proxy(ProxyType::PullAny, make)
            }
            ClientType::StructuredEvent => {
                let make = object!(
                    Supplied,
                    StructuredProxyPullSupplier,
                    pull_suppliers::PullStructured
                );
                self.proxy(ProxyType::PullStructured, make)
            }
            ClientType::SequenceEvent => {
                let make = object!(
                    Supplied,
                    SequenceProxyPullSupplier,
                    pull_suppliers::PullSequence
                );
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
                    proxy_suppliers::PushStructured
                );
                self.proxy(ProxyType::PushStructured, make)
            }
            ClientType::SequenceEvent => {
                let make = object!(
                    Supplied,
                    SequenceProxyPushSupplier,
                    proxy_suppliers::PushSequence
                );
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
