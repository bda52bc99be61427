// SPDX-License-Identifier: MIT OR Apache-2.0
//! Storing events in the stream.

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{PublishAckFuture, PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::config::JetStreamConfig;
use crate::error::{Awaited, JetStreamError};
use crate::stream::attempts::{RETRY_PAUSE, ServerFailure, code_of, may_pass};
use crate::stream::connecting::Losses;
use crate::stream::message::Message;

/// Data of the tasks that publish.
#[derive(Clone)]
pub(crate) struct Publisher {
    config: Arc<JetStreamConfig>,
    context: Context,
    permits: Arc<Semaphore>,
    losses: Losses,
}

impl Publisher {
    pub(crate) fn new(config: &Arc<JetStreamConfig>, context: Context, losses: Losses) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(most_at_a_time(config))),
            config: Arc::clone(config),
            context,
            losses,
        }
    }

    /// Whether there is a connection, as far as is known.
    pub(crate) fn is_connected(&self) -> bool {
        self.context.client().connection_state() == State::Connected
    }

    /// Stores events, and retries until `until`. Returns the number of duplicates in the stream.
    ///
    /// # Errors
    /// Some of them may have been stored.
    pub(crate) async fn store_all(
        &self,
        messages: &[Message],
        until: Instant,
    ) -> Result<u64, ServerFailure> {
        let mut duplicates = 0;
        // In chunks of the number of permits, so that no caller waits for permits while it holds
        // some.
        for messages in messages.chunks(most_at_a_time(&self.config)) {
            let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
            let permits = timeout(
                self.config.publish_timeout,
                self.permits.acquire_many(count),
            );
            let in_time = permits.await.map_err(|_| {
                ServerFailure::passing(JetStreamError::Timeout(Awaited::Acknowledgement))
            })?;
            let _permits = in_time.map_err(|_| ServerFailure::lasting(JetStreamError::Ended))?;
            duplicates += self.store(messages, until).await?;
        }
        Ok(duplicates)
    }

    /// Sends all, then waits for the replies of the stream. Messages without a reply, or without
    /// the prospect of one since the connection is lost, are published again, under the same id.
    async fn store(&self, messages: &[Message], until: Instant) -> Result<u64, ServerFailure> {
        let mut sent = Vec::with_capacity(messages.len());
        let losses = self.losses_from_now();
        for message in messages {
            sent.push(self.send(message).await);
        }
        let mut duplicates = 0;
        for (message, first) in messages.iter().zip(sent) {
            let is_duplicate = match acknowledged(first, losses.clone()).await {
                Ok(is_duplicate) => is_duplicate,
                Err(error) => self.store_again(message, error, until).await?,
            };
            duplicates += u64::from(is_duplicate);
        }
        Ok(duplicates)
    }

    async fn store_again(
        &self,
        message: &Message,
        first: PublishError,
        until: Instant,
    ) -> Result<bool, ServerFailure> {
        let mut error = first;
        while self.may_pass(&error) && Instant::now() + RETRY_PAUSE < until {
            sleep(RETRY_PAUSE).await;
            match self.store_once(message).await {
                Ok(is_duplicate) => return Ok(is_duplicate),
                Err(next) => error = next,
            }
        }
        Err(ServerFailure {
            may_pass: self.may_pass(&error),
            error: self.refusal(&error),
        })
    }

    fn is_in_cluster(&self) -> bool {
        self.context.client().server_info().cluster.is_some()
    }

    fn may_pass(&self, error: &PublishError) -> bool {
        may_pass(error, self.is_in_cluster())
    }

    fn refusal(&self, error: &PublishError) -> JetStreamError {
        let is_late = matches!(
            error.kind(),
            PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe
        );
        // A stream without a leader is as one that does not answer.
        if is_late || self.is_in_cluster() && self.may_pass(error) {
            JetStreamError::Timeout(Awaited::Acknowledgement)
        } else if is_too_large(error) {
            JetStreamError::TooLarge
        } else {
            JetStreamError::Refused(error.to_string())
        }
    }

    /// Publishes an event and waits for the reply; returns whether it was a duplicate.
    ///
    /// # Errors
    /// It may have been stored.
    pub(crate) async fn store_once(&self, message: &Message) -> Result<bool, PublishError> {
        let losses = self.losses_from_now();
        acknowledged(self.send(message).await, losses).await
    }

    pub(crate) fn losses_from_now(&self) -> Losses {
        let mut losses = self.losses.clone();
        losses.mark_unchanged();
        losses
    }

    async fn send(&self, message: &Message) -> Result<PublishAckFuture, PublishError> {
        let publish = PublishMessage::build()
            .payload(message.payload.clone().into())
            .headers(message.headers());
        self.context
            .send_publish(message.subject.clone(), publish)
            .await
    }
}

/// Whether the event was a duplicate.
async fn acknowledged(
    sent: Result<PublishAckFuture, PublishError>,
    mut losses: Losses,
) -> Result<bool, PublishError> {
    let acknowledgement = sent?.into_future();
    tokio::select! {
        biased;
        acknowledgement = acknowledgement => Ok(acknowledgement?.duplicate),
        // It fails if the client has ended.
        _ = losses.changed() => Err(PublishError::new(PublishErrorKind::BrokenPipe)),
    }
}

fn most_at_a_time(config: &JetStreamConfig) -> usize {
    config.in_flight.clamp(1, 65_536)
}

/// Whether an event exceeds the largest message of the server, or of the stream.
pub(crate) fn is_too_large(error: &PublishError) -> bool {
    error.kind() == PublishErrorKind::MaxPayloadExceeded
        || code_of(error) == Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM)
}
