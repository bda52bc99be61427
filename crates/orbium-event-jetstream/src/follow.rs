// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumers of the stream: each event is delivered until its delivery has succeeded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::pull::{Config, MessagesError, Stream as Messages};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy};
use async_nats::jetstream::message::{Info, Message};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{interval, sleep};

use crate::dead_letters::DeadLetter;
use crate::error::{Awaited, JetStreamError};
use crate::failures::Failures;
use crate::stream::Stream;

/// How long a request for events waits at the server.
const EXPIRES: Duration = Duration::from_secs(10);
/// Between two signs of life of the server: without two of them the events are requested anew.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Between two attempts to request events.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// Until an event is delivered once more, by the number of deliveries before.
const BACKOFF: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_secs(1),
    Duration::from_secs(5),
];
/// How long the server keeps a consumer without a name that no channel serves.
const ANONYMOUS: Duration = Duration::from_secs(60);

/// An event of the stream.
pub(crate) struct Received {
    pub(crate) headers: Option<HeaderMap>,
    pub(crate) payload: Vec<u8>,
    /// Where it is in the stream.
    pub(crate) sequence: u64,
    /// The number of this delivery, from 1.
    pub(crate) delivery: u64,
}

/// What has become of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The consumer has it, or does not subscribe to it.
    Delivered,
    /// The consumer has not seen it: it is to be delivered later, however often that is.
    Deferred,
    /// The consumer has failed with it, and why; it is to be delivered once more.
    Failed(String),
    /// No further delivery can succeed, and why.
    Refused(String),
    /// As `Deferred`; and this consumer is gone, its events wait for the next of its name.
    Gone,
}

/// Called with one event after the other. It may block for as long as the push to a consumer may
/// take.
pub(crate) type Handler = dyn Fn(&Received) -> Outcome + Send + Sync;

/// Counts of a consumer.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Events that the server has for it.
    pub(crate) pending: AtomicU64,
    /// Deliveries beyond the first of an event.
    pub(crate) redelivered: AtomicU64,
    /// Events that are not delivered any more, though the consumer has not accepted them.
    pub(crate) discarded: AtomicU64,
}

/// A consumer that is served until this is dropped.
pub(crate) struct Following {
    /// The task sees that this is dropped when it has acknowledged the event that it delivers.
    _until: watch::Sender<()>,
    pub(crate) progress: Arc<Progress>,
}

/// What a consumer gets.
pub(crate) struct Subscription<'a> {
    /// The position that it goes on from; without one it gets what is stored from now on.
    pub(crate) name: Option<&'a str>,
    pub(crate) subjects: String,
}

/// A consumer of the stream.
struct Follower {
    stream: Arc<Stream>,
    config: Config,
    handler: Arc<Handler>,
    progress: Arc<Progress>,
    failures: Arc<Failures>,
    until: watch::Receiver<()>,
}

/// Why a consumer is not served any more.
enum End {
    /// The consumer is gone.
    Gone,
    /// It is not to be served any more.
    Dropped,
}

/// Serves a consumer. `gone` is called when the handler has returned [`Outcome::Gone`].
///
/// # Errors
/// [`JetStreamError`].
pub(crate) fn follow(
    stream: &Arc<Stream>,
    subscription: Subscription<'_>,
    handler: Arc<Handler>,
    gone: Box<dyn FnOnce() + Send>,
) -> Result<Following, JetStreamError> {
    let (sender, until) = watch::channel(());
    let follower = Follower {
        stream: Arc::clone(stream),
        failures: match subscription.name {
            Some(name) => stream.failures.of(name),
            None => Arc::default(),
        },
        config: consumer_config(stream, subscription),
        handler,
        progress: Arc::default(),
        until,
    };
    let progress = Arc::clone(&follower.progress);
    let limit = stream.config.connect_timeout;
    let context = stream.context.clone();
    let (config, of) = (follower.config.clone(), stream.config.stream.clone());
    // So that a refusal is seen now.
    let made = stream
        .runtime
        .wait((limit, Awaited::Consumer), async move {
            let made = context.create_consumer_on_stream(config, of).await;
            made.map_err(|error| JetStreamError::Consumer(error.to_string()))
        })?;
    stream.runtime.handle()?.spawn(async move {
        if let End::Gone = follower.serve(made).await {
            // It may block.
            spawn_blocking(gone);
        }
    });
    Ok(Following {
        _until: sender,
        progress,
    })
}

