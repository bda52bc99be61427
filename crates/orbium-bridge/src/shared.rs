// SPDX-License-Identifier: MIT OR Apache-2.0
//! State shared by the threads of a bridge.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_channel::Channel;
use orbium_core::Config;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::Waker;
use orbium_transport::{ByteStream, Connector};

/// The state shared by all threads of a bridge.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) listens: Vec<Channel>,
    pub(crate) to: Channel,
    pub(crate) connector: Box<dyn Connector>,
    pub(crate) stopping: AtomicBool,
    pub(crate) waker: Waker,
    pub(crate) streams: Mutex<Streams>,
}

/// The open streams, to be ended with the bridge.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    pub(crate) next: u64,
    pub(crate) open: HashMap<u64, Pair>,
}

/// A client's stream and, once connected, the server's.
pub(crate) type Pair = (Arc<dyn ByteStream>, Option<Arc<dyn ByteStream>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
