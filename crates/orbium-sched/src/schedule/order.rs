// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priorities of operations, and their order within a queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::Graph;
use crate::info::{Assignment, Handle};
use crate::options::Options;
use crate::repository::Repository;
use crate::threads::Thread;

/// The queue of each operation: the most urgent one of the threads that run it.
pub(super) fn queue_of(threads: &[Thread], queues: &[u32], operations: usize) -> Vec<Option<u32>> {
    let mut queue_of: Vec<Option<u32>> = vec![None; operations];
    for (thread, queue) in threads.iter().zip(queues) {
        for handle in &thread.operations {
            let known = &mut queue_of[handle.index()];
            *known = Some(known.map_or(*queue, |it| it.min(*queue)));
        }
    }
    queue_of
}

/// The assignment of each operation: its queue and its position there. Dependencies come before
/// dependants, then the more important, then the older ones.
pub(super) fn assign(
    repository: &Repository,
    graph: &Graph,
    queue_of: &[Option<u32>],
    options: &Options,
) -> Vec<Option<Assignment>> {
    let infos = repository.infos();
    let last = queue_of.iter().flatten().max();
    let mut places = vec![0_u32; last.map_or(0, |it| *it as usize + 1)];
    let mut assignments = vec![None; infos.len()];
    for index in ordered(repository, graph, queue_of) {
        let Some(queue) = queue_of[index] else {
            continue;
        };
        let place = &mut places[queue as usize];
        assignments[index] = Some(Assignment {
            preemption_priority: queue,
            subpriority: *place,
            priority: options.priority(queue as usize),
        });
        *place += 1;
    }
    assignments
}

/// All operations, each after those of its queue that it depends on, the important first.
fn ordered(repository: &Repository, graph: &Graph, queue_of: &[Option<u32>]) -> Vec<usize> {
    let infos = repository.infos();
    let mut waiting = vec![0_usize; infos.len()];
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); infos.len()];
    for index in 0..infos.len() {
        let dependencies = graph.callees[index].iter().chain(&graph.suppliers[index]);
        for (on, _) in dependencies.filter(|(on, _)| queue_of[*on] == queue_of[index]) {
            waiting[index] += 1;
            dependants[*on].push(index);
        }
    }
    let key = |index: usize| {
        (
            infos[index].timing.importance,
            Reverse(Handle::at(index)),
            index,
        )
    };
    let ready = (0..infos.len()).filter(|index| waiting[*index] == 0);
    let mut ready: BinaryHeap<_> = ready.map(key).collect();
    let mut order = Vec::with_capacity(infos.len());
    while let Some((_, _, index)) = ready.pop() {
        order.push(index);
        for dependant in &dependants[index] {
            waiting[*dependant] -= 1;
            if waiting[*dependant] == 0 {
                ready.push(key(*dependant));
            }
        }
    }
    order
}
