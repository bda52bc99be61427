// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admins: the common filters and properties of their proxies.

use std::collections::BTreeMap;
use std::sync::Arc;

use orbium::ObjectRef;
use orbium::lock::{Mutex, MutexGuard};

use crate::event::Event;
use crate::event::event_types::Types;
use crate::filter::filter_group::FilterGroup;
use crate::filter::mapping::Mappings;
use crate::idl::cos_notify_channel_admin::InterFilterGroupOperator;
use crate::qos::Level;

/// An admin of consumers or of suppliers.
pub(crate) struct Admin {
    pub(crate) id: i32,
    pub(crate) level: Arc<Level>,
    pub(crate) filters: FilterGroup,
    pub(crate) types: Types,
    pub(crate) mappings: Mappings,
    pub(crate) operator: InterFilterGroupOperator,
    /// By their ids, with whether each is a push proxy.
    proxies: Mutex<BTreeMap<i32, (ObjectRef, bool)>>,
}

impl Admin {
    pub(crate) fn new(id: i32, level: Arc<Level>, operator: InterFilterGroupOperator) -> Self {
        Self {
            id,
            level,
            filters: FilterGroup::default(),
            types: Types::default(),
            mappings: Mappings::default(),
            operator,
            proxies: Mutex::default(),
        }
    }

    /// Whether an event passes the filters of a proxy and of its admin. Without filters every event
    /// passes.
    pub(crate) fn combine(&self, proxy: &FilterGroup, event: &Event) -> bool {
        match self.operator {
            InterFilterGroupOperator::AndOp => proxy.passes(event) && self.filters.passes(event),
            InterFilterGroupOperator::OrOp => proxy.passes(event) || self.filters.passes(event),
        }
    }

    pub(crate) fn proxies(&self) -> MutexGuard<'_, BTreeMap<i32, (ObjectRef, bool)>> {
        self.proxies.lock()
    }

    /// The ids of the push proxies, or of the pull proxies.
    pub(crate) fn ids(&self, pushes: bool) -> Vec<i32> {
        let proxies = self.proxies();
        let of_kind = proxies
            .iter()
            .filter(|(_, (_, is_push))| *is_push == pushes);
        of_kind.map(|(id, _)| *id).collect()
    }
}
