// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of a context.

/// The state of a context, and what it has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextCounts {
    /// Tasks that have not ended.
    pub tasks: usize,
    /// Those of them that wait for a thread.
    pub ready: usize,
    /// Threads.
    pub threads: usize,
    /// Threads that wait for a task.
    pub idle_threads: usize,
    /// How often a thread has taken a task.
    pub switches: u64,
    /// Tasks that have panicked.
    pub panics: u64,
    /// Threads that migrated here and were refused the native scheduling of the context.
    pub refused_schedulings: u64,
}
