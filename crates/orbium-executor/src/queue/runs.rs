// SPDX-License-Identifier: MIT OR Apache-2.0
//! A priority queue of sorted runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::mem;

use crate::tasks::slab::Slab;

/// Tasks by key, first come first served among equals, in as few sorted runs as patience sorting
/// needs (D. Knuth, The Art of Computer Programming, volume 3, 5.1.4): a task is appended to the
/// run with the greatest last key that is not greater than its own.
///
/// Tasks of equal relative deadline are released in the order of their absolute deadlines, so jobs
/// of K relative deadlines need K runs, whatever their number. A push searches the runs; a pop
/// compares the first task of each, in a heap of runs. In the worst case, strictly decreasing keys,
/// each task is a run, and the queue a binary heap.
///
/// The last keys of the runs are in descending order, and remain so: an append leaves the key below
/// that of the previous run. If the pop of a task leaves its run empty, that is the last run, as
/// the tasks of any run behind it have smaller keys: runs are added and removed only at the end. Of
/// equal keys in two runs, that in the previous run is older: the other one was pushed when the
/// last key of the previous run was greater.
#[derive(Debug)]
pub(crate) struct Runs<T> {
    tasks: Slab<Link<T>>,
    /// By last key, the greatest first.
    runs: Vec<Run>,
    /// The first key of each run with tasks, with the index of the run; the least first.
    heads: BinaryHeap<Reverse<(u128, usize)>>,
}

/// A task in a run, with the data of the next one that a pop needs, so that it does not access
/// that.
#[derive(Debug)]
struct Link<T> {
    task: T,
    /// The key and the index of the next task; meaningless in the last one.
    next: (u128, usize),
}

/// A linked list of tasks, in the order of their keys.
#[derive(Debug)]
struct Run {
    /// The key of the last pushed task, which may have been removed since.
    last_key: u128,
    /// `None` only in a run from which tasks were removed.
    list: Option<List>,
}

/// The key and the index of the first task, and the index of the last one.
#[derive(Clone, Copy, Debug)]
struct List {
    first: (u128, usize),
    last: usize,
}

impl<T> Runs<T> {
    pub(crate) fn with_capacity(tasks: usize) -> Self {
        let mut runs = Self {
            tasks: Slab::new(),
            runs: Vec::new(),
            heads: BinaryHeap::new(),
        };
        runs.reserve(tasks);
        runs
    }

    /// Reserves memory for so many tasks in total, each of which may be a run, and for as many runs
    /// of which all tasks have been removed.
    pub(crate) fn reserve(&mut self, tasks: usize) {
        self.tasks.reserve(tasks);
        let runs = tasks.saturating_mul(2);
        self.runs.reserve(runs.saturating_sub(self.runs.len()));
        self.heads.reserve(tasks.saturating_sub(self.heads.len()));
    }

    pub(crate) fn push(&mut self, key: u128, task: T) {
        let link = Link { task, next: (0, 0) };
        let index = self.tasks.insert(link);
        self.append(key, index);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let index = self.detach()?;
        Some(self.tasks.remove(index)?.task)
    }

    /// As [`push`](Self::push), then [`pop`](Self::pop), but cheaper.
    pub(crate) fn exchange(&mut self, key: u128, task: T) -> T {
        let is_later = |Reverse((least, _)): &Reverse<(u128, usize)>| *least <= key;
        if !self.heads.peek().is_some_and(is_later) {
            return task;
        }
        let Some(index) = self.detach() else {
            return task;
        };
        let first = mem::replace(&mut self.tasks[index].task, task);
        self.append(key, index);
        first
    }

