// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memoised properties of named types: recomputation would be exponential for types nested
//! repeatedly.

use std::cell::RefCell;

use orbium_idl_model::{DefId, DefMap};

/// A property of a named type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fact {
    Copy,
    Default,
    Memory,
    Fixed,
    Recursive,
}

const FACTS: usize = Fact::Recursive as usize + 1;

/// The properties computed so far, by fact and type.
#[derive(Debug, Default)]
pub(crate) struct Facts(RefCell<[DefMap<u64>; FACTS]>);

impl Facts {
    /// The value of a fact, computed by `work` the first time, which may request others.
    pub(crate) fn measured(&self, fact: Fact, id: DefId, work: impl FnOnce() -> u64) -> u64 {
        if let Some(known) = self.0.borrow()[fact as usize].get(id) {
            return *known;
        }
        let found = work();
        self.0.borrow_mut()[fact as usize].insert(id, found);
        found
    }

    /// As [`Self::measured`], for booleans.
    pub(crate) fn known(&self, fact: Fact, id: DefId, work: impl FnOnce() -> bool) -> bool {
        self.measured(fact, id, || u64::from(work())) != 0
    }
}
