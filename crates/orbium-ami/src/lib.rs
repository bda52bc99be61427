// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations (AMI, CORBA 3.3 Part 1, clause 17.10), without a thread for
//! each.
//!
//! The caller's thread writes and sends the request, over a connection that all asynchronous
//! invocations of one priority to one server share. A reader thread for each priority, which has
//! that priority, receives the replies and monitors the deadlines. It never blocks: worker threads
//! of the same priority connect and retry. A reply is unmarshalled where it is consumed: by the
//! task that awaits it, by the thread that waits for it, or by a worker thread of the caller's
//! priority that runs a reply handler.
//!
//! Synchronous calls, and the choice of a connection for an attempt, are not in this crate but in
//! `orbium-client`. Its user is `orbium-core`; programs use the `_async` forms of stubs.
#![forbid(unsafe_code)]

mod answer;
mod begin;
mod call;
mod handle;
mod line;
mod pending_call;
mod pollable_set;
mod poller;
mod reader;
mod readers;
mod ready_queue;
mod request;

pub use begin::{call_async, call_async_in_context, call_async_or_answer, call_async_or_serve};
pub use handle::Asynchronous;
pub use pollable_set::{Pollable, PollableError, PollableId, PollableSet};
pub use poller::Poller;
pub use readers::ReplyReaders;
pub use ready_queue::ReadyQueue;
pub use request::{Answered, LateAnswers};
