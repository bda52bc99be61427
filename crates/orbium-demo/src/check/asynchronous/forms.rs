// SPDX-License-Identifier: MIT OR Apache-2.0
//! The three forms of an asynchronous call.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use orbium::asynchronous::Asynchronous;
use orbium::codegen::Raises;

use crate::check::verdict::{Verdict, expect, failed, require};

/// Longer than any reply takes on a loaded machine.
pub(super) const PATIENCE: Option<Duration> = Some(Duration::from_secs(120));

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A minimal executor: one future, one thread.
pub(super) fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match Pin::new(&mut future).poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Makes a call in each form, and checks each reply.
pub(super) fn each_form<T, E>(
    begin: impl Fn() -> Asynchronous<T, E>,
    test: impl Fn(Result<T, E>) -> Verdict,
) -> Verdict
where
    T: Send + 'static,
    E: Raises + Send + 'static,
{
    test(block_on(begin()))?;
    let mut polled = begin();
    require(polled.is_ready(PATIENCE), "no answer to poll came")?;
    test(polled.response(Some(Duration::ZERO)))?;
    let (outcomes, received) = mpsc::channel();
    begin().on_reply(move |outcome| {
        // The channel is closed if the check was abandoned.
        let _ = outcomes.send(outcome);
    });
    let received = received.recv_timeout(PATIENCE.unwrap_or_default());
    test(received.map_err(|_| failed("no handler was called"))?)
}

/// Requires the same reply of each form.
pub(super) fn answer<T, E>(want: &T, begin: impl Fn() -> Asynchronous<T, E>) -> Verdict
where
    T: PartialEq + fmt::Debug + Send + 'static,
    E: Raises + std::error::Error + Send + 'static,
{
    each_form(begin, |got| expect("the answer", &got?, want))
}
