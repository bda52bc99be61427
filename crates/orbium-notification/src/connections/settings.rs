// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common settings of admins and proxies in records.

use orbium::{Interface, ObjectRef, Orb};

use super::key::number;
use super::records::{Attached, CommonSettings};
use crate::channel::Channel;
use crate::event::event_types::Types;
use crate::filter::filter_group::FilterGroup;
use crate::filter::mapping::{Mappings, Slot};
use crate::idl::cos_notify_filter::{Filter, MappingFilter};
use crate::qos::Level;

/// Properties, event types and filters of an admin or a proxy. Only the consumer side has mapping
/// filters.
pub(crate) struct Parts<'a> {
    pub(crate) level: &'a Level,
    pub(crate) types: &'a Types,
    pub(crate) filters: &'a FilterGroup,
    pub(crate) mappings: Option<&'a Mappings>,
}

impl Parts<'_> {
    pub(crate) fn record(&self) -> CommonSettings {
        let (filters, next_filter) = self.filters.attached();
        let filters = filters.into_iter().map(|(id, filter)| Attached {
            id,
            reference: reference(filter.as_object()),
        });
        let mapping = |slot: fn(&Mappings) -> &Slot| {
            let filter = self.mappings.and_then(|it| slot(it).get());
            filter.map_or_else(String::new, |it| reference(it.as_object()))
        };
        CommonSettings {
            qos: self.level.own_properties(),
            event_types: self.types.list(),
            filters: filters.collect(),
            next_filter,
            priority_filter: mapping(|it| &it.priority),
            lifetime_filter: mapping(|it| &it.lifetime),
        }
    }

    /// Restores the settings of a record.
    ///
    /// # Errors
    /// The invalid setting.
    pub(crate) fn restore(
        &self,
        (orb, channel): (&Orb, &Channel),
        settings: &CommonSettings,
    ) -> Result<(), String> {
        let set = self.level.set(&settings.qos);
        set.map_err(|_| "properties that cannot be set".to_owned())?;
        let changed = self.types.change(&settings.event_types, &[]);
        changed.map_err(|_| "too many event types".to_owned())?;
        let timeout = channel.config.filter_timeout;
        let mut filters = Vec::new();
        for it in &settings.filters {
            let filter = Filter::from_object(object(orb, &it.reference)?);
            let state = channel.filter_state(&filter);
            filters.push((it.id, filter, state));
        }
        self.filters
            .restore(&filters, number(settings.next_filter)?, timeout);
        let Some(mappings) = self.mappings else {
            return Ok(());
        };
        for (slot, text) in [
            (&mappings.priority, &settings.priority_filter),
            (&mappings.lifetime, &settings.lifetime_filter),
        ] {
            if !text.is_empty() {
                let filter = MappingFilter::from_object(object(orb, text)?);
                let state = channel.mapping_state(&filter);
                slot.set(Some((&filter, state)), timeout);
            }
        }
        Ok(())
    }
}

/// A reference as it is recorded.
pub(crate) fn reference(object: &ObjectRef) -> String {
    object.ior().to_string()
}

/// The reference of a record.
///
/// # Errors
/// It is not a valid reference.
pub(crate) fn object(orb: &Orb, text: &str) -> Result<ObjectRef, String> {
    let object = orb.string_to_object(text);
    let object = object.map_err(|error| error.to_string())?;
    object.ok_or_else(|| "a reference that is nil".to_owned())
}
