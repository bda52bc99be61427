// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admins of suppliers as objects: they create proxies.

use std::sync::Arc;

use orbium::{Call, Interface, ObjectRef, SystemException, poa::PoaError};

use super::admins::{exceeded, limited, proxy_level};
use super::common::{Filtered, Governed};
use super::proxy_consumers::Consumed;
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_event_channel_admin as cos;
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_channel_admin::{
    AdminLimitExceededError, ClientType, EventChannel, InterFilterGroupOperator, ProxyConsumer,
    ProxyNotFound, ProxyNotFoundError, ProxyType,
    SupplierAdminObtainNotificationPullConsumerResults,
    SupplierAdminObtainNotificationPushConsumerResults, SupplierAdminServant,
};
use crate::idl::cos_notify_comm::{InvalidEventTypeError, NotifyPublishServant};
use crate::producer::Producer;
use crate::proxy_kind::ProxyKind;
use crate::qos::Level;

pub(super) struct SupplierAdminObject {
    pub(super) channel: Arc<Channel>,
    pub(super) reference: EventChannel,
    pub(super) admin: Arc<Admin>,
}

impl SupplierAdminObject {
    fn proxy(&self, kind: ProxyKind) -> Result<(ObjectRef, i32), AdminLimitExceededError> {
        let channel = &self.channel;
        let counted = channel.count_proxy(Side::Suppliers);
        counted.map_err(|limit| exceeded("MaxSuppliers", limit))?;
        let id = channel.next_id();
        let made = serve_proxy(channel, &self.admin, (id, kind));
        let (consumed, object) = made.map_err(|error| {
            channel.uncount_proxy(Side::Suppliers);
            SystemException::from(error)
        })?;
        // The admin may have ended without the proxy.
        let present = channel.check_admin(self.admin.id, Side::Suppliers);
        let saved = present
            .and_then(|()| channel.save())
            .and_then(|()| consumed.save());
        saved.inspect_err(|_| consumed.disconnect())?;
        Ok((object, id))
    }
}

/// Creates the proxy of a supplier, and its object.
pub(super) fn serve_proxy(
    channel: &Arc<Channel>,
    admin: &Arc<Admin>,
    (id, kind): (i32, ProxyKind),
) -> Result<(Consumed, ObjectRef), PoaError> {
    let producer = Producer::new((id, kind), Arc::clone(admin), proxy_level(admin));
    let consumed = Consumed {
        channel: Arc::clone(channel),
        producer: Arc::new(producer),
    };
    let object = consumed.activate()?;
    channel.add_supplier(&consumed.producer);
    // From here on it can be disconnected.
    admin.proxies().insert(id, (object.clone(), kind.is_push()));
    Ok((consumed, object))
}

impl Governed for SupplierAdminObject {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn level(&self) -> &Level {
        &self.admin.level
    }

    fn save(&self) -> Result<(), SystemException> {
        self.channel.save_admin(&self.admin, Side::Suppliers)
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
        self.channel
            .change_offer(&self.admin.types, added, removed)?;
        Ok(self.save()?)
    }
}

impl cos::SupplierAdminServant for SupplierAdminObject {
    fn obtain_push_consumer(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<cos::ProxyPushConsumer>, SystemException> {
        let made = self.proxy(ProxyKind::cos_event(ProxyType::PushAny));
        let (object, _) = made.map_err(|error| limited(&error))?;
        Ok(Some(Interface::from_object(object)))
    }

    fn obtain_pull_consumer(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<cos::ProxyPullConsumer>, SystemException> {
        let made = self.proxy(ProxyKind::cos_event(ProxyType::PullAny));
        let (object, _) = made.map_err(|error| limited(&error))?;
        Ok(Some(Interface::from_object(object)))
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
        ctype: ClientType,
    ) -> Result<SupplierAdminObtainNotificationPullConsumerResults, AdminLimitExceededError> {
        let (object, proxy_id) = self.proxy(ProxyKind::pulled(ctype))?;
        Ok(SupplierAdminObtainNotificationPullConsumerResults {
            result: Some(ProxyConsumer::from_object(object)),
            proxy_id,
        })
    }

    fn obtain_notification_push_consumer(
        &self,
        _: &Call<'_>,
        ctype: ClientType,
    ) -> Result<SupplierAdminObtainNotificationPushConsumerResults, AdminLimitExceededError> {
        let (object, proxy_id) = self.proxy(ProxyKind::pushed(ctype))?;
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
