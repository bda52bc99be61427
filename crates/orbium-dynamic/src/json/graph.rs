// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of valuetypes that are written, or were read, as JSON.

use std::collections::{HashMap, HashSet};

use orbium_value::{Linked, ValueBase};

use crate::owned_values::OwnedValues;

/// The values in data that are written as JSON.
#[derive(Default)]
pub(super) struct Graph {
    /// Kept until the end.
    _all: OwnedValues,
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
        Self {
            _all: OwnedValues(all),
            shared,
        }
    }
}

/// The values created while JSON is read.
#[derive(Default)]
pub(super) struct Made {
    pub(super) all: OwnedValues,
    pub(super) by_id: HashMap<String, ValueBase>,
}
