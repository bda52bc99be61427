// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies by futures, on an executor chosen by the program.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use orbium_invocation::raises::Raises;

use super::reply::DeferredReply;

/// A future that ends with the outcome of an operation.
type Work<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

impl<T: 'static, E: Raises + 'static> DeferredReply<T, E> {
    /// Replies with the outcome of a future. `spawn` runs futures, like `tokio::spawn` or the
    /// equivalent of another executor. When the client cancels the request or is gone, the future
    /// is dropped; if the executor drops it, the client gets NO_RESPONSE.
    ///
    /// ```
    /// # use std::{future::Future, pin::Pin, sync::Arc};
    /// # use orbium_request::DeferredReply;
    /// # use orbium_giop::SystemException;
    /// # struct Call;
    /// # type Spawn = Box<dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>)>;
    /// # struct Recorder { spawn: Spawn, disk: Arc<Disk> }
    /// # struct Disk;
    /// impl Disk {
    ///     async fn read(self: Arc<Self>, at: u32) -> Result<Vec<u8>, SystemException> {
    ///         Ok(vec![0; at as usize])
    ///     }
    /// }
    /// # impl Recorder {
    /// fn read(&self, _: &Call, at: u32, reply: DeferredReply<Vec<u8>>) {
    ///     reply.spawn(&self.spawn, Arc::clone(&self.disk).read(at));
    /// }
    /// # }
    /// ```
    pub fn spawn(
        self,
        spawn: impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>),
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) {
        spawn(Box::pin(Answering {
            reply: Some(self),
            work: Some(Box::pin(work)),
        }));
    }
}

/// Runs the work, and replies with its outcome.
struct Answering<T, E> {
    reply: Option<DeferredReply<T, E>>,
    /// `None` once it has ended.
    work: Option<Work<T, E>>,
}

// Only a boxed part is pinned.
impl<T, E> Unpin for Answering<T, E> {}

impl<T: 'static, E: Raises + 'static> Future for Answering<T, E> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (Some(reply), Some(work)) = (&this.reply, &mut this.work) else {
            return Poll::Ready(());
        };
        let open = reply.request();
        if reply.response_expected() && open.is_none_or(|it| it.poll_cancelled(context.waker())) {
            this.work = None;
            this.reply = None;
            return Poll::Ready(());
        }
        let Poll::Ready(outcome) = work.as_mut().poll(context) else {
            return Poll::Pending;
        };
        this.work = None;
        if let Some(reply) = this.reply.take()
            && let Err(exception) = reply.complete(outcome)
        {
            crate::log::warn!(
                target: "orbium::request",
                error = %exception,
                "the outcome of a future could not be sent",
            );
        }
        Poll::Ready(())
    }
}