    /// Removes the tasks for which `is_kept` is false, in linear time.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&T) -> bool) {
        let tasks = &mut self.tasks;
        self.runs.retain_mut(|run| {
            let retained = run.list.and_then(|it| it.retain(tasks, &mut is_kept));
            run.list = retained;
            retained.is_some()
        });
        self.heads.clear();
        let runs = self.runs.iter().enumerate();
        let heads = runs.filter_map(|(number, run)| Some(Reverse((run.list?.first.0, number))));
        self.heads.extend(heads);
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Appends the task at that index to its run.
    fn append(&mut self, key: u128, index: usize) {
        let number = self.runs.partition_point(|run| run.last_key > key);
        if number == self.runs.len() {
            let (last_key, list) = (key, None);
            self.runs.push(Run { last_key, list });
        }
        let run = &mut self.runs[number];
        run.last_key = key;
        if let Some(list) = &mut run.list {
            list.append(&mut self.tasks, (key, index));
        } else {
            run.list = Some(List::of((key, index)));
            self.heads.push(Reverse((key, number)));
        }
    }

    /// Takes the first task out of its run, and returns its index.
    fn detach(&mut self) -> Option<usize> {
        let mut head = self.heads.peek_mut()?;
        let Reverse((_, number)) = *head;
        let run = &mut self.runs[number];
        let list = run.list.as_mut()?;
        let (_, index) = list.first;
        if index != list.last {
            list.first = self.tasks[index].next;
            *head = Reverse((list.first.0, number));
            return Some(index);
        }
        run.list = None;
        PeekMut::pop(head);
        while self.runs.last().is_some_and(|run| run.list.is_none()) {
            self.runs.pop();
        }
        Some(index)
    }
}

impl List {
    const fn of(task: (u128, usize)) -> Self {
        let (first, last) = (task, task.1);
        Self { first, last }
    }

    fn append<T>(&mut self, tasks: &mut Slab<Link<T>>, task: (u128, usize)) {
        tasks[self.last].next = task;
        self.last = task.1;
    }

    /// The rest of the list after removal.
    fn retain<T>(
        self,
        tasks: &mut Slab<Link<T>>,
        is_kept: &mut impl FnMut(&T) -> bool,
    ) -> Option<Self> {
        let (mut retained, mut task) = (None, self.first);
        loop {
            let (_, index) = task;
            let next = tasks[index].next;
            if !is_kept(&tasks[index].task) {
                tasks.remove(index);
            } else if let Some(list) = &mut retained {
                Self::append(list, tasks, task);
            } else {
                retained = Some(Self::of(task));
            }
            if index == self.last {
                return retained;
            }
            task = next;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_few_relative_deadlines_take_as_many_runs() {
        let mut runs = Runs::with_capacity(0);
        let deadlines = [500, 70, 9_000, 1];
        for now in 0..1_000 {
            for deadline in deadlines {
                runs.push(now + deadline, ());
            }
        }
        assert_eq!((runs.len(), runs.runs.len()), (4_000, 4));
        for now in 1_000..9_000 {
            runs.exchange(now + deadlines[now as usize % 4], ());
            assert!(runs.runs.len() <= 4, "{runs:?}");
        }
    }

    #[test]
    fn keys_that_fall_take_a_run_each() {
        let mut runs = Runs::with_capacity(0);
        (0..100).rev().for_each(|key| runs.push(key, key));
        assert_eq!(runs.runs.len(), 100);
        assert!((0..100).all(|key| runs.pop() == Some(key)));
        assert!(runs.runs.is_empty() && runs.heads.is_empty());
    }

    /// A run retains its last key when that task is removed, so that runs remain in order; without
    /// tasks it is removed with the runs behind it. Memory for two runs per task suffices.
    #[test]
    fn runs_without_tasks_do_not_accumulate() {
        let mut runs = Runs::with_capacity(3);
        let reserved = runs.runs.capacity();
        for round in 0..100 {
            let key = |of: u128| 1_000 * (100 - round) + of;
            runs.push(key(1), 1);
            runs.push(key(100), 100);
            runs.push(key(50), 50);
            runs.retain(|task| *task != 100);
            assert_eq!(runs.pop(), Some(1));
            runs.push(key(40), 40);
            runs.retain(|task| *task != 50);
            assert_eq!(runs.runs.len(), runs.len());
            assert_eq!(runs.pop(), Some(40));
            assert!(runs.runs.is_empty());
        }
        assert_eq!(runs.runs.capacity(), reserved);
    }
}
