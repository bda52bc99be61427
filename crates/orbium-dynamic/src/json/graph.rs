// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of valuetypes that are written, or were read, as JSON.

use std::collections::{HashMap, HashSet};

use orbium_value::{Linked, ValueBase};

/// The values of what is written as JSON.
pub(super) struct Graph {
    all: Vec<ValueBase>,
    /// The identities of the values that occur more than once.
    pub(super) shared: HashSet<usize>,
}

impl Graph {
    pub(super) fn of(data: &Linked) -> Self {
        let all = data.reachable();
        let mut occurring = HashSet::new();
        let mut shared = HashSet::new();
        let mut count = |values: &[Option<ValueBase>]| {
            for value in values.iter().flatten() {
                if !occurring.insert(value.identity()) {
                    shared.insert(value.identity());
                }
            }
        };
        count(data.values());
        for state in all.iter().filter_map(ValueBase::state) {
            count(state.values());
        }
        Self { all, shared }
    }
}

/// The graph has the only handles: cycles of values are broken.
impl Drop for Graph {
    fn drop(&mut self) {
        self.all.iter().for_each(ValueBase::clear_state);
    }
}

/// The values that were made while JSON is read.
#[derive(Default)]
pub(super) struct Made {
    pub(super) all: Vec<ValueBase>,
    pub(super) by_id: HashMap<String, ValueBase>,
}

/// As those of a [`Graph`].
impl Drop for Made {
    fn drop(&mut self) {
        self.all.iter().for_each(ValueBase::clear_state);
    }
}
