// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admins of suppliers as objects: they make proxies.

use std::sync::Arc;

use orbium::stub::ServedBy;
use orbium::{Call, Interface, ObjectRef, PoaError, Servant, SystemException};
use orbium_event::Receiving;

use super::admins::{exceeded, limited, object, proxy_level};
use super::common::{Filtered, Governed};
use super::proxy_consumers::{self as consumers, Consumed};
use super::push_receiver::{Form, Pushed};
use super::{cos_event, pull_consumers};
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::filter::filters::FilterGroup;
use crate::idl::cos_event_channel_admin as cos;
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_channel_admin::{
    AdminLimitExceededError, ClientType, EventChannel, InterFilterGroupOperator, ProxyConsumer,
    ProxyNotFound, ProxyNotFoundError, ProxyPullConsumer, ProxyPushConsumer, ProxyType,
    SequenceProxyPullConsumer, SequenceProxyPushConsumer, StructuredProxyPullConsumer,
    StructuredProxyPushConsumer, SupplierAdminObtainNotificationPullConsumerResults,
    SupplierAdminObtainNotificationPushConsumerResults, SupplierAdminServant,
};
use crate::idl::cos_notify_comm::{InvalidEventTypeError, NotifyPublishServant};
use crate::producer::Producer;
use crate::qos::Level;

pub(super) struct SupplierAdminObject {
    pub(super) channel: Arc<Channel>,
    pub(super) reference: EventChannel,
    pub(super) admin: Arc<Admin>,
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
        let pushes = matches!(
            kind,
            ProxyType::PushAny | ProxyType::PushStructured | ProxyType::PushSequence
        );
        self.admin.proxies().insert(id, (object.clone(), pushes));
        channel.add_supplier(&producer);
        Ok((object, id))
    }
}

/// Activates a servant that owns the events which are pushed to it.
macro_rules! receiving {
    ($interface:ty, $servant:expr, $form:expr) => {
        |base: Consumed| {
            let poa = base.channel.poa.clone();
            let servant: Arc<dyn Servant> = Arc::new(Receiving {
                skeleton: <$interface>::skeleton($servant(base.clone())),
                receiver: Pushed {
                    consumed: base,
                    form: $form,
                },
            });
            poa.activate_servant(&servant)
        }
    };
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
        self.channel.change_offer(&self.admin.types, added, removed);
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
        let make = object!(Consumed, cos::ProxyPullConsumer, pull_consumers::CosPull);
        let (object, _) = self
            .proxy(ProxyType::PullAny, make)
            .map_err(|error| limited(&error))?;
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
        let (object, proxy_id) = match ctype {
            ClientType::AnyEvent => {
                let make = object!(Consumed, ProxyPullConsumer, pull_consumers::PullAny);
                self.proxy(ProxyType::PullAny, make)
            }
            ClientType::StructuredEvent => {
                let make = object!(
                    Consumed,
                    StructuredProxyPullConsumer,
                    pull_consumers::PullStructured
                );
                self.proxy(ProxyType::PullStructured, make)
            }
            ClientType::SequenceEvent => {
                let make = object!(
                    Consumed,
                    SequenceProxyPullConsumer,
                    pull_consumers::PullSequence
                );
                self.proxy(ProxyType::PullSequence, make)
            }
        }?;
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
        let (object, proxy_id) = match ctype {
            ClientType::AnyEvent => {
                let make = receiving!(ProxyPushConsumer, consumers::PushAny, Form::Any);
                self.proxy(ProxyType::PushAny, make)
            }
            ClientType::StructuredEvent => {
                let make = receiving!(
                    StructuredProxyPushConsumer,
                    consumers::PushStructured,
                    Form::Structured
                );
                self.proxy(ProxyType::PushStructured, make)
            }
            ClientType::SequenceEvent => {
                let make = receiving!(
                    SequenceProxyPushConsumer,
                    consumers::PushSequence,
                    Form::Sequence
                );
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
