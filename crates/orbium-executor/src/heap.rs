// SPDX-License-Identifier: MIT OR Apache-2.0
//! A heap that is first come first served among equals.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::mem;

/// Tasks by key, and by arrival among equals.
#[derive(Debug)]
pub(crate) struct FairHeap<T> {
    heap: BinaryHeap<Keyed<T>>,
    pushed: u64,
}

#[derive(Debug)]
struct Keyed<T> {
    order: (u128, u64),
    task: T,
}

impl<T> FairHeap<T> {
    pub(crate) fn with_capacity(tasks: usize) -> Self {
        Self {
            heap: BinaryHeap::with_capacity(tasks),
            pushed: 0,
        }
    }

    /// Reserves memory for so many tasks in all.
    pub(crate) fn reserve(&mut self, tasks: usize) {
        self.heap.reserve(tasks.saturating_sub(self.heap.len()));
    }

    pub(crate) fn push(&mut self, key: u128, task: T) {
        let keyed = self.keyed(key, task);
        self.heap.push(keyed);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|it| it.task)
    }

    /// As [`push`](Self::push), then [`pop`](Self::pop), with half of their work.
    pub(crate) fn exchange(&mut self, key: u128, task: T) -> T {
        let mut own = self.keyed(key, task);
        if let Some(mut first) = self.heap.peek_mut()
            && first.order < own.order
        {
            mem::swap(&mut *first, &mut own);
        }
        own.task
    }

    /// Removes the tasks for which `is_kept` is false, in linear time.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&T) -> bool) {
        self.heap.retain(|it| is_kept(&it.task));
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    fn keyed(&mut self, key: u128, task: T) -> Keyed<T> {
        let order = (key, self.pushed);
        self.pushed += 1;
        Keyed { order, task }
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
