// SPDX-License-Identifier: MIT OR Apache-2.0
//! Number of nodes of the constraints with which an event may be compared.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The nodes of all constraints of the filters of an object.
#[derive(Default)]
pub(super) struct NodeCount(AtomicUsize);

impl NodeCount {
    /// Adds nodes, unless there are more than `most` then.
    pub(super) fn add(&self, nodes: usize, most: usize) -> bool {
        let added = |count: usize| count.checked_add(nodes).filter(|it| *it <= most);
        let added = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, added);
        added.is_ok()
    }

    pub(super) fn remove(&self, nodes: usize) {
        self.0.fetch_sub(nodes, Ordering::Relaxed);
    }
}
