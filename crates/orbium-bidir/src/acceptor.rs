// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acceptor of connections that the ORB has opened itself, for its server engine.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::Waker;
use orbium_transport::{Acceptor, ByteStream};

use crate::serving::ServingHalf;

/// Opened connections that the server engine has not yet taken over.
#[derive(Debug)]
pub(crate) struct Arrivals {
    queue: Mutex<Option<VecDeque<ServingHalf>>>,
    waker: Waker,
}

impl Arrivals {
    /// # Errors
    /// Out of descriptors.
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            queue: Mutex::new(Some(VecDeque::new())),
            waker: Waker::new()?,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<ServingHalf>>> {
        self.queue.lock()
    }

    /// Whether the server engine takes over connections.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    /// Passes a connection to the server engine; it is dropped, and thus ended, if no engine
    /// accepts it.
    pub(crate) fn put(&self, half: ServingHalf) {
        let mut queue = self.lock();
        if let Some(queue) = &mut *queue {
            queue.push_back(half);
            self.waker.wake();
        }
    }
}

/// Accepts them for a lane of the ORB.
#[derive(Debug)]
pub(crate) struct OpenedAcceptor(pub(crate) Arc<Arrivals>);

impl Acceptor for OpenedAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        self.0.waker.clear();
        let mut queue = self.0.lock();
        let next = queue.as_mut().and_then(VecDeque::pop_front);
        if queue.as_ref().is_some_and(|queue| !queue.is_empty()) {
            self.0.waker.wake();
        }
        match next {
            Some(half) => Ok(Box::new(half)),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn source(&self) -> &dyn AsFd {
        self.0.waker.source()
    }

    fn address(&self) -> &str {
        ""
    }
}

impl Drop for OpenedAcceptor {
    fn drop(&mut self) {
        // Dropped without the lock.
        let left = self.0.lock().take();
        drop(left);
    }
}
