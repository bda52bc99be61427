// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of each thread as text.

use std::collections::HashSet;

use crate::info::{DependencyKind, Handle};
use crate::repository::Repository;
use crate::schedule::Schedule;

/// The threads with the operations that each of them calls, and the number of calls per run of the
/// caller. Calls of an operation are shown once per thread; `...` stands for them after that.
/// Disabled operations and dependencies are omitted.
///
/// ```text
/// Rudder::steer, 10 ms, suppliers: Gyro::update
///   2 x Gyro::read, 2 ms
/// ```
#[must_use]
pub fn call_tree(repository: &Repository, schedule: &Schedule) -> String {
    let mut tree = Tree {
        repository,
        text: String::new(),
        shown: HashSet::new(),
    };
    for thread in &schedule.threads {
        tree.shown.clear();
        tree.add(thread.entry);
    }
    tree.text
}

struct Tree<'a> {
    repository: &'a Repository,
    text: String,
    shown: HashSet<Handle>,
}

impl Tree<'_> {
    /// Adds a thread, without recursion: the depth of calls is that of the input.
    fn add(&mut self, entry: Handle) {
        let mut pending = vec![(entry, 1, 0)];
        while let Some((handle, calls, depth)) = pending.pop() {
            let Ok(info) = self.repository.get(handle) else {
                continue;
            };
            // Deeper lines would only contain blanks.
            self.text.push_str(&"  ".repeat(depth.min(40)));
            if depth > 0 {
                self.text.push_str(&format!("{calls} x "));
            }
            let time = info.timing.worst_case_execution_time;
            self.text.push_str(&format!("{}, {time}", info.entry_point));
            let followed = self.repository.followed(info);
            let of_kind = |kind| followed.clone().filter(move |it| it.kind == kind);
            let suppliers: Vec<_> = of_kind(DependencyKind::OneWayCall)
                .map(|it| self.repository.name(it.on))
                .collect();
            if !suppliers.is_empty() {
                let suppliers = suppliers.join(", ");
                self.text.push_str(&format!(", suppliers: {suppliers}"));
            }
            let callees: Vec<_> = of_kind(DependencyKind::TwoWayCall).collect();
            let is_new = self.shown.insert(handle);
            if is_new || callees.is_empty() {
                self.text.push('\n');
            } else {
                self.text.push_str(" ...\n");
            }
            if is_new {
                let callees = callees.into_iter().rev();
                pending.extend(callees.map(|it| (it.on, it.calls, depth + 1)));
            }
        }
    }
}
