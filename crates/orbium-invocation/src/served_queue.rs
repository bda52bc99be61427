// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue that the calling thread serves while it waits in a nested call: that of the main
//! thread, within its upcalls.
//!
//! This thread may be the only one that can serve requests that its own call depends on. So another
//! thread waits for the reply in its place, over any transport, and this one serves its queue until
//! the reply has arrived. As with the [reactor](crate::thread::reactor), waits return in the
//! reverse order of their beginning.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_sync::lock::Mutex;
use orbium_sync::{oneshot, role};

/// Maximum number of nested waits on one stack. Beyond it, the thread just waits for its replies.
const MAX_NESTED_WAITS: u32 = 32;

/// A queue that a thread of the program serves.
pub trait ServedQueue: Send + Sync {
    /// Runs a job on a separate thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    fn run_aside(&self, job: Box<dyn FnOnce() + Send>) -> io::Result<()>;

    /// Serves present and later requests, until the flag is set or the queue ends.
    fn serve_until(&self, is_over: &AtomicBool);

    /// Makes `serve_until` check its flag again.
    fn look_again(&self);
}

thread_local! {
    /// The queue that this thread serves.
    static OWN: RefCell<Option<Arc<dyn ServedQueue>>> = const { RefCell::new(None) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Marks this thread as serving a queue, as long as it is held.
pub struct Serving(Option<Arc<dyn ServedQueue>>);

impl Serving {
    /// Makes this thread serve that queue.
    #[must_use]
    pub fn new(queue: Arc<dyn ServedQueue>) -> Self {
        Self(OWN.replace(Some(queue)))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        OWN.set(self.0.take());
    }
}

fn own() -> Option<Arc<dyn ServedQueue>> {
    if role::is_set() && DEPTH.get() < MAX_NESTED_WAITS {
        OWN.with_borrow(Clone::clone)
    } else {
        None
    }
}

/// Whether this thread runs an upcall from a queue that it serves while it waits.
#[must_use]
pub fn is_served_by_this_thread() -> bool {
    own().is_some()
}

/// Runs `wait` on another thread if this one serves its queue while it waits, and here otherwise;
/// `None` after a panic there.
pub fn wait_serving<R: Send + 'static>(wait: impl FnOnce() -> R + Send + 'static) -> Option<R> {
    let Some(queue) = own() else {
        return Some(wait());
    };
    let (done, finished) = oneshot();
    let work = Arc::new(Mutex::new(Some(wait)));
    let over = Over {
        is_over: Arc::default(),
        queue: Arc::clone(&queue),
    };
    let is_over = Arc::clone(&over.is_over);
    let theirs = Arc::clone(&work);
    let job = move || {
        let _over = over;
        if let Some(wait) = take(&theirs) {
            done.send(wait());
        }
    };
    if queue.run_aside(Box::new(job)).is_ok() {
        let _deeper = Deeper::new();
        queue.serve_until(&is_over);
    }
    // The queue may have ended before the wait. A wait that no thread has begun is run here.
    let result = finished.recv();
    result.or_else(|| take(&work).map(|wait| wait()))
}

fn take<F>(work: &Mutex<Option<F>>) -> Option<F> {
    work.lock().take()
}

/// Ends the wait when it is dropped.
struct Over {
    is_over: Arc<AtomicBool>,
    queue: Arc<dyn ServedQueue>,
}

impl Drop for Over {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.queue.look_again();
    }
}

/// A further nested wait on this stack.
struct Deeper;

impl Deeper {
    fn new() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
