// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel as an object.

use std::sync::{Arc, OnceLock};

use orbium::{Call, ExceptionKind, Interface, SystemException, poa::PoaError};

use super::admins::ConsumerAdminObject;
use super::common::Governed;
use super::supplier_admins::SupplierAdminObject;
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::connections::key::{Key, Kind};
use crate::idl::cos_event_channel_admin as cos;
use crate::idl::cos_notification::{
    AdminPropertiesAdminServant, Property, UnsupportedAdmin, UnsupportedAdminError,
};
use crate::idl::cos_notify_channel_admin::{
    AdminNotFound, AdminNotFoundError, ConsumerAdmin, EventChannel, EventChannelFactory,
    EventChannelNewForConsumersResults, EventChannelNewForSuppliersResults, EventChannelServant,
    InterFilterGroupOperator, SupplierAdmin,
};
use crate::idl::cos_notify_filter::FilterFactory;
use crate::idl::orbium_notification::{DurableConsumerAdmin, MonitoredChannel};
use crate::qos::Level;

/// The reference of a factory, once it has one.
pub(super) type FactoryReference = Arc<OnceLock<EventChannelFactory>>;

pub(super) struct ChannelObject {
    pub(super) factory: FactoryReference,
    /// Removes the channel from the factory.
    pub(super) on_destroy: Box<dyn Fn() + Send + Sync>,
    pub(super) channel: Arc<Channel>,
    pub(super) filter_factory: FilterFactory,
}

/// Activates the object of a channel.
pub(super) fn serve_channel(object: ChannelObject) -> Result<EventChannel, PoaError> {
    let channel = Arc::clone(&object.channel);
    let key = Key::new(Kind::Channel, 0, channel.id);
    let reference: MonitoredChannel = channel.objects.activate(key, object)?;
    Ok(reference.into())
}

/// Creates the default admins of a channel, which have the number 0.
pub(super) fn new_default_admins(
    channel: &Arc<Channel>,
    reference: &EventChannel,
) -> Result<(), PoaError> {
    let operator = InterFilterGroupOperator::AndOp;
    for side in [Side::Consumers, Side::Suppliers] {
        let admin = match side {
            Side::Consumers => serve_consumer_admin(channel, reference, 0, operator)?.0,
            Side::Suppliers => serve_supplier_admin(channel, reference, 0, operator)?.0,
        };
        channel.check_new_admin(0, side)?;
        channel.save_admin(&admin, side)?;
    }
    Ok(())
}

pub(super) fn serve_consumer_admin(
    channel: &Arc<Channel>,
    reference: &EventChannel,
    id: i32,
    operator: InterFilterGroupOperator,
) -> Result<(Arc<Admin>, ConsumerAdmin), PoaError> {
    let admin = channel.new_admin(id, operator);
    let object = ConsumerAdminObject {
        channel: Arc::clone(channel),
        reference: reference.clone(),
        admin: Arc::clone(&admin),
    };
    let key = channel.admin_key(id, Side::Consumers);
    let object: ConsumerAdmin = match channel.journal {
        Some(_) => channel
            .objects
            .activate::<DurableConsumerAdmin, _>(key, object)?
            .into(),
        None => channel.objects.activate(key, object)?,
    };
    let entry = (Arc::clone(&admin), object.as_object().clone());
    channel.admins(Side::Consumers).insert(id, entry);
    Ok((admin, object))
}

pub(super) fn serve_supplier_admin(
    channel: &Arc<Channel>,
    reference: &EventChannel,
    id: i32,
    operator: InterFilterGroupOperator,
) -> Result<(Arc<Admin>, SupplierAdmin), PoaError> {
    let admin = channel.new_admin(id, operator);
    let object = SupplierAdminObject {
        channel: Arc::clone(channel),
        reference: reference.clone(),
        admin: Arc::clone(&admin),
    };
    let key = channel.admin_key(id, Side::Suppliers);
    let object: SupplierAdmin = channel.objects.activate(key, object)?;
    let entry = (Arc::clone(&admin), object.as_object().clone());
    channel.admins(Side::Suppliers).insert(id, entry);
    Ok((admin, object))
}

impl ChannelObject {
    fn admin<I: Interface>(&self, id: i32, side: Side) -> Result<I, AdminNotFoundError> {
        match self.channel.admins(side).get(&id) {
            Some((_, object)) => Ok(I::from_object(object.clone())),
            None => Err(AdminNotFound {}.into()),
        }
    }

