// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assignment of threads to queues.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::level::{Dispatching, Level, Verdict};
use crate::info::Criticality;
use crate::options::{Options, Strategy};
use crate::threads::Thread;
use crate::time::Time;

/// Sort key of queues: the background last, then criticality, then period.
type Key = (bool, Reverse<u8>, Time);

/// The queues, the most urgent first, without analysis.
pub(super) fn of(threads: &[Thread], options: &Options) -> Vec<Level> {
    let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (index, thread) in threads.iter().enumerate() {
        by_key.entry(key(thread, options)).or_default().push(index);
    }
    let levels = by_key.into_iter().enumerate();
    levels
        .map(|(queue, (key, indices))| level(queue, key, indices, threads, options))
        .collect()
}

fn key(thread: &Thread, options: &Options) -> Key {
    let is_critical = thread.criticality >= options.critical;
    let (urgency, period) = match options.strategy {
        _ if thread.background => (0, Time::ZERO),
        Strategy::Rms => (0, thread.period),
        Strategy::Edf | Strategy::Mlf => (0, Time::ZERO),
        Strategy::Muf => (thread.criticality as u8, Time::ZERO),
        Strategy::RmsMlf if is_critical => (1, thread.period),
        Strategy::RmsMlf => (0, Time::ZERO),
    };
    (thread.background, Reverse(urgency), period)
}

fn level(
    queue: usize,
    (background, Reverse(urgency), _): Key,
    indices: Vec<usize>,
    threads: &[Thread],
    options: &Options,
) -> Level {
    let own = || indices.iter().map(|index| &threads[*index]);
    let dispatching = match options.strategy {
        _ if background => Dispatching::TimeSliced,
        Strategy::Rms => Dispatching::Static,
        Strategy::Edf => Dispatching::Deadline,
        Strategy::Mlf | Strategy::Muf => Dispatching::Laxity,
        Strategy::RmsMlf if urgency > 0 => Dispatching::Static,
        Strategy::RmsMlf => Dispatching::Laxity,
    };
    let is_critical = match options.strategy {
        Strategy::Muf => urgency >= options.critical as u8,
        Strategy::RmsMlf => urgency > 0,
        _ => true,
    };
    Level {
        queue: u32::try_from(queue).unwrap_or(u32::MAX),
        priority: options.priority(queue),
        dispatching,
        period: own().map(|it| it.period).min().unwrap_or_default(),
        utilization: own().map(Thread::utilization).sum(),
        response: None,
        verdict: if background {
            Verdict::Background
        } else {
            Verdict::NotGuaranteed
        },
        promised: is_critical && !background,
        threads: indices,
    }
}

/// The queue of each thread.
pub(super) fn queues(levels: &[Level], threads: usize) -> Vec<u32> {
    let mut queues = vec![0; threads];
    for level in levels {
        for index in &level.threads {
            queues[*index] = level.queue;
        }
    }
    queues
}

/// Whether a thread belongs to the critical set.
pub(super) fn is_critical(criticality: Criticality, options: &Options) -> bool {
    criticality >= options.critical
}
