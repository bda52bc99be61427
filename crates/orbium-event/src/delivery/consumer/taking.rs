// SPDX-License-Identifier: MIT OR Apache-2.0
//! The side that serves a consumer: a thread or task of its own, the thread of a queue of a schedule, or that of a supplier. Where
//! one set has come for each that is taken, it takes no lock.

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

    /// Takes a set without the lock, unless several are to be pushed together.
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

    /// Takes what is to be pushed together.
    pub(super) fn take_behind(&self, behind: &mut Behind) -> Option<EventSet> {
        let set = EventSet::joined(self.batch(), || self.queue.pop(behind));
        self.hold_rest(behind);
        set
    }

    /// As [`wait`](Self::wait), for the task of a context.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Delivery>> {
        if self.is_closed() {
            return Poll::Ready(None);
        }
        let is_known = |waker: &Arc<Waker>| waker.will_wake(context.waker());
        let mut set = self.take();
        if set.is_none() && !self.waker.load().as_ref().is_some_and(is_known) {
            let mut state = self.lock();
            self.waker.store(Some(Arc::new(context.waker().clone())));
            // What was put before has seen another waker.
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

    /// Names the thread that waits, which is this one. Before it waits first.
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
                // What is put after that has left a token.
                None => thread::park(),
            }
        }
    }

    /// What the thread of its place pushes next; and what remains to be submitted for.
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

    /// What a supplier's thread pushes next. If there is nothing, another one may push.
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
