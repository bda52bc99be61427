// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for what must happen, never for ever.

use std::pin::pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// How long it may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

struct Notify(Mutex<Sender<()>>);

impl Wake for Notify {
    fn wake(self: Arc<Self>) {
        // Its receiver is gone once the future is ready.
        let _ = self.0.lock().unwrap().send(());
    }
}

/// Runs a future on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let (send, woken) = channel();
    let waker = Waker::from(Arc::new(Notify(Mutex::new(send))));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => woken.recv_timeout(PATIENCE).unwrap(),
        }
    }
}