    /// A number for one more admin.
    fn new_admin_id(&self, side: Side) -> Result<i32, SystemException> {
        if self.channel.admins(side).len() < self.channel.config.admins {
            let id = self.channel.next_id();
            self.channel.save()?;
            Ok(id)
        } else {
            Err(ExceptionKind::ImpLimit.into())
        }
    }

    /// A default admin, unless it has been destroyed.
    fn default_admin<I: Interface>(&self, side: Side) -> Result<I, SystemException> {
        let admin = self.admin(0, side);
        admin.map_err(|_| ExceptionKind::ObjectNotExist.into())
    }
}

impl Governed for ChannelObject {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn level(&self) -> &Level {
        &self.channel.level
    }

    fn save(&self) -> Result<(), SystemException> {
        self.channel.save()
    }
}

impl AdminPropertiesAdminServant for ChannelObject {
    fn get_admin(&self, _: &Call<'_>) -> Result<Vec<Property>, SystemException> {
        Ok(self.channel.administration.properties())
    }

    fn set_admin(&self, _: &Call<'_>, admin: &[Property]) -> Result<(), UnsupportedAdminError> {
        let set = self.channel.administration.set(admin);
        set.map_err(|admin_err| UnsupportedAdmin { admin_err })?;
        Ok(self.channel.save()?)
    }
}

impl cos::EventChannelServant for ChannelObject {
    fn for_consumers(&self, _: &Call<'_>) -> Result<Option<cos::ConsumerAdmin>, SystemException> {
        self.default_admin(Side::Consumers).map(Some)
    }

    fn for_suppliers(&self, _: &Call<'_>) -> Result<Option<cos::SupplierAdmin>, SystemException> {
        self.default_admin(Side::Suppliers).map(Some)
    }

    fn destroy(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.channel.destroy();
        (self.on_destroy)();
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }
}

impl EventChannelServant for ChannelObject {
    fn my_factory(&self, _: &Call<'_>) -> Result<Option<EventChannelFactory>, SystemException> {
        Ok(self.factory.get().cloned())
    }

    fn default_consumer_admin(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<ConsumerAdmin>, SystemException> {
        self.default_admin(Side::Consumers).map(Some)
    }

    fn default_supplier_admin(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<SupplierAdmin>, SystemException> {
        self.default_admin(Side::Suppliers).map(Some)
    }

    fn default_filter_factory(
        &self,
        _: &Call<'_>,
    ) -> Result<Option<FilterFactory>, SystemException> {
        Ok(Some(self.filter_factory.clone()))
    }

    fn new_for_consumers(
        &self,
        call: &Call<'_>,
        op: InterFilterGroupOperator,
    ) -> Result<EventChannelNewForConsumersResults, SystemException> {
        let id = self.new_admin_id(Side::Consumers)?;
        let (admin, object) = serve_consumer_admin(&self.channel, &call.this()?, id, op)?;
        self.channel.check_new_admin(id, Side::Consumers)?;
        self.channel.save_admin(&admin, Side::Consumers)?;
        let result = Some(object);
        Ok(EventChannelNewForConsumersResults { result, id })
    }

    fn new_for_suppliers(
        &self,
        call: &Call<'_>,
        op: InterFilterGroupOperator,
    ) -> Result<EventChannelNewForSuppliersResults, SystemException> {
        let id = self.new_admin_id(Side::Suppliers)?;
        let (admin, object) = serve_supplier_admin(&self.channel, &call.this()?, id, op)?;
        self.channel.check_new_admin(id, Side::Suppliers)?;
        self.channel.save_admin(&admin, Side::Suppliers)?;
        let result = Some(object);
        Ok(EventChannelNewForSuppliersResults { result, id })
    }

    fn get_consumeradmin(
        &self,
        _: &Call<'_>,
        id: i32,
    ) -> Result<Option<ConsumerAdmin>, AdminNotFoundError> {
        self.admin(id, Side::Consumers).map(Some)
    }

    fn get_supplieradmin(
        &self,
        _: &Call<'_>,
        id: i32,
    ) -> Result<Option<SupplierAdmin>, AdminNotFoundError> {
        self.admin(id, Side::Suppliers).map(Some)
    }

    fn get_all_consumeradmins(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self
            .channel
            .admins(Side::Consumers)
            .keys()
            .copied()
            .collect())
    }

    fn get_all_supplieradmins(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self
            .channel
            .admins(Side::Suppliers)
            .keys()
            .copied()
            .collect())
    }
}
