// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making connections for callers that serve others while they wait.

use std::io;
use std::sync::Arc;

use orbium_invocation::reactor::{keeps_reactor, wait_on_reactor};
use orbium_sync::lock::Mutex;
use orbium_sync::{ThreadCache, role};
use orbium_sys::{Interest, Waker};
use orbium_transport::{ByteStream, Connector, Deadline};

use crate::connection::connecting::nonblocking;

type Made = io::Result<Box<dyn ByteStream>>;

/// Connects on another thread of the lane if this one has the reactor, which must not block.
pub(crate) fn connect(connector: &Arc<dyn Connector>, deadline: Deadline) -> Made {
    match keeps_reactor() {
        Some(threads) => connect_elsewhere(&threads, connector, deadline),
        None => nonblocking(&**connector, deadline),
    }
}

fn connect_elsewhere(
    threads: &ThreadCache,
    connector: &Arc<dyn Connector>,
    deadline: Deadline,
) -> Made {
    let done: Arc<(Waker, Mutex<Option<Made>>)> = Arc::new((Waker::new()?, Mutex::new(None)));
    let (own, theirs) = (Arc::clone(connector), Arc::clone(&done));
    let begun = threads.run(move || {
        let made = nonblocking(&*own, deadline);
        let (waker, place) = &*theirs;
        *place.lock() = Some(made);
        waker.wake();
    });
    if begun.is_err() {
        role::about_to_block();
        return nonblocking(&**connector, deadline);
    }
    let (waker, place) = &*done;
    wait_on_reactor(waker.source(), Interest::Read, deadline)?;
    let made = place.lock().take();
    made.unwrap_or_else(|| Err(io::ErrorKind::Other.into()))
}
