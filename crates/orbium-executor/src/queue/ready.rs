// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ready tasks, in the order of a policy.

use std::collections::VecDeque;

use crate::queue::levels::Levels;
use crate::queue::policy::Policy;
use crate::queue::runs::Runs;

/// Tasks in the order in which they run: by key, and first come first served among equals. It does
/// not allocate within the reserved number.
#[derive(Debug)]
pub(crate) enum ReadyQueue<T> {
    /// All keys are equal.
    Fifo(VecDeque<T>),
    /// Many tasks share a key, which does not depend on time.
    Levels(Levels<T>),
    /// Each job has a key of its own, from the time of its release: later ones have greater keys,
    /// except those of other relative deadlines.
    Runs(Runs<T>),
}

impl<T> ReadyQueue<T> {
    pub(crate) fn new(policy: Policy, capacity: usize) -> Self {
        match policy {
            Policy::Fifo => Self::Fifo(VecDeque::with_capacity(capacity)),
            _ if policy.reads_clock() => Self::Runs(Runs::with_capacity(capacity)),
            _ => Self::Levels(Levels::with_capacity(capacity)),
        }
    }

    /// Reserves memory for so many tasks in total.
    pub(crate) fn reserve(&mut self, tasks: usize) {
        match self {
            Self::Fifo(queue) => queue.reserve(tasks.saturating_sub(queue.len())),
            Self::Levels(levels) => levels.reserve(tasks),
            Self::Runs(runs) => runs.reserve(tasks),
        }
    }

    pub(crate) fn push(&mut self, key: u128, task: T) {
        match self {
            Self::Fifo(queue) => queue.push_back(task),
            Self::Levels(levels) => levels.push(key, task),
            Self::Runs(runs) => runs.push(key, task),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        match self {
            Self::Fifo(queue) => queue.pop_front(),
            Self::Levels(levels) => levels.pop(),
            Self::Runs(runs) => runs.pop(),
        }
    }

    /// As [`push`](Self::push), then [`pop`](Self::pop), but cheaper.
    pub(crate) fn exchange(&mut self, key: u128, task: T) -> T {
        match self {
            Self::Fifo(queue) => match queue.pop_front() {
                Some(first) => {
                    queue.push_back(task);
                    first
                }
                None => task,
            },
            Self::Levels(levels) => levels.exchange(key, task),
            Self::Runs(runs) => runs.exchange(key, task),
        }
    }

    /// Removes the tasks for which `is_kept` is false, in linear time.
    pub(crate) fn retain(&mut self, is_kept: impl FnMut(&T) -> bool) {
        match self {
            Self::Fifo(queue) => queue.retain(is_kept),
            Self::Levels(levels) => levels.retain(is_kept),
            Self::Runs(runs) => runs.retain(is_kept),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fifo(queue) => queue.len(),
            Self::Levels(levels) => levels.len(),
            Self::Runs(runs) => runs.len(),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reference implementation: a list that is sorted by key after each push; the sort is stable.
    #[derive(Default)]
    struct SortedList(Vec<(u128, usize)>);

    impl SortedList {
        fn push(&mut self, key: u128, task: usize) {
            self.0.push((key, task));
            self.0.sort_by_key(|(key, _)| *key);
        }

        fn pop(&mut self) -> Option<usize> {
            (!self.0.is_empty()).then(|| self.0.remove(0).1)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(u128),
        Pop,
        Exchange(u128),
        /// Removes the tasks with a number of that remainder.
        Remove {
            divisor: usize,
            remainder: usize,
        },
        /// Removes one task, as a migration or a change of QoS.
        RemoveOne(usize),
    }

    fn step(keys: u128) -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..keys).prop_map(Step::Push),
            2 => Just(Step::Pop),
            4 => (0..keys).prop_map(Step::Exchange),
            1 => (1..9_usize, 0..9_usize).prop_map(|(divisor, remainder)| Step::Remove { divisor, remainder }),
            1 => (0..200_usize).prop_map(Step::RemoveOne),
        ]
    }

    /// Many tasks of few keys, or almost as many keys as tasks.
    fn steps() -> impl Strategy<Value = Vec<Step>> {
        prop_oneof![Just(1), Just(3), Just(200)]
            .prop_flat_map(|keys| prop::collection::vec(step(keys), 0..200))
    }

    /// The keys of jobs under EDF, LLF or MUF: up to 50 have passed since the last step, and the
    /// deadline is relative to that time. Occasionally a job continues, as a task that yields or
    /// migrates, so that its key is in the past.
    fn jobs() -> impl Strategy<Value = Vec<Step>> {
        let deadline = prop_oneof![Just(0), Just(100), Just(200), Just(5_000)];
        let released = (
            0..50_u128,
            deadline,
            prop_oneof![9 => Just(0), 1 => 1..2_000_u128],
        );
        let change = prop_oneof![
            6 => Just(Step::Exchange(0)),
            3 => Just(Step::Push(0)),
            2 => Just(Step::Pop),
            1 => (0..300_usize).prop_map(Step::RemoveOne),
        ];
        let steps = prop::collection::vec((released, change), 0..300);
        steps.prop_map(|steps| {
            let mut now = 2_000;
            let at_a_time = |((passed, deadline, ago), change)| {
                now += passed;
                match change {
                    Step::Push(_) => Step::Push(now + deadline - ago),
                    Step::Exchange(_) => Step::Exchange(now + deadline - ago),
                    other => other,
                }
            };
            steps.into_iter().map(at_a_time).collect()
        })
    }

    /// Applies the steps to the queue of a policy and to a list. Only FIFO has no keys.
    fn compare(policy: Policy, steps: &[Step]) -> Result<(), TestCaseError> {
        let mut queue = ReadyQueue::new(policy, 0);
        let mut list = SortedList::default();
        let of = |key| if policy == Policy::Fifo { 0 } else { key };
        for (number, step) in steps.iter().enumerate() {
            match *step {
                Step::Push(key) => {
                    queue.push(of(key), number);
                    list.push(of(key), number);
                }
                Step::Pop => prop_assert_eq!(queue.pop(), list.pop()),
                Step::Exchange(key) => {
                    list.push(of(key), number);
                    prop_assert_eq!(Some(queue.exchange(of(key), number)), list.pop());
                }
                Step::Remove { divisor, remainder } => {
                    queue.retain(|task| task % divisor != remainder);
                    list.0.retain(|(_, task)| task % divisor != remainder);
                }
                Step::RemoveOne(removed) => {
                    queue.retain(|task| *task != removed);
                    list.0.retain(|(_, task)| *task != removed);
                }
            }
            prop_assert_eq!(queue.len(), list.0.len());
        }
        while let Some(task) = list.pop() {
            prop_assert_eq!(queue.pop(), Some(task));
        }
        prop_assert_eq!(queue.pop(), None);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

        #[test]
        fn the_order_is_that_of_a_sorted_list(steps in steps()) {
            for policy in Policy::ALL {
                compare(policy, &steps)?;
            }
        }

        #[test]
        fn the_order_of_jobs_is_that_of_a_sorted_list(steps in jobs()) {
            for policy in Policy::ALL {
                compare(policy, &steps)?;
            }
        }
    }
}
