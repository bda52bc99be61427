// SPDX-License-Identifier: MIT OR Apache-2.0
//! The filters that the factory of a process has created.

use std::collections::BTreeMap;
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};

use crate::filter::filters::FilterState;
use crate::filter::mapping::MappingState;

/// A filter of this process.
#[derive(Clone)]
pub(crate) enum Made {
    Filter(Arc<FilterState>),
    Mapping(Arc<MappingState>),
}

type Table = BTreeMap<Vec<u8>, Made>;

/// Filters by the ids of their objects.
#[derive(Clone, Default)]
pub(crate) struct FilterTable(Arc<Mutex<Table>>);

impl FilterTable {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}
