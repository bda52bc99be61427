// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of a channel, its admins and its proxies.

use orbium::SystemException;

use super::key::{Key, Kind};
use super::records::{AdminRecord, ChannelRecord, ProxyPhase, ProxyRecord};
use super::settings::{Parts, reference};
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::consumer::Consumer;
use crate::producer::Producer;

impl Channel {
    /// Records the properties of the channel, and its last numbers.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn save(&self) -> Result<(), SystemException> {
        let key = Key::new(Kind::Channel, 0, self.id);
        let record = || ChannelRecord {
            next: self.last_id(),
            qos: self.level.own_properties(),
            administration: self.administration.own_properties(),
        };
        self.objects
            .save_unless(key, || self.is_destroyed(), record)
    }

    /// Records an admin.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn save_admin(&self, admin: &Admin, side: Side) -> Result<(), SystemException> {
        let record = || AdminRecord {
            operation: admin.operator,
            settings: of_admin(admin, side).record(),
        };
        let has_ended = || !self.has_admin(admin.id, side);
        let key = self.admin_key(admin.id, side);
        self.objects.save_unless(key, has_ended, record)
    }

    /// Records the proxy of a consumer, or removes its record if its connection is not persistent.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn save_consumer(&self, consumer: &Consumer) -> Result<(), SystemException> {
        let key = self.proxy_key(consumer.id, Side::Consumers);
        if !consumer.is_persistent() {
            self.objects.forget(key);
            return Ok(());
        }
        let phase = match (consumer.is_connected(), consumer.is_suspended()) {
            (false, _) => ProxyPhase::Unconnected,
            (true, false) => ProxyPhase::Connected,
            (true, true) => ProxyPhase::Suspended,
        };
        let record = || ProxyRecord {
            admin: consumer.admin.id,
            form: consumer.kind.form,
            is_cos_event: consumer.kind.is_cos_event,
            name: consumer.name().unwrap_or_default().to_owned(),
            peer: consumer
                .peer()
                .map_or_else(String::new, |it| reference(&it)),
            phase,
            wants_types: consumer.subscriber.wants(),
            settings: of_consumer(consumer).record(),
        };
        self.objects
            .save_unless(key, || consumer.has_ended(), record)
    }

    /// Records the proxy of a supplier, or removes its record if its connection is not persistent.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn save_supplier(&self, supplier: &Producer) -> Result<(), SystemException> {
        let key = self.proxy_key(supplier.id, Side::Suppliers);
        if !supplier.is_persistent() {
            self.objects.forget(key);
            return Ok(());
        }
        let phase = match (supplier.is_connected(), supplier.pulling.is_suspended()) {
            (false, _) => ProxyPhase::Unconnected,
            (true, false) => ProxyPhase::Connected,
            (true, true) => ProxyPhase::Suspended,
        };
        let record = || ProxyRecord {
            admin: supplier.admin.id,
            form: supplier.kind.form,
            is_cos_event: supplier.kind.is_cos_event,
            name: String::new(),
            peer: supplier
                .peer()
                .map_or_else(String::new, |it| reference(&it)),
            phase,
            wants_types: supplier.subscriber.wants(),
            settings: of_supplier(supplier).record(),
        };
        self.objects
            .save_unless(key, || supplier.has_ended(), record)
    }

    /// Records all proxies: the reliability of their connections may have changed.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn save_proxies(&self) -> Result<(), SystemException> {
        if !self.objects.are_recorded() {
            return Ok(());
        }
        for consumer in self.consumers().iter() {
            self.save_consumer(consumer)?;
        }
        for supplier in self.suppliers().iter() {
            self.save_supplier(supplier)?;
        }
        Ok(())
    }
}

/// The recorded parts of an admin.
pub(crate) fn of_admin(admin: &Admin, side: Side) -> Parts<'_> {
    Parts {
        level: &admin.level,
        types: &admin.types,
        filters: &admin.filters,
        mappings: (side == Side::Consumers).then_some(&admin.mappings),
    }
}

/// The recorded parts of a consumer's proxy.
pub(crate) fn of_consumer(consumer: &Consumer) -> Parts<'_> {
    Parts {
        level: &consumer.level,
        types: &consumer.types,
        filters: &consumer.filters,
        mappings: Some(&consumer.mappings),
    }
}

/// The recorded parts of a supplier's proxy.
pub(crate) fn of_supplier(supplier: &Producer) -> Parts<'_> {
    Parts {
        level: &supplier.level,
        types: &supplier.types,
        filters: &supplier.filters,
        mappings: None,
    }
}
