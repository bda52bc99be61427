// SPDX-License-Identifier: MIT OR Apache-2.0
//! The notice of flow control: a program's call-back for the connections of buffered oneways.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use orbium_channel::Channel;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};

/// Maximum number of undelivered changes. Beyond it an earlier one of the same channel is
/// discarded.
const MAX_WAITING: usize = 1024;

/// State of flow control: whether a connection accepts the bytes of buffered oneways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowControl {
    /// It accepts none now: oneways remain in the buffer.
    Begins,
    /// It accepts bytes again, or was closed.
    Ends,
}

/// A program's call-back.
pub(crate) type FlowControlObserver = dyn FnMut(&Channel, FlowControl) + Send;

/// Delivers changes to the call-back on a dedicated thread.
#[derive(Debug, Default)]
pub(crate) struct FlowControlNotices {
    shared: OnceLock<Arc<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Channel, FlowControl)>,
    ended: bool,
}

impl FlowControlNotices {
    /// Registers `observer` for changes; `false` if there is another observer, no thread for it, or
    /// the ORB has ended.
    pub(crate) fn observe(&self, observer: Box<FlowControlObserver>) -> bool {
        let shared = Arc::new(Shared::default());
        let runs = Arc::clone(&shared);
        if self.shared.set(shared).is_err() {
            return false;
        }
        let run = Box::new(move || runs.run(observer));
        let spawned = orbium_sys::spawn_detached("orbium-notice", None, run);
        if let Err(error) = &spawned {
            orbium_trace::log::warn!(target: "orbium::conn", %error, "no thread for the notice of flow control");
            self.end();
        }
        spawned.is_ok()
    }

    /// Notes that flow control begins or ends. Does not block.
    pub(crate) fn note(&self, channel: &Channel, change: FlowControl) {
        let Some(shared) = self.shared.get() else {
            return;
        };
        let mut state = shared.lock();
        if state.ended {
            return;
        }
        if state.waiting.len() >= MAX_WAITING {
            let earlier = state.waiting.iter().position(|(of, _)| of == channel);
            earlier.and_then(|place| state.waiting.remove(place));
        }
        state.waiting.push_back((channel.clone(), change));
        drop(state);
        shared.changed.notify_one();
    }

    /// Ends the thread once the pending changes are delivered; further changes are not.
    pub(crate) fn end(&self) {
        let ended = self.shared.get_or_init(Arc::default);
        ended.lock().ended = true;
        ended.changed.notify_one();
    }
}

impl Drop for FlowControlNotices {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn run(&self, mut observer: Box<FlowControlObserver>) {
        while let Some((channel, change)) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| observer(&channel, change))).is_err() {
                orbium_trace::log::warn!(target: "orbium::conn", address = %channel, "the notice of flow control panicked");
            }
        }
    }

    /// Waits for a change; `None` at the end.
    fn next(&self) -> Option<(Channel, FlowControl)> {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.waiting.pop_front() {
                return Some(next);
            }
            if state.ended {
                return None;
            }
            state = self.changed.wait(state);
        }
    }
}

impl fmt::Display for FlowControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begins => "flow control begins",
            Self::Ends => "flow control ends",
        })
    }
}
