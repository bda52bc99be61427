// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues of a schedule, and the threads that serve them.

pub(crate) mod dispatcher;
pub(crate) mod job;
pub(crate) mod lanes;
pub(crate) mod ready_queue;
pub(crate) mod schedule_dispatch;
pub(crate) mod thread;
pub(crate) mod work_queue;
