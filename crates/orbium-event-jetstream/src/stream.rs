// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream: events are stored in it, and consumers have their positions in it.

pub(crate) mod correlator;
pub(crate) mod follow;
pub(crate) mod message;
mod runtime;
pub(crate) mod set;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream::context::{PublishAckFuture, PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{ConnectOptions, Event};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::config::JetStreamConfig;
use crate::counts::Counts;
use crate::delivery::failures::NamedFailures;
use crate::error::{Awaited, JetStreamError};
use crate::stream::message::{Message, subjects};
use crate::stream::runtime::Runtime;

/// Between two attempts to store an event.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Between two questions to the server whether it is there. A connection on which two of them have no answer is made
/// anew: after a partition without an error, as of a firewall that has forgotten it.
const PING: Duration = Duration::from_secs(2);
/// Commands that wait for the connection.
const COMMANDS: usize = 256;

/// A connection to a stream.
pub(crate) struct Stream {
    pub(crate) config: Arc<JetStreamConfig>,
    pub(crate) runtime: Runtime,
    pub(crate) context: Context,
    publisher: Publisher,
    /// Random: what this process calls itself in the ids of events.
    origin: u64,
    last_entry: AtomicU64,
    pub(crate) counts: Counts,
    pub(crate) failures: NamedFailures,
}

/// What the tasks that publish need.
#[derive(Clone)]
struct Publisher {
    config: Arc<JetStreamConfig>,
    context: Context,
    permits: Arc<Semaphore>,
    losses: Losses,
}

/// How many connections have been lost: what was sent on them and not acknowledged never will be.
type Losses = watch::Receiver<u64>;

impl Stream {
    /// Connects, and makes the stream if there is none.
    ///
    /// # Errors
    /// [`JetStreamError`].
    pub(crate) fn open(config: JetStreamConfig) -> Result<Self, JetStreamError> {
        config.check_names()?;
        let config = Arc::new(config);
        let runtime = Runtime::start(config.consumers)?;
        let limit = config.connect_timeout;
        let connecting = connect(Arc::clone(&config));
        let (context, losses) = runtime.wait((limit, Awaited::Connection), connecting)?;
        for name in config.streams() {
            let making = make_stream(context.clone(), Arc::clone(&config), name.to_owned());
            runtime.wait((limit, Awaited::Stream), making)?;
        }
        Ok(Self {
            publisher: Publisher {
                config: Arc::clone(&config),
                context: context.clone(),
                permits: Arc::new(Semaphore::new(config.in_flight.clamp(1, 65_536))),
                losses,
            },
            failures: NamedFailures::new(config.consumers),
            config,
            runtime,
            context,
            origin: RandomState::new().build_hasher().finish(),
            last_entry: AtomicU64::new(0),
            counts: Counts::default(),
        })
    }

    /// A name for an event that no other event of any channel has.
    pub(crate) fn entry(&self) -> String {
        let number = self.last_entry.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}.{number}", self.origin)
    }

    /// Stores events, in their order, and waits until the stream has acknowledged all of them. Returns
    /// how many it had already.
    ///
    /// # Errors
    /// [`JetStreamError`]: some of them may have been stored.
    pub(crate) fn publish(&self, messages: Vec<Message>) -> Result<u64, JetStreamError> {
        // The task ends by itself in that time, and says why.
        let limit = self.config.publish_timeout + Duration::from_secs(1);
        let publisher = self.publisher.clone();
        let storing = async move { publisher.store_all(&messages).await };
        self.runtime
            .wait((limit, Awaited::Acknowledgement), storing)
    }
}

