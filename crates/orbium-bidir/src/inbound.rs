// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receive queues of a bidirectional connection, one for each half.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use orbium_channel::peer_memory::{Budget, Charge, SMALL};
use orbium_sys::Waker;

use crate::pending_requests::{Calls, HalfId};
use crate::splitter::{Halves, Splitter};

/// Bytes that one receive takes.
const RECEIVE_SIZE: usize = 16 * 1024;

/// Requests that calling halves read for the server engine while it serves others; with more
/// they stop to read.
const MAX_READ_AHEAD: usize = 1 << 20;

/// Which half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Serving,
    Calling(HalfId),
}

/// Bytes in order, charged to the budget of peers.
#[derive(Debug, Default)]
struct Queue {
    octets: Vec<u8>,
    gone: usize,
    charge: Charge,
    waker: Option<Arc<Waker>>,
    has_ended: bool,
}

impl Queue {
    fn new(budget: &Budget) -> Self {
        Self {
            charge: budget.charge(),
            ..Self::default()
        }
    }

    fn len(&self) -> usize {
        self.octets.len() - self.gone
    }

    /// Adds bytes; without memory for them the queue ends.
    fn add(&mut self, bytes: &[u8]) {
        if self.has_ended {
            return;
        }
        let len = self.len() + bytes.len();
        if len > SMALL && self.charge.set(len).is_err() {
            self.charge.budget().count_refused();
            return self.end();
        }
        if self.gone > self.octets.len() / 2 {
            self.octets.drain(..self.gone);
            self.gone = 0;
        }
        self.octets.extend_from_slice(bytes);
        self.wake();
    }

    fn end(&mut self) {
        self.has_ended = true;
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }

    /// Takes what fits into `room`; `None` if there is nothing.
    fn take(&mut self, room: &mut [u8]) -> Option<usize> {
        let len = self.len().min(room.len());
        if len == 0 {
            return None;
        }
        room[..len].copy_from_slice(&self.octets[self.gone..self.gone + len]);
        self.gone += len;
        if self.len() == 0 {
            self.gone = 0;
            self.octets.clear();
            if self.octets.capacity() > SMALL {
                self.octets = Vec::new();
            }
            // Less is never refused.
            let _ = self.charge.set(0);
            if let (Some(waker), false) = (&self.waker, self.has_ended) {
                waker.clear();
            }
        }
        Some(len)
    }
}

/// The receiving direction.
#[derive(Debug)]
pub(crate) struct Inbound {
    splitter: Splitter,
    pub(crate) calls: Calls,
    requests: Queue,
    replies: HashMap<HalfId, Queue>,
    last_half: u64,
    /// One thread at a time receives, without the lock.
    pub(crate) is_read: bool,
    room: Vec<u8>,
    end: Option<Option<io::ErrorKind>>,
    /// No more calls begin.
    is_closing: bool,
    budget: Budget,
}

impl Inbound {
    pub(crate) fn new(is_opener: bool, budget: &Budget) -> Self {
        Self {
            splitter: Splitter::new(),
            calls: Calls::new(is_opener),
            requests: Queue::new(budget),
            replies: HashMap::new(),
            last_half: 0,
            is_read: false,
            room: Vec::new(),
            end: None,
            is_closing: false,
            budget: budget.clone(),
        }
    }

    /// A new calling half; `None` if the connection has ended, or one side has closed it.
    pub(crate) fn add_half(&mut self) -> Option<HalfId> {
        if self.end.is_some() || self.is_closing || self.splitter.was_closed {
            return None;
        }
        self.last_half += 1;
        let half = HalfId(self.last_half);
        self.replies.insert(half, Queue::new(&self.budget));
        Some(half)
    }

    /// A calling half is gone.
    pub(crate) fn remove_half(&mut self, half: HalfId) {
        self.replies.remove(&half);
        self.calls.forget(half);
    }

    /// Whether there is a calling half.
    pub(crate) fn has_halves(&self) -> bool {
        !self.replies.is_empty()
    }

