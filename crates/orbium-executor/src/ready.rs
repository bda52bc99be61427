// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tasks that are ready, in the order of a policy.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::mem;

use crate::policy::Policy;

/// Tasks in the order in which they run. It does not allocate while it has as many as were reserved.
#[derive(Debug)]
pub(crate) enum ReadyQueue<T> {
    /// First come first served.
    Fifo(VecDeque<T>),
    /// By key; and by arrival among equals, which `pushed` counts.
    Keyed {
        heap: BinaryHeap<Keyed<T>>,
        pushed: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Keyed<T> {
    order: (u128, u64),
    task: T,
}

impl<T> ReadyQueue<T> {
    pub(crate) fn new(policy: Policy, capacity: usize) -> Self {
        match policy {
            Policy::Fifo => Self::Fifo(VecDeque::with_capacity(capacity)),
            _ => Self::Keyed {
                heap: BinaryHeap::with_capacity(capacity),
                pushed: 0,
            },
        }
    }

    /// Reserves memory for so many tasks in all.
    pub(crate) fn reserve(&mut self, tasks: usize) {
        let additional = tasks.saturating_sub(self.len());
        match self {
            Self::Fifo(queue) => queue.reserve(additional),
            Self::Keyed { heap, .. } => heap.reserve(additional),
        }
    }

    pub(crate) fn push(&mut self, key: u128, task: T) {
        match self {
            Self::Fifo(queue) => queue.push_back(task),
            Self::Keyed { heap, pushed } => {
                let order = (key, *pushed);
                *pushed += 1;
                heap.push(Keyed { order, task });
            }
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        match self {
            Self::Fifo(queue) => queue.pop_front(),
            Self::Keyed { heap, .. } => heap.pop().map(|it| it.task),
        }
    }

    /// As [`push`](Self::push), then [`pop`](Self::pop), with half of their work.
    pub(crate) fn exchange(&mut self, key: u128, task: T) -> T {
        match self {
            Self::Fifo(queue) => match queue.pop_front() {
                Some(first) => {
                    queue.push_back(task);
                    first
                }
                None => task,
            },
            Self::Keyed { heap, pushed } => {
                let mut own = Keyed {
                    order: (key, *pushed),
                    task,
                };
                *pushed += 1;
                if let Some(mut first) = heap.peek_mut()
                    && first.order < own.order
                {
                    mem::swap(&mut *first, &mut own);
                }
                own.task
            }
        }
    }

    /// Removes the tasks for which `is_kept` is false, in linear time.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&T) -> bool) {
        match self {
            Self::Fifo(queue) => queue.retain(is_kept),
            Self::Keyed { heap, .. } => heap.retain(|it| is_kept(&it.task)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fifo(queue) => queue.len(),
            Self::Keyed { heap, .. } => heap.len(),
        }
    }
}

impl<T> Ord for Keyed<T> {
    /// The greatest runs first, as the heap has it.
    fn cmp(&self, other: &Self) -> Ordering {
        other.order.cmp(&self.order)
    }
}

impl<T> PartialOrd for Keyed<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Keyed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<T> Eq for Keyed<T> {}
