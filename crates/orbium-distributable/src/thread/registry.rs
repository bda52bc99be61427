// SPDX-License-Identifier: MIT OR Apache-2.0
//! The distributable threads of this process, and early cancellations.

use std::collections::{HashMap, VecDeque};

use orbium::lock::{Mutex, MutexGuard};

use crate::propagation::notice::Inherited;
use crate::thread::DistributableThread;
use crate::thread::id::ThreadId;

/// Maximum number of stored cancellations of unknown threads, and of notices about unknown calls.
const MAX_EARLY: usize = 64;

/// Distributable threads by id.
#[derive(Debug, Default)]
pub(crate) struct Registry(Mutex<Threads>);

#[derive(Debug, Default)]
struct Threads {
    /// Each with the number of its upcalls here.
    known: HashMap<ThreadId, (DistributableThread, usize)>,
    /// Cancelled before their requests arrived; the oldest is dropped first.
    early: VecDeque<ThreadId>,
    /// Notices about calls that have not arrived; likewise.
    notices: VecDeque<Inherited>,
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.0.lock()
    }

    /// The thread of that id, which begins here or arrives.
    pub(crate) fn enter(&self, id: ThreadId) -> DistributableThread {
        let mut threads = self.lock();
        let cancelled = threads.early.contains(&id);
        let entry = threads.known.entry(id);
        let (thread, count) = entry.or_insert_with(|| (DistributableThread::new(id), 0));
        *count += 1;
        if cancelled {
            thread.mark_cancelled();
        }
        thread.clone()
    }

    /// Reverts one [`enter`](Self::enter).
    pub(crate) fn leave(&self, id: ThreadId) {
        let mut threads = self.lock();
        if let Some((_, count)) = threads.known.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                threads.known.remove(&id);
            }
        }
    }

    pub(crate) fn find(&self, id: ThreadId) -> Option<DistributableThread> {
        self.lock().known.get(&id).map(|(thread, _)| thread.clone())
    }

    /// The thread, to be cancelled; the cancellation of an unknown one is stored until it arrives.
    pub(crate) fn find_or_remember(&self, id: ThreadId) -> Option<DistributableThread> {
        let mut threads = self.lock();
        let known = threads.known.get(&id).map(|(thread, _)| thread.clone());
        if known.is_none() && !threads.early.contains(&id) {
            if threads.early.len() == MAX_EARLY {
                threads.early.pop_front();
            }
            threads.early.push_back(id);
        }
        known
    }

    /// The notice about a call that has overtaken its request.
    pub(crate) fn take_notice(&self, call: u64) -> Option<Inherited> {
        let notices = &mut self.lock().notices;
        let index = notices.iter().position(|it| it.call == call)?;
        notices.remove(index)
    }

    /// Stores a notice about a call that has not arrived, or has ended.
    pub(crate) fn remember(&self, notice: Inherited) {
        let mut threads = self.lock();
        let notices = &mut threads.notices;
        let known = notices.iter_mut().find(|it| it.call == notice.call);
        match known {
            Some(known) if known.sequence < notice.sequence => *known = notice,
            Some(_) => {}
            None => {
                if notices.len() == MAX_EARLY {
                    notices.pop_front();
                }
                notices.push_back(notice);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::parameter::SchedulingParameter;
    use crate::thread::State;

    #[test]
    fn a_thread_is_known_while_it_has_upcalls() {
        let registry = Registry::default();
        let id = ThreadId::unique();
        for _ in 0..2 {
            registry.enter(id);
        }
        registry.leave(id);
        assert!(registry.find(id).is_some());
        registry.leave(id);
        assert!(registry.find(id).is_none());
    }

    #[test]
    fn early_cancellations_are_remembered_and_bounded() {
        let registry = Registry::default();
        let ids: Vec<_> = (0..=MAX_EARLY).map(|_| ThreadId::unique()).collect();
        for id in &ids {
            assert!(registry.find_or_remember(*id).is_none());
        }
        assert_eq!(registry.enter(ids[0]).state(), State::Active);
        assert_eq!(registry.enter(ids[1]).state(), State::Cancelled);
    }

    #[test]
    fn a_notice_that_overtakes_its_request_counts() {
        let registry = Registry::default();
        let notice = |call, sequence, priority| Inherited {
            call,
            sequence,
            parameter: Some(SchedulingParameter::FixedPriority { priority }),
        };
        registry.remember(notice(1, 3, 30));
        registry.remember(notice(1, 2, 20));
        assert_eq!(registry.take_notice(1), Some(notice(1, 3, 30)));
        // It was for that call only.
        assert_eq!(registry.take_notice(1), None);
        for call in 0..1000 {
            registry.remember(notice(call, 2, 0));
        }
        assert_eq!(registry.lock().notices.len(), MAX_EARLY);
    }
}
