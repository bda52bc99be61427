// SPDX-License-Identifier: MIT OR Apache-2.0
//! The readers of an ORB: one for each priority of callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use orbium_client::ClientContext;
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_invocation::Priority;
use orbium_invocation::exceptions::already_shut_down;
use orbium_sync::lock::Mutex;
use orbium_sys::fork::PerProcess;
use orbium_trace::log::{self, EventLimit};

use super::reader::Reader;
use orbium_invocation::call_exceptions::exhausted;

/// Maximum number of priorities with a reader of their own. Callers of further ones share that of
/// the next more urgent priority.
const MAX_READERS: usize = 64;

#[derive(Default)]
struct State {
    readers: Vec<Arc<Reader>>,
    closed: bool,
}

/// The readers of asynchronous replies of an ORB. A forked child has separate threads.
#[derive(Default)]
pub struct ReplyReaders {
    here: PerProcess<Readers>,
    undelivered: AtomicU64,
    undelivered_log: EventLimit,
}

impl ReplyReaders {
    /// The readers of this process.
    pub(super) fn here(&self) -> &Readers {
        self.here.get_or_init(Readers::default)
    }

    /// Counts and logs a reply that its handler object did not accept: `operation` is that of the
    /// call.
    #[cold]
    pub fn note_undelivered(&self, operation: &str, exception: SystemException) {
        self.undelivered.fetch_add(1, Ordering::Relaxed);
        if let Some(suppressed) = self.undelivered_log.admit() {
            log::warn!(
                target: "orbium::call",
                operation,
                %exception,
                suppressed,
                "a reply handler did not take the reply of an asynchronous call",
            );
        }
    }

    /// The number of replies that handlers could not take.
    pub fn undelivered(&self) -> u64 {
        self.undelivered.load(Ordering::Relaxed)
    }

    /// Ends all pending calls permanently; waits for running handlers.
    pub fn close(&self) {
        if let Some(readers) = self.here.get() {
            readers.close(true);
        }
    }
}

/// One reader for each priority.
#[derive(Default)]
pub(super) struct Readers {
    state: Mutex<State>,
    under_way: Arc<AtomicUsize>,
    last_number: AtomicU64,
}

/// A pending call, as a unit of the count.
pub(super) struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Readers {
    pub(super) fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts one more call.
    ///
    /// # Errors
    /// NO_RESOURCES: the maximum number is reached.
    pub(super) fn count_in(&self, limit: usize) -> Result<UnderWay, SystemException> {
        let before = self.under_way.fetch_add(1, Ordering::Relaxed);
        let counted = UnderWay(Arc::clone(&self.under_way));
        if before < limit {
            return Ok(counted);
        }
        let (kind, code) = (ExceptionKind::NoResources, minor::CALLS_UNDER_WAY);
        Err(SystemException::orbium(kind, code, Completion::No))
    }

    /// The reader for callers of a priority.
    ///
    /// # Errors
    /// BAD_INV_ORDER after the end; NO_RESOURCES if the system refuses a descriptor.
    pub(super) fn reader(
        &self,
        client: &ClientContext,
        priority: Option<Priority>,
    ) -> Result<Arc<Reader>, SystemException> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(already_shut_down());
        }
        let mut known = state.readers.iter();
        if let Some(reader) = known.find(|reader| reader.priority() == priority) {
            return Ok(Arc::clone(reader));
        }
        if state.readers.len() >= MAX_READERS
            && let Some(reader) = next_more_urgent(&state.readers, priority)
        {
            return Ok(reader);
        }
        let reader = Reader::new(client, priority).map_err(|error| {
            log::warn!(target: "orbium::conn", %error, "no reader for asynchronous calls");
            exhausted()
        })?;
        state.readers.push(Arc::clone(&reader));
        Ok(reader)
    }

    /// Ends all pending calls. Waits for running handlers if `waits`.
    fn close(&self, waits: bool) {
        let readers = {
            let mut state = self.state.lock();
            state.closed = true;
            std::mem::take(&mut state.readers)
        };
        for reader in readers {
            reader.close(waits);
        }
    }
}

fn next_more_urgent(readers: &[Arc<Reader>], priority: Option<Priority>) -> Option<Arc<Reader>> {
    let above = readers.iter().filter(|it| it.priority() >= priority);
    let next = above.min_by_key(|reader| reader.priority());
    let next = next.or_else(|| readers.iter().max_by_key(|reader| reader.priority()));
    next.cloned()
}

impl Drop for Readers {
    /// An ORB without references has no pending calls. The last reference may belong to one of the
    /// threads that end here.
    fn drop(&mut self) {
        self.close(false);
    }
}
