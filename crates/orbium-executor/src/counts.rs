// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of a context.

/// The state and the counters of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextCounts {
    /// Tasks that have not ended.
    pub tasks: usize,
    /// Tasks that are ready and wait for a thread.
    pub ready: usize,
    /// Threads.
    pub threads: usize,
    /// Threads that wait for a task.
    pub idle_threads: usize,
    /// The number of times that a thread has taken a task.
    pub switches: u64,
    /// Tasks that have panicked.
    pub panics: u64,
    /// Threads that run without the native scheduling or the processors of the context, which the
    /// host refused: those of a soft context, and those that migrated here.
    pub refused_schedulings: u64,
}
