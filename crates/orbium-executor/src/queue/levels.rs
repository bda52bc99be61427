// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue for each key.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::mem;

use crate::tasks::slab::Slab;

/// Tasks by key, first come first served among equals. The cost of a push or pop depends on the
/// number of distinct keys; an exchange of a task for one of the same key does not access any
/// other.
///
/// Queues are linked lists in one slab: memory for the number of tasks suffices, however they are
/// distributed over the keys.
#[derive(Debug)]
pub(crate) struct Levels<T> {
    tasks: Slab<Link<T>>,
    /// Not empty.
    queues: Slab<Queue>,
    /// The keys with tasks, the least first, with the index of the queue.
    order: BinaryHeap<Reverse<(u128, usize)>>,
    /// The index of the queue of each key.
    by_key: HashMap<u128, usize>,
}

/// A task in a queue.
#[derive(Debug)]
struct Link<T> {
    task: T,
    /// The index of the next task; meaningless in the last one.
    next: usize,
}

/// The indices of the first and the last task of a key.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: usize,
    last: usize,
}

impl<T> Levels<T> {
    pub(crate) fn with_capacity(tasks: usize) -> Self {
        let mut levels = Self {
            tasks: Slab::new(),
            queues: Slab::new(),
            order: BinaryHeap::new(),
            by_key: HashMap::new(),
        };
        levels.reserve(tasks);
        levels
    }

    /// Reserves memory for so many tasks in total, each of which may have a separate key.
    pub(crate) fn reserve(&mut self, tasks: usize) {
        let additional = tasks.saturating_sub(self.order.len());
        self.tasks.reserve(tasks);
        self.queues.reserve(tasks);
        self.order.reserve(additional);
        self.by_key.reserve(additional);
    }

    pub(crate) fn push(&mut self, key: u128, task: T) {
        let index = self.tasks.insert(Link { task, next: 0 });
        let queue = self.by_key.get(&key).copied();
        if let Some(queue) = queue {
            self.queues[queue] = self.append(Some(self.queues[queue]), index);
            return;
        }
        let queue = self.append(None, index);
        let queue = self.queues.insert(queue);
        self.by_key.insert(key, queue);
        self.order.push(Reverse((key, queue)));
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let &Reverse((key, queue)) = self.order.peek()?;
        let Queue { first, last } = self.queues[queue];
        let link = self.tasks.remove(first)?;
        if first == last {
            self.order.pop();
            self.by_key.remove(&key);
            self.queues.remove(queue);
        } else {
            self.queues[queue].first = link.next;
        }
        Some(link.task)
    }

    /// As [`push`](Self::push), then [`pop`](Self::pop), but cheaper.
    pub(crate) fn exchange(&mut self, key: u128, task: T) -> T {
        match self.order.peek() {
            Some(&Reverse((least, queue))) if least == key => return self.rotate(queue, task),
            Some(&Reverse((least, _))) if least < key => {}
            _ => return task,
        }
        self.push(key, task);
        self.pop().expect("a task was pushed")
    }

    /// Removes the tasks for which `is_kept` is false, in linear time.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&T) -> bool) {
        let mut order = mem::take(&mut self.order);
        order.retain(|&Reverse((key, queue))| {
            let retained = self.retain_in(queue, &mut is_kept);
            if let Some(retained) = retained {
                self.queues[queue] = retained;
            } else {
                self.queues.remove(queue);
                self.by_key.remove(&key);
            }
            retained.is_some()
        });
        self.order = order;
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Appends a task to the queue and removes the first one, the link of which becomes the last.
    fn rotate(&mut self, queue: usize, task: T) -> T {
        let Queue { first, last } = self.queues[queue];
        let link = &mut self.tasks[first];
        let (removed, next) = (mem::replace(&mut link.task, task), link.next);
        if first != last {
            self.tasks[last].next = first;
            self.queues[queue] = Queue {
                first: next,
                last: first,
            };
        }
        removed
    }

    /// The rest of the queue after removal.
    fn retain_in(&mut self, queue: usize, mut is_kept: impl FnMut(&T) -> bool) -> Option<Queue> {
        let Queue { first, last } = self.queues[queue];
        let (mut retained, mut index) = (None, first);
        loop {
            let next = self.tasks[index].next;
            if is_kept(&self.tasks[index].task) {
                retained = Some(self.append(retained, index));
            } else {
                self.tasks.remove(index);
            }
            if index == last {
                return retained;
            }
            index = next;
        }
    }

    /// The queue with that task appended.
    fn append(&mut self, queue: Option<Queue>, index: usize) -> Queue {
        let first = queue.map_or(index, |queue| {
            self.tasks[queue.last].next = index;
            queue.first
        });
        Queue { first, last: index }
    }
}