    fn queue(&mut self, half: Half) -> Option<&mut Queue> {
        match half {
            Half::Serving => Some(&mut self.requests),
            Half::Calling(half) => self.replies.get_mut(&half),
        }
    }

    /// What is there for a half: bytes, the end, or nothing yet.
    ///
    /// # Errors
    /// With which the stream ended.
    pub(crate) fn take(&mut self, half: Half, room: &mut [u8]) -> Option<io::Result<usize>> {
        let end = self.end;
        let Some(queue) = self.queue(half) else {
            return Some(Ok(0));
        };
        if let Some(len) = queue.take(room) {
            return Some(Ok(len));
        }
        match end {
            Some(Some(kind)) => Some(Err(kind.into())),
            Some(None) => Some(Ok(0)),
            None => queue.has_ended.then_some(Ok(0)),
        }
    }

    /// Whether something is there for a half, or the end.
    pub(crate) fn has_some(&self, half: Half) -> bool {
        let queue = match half {
            Half::Serving => Some(&self.requests),
            Half::Calling(half) => self.replies.get(&half),
        };
        self.end.is_some() || queue.is_none_or(|it| it.len() > 0 || it.has_ended)
    }

    /// Whether no more is read ahead for the server engine.
    pub(crate) fn is_full(&self) -> bool {
        self.requests.len() >= MAX_READ_AHEAD
    }

    /// Shows at `waker` whether something is there for a calling half.
    pub(crate) fn show(&mut self, half: HalfId, waker: &Arc<Waker>) {
        let has_some = self.has_some(Half::Calling(half));
        if let Some(queue) = self.replies.get_mut(&half) {
            queue.waker = Some(Arc::clone(waker));
        }
        if has_some {
            waker.wake();
        }
    }

    /// Nothing more comes for a calling half.
    pub(crate) fn end_half(&mut self, half: HalfId) {
        if let Some(queue) = self.replies.get_mut(&half) {
            queue.end();
        }
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self, error: Option<io::ErrorKind>) {
        if self.end.is_none() {
            self.end = Some(error);
            self.requests.wake();
            self.replies.values().for_each(Queue::wake);
        }
    }

    /// This side has closed the connection: no more calls begin.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Number of the newest announcement that the peer has, as it has answered a request that
    /// carried it.
    pub(crate) fn answered(&self) -> u32 {
        self.splitter.answered
    }

    /// Begins to read: the memory to receive into.
    pub(crate) fn begin_to_read(&mut self) -> Vec<u8> {
        self.is_read = true;
        let mut room = std::mem::take(&mut self.room);
        room.resize(RECEIVE_SIZE, 0);
        room
    }

    /// Takes what was received; whether something was.
    pub(crate) fn received(&mut self, room: Vec<u8>, received: io::Result<usize>) -> bool {
        self.is_read = false;
        let came = match received {
            Ok(0) => {
                self.end(None);
                true
            }
            Ok(len) => {
                self.split(&room[..len]);
                true
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => false,
                kind => {
                    self.end(Some(kind));
                    true
                }
            },
        };
        self.room = room;
        came
    }

    fn split(&mut self, bytes: &[u8]) {
        let mut to = Delivery {
            requests: &mut self.requests,
            replies: &mut self.replies,
        };
        self.splitter.split(bytes, &mut self.calls, &mut to);
        if self.requests.has_ended {
            // There is no memory for a request of which a part may be with the engine.
            self.end(Some(io::ErrorKind::OutOfMemory));
        }
    }
}

struct Delivery<'i> {
    requests: &'i mut Queue,
    replies: &'i mut HashMap<HalfId, Queue>,
}

impl Halves for Delivery<'_> {
    fn serve(&mut self, bytes: &[u8]) {
        self.requests.add(bytes);
    }

    fn answer(&mut self, half: HalfId, bytes: &[u8]) {
        if let Some(queue) = self.replies.get_mut(&half) {
            queue.add(bytes);
        }
    }

    fn answer_all(&mut self, bytes: &[u8]) {
        for queue in self.replies.values_mut() {
            queue.add(bytes);
        }
    }
}
