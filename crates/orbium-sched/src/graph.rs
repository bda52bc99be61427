// SPDX-License-Identifier: MIT OR Apache-2.0
//! The graph of dependencies: acyclic, with a topological order.

use crate::error::SchedError;
use crate::info::{DependencyKind, RtInfo};
use crate::repository::Repository;

/// An edge: the index of the other operation, and the number of calls.
pub(crate) type Edge = (usize, u64);

/// The dependencies of a repository by index.
pub(crate) struct Graph {
    /// Two-way: the operations that each operation calls.
    pub(crate) callees: Vec<Vec<Edge>>,
    /// Two-way: the callers of each operation.
    pub(crate) callers: Vec<Vec<Edge>>,
    /// One-way: the suppliers of each operation.
    pub(crate) suppliers: Vec<Vec<Edge>>,
    /// The position of each operation in the topological order, dependencies before dependants.
    pub(crate) position: Vec<usize>,
    /// The operations in that order.
    pub(crate) order: Vec<usize>,
}

impl Graph {
    /// # Errors
    /// `CyclicDependencies`.
    pub(crate) fn new(repository: &Repository) -> Result<Self, SchedError> {
        let infos = repository.infos();
        let count = infos.len();
        let mut graph = Graph {
            callees: vec![Vec::new(); count],
            callers: vec![Vec::new(); count],
            suppliers: vec![Vec::new(); count],
            position: vec![0; count],
            order: Vec::with_capacity(count),
        };
        for (index, info) in infos.iter().enumerate() {
            for it in repository.followed(info) {
                let (on, calls) = (it.on.index(), u64::from(it.calls));
                match it.kind {
                    DependencyKind::TwoWayCall => {
                        graph.callees[index].push((on, calls));
                        graph.callers[on].push((index, calls));
                    }
                    DependencyKind::OneWayCall => graph.suppliers[index].push((on, calls)),
                }
            }
        }
        graph.sort().map_err(|cycle| {
            let name = |index: &usize| infos[*index].entry_point.clone();
            SchedError::CyclicDependencies(cycle.iter().map(name).collect())
        })?;
        Ok(graph)
    }

    /// Whether a thread begins with that operation: it has no caller, or has its own threads, or
    /// runs for each event of a supplier.
    pub(crate) fn is_entry(&self, index: usize, info: &RtInfo) -> bool {
        info.timing.threads > 0
            || self.callers[index].is_empty()
            || !self.suppliers[index].is_empty()
    }

    /// The dependency of an operation of that number, calls first.
    fn dependency(&self, index: usize, number: usize) -> Option<usize> {
        let calls = &self.callees[index];
        let edge = match number.checked_sub(calls.len()) {
            None => calls.get(number),
            Some(number) => self.suppliers[index].get(number),
        };
        edge.map(|(on, _)| *on)
    }

    /// Sorts depth first, without recursion: the length of chains is that of the input. Fails with
    /// a cycle, its first operation repeated at the end.
    fn sort(&mut self) -> Result<(), Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            Not,
            Begun,
            Done,
        }
        let mut visits = vec![Visit::Not; self.callees.len()];
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..self.callees.len() {
            if visits[root] == Visit::Not {
                visits[root] = Visit::Begun;
                path.push((root, 0));
            }
            while let Some((index, number)) = path.last_mut() {
                let (index, on) = (*index, self.dependency(*index, *number));
                *number += 1;
                match on {
                    None => {
                        visits[index] = Visit::Done;
                        self.position[index] = self.order.len();
                        self.order.push(index);
                        path.pop();
                    }
                    Some(on) if visits[on] == Visit::Begun => return Err(cycle(&path, on)),
                    Some(on) if visits[on] == Visit::Not => {
                        visits[on] = Visit::Begun;
                        path.push((on, 0));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }
}

fn cycle(path: &[(usize, usize)], on: usize) -> Vec<usize> {
    let from = path.iter().position(|(index, _)| *index == on);
    let members = path.iter().skip(from.unwrap_or(0));
    members.map(|(index, _)| *index).chain([on]).collect()
}
