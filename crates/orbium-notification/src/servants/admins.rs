// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admins of consumers as objects: they create proxies.

use std::sync::Arc;

use orbium::{Any, Call, ExceptionKind, Interface, ObjectRef, SystemException, poa::PoaError};

use super::common::{Filtered, Governed};
use super::mapping_filters::attach;
use super::proxy_suppliers::Supplied;
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::consumer::Consumer;
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_event_channel_admin as cos;
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_channel_admin::{
    AdminLimit, AdminLimitExceeded, AdminLimitExceededError, ClientType,
    ConsumerAdminObtainNotificationPullSupplierResults,
    ConsumerAdminObtainNotificationPushSupplierResults, ConsumerAdminServant, EventChannel,
    InterFilterGroupOperator, ProxyNotFound, ProxyNotFoundError, ProxySupplier, ProxyType,
};
use crate::idl::cos_notify_comm::{InvalidEventTypeError, NotifySubscribeServant};
use crate::idl::cos_notify_filter::MappingFilter;
use crate::proxy_kind::ProxyKind;
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
    /// A proxy; a named one has a position in the journal.
    pub(super) fn proxy(
        &self,
        kind: ProxyKind,
        name: Option<&str>,
    ) -> Result<(ObjectRef, i32), AdminLimitExceededError> {
        let channel = &self.channel;
        let counted = channel.count_proxy(Side::Consumers);
        counted.map_err(|limit| exceeded("MaxConsumers", limit))?;
        let id = channel.next_id();
        let made = serve_proxy(channel, &self.admin, (id, kind, name));
        let (supplied, object) = made.map_err(|error| {
            channel.uncount_proxy(Side::Consumers);
            SystemException::from(error)
        })?;
        // The admin may have ended without the proxy.
        let present = channel.check_admin(self.admin.id, Side::Consumers);
        let saved = present
            .and_then(|()| channel.save())
            .and_then(|()| supplied.save());
        saved.inspect_err(|_| supplied.disconnect())?;
        Ok((object, id))
    }
}

/// Creates the proxy of a consumer, and its object.
pub(super) fn serve_proxy(
    channel: &Arc<Channel>,
    admin: &Arc<Admin>,
    (id, kind, name): (i32, ProxyKind, Option<&str>),
) -> Result<(Supplied, ObjectRef), PoaError> {
    let level = proxy_level(admin);
    let rules = channel.rules(&level);
    let consumer = Consumer::new((id, kind), Arc::clone(admin), level, rules);
    let supplied = Supplied {
        channel: Arc::clone(channel),
        consumer: Arc::new(consumer.with_name(name)),
    };
    let object = supplied.activate()?;
    channel.add_consumer(&supplied.consumer);
    // From here on it can be disconnected.
    admin.proxies().insert(id, (object.clone(), kind.is_push()));
    Ok((supplied, object))
}

impl Governed for ConsumerAdminObject {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn level(&self) -> &Level {
        &self.admin.level
    }

    fn save(&self) -> Result<(), SystemException> {
        self.channel.save_admin(&self.admin, Side::Consumers)
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
        self.channel.change_subscription(types, added, removed)?;
        Ok(self.save()?)
    }
}

/// A limit as an exception for the operations of COS Event.
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
        let made = self.proxy(ProxyKind::cos_event(ProxyType::PushAny), None);
        let (object, _) = made.map_err(|error| limited(&error))?;
        Ok(Some(Interface::from_object(object)))
    }

    fn obtain_pull_supplier(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<cos::ProxyPullSupplier>, SystemException> {
        let made = self.proxy(ProxyKind::cos_event(ProxyType::PullAny), None);
        let (object, _) = made.map_err(|error| limited(&error))?;
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
        self.save()
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
        self.save()
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
        let (object, proxy_id) = self.proxy(ProxyKind::pulled(ctype), None)?;
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
        let (object, proxy_id) = self.proxy(ProxyKind::pushed(ctype), None)?;
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
