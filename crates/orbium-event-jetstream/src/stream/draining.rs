// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending the events of the spool to the stream.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::config::JetStreamConfig;
use crate::error::JetStreamError;
use crate::stream::connecting::make_stream;
use crate::stream::publisher::{Publisher, is_too_large};
use crate::stream::spool::{Front, Spool};

/// Maximum number of events that are removed together.
const EVENTS: usize = 64;
/// Maximum bytes of these events.
const BYTES: u64 = 1 << 20;
/// Delays between two attempts.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// Sends the events of the spool whenever a server is available.
pub(crate) struct Draining {
    pub(crate) config: Arc<JetStreamConfig>,
    pub(crate) spool: Arc<Spool>,
    pub(crate) publisher: Publisher,
    pub(crate) context: Context,
    /// Whether the streams exist.
    pub(crate) is_made: bool,
}

impl Draining {
    /// Runs until the runtime ends.
    pub(crate) async fn run(mut self) {
        loop {
            if !self.spool.is_direct() {
                self.drain().await;
            }
            self.spool.filled().await;
        }
    }

    /// Returns when the spool is empty.
    async fn drain(&mut self) {
        let (stream, waiting) = (&self.config.stream, self.spool.events());
        tracing::warn!(target: "orbium::event", stream, waiting, "events are kept in the spool until the stream can be reached");
        let (mut pause, mut count) = (RETRY_PAUSES[0], 0);
        loop {
            match self.turn().await {
                Ok(sent) => {
                    count += sent;
                    pause = RETRY_PAUSES[0];
                    if self.spool.end_if_empty() {
                        break;
                    }
                    if sent == 0 {
                        // Pushed events are being written to the disk.
                        self.spool.filled().await;
                    }
                }
                Err(why) => {
                    // Once for each series of failures.
                    if let Some(why) = why.filter(|_| pause == RETRY_PAUSES[0]) {
                        tracing::warn!(target: "orbium::event", stream = self.config.stream, %why, "the spool waits");
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(RETRY_PAUSES[1]);
                }
            }
        }
        tracing::info!(target: "orbium::event", stream = self.config.stream, count, "the events of the spool are stored");
    }

    /// Sends the events at the front one after the other: each is acknowledged before the next is
    /// sent, since those of a lost connection would arrive behind them. Returns the number of sent
    /// events.
    ///
    /// # Errors
    /// The reason why no more are sent for now; `None` without a connection.
    async fn turn(&mut self) -> Result<u64, Option<JetStreamError>> {
        if !self.publisher.is_connected() {
            return Err(None);
        }
        if !self.is_made {
            for name in self.config.streams() {
                let config = Arc::clone(&self.config);
                let made = make_stream(self.context.clone(), config, name.to_owned()).await;
                made.map_err(|it| it.error)?;
            }
            self.is_made = true;
        }
        let spool = Arc::clone(&self.spool);
        let front = blocking(move || spool.front(EVENTS, BYTES)).await?;
        self.send(front).await
    }

    /// Sends events up to one that is not acknowledged, and removes the acknowledged ones.
    async fn send(&mut self, front: Front) -> Result<u64, Option<JetStreamError>> {
        let (sent, failure) = self.store(&front).await;
        let failed = failure.as_ref().map(PublishError::kind);
        if failed == Some(PublishErrorKind::StreamNotFound) {
            self.is_made = false;
        }
        let is_too_large = failure.as_ref().is_some_and(is_too_large);
        let removed = sent + usize::from(is_too_large);
        if removed > 0 {
            let spool = Arc::clone(&self.spool);
            blocking(move || {
                let refused = is_too_large.then(|| &front.entries[sent]);
                spool.remove(front.numbers(sent), refused)
            })
            .await?;
        }
        match failure {
            Some(error) if !is_too_large => Err(Some(JetStreamError::Refused(error.to_string()))),
            _ => Ok(removed as u64),
        }
    }

    /// The number of events at the front that are stored, and the error of the next one.
    async fn store(&self, front: &Front) -> (usize, Option<PublishError>) {
        for (sent, (_, message)) in front.entries.iter().enumerate() {
            let Err(error) = self.publisher.store_once(message).await else {
                continue;
            };
            if is_too_large(&error) {
                tracing::error!(target: "orbium::event", id = message.id, subject = message.subject, bytes = message.payload.len(), "an event exceeds the largest message of the server or the stream: it stays in the spool");
            }
            return (sent, Some(error));
        }
        (front.entries.len(), None)
    }
}

/// Reads or writes the file on a thread that may block.
async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, JetStreamError> + Send + 'static,
) -> Result<T, JetStreamError> {
    let done = spawn_blocking(act).await;
    done.unwrap_or(Err(JetStreamError::Ended))
}
