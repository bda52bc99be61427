// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations, with the feature `ami`.

use std::any::Any;
use std::sync::Arc;

use orbium_ami::ReplyReaders;
use orbium_cdr::{CdrError, CdrReader, CdrWriter};

pub use orbium_ami::{Asynchronous, Pollable, PollableError, PollableId, PollableSet, Poller};

use crate::client::Reference;
use crate::orb::state::EndsWithOrb;
use crate::raises::Raises;
use crate::{ObjectRef, Operation, Orb};

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
        let object: Arc<Reference> = Arc::clone(&self.0) as _;
        let readers = reply_readers(self.orb());
        orbium_ami::call_async(readers, object, operation, arguments, write, results)
    }
}

/// The readers of an ORB, made for its first asynchronous call.
fn reply_readers(orb: &Orb) -> &ReplyReaders {
    let slot = &orb.core().reply_readers;
    let readers: &dyn Any = &**slot.get_or_init(|| Box::new(ReplyReaders::default()));
    match readers.downcast_ref() {
        Some(readers) => readers,
        None => unreachable!("nothing else sets the slot"),
    }
}

impl EndsWithOrb for ReplyReaders {
    fn end(&self) {
        self.close();
    }
}