async fn connect(config: Arc<JetStreamConfig>) -> Result<(Context, Losses), JetStreamError> {
    let failed = |error: String| JetStreamError::Connect(error);
    let (lost, losses) = watch::channel(0);
    let lost = Arc::new(lost);
    let mut options = ConnectOptions::new()
        .name("orbium")
        .event_callback(move |event| {
            if let Event::Disconnected = event {
                lost.send_modify(|count| *count += 1);
            }
            std::future::ready(())
        })
        .connection_timeout(config.connect_timeout)
        .ping_interval(PING)
        .client_capacity(COMMANDS)
        .subscription_capacity(config.window.saturating_mul(2).max(64));
    if let Some(path) = &config.credentials {
        let read = options.credentials_file(path).await;
        options = read.map_err(|error| failed(format!("{}: {error}", path.display())))?;
    }
    let servers: Vec<_> = config.servers.split(',').map(str::trim).collect();
    let client = options.connect(servers).await;
    let client = client.map_err(|error| match error.kind() {
        async_nats::ConnectErrorKind::TimedOut => JetStreamError::Timeout(Awaited::Connection),
        _ => failed(error.to_string()),
    })?;
    let mut context = jetstream::new(client);
    context.set_timeout(config.attempt_timeout);
    Ok((context, losses))
}

async fn make_stream(
    context: Context,
    config: Arc<JetStreamConfig>,
    name: String,
) -> Result<(), JetStreamError> {
    let subjects = subjects(&name);
    let wanted = Config {
        name: name.clone(),
        subjects: vec![subjects.clone()],
        max_bytes: config
            .max_bytes
            .map_or(-1, |it| i64::try_from(it).unwrap_or(-1)),
        discard: DiscardPolicy::New,
        duplicate_window: config.duplicate_window,
        num_replicas: config.replicas,
        ..Config::default()
    };
    let stream = context.get_or_create_stream(wanted).await;
    let stream = stream.map_err(|error| match error.kind() {
        jetstream::context::CreateStreamErrorKind::TimedOut => {
            JetStreamError::Timeout(Awaited::Stream)
        }
        _ => JetStreamError::Stream(error.to_string()),
    })?;
    if stream.cached_info().config.subjects.contains(&subjects) {
        Ok(())
    } else {
        Err(JetStreamError::OtherSubjects(name))
    }
}

impl Publisher {
    async fn store_all(&self, messages: &[Message]) -> Result<u64, JetStreamError> {
        let until = Instant::now() + self.config.publish_timeout;
        let mut duplicates = 0;
        // As many at a time as there are permits for, without waiting for those of others while
        // holding some.
        let most = self.config.in_flight.clamp(1, 65_536);
        for messages in messages.chunks(most) {
            let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
            let permits = timeout(
                self.config.publish_timeout,
                self.permits.acquire_many(count),
            );
            let _permits = permits
                .await
                .map_err(|_| JetStreamError::Timeout(Awaited::Acknowledgement))?
                .map_err(|_| JetStreamError::Ended)?;
            duplicates += self.store(messages, until).await?;
        }
        Ok(duplicates)
    }

    /// Sends all, then waits for what the stream answers. What it does not answer, or cannot any more since the
    /// connection is lost, is published once more, under the same id.
    async fn store(&self, messages: &[Message], until: Instant) -> Result<u64, JetStreamError> {
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
    ) -> Result<bool, JetStreamError> {
        let mut error = first;
        while may_pass(&error) && Instant::now() + RETRY_PAUSE < until {
            sleep(RETRY_PAUSE).await;
            let losses = self.losses_from_now();
            match acknowledged(self.send(message).await, losses).await {
                Ok(is_duplicate) => return Ok(is_duplicate),
                Err(next) => error = next,
            }
        }
        Err(refusal(&error))
    }

    fn losses_from_now(&self) -> Losses {
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

/// Whether the stream had the event already.
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

/// Whether another attempt may succeed: a server that restarts does not answer, then has no stream
/// yet.
fn may_pass(error: &PublishError) -> bool {
    use PublishErrorKind::{BrokenPipe, MaxAckPending, StreamNotFound, TimedOut};
    matches!(
        error.kind(),
        TimedOut | BrokenPipe | MaxAckPending | StreamNotFound
    )
}

fn refusal(error: &PublishError) -> JetStreamError {
    match error.kind() {
        PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => {
            JetStreamError::Timeout(Awaited::Acknowledgement)
        }
        PublishErrorKind::MaxPayloadExceeded => JetStreamError::TooLarge,
        _ => JetStreamError::Refused(error.to_string()),
    }
}