/// Deletes the position of a name. Without effect where there is none.
///
/// # Errors
/// [`JetStreamError`].
pub(crate) fn forget(stream: &Stream, name: &str) -> Result<(), JetStreamError> {
    let limit = stream.config.connect_timeout;
    let (context, of) = (stream.context.clone(), stream.config.stream.clone());
    stream.failures.forget(name);
    let name = name.to_owned();
    stream.runtime.wait((limit, Awaited::Consumer), async move {
        use async_nats::jetstream::stream::ConsumerErrorKind::JetStream;
        match context.delete_consumer_from_stream(name, of).await {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.kind(), JetStream(it) if it.error_code().0 == 10014) => {
                Ok(())
            }
            Err(error) => Err(JetStreamError::Consumer(error.to_string())),
        }
    })
}

fn consumer_config(stream: &Stream, subscription: Subscription<'_>) -> Config {
    let (config, name) = (&stream.config, subscription.name);
    Config {
        durable_name: name.map(str::to_owned),
        deliver_policy: match name {
            Some(_) => DeliverPolicy::All,
            None => DeliverPolicy::New,
        },
        ack_policy: AckPolicy::Explicit,
        ack_wait: config.ack_wait,
        max_ack_pending: i64::try_from(config.window.max(1)).unwrap_or(i64::MAX),
        filter_subject: subscription.subjects,
        inactive_threshold: match name {
            Some(_) => Duration::ZERO,
            None => ANONYMOUS,
        },
        ..Config::default()
    }
}

