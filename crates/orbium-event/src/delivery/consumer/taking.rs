// SPDX-License-Identifier: MIT OR Apache-2.0
//! The serving side of a consumer: its own thread or task, the thread of a queue of a schedule, or
//! that of a supplier. It takes no lock while each taken set was the only one.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use super::{Action, Consumer, Delivery};
use crate::delivery::queue::{Behind, EventSet, Taken};

impl Consumer {
    fn take(&self) -> Option<EventSet> {
        let newer = match self.take_first() {
            Taken::Set(set) => return Some(set),
            Taken::Nothing => return None,
            Taken::Behind => None,
            Taken::Newer(arrived) => Some(arrived),
        };
        let behind = &mut self.lock().behind;
        if let Some(arrived) = newer {
            self.queue.put_back(behind, arrived);
        }
        if self.is_held() {
            return None;
        }
        self.take_behind(behind)
    }

    /// Takes a set without the lock, unless batches have several events.
    fn take_first(&self) -> Taken {
        if self.is_held() {
            return Taken::Nothing;
        }
        match self.queue.len() {
            1.. if self.is_paced() => Taken::Behind,
            2.. if self.batch() > 1 => Taken::Behind,
            _ => self.queue.take(),
        }
    }

    /// Takes the next batch.
    pub(super) fn take_behind(&self, behind: &mut Behind) -> Option<EventSet> {
        let set = EventSet::joined(self.batch(), || self.queue.pop(behind));
        self.hold_rest(behind);
        set
    }

    /// As [`wait`](Self::wait), for a task of a scheduler context.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Delivery>> {
        if self.is_closed() {
            return Poll::Ready(None);
        }
        let is_known = |waker: &Arc<Waker>| waker.will_wake(context.waker());
        let mut set = self.take();
        if set.is_none() && !self.waker.load().as_ref().is_some_and(is_known) {
            let mut state = self.lock();
            self.waker.store(Some(Arc::new(context.waker().clone())));
            // A set that was put before has notified another waker.
            if self.is_closed() {
                return Poll::Ready(None);
            }
            if !self.is_held() {
                set = self.take_behind(&mut state.behind);
            }
        }
        match set {
            Some(set) => Poll::Ready(Some((self.sink(), set))),
            None => Poll::Pending,
        }
    }

    /// Registers this thread as the one that waits. Called before its first wait.
    pub(crate) fn served_by_this_thread(&self) {
        self.lock().thread = Some(thread::current());
    }

    /// Waits for the next set of the queue; `None` when the connection has ended.
    pub(crate) fn wait(&self) -> Option<Delivery> {
        loop {
            if self.is_closed() {
                return None;
            }
            match self.take() {
                Some(set) => return Some((self.sink(), set)),
                // A set that is put after that has left a token.
                None => thread::park(),
            }
        }
    }

    /// The next set for the thread of its place, and the action that remains.
    pub(crate) fn take_submitted(&self) -> (Option<Delivery>, Action) {
        let mut set = match self.take_first() {
            Taken::Set(set) => Some(set),
            Taken::Newer(arrived) => {
                self.queue.put_back(&mut self.lock().behind, arrived);
                None
            }
            Taken::Behind | Taken::Nothing => None,
        };
        let mut action = Action::Nothing;
        if set.is_none() || !self.serving.leave() {
            let behind = &mut self.lock().behind;
            if self.is_held() {
                self.serving.remain(0);
                return (set.map(|set| (self.sink(), set)), action);
            }
            set = set.or_else(|| EventSet::joined(self.batch(), || self.queue.pop_behind(behind)));
            if self.hold_rest(behind) {
                self.serving.remain(0);
                return (set.map(|set| (self.sink(), set)), action);
            }
            let next = self.queue.next_arrived(behind);
            self.serving.remain(self.queue.len());
            if let Some((place, arrived)) = self.place.zip(next) {
                action = Action::Submit(place, arrived);
            }
        }
        (set.map(|set| (self.sink(), set)), action)
    }

    /// The next set for a supplier's thread. After `None` another thread may push.
    pub(crate) fn next_or_end(&self) -> Option<Delivery> {
        if self.serving.leave() {
            return None;
        }
        let behind = &mut self.lock().behind;
        let set = if self.is_held() {
            None
        } else {
            self.take_behind(behind)
        };
        let Some(set) = set else {
            self.serving.remain(0);
            return None;
        };
        self.serving.remain(self.queue.len() + 1);
        Some((self.sink(), set))
    }
}
