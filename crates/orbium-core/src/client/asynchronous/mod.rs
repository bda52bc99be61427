// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations (AMI, CORBA 3.3 Part 1, clause 17.10), without a thread for
//! each.
//!
//! The caller's thread writes and sends the request, over a connection that all
//! asynchronous invocations of one priority to one server share. A reader thread for
//! each priority, which has that priority, receives the replies and keeps the
//! deadlines. It never blocks: worker threads of the same priority connect and retry. A
//! reply is unmarshalled where it is consumed: by the task that awaits it, by the
//! thread that asks for it, or by a worker thread of the caller's priority that runs a
//! reply handler.

mod call;
mod handle;
mod line;
mod reader;
mod readers;
mod reply;
mod request;
mod work;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};

pub use handle::Asynchronous;
pub(crate) use readers::ReplyReaders;
pub(crate) use reply::Reply;

use crate::raises::Raises;
use crate::{ObjectRef, Operation};
use call::Call;
use request::Values;

impl ObjectRef {
    /// Begins a call of an operation. Whatever fails, sending too, comes out of
    /// its result.
    ///
    /// The request goes out now, from this thread, unless the connection has to be
    /// made first or its peer is slow to take it. `write` may run more than once,
    /// on other threads too: when the server closed the connection before it
    /// began, or said that the object is elsewhere.
    pub fn call_async<A: Send + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        arguments: A,
        write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
        results: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Asynchronous<T, E> {
        let arguments = Values {
            values: arguments,
            write,
        };
        Asynchronous::new(Call::begin(self, operation, Box::new(arguments)), results)
    }
}