impl Follower {
    /// Requests events and delivers them, whatever becomes of the server.
    async fn serve(self, made: Consumer<Config>) -> End {
        let mut made = Some(made);
        let mut pause = RETRY_PAUSES[0];
        loop {
            let why = match self.session(made.take(), &mut pause).await {
                Ok(end) => return end,
                Err(why) => why,
            };
            tracing::warn!(target: "orbium::event", stream = %self.stream.config.stream, %why, "events are requested anew");
            tokio::select! {
                () = self.dropped() => return End::Dropped,
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(RETRY_PAUSES[1]);
        }
    }

    /// Returns when the consumer is not to be served any more.
    async fn dropped(&self) {
        // Nothing is ever sent: it fails with the sender.
        let _ = self.until.clone().changed().await;
    }

    /// Delivers events until the end, or an error of the server's.
    async fn session(
        &self,
        made: Option<Consumer<Config>>,
        pause: &mut Duration,
    ) -> Result<End, String> {
        let consumer = match made {
            Some(consumer) => consumer,
            None => self.make().await?,
        };
        self.deliver_from(&consumer, pause).await
    }

    async fn make(&self) -> Result<Consumer<Config>, String> {
        let stream = &self.stream;
        let (config, of) = (self.config.clone(), &stream.config.stream);
        let made = stream.context.create_consumer_on_stream(config, of).await;
        made.map_err(|error| error.to_string())
    }

    async fn deliver_from(
        &self,
        consumer: &Consumer<Config>,
        pause: &mut Duration,
    ) -> Result<End, String> {
        let requested = consumer
            .stream()
            .max_messages_per_batch(self.stream.config.window.max(1))
            .expires(EXPIRES)
            .heartbeat(HEARTBEAT)
            .messages();
        let mut messages = requested.await.map_err(|error| error.to_string())?;
        loop {
            let next = tokio::select! {
                () = self.dropped() => {
                    give_back(&mut messages).await;
                    return Ok(End::Dropped);
                }
                next = messages.next() => next,
            };
            let message = next.ok_or("the server has ended the request")?;
            let message = message.map_err(|error: MessagesError| error.to_string())?;
            *pause = RETRY_PAUSES[0];
            if self.deliver(message).await == Outcome::Gone {
                give_back(&mut messages).await;
                return Ok(End::Gone);
            }
        }
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let info = match message.info() {
            Ok(info) => info,
            Err(error) => return Outcome::Refused(error.to_string()),
        };
        let received = Received {
            headers: message.headers.clone(),
            payload: message.payload.to_vec(),
            sequence: info.stream_sequence,
            delivery: u64::try_from(info.delivered).unwrap_or(1),
        };
        let delivery = received.delivery;
        self.progress.pending.store(info.pending, Ordering::Relaxed);
        if delivery > 1 {
            self.progress.redelivered.fetch_add(1, Ordering::Relaxed);
        }
        let outcome = self.handle(&message, received).await;
        let outcome = self.store_if_dead(outcome, (&message, &info)).await;
        let acknowledgement = match outcome {
            Outcome::Delivered => AckKind::Ack,
            Outcome::Refused(_) => {
                self.progress.discarded.fetch_add(1, Ordering::Relaxed);
                AckKind::Term
            }
            Outcome::Deferred => {
                self.stream.counts.deferred();
                AckKind::Nak(Some(backoff(delivery)))
            }
            Outcome::Failed(_) | Outcome::Gone => AckKind::Nak(Some(backoff(delivery))),
        };
        // One that is lost leads to another delivery.
        if let Err(error) = message.ack_with(acknowledgement).await {
            tracing::debug!(target: "orbium::event", %error, "not acknowledged");
        }
        outcome
    }

    /// Stores an event as a dead letter, if this outcome makes it one and there is a stream for it. Returns the outcome
    /// that the server is to see: without an acknowledgement of that stream the event is delivered once more.
    async fn store_if_dead(
        &self,
        outcome: Outcome,
        (message, info): (&Message, &Info<'_>),
    ) -> Outcome {
        let config = &self.stream.config;
        let Some(letters) = &config.dead_letters else {
            return outcome;
        };
        let (consumer, sequence) = (info.consumer, info.stream_sequence);
        let cause = match outcome {
            Outcome::Refused(cause) => cause,
            Outcome::Failed(cause) => {
                let failures = self.failures.add(sequence, config.window.max(1));
                if failures < letters.max_deliveries {
                    return Outcome::Failed(cause);
                }
                cause
            }
            Outcome::Delivered => {
                self.failures.end(sequence);
                return outcome;
            }
            Outcome::Deferred | Outcome::Gone => return outcome,
        };
        let letter = DeadLetter {
            message,
            info,
            cause: &cause,
        };
        match letter.store(&self.stream, &letters.stream).await {
            Ok(()) => {
                self.failures.end(sequence);
                self.stream.counts.dead_letter();
                tracing::warn!(target: "orbium::event", consumer, sequence, %cause, "an event is a dead letter");
                Outcome::Refused(cause)
            }
            Err(why) => {
                tracing::warn!(target: "orbium::event", consumer, sequence, %cause, %why, "a dead letter was not stored");
                Outcome::Failed(why)
            }
        }
    }

    /// Calls the consumer on a thread that may block. The server waits for as long as that takes.
    async fn handle(&self, message: &Message, received: Received) -> Outcome {
        let handler = Arc::clone(&self.handler);
        let mut calling = spawn_blocking(move || handler(&received));
        let mut signs = interval((self.stream.config.ack_wait / 3).max(Duration::from_millis(1)));
        signs.tick().await;
        loop {
            tokio::select! {
                outcome = &mut calling => return outcome.unwrap_or_else(|error| Outcome::Failed(error.to_string())),
                _ = signs.tick() => {
                    // The next sign may arrive.
                    let _ = message.ack_with(AckKind::Progress).await;
                }
            }
        }
    }
}

/// Gives back what was received and not delivered, so that the next consumer of the name gets it at once.
async fn give_back(messages: &mut Messages) {
    while let Some(Some(Ok(message))) = messages.next().now_or_never() {
        // It comes again in any case, after a while.
        let _ = message.ack_with(AckKind::Nak(None)).await;
    }
}

fn backoff(deliveries: u64) -> Duration {
    let index = usize::try_from(deliveries.saturating_sub(1)).unwrap_or(usize::MAX);
    BACKOFF[index.min(BACKOFF.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_fails_again_waits_longer_up_to_a_bound() {
        let pauses = [0, 1, 2, 3, u64::MAX].map(backoff).map(|it| it.as_millis());
        assert_eq!(pauses, [100, 100, 1000, 5000, 5000]);
    }
}
