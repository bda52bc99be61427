// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of the NATS client, separate from those of the ORB.

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::time;

use crate::error::{Awaited, JetStreamError};

/// A private runtime: one thread for the connection, and one for each consumer that is being
/// called; one for observers and one for the file of the spool.
pub(crate) struct Runtime(Option<tokio::runtime::Runtime>);

impl Runtime {
    /// Starts the thread of the connection.
    pub(crate) fn start(consumers: usize) -> Result<Self, JetStreamError> {
        let mut builder = Builder::new_multi_thread();
        builder
            .worker_threads(1)
            .max_blocking_threads(consumers.saturating_add(3))
            .thread_name("orbium-jetstream")
            .enable_all();
        let started = builder.build();
        Ok(Self(Some(started.map_err(|_| JetStreamError::NoThread)?)))
    }

    /// The handle with which tasks are spawned.
    pub(crate) fn handle(&self) -> Result<&Handle, JetStreamError> {
        let runtime = self.0.as_ref().ok_or(JetStreamError::Ended)?;
        Ok(runtime.handle())
    }

    /// Runs a future on the runtime, and blocks the caller until it is ready or times out.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        (limit, awaited): (Duration, Awaited),
        future: impl Future<Output = Result<T, JetStreamError>> + Send + 'static,
    ) -> Result<T, JetStreamError> {
        let (send, outcome) = mpsc::sync_channel(1);
        self.handle()?.spawn(async move {
            let outcome = time::timeout(limit, future).await;
            // The caller waits for it.
            let _ = send.send(outcome.unwrap_or(Err(JetStreamError::Timeout(awaited))));
        });
        outcome.recv().unwrap_or(Err(JetStreamError::Ended))
    }
}

impl Drop for Runtime {
    /// Does not wait for running tasks: one of them may drop it.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
