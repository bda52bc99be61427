// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumers of the stream: events are delivered in sets, each until its delivery has succeeded.

mod correlate;
mod offer;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::pull::Config;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::{Instant, interval, sleep};

use orbium_event::Replay;

use crate::delivery::delivery_outcome::{Outcome, Progress, Settling};
use crate::error::{Awaited, JetStreamError};
use crate::stream::Stream;
use crate::stream::correlator::Correlator;
use crate::stream::offering::Offering;
use crate::stream::replayed::{Replayed, begin};
use crate::stream::set::{Incoming, Received, SetSize};

/// The time for which a request for events waits at the server.
const EXPIRES: Duration = Duration::from_secs(10);
/// Interval of the server's heartbeats: after two missed ones the events are requested again.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Delays between two attempts to request events.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// The time for which the server retains an unnamed consumer that no channel serves.
const ANONYMOUS: Duration = Duration::from_secs(60);

/// Called with a set, and returns the outcomes of its first events, of one at least: it is called
/// again with those behind them. It may block for the duration of pushes to a consumer.
pub(crate) type Handler = dyn Fn(&[Received]) -> Vec<Outcome> + Send + Sync;

/// The kind of a consumer's delivery.
pub(crate) enum Deliver {
    /// In sets of the events that have arrived, each of which is passed independently.
    Sets(Arc<Handler>),
    /// By a stateful subscription.
    Correlated(Box<Correlator>),
    /// As they arrive: the consumer reports on each later.
    Offered(Box<Offering>),
}

/// A consumer that is served until this is dropped.
pub(crate) struct Following {
    /// The task stops when this is dropped, once it has acknowledged the events that it is
    /// delivering.
    _until: watch::Sender<()>,
    pub(crate) progress: Arc<Progress>,
    /// The position at which another unnamed consumer continues.
    pub(crate) replayed: Arc<Replayed>,
}

/// The subscription of a consumer.
pub(crate) struct Subscription<'a> {
    /// The name of the position from which it continues; without one it gets events that are stored
    /// from now on.
    pub(crate) name: Option<&'a str>,
    pub(crate) subjects: String,
    /// Maximum number of events that the subscription retains.
    pub(crate) open: usize,
    /// The position at which an unnamed consumer begins, in place of events that are stored from
    /// now on.
    pub(crate) replay: Option<Replay>,
    /// Its position before it was suspended.
    pub(crate) replayed: Option<Arc<Replayed>>,
    /// Whether a new position begins with events that are stored from now on.
    pub(crate) is_connection: bool,
}

/// A consumer of the stream.
struct Follower {
    stream: Arc<Stream>,
    config: Config,
    progress: Arc<Progress>,
    settling: Settling,
    replayed: Arc<Replayed>,
    until: watch::Receiver<()>,
}

/// Reason for the end of serving a consumer.
enum End {
    /// The consumer does not exist any more.
    Gone,
    /// It is not to be served any more.
    Dropped,
}

/// Serves a consumer. `gone` is called when a delivery has returned [`Outcome::Gone`].
///
/// # Errors
/// [`JetStreamError`].
pub(crate) fn follow(
    stream: &Arc<Stream>,
    subscription: Subscription<'_>,
    deliver: Deliver,
    gone: Box<dyn FnOnce() + Send>,
) -> Result<Following, JetStreamError> {
    let (sender, until) = watch::channel(());
    let progress = Arc::<Progress>::default();
    let replayed = subscription.replayed.clone();
    let replayed =
        replayed.unwrap_or_else(|| Arc::new(Replayed::new(subscription.replay.is_some())));
    let follower = Follower {
        stream: Arc::clone(stream),
        settling: Settling::new(stream, subscription.name, &progress),
        replayed: Arc::clone(&replayed),
        config: consumer_config(stream, subscription),
        progress: Arc::clone(&progress),
        until,
    };
    let made = if stream.is_spooling() {
        // It is created when a server is available.
        None
    } else {
        Some(make_now(&follower)?)
    };
    stream.runtime.handle()?.spawn(async move {
        if let End::Gone = follower.serve(made, deliver).await {
            // It may block.
            spawn_blocking(gone);
        }
    });
    Ok(Following {
        _until: sender,
        progress,
        replayed,
    })
}

/// Creates a consumer of the stream immediately, so that a refusal is reported.
fn make_now(follower: &Follower) -> Result<Consumer<Config>, JetStreamError> {
    let stream = &follower.stream;
    let limit = (stream.config.connect_timeout, Awaited::Consumer);
    let making = make(
        stream.context.clone(),
        (follower.present_config(), stream.config.stream.clone()),
        Arc::clone(&follower.replayed),
    );
    stream.runtime.wait(limit, async move {
        let made = making.await;
        made.map_err(JetStreamError::Consumer)
    })
}

/// Creates a consumer, and records the last of the earlier events that it gets; without such
/// events, its beginning.
async fn make(
    context: Context,
    (config, of): (Config, String),
    replayed: Arc<Replayed>,
) -> Result<Consumer<Config>, String> {
    if replayed.is_open() {
        let stream = context.get_stream(of.as_str()).await;
        let stream = stream.map_err(|error| error.to_string())?;
        replayed.end_with(stream.cached_info().state.last_sequence);
    }
    let is_new = matches!(config.deliver_policy, DeliverPolicy::New);
    let made = context.create_consumer_on_stream(config, of).await;
    let made = made.map_err(|error| error.to_string())?;
    if is_new {
        replayed.deliver(made.cached_info().delivered.stream_sequence);
    }
    Ok(made)
}

/// Deletes the position of a name. Without effect if there is none.
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
        deliver_policy: match (name, subscription.replay) {
            // The same each time that it is created.
            (Some(_), _) if subscription.is_connection => DeliverPolicy::New,
            (Some(_), _) => DeliverPolicy::All,
            (None, Some(replay)) => begin(replay),
            // Events of the spool may be stored before the consumer is created.
            (None, None) if stream.is_spooling() => DeliverPolicy::ByStartTime {
                start_time: SystemTime::now().into(),
            },
            (None, None) => DeliverPolicy::New,
        },
        ack_policy: AckPolicy::Explicit,
        ack_wait: config.ack_wait,
        max_ack_pending: i64::try_from(config.window.max(1).saturating_add(subscription.open))
            .unwrap_or(i64::MAX),
        filter_subject: subscription.subjects,
        inactive_threshold: match name {
            Some(_) => Duration::ZERO,
            None => ANONYMOUS,
        },
        ..Config::default()
    }
}

impl Follower {
    /// Requests events and delivers them, across failures of the server.
    async fn serve(self, mut made: Option<Consumer<Config>>, mut deliver: Deliver) -> End {
        let mut pause = RETRY_PAUSES[0];
        loop {
            let why = match self.session(made.take(), (&mut deliver, &mut pause)).await {
                Ok(end) => return end,
                Err(why) => why,
            };
            tracing::warn!(target: "orbium::event", stream = %self.stream.config.stream, %why, "events are requested anew");
            tokio::select! {
                () = self.dropped() => return End::Dropped,
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(RETRY_PAUSES[1]);
            // Timers fire without the server, too.
            if let Deliver::Correlated(correlator) = &mut deliver
                && let Some(end) = self.turn(correlator).await
            {
                return end;
            }
        }
    }

    /// Returns when the consumer is not to be served any more.
    async fn dropped(&self) {
        // No value is ever sent: it fails when the sender is dropped.
        let _ = self.until.clone().changed().await;
    }

    /// Delivers events until the end, or an error of the server.
    async fn session(
        &self,
        made: Option<Consumer<Config>>,
        manner: (&mut Deliver, &mut Duration),
    ) -> Result<End, String> {
        let consumer = match made {
            Some(consumer) => consumer,
            None => self.make().await?,
        };
        self.deliver_from(&consumer, manner).await
    }

    async fn make(&self) -> Result<Consumer<Config>, String> {
        let stream = &self.stream;
        let of = (self.present_config(), stream.config.stream.clone());
        make(stream.context.clone(), of, Arc::clone(&self.replayed)).await
    }

    /// Without a name, it continues behind the events that it has delivered.
    fn present_config(&self) -> Config {
        let mut config = self.config.clone();
        if let Some(start_sequence) = self.replayed.next_sequence()
            && config.durable_name.is_none()
        {
            config.deliver_policy = DeliverPolicy::ByStartSequence { start_sequence };
        }
        config
    }

    async fn deliver_from(
        &self,
        consumer: &Consumer<Config>,
        (deliver, pause): (&mut Deliver, &mut Duration),
    ) -> Result<End, String> {
        let requested = consumer
            .stream()
            .max_messages_per_batch(self.stream.config.window.max(1))
            .expires(EXPIRES)
            .heartbeat(HEARTBEAT)
            .messages();
        let messages = requested.await.map_err(|error| error.to_string())?;
        let incoming = Incoming::new(messages, &self.stream.config, self.replayed.end());
        match deliver {
            Deliver::Sets(handler) => self.deliver_sets(incoming, (handler, pause)).await,
            Deliver::Correlated(correlator) => self.correlate(incoming, (correlator, pause)).await,
            Deliver::Offered(offering) => self.offer_all(incoming, (offering, pause)).await,
        }
    }

    async fn deliver_sets(
        &self,
        mut incoming: Incoming,
        (handler, pause): (&Arc<Handler>, &mut Duration),
    ) -> Result<End, String> {
        let mut size = SetSize::new(&self.stream.config);
        loop {
            let next = tokio::select! {
                () = self.dropped() => {
                    incoming.give_back().await;
                    return Ok(End::Dropped);
                }
                next = incoming.next_set(size.events()) => next,
            };
            let set = next?.into();
            *pause = RETRY_PAUSES[0];
            if let Some(end) = self.deliver(set, (handler, &mut size)).await {
                incoming.give_back().await;
                return Ok(end);
            }
        }
    }

    /// Delivers a set, in parts if an event fails. Returns the reason why the consumer is not
    /// served any more.
    async fn deliver(
        &self,
        set: Arc<[Received]>,
        (handler, size): (&Arc<Handler>, &mut SetSize),
    ) -> Option<End> {
        self.count(&set);
        let (mut from, mut end) = (0, None);
        while from < set.len() && end.is_none() {
            let started = Instant::now();
            let outcomes = self.handle(handler, (&set, from)).await;
            let count = outcomes.len();
            if outcomes.iter().any(Outcome::is_of_set) {
                size.failed();
            } else {
                size.delivered(count, started.elapsed());
            }
            for (received, outcome) in set[from..].iter().zip(outcomes) {
                if self.settling.settle(received, outcome).await == Outcome::Gone {
                    end = Some(End::Gone);
                }
            }
            from += count;
            self.replayed.deliver(set[from - 1].sequence);
            if end.is_none() && self.until.has_changed().is_err() {
                end = Some(End::Dropped);
            }
        }
        give_back(set[from..].iter()).await;
        end
    }

    fn count(&self, set: &[Received]) {
        if let Some(last) = set.last() {
            self.progress.pending.store(last.pending, Ordering::Relaxed);
        }
        let repeated = set.iter().filter(|it| it.is_repeated()).count();
        self.progress
            .redelivered
            .fetch_add(repeated as u64, Ordering::Relaxed);
    }

    async fn handle(
        &self,
        handler: &Arc<Handler>,
        (set, from): (&Arc<[Received]>, usize),
    ) -> Vec<Outcome> {
        let (handler, handled) = (Arc::clone(handler), Arc::clone(set));
        let calling = spawn_blocking(move || handler(&handled[from..]));
        match self.called(calling, || set[from..].iter()).await {
            Ok(outcomes) => outcomes,
            Err(error) if set.len() == from + 1 => vec![Outcome::Failed(error.to_string())],
            Err(_) => vec![Outcome::Singly; set.len() - from],
        }
    }

    /// Runs a call of the consumer on a thread that may block. The server's time-out for the
    /// acknowledgement of these messages is extended until it returns.
    async fn called<'m, T, I>(
        &self,
        mut calling: JoinHandle<T>,
        messages: impl Fn() -> I,
    ) -> Result<T, JoinError>
    where
        I: Iterator<Item = &'m Received>,
    {
        let started = Instant::now();
        let mut signs = interval(self.sign_period());
        signs.tick().await;
        let outcome = loop {
            tokio::select! {
                outcome = &mut calling => break outcome,
                _ = signs.tick() => give_signs(messages()).await,
            }
        };
        let (took, config) = (started.elapsed(), &self.stream.config);
        if took > config.ack_wait / 2 {
            self.stream.counts.slow();
            let consumer = self.config.durable_name.as_deref();
            tracing::warn!(target: "orbium::event", consumer, ?took, ack_wait = ?config.ack_wait, "a push took longer than half of ack_wait");
        }
        outcome
    }

    fn sign_period(&self) -> Duration {
        (self.stream.config.ack_wait / 3).max(Duration::from_millis(1))
    }
}

/// Returns messages to the server, so that the next consumer of the name gets them immediately.
async fn give_back(messages: impl Iterator<Item = &Received>) {
    for received in messages {
        received.give_back().await;
    }
}

/// Extends the server's time-out for the acknowledgements.
async fn give_signs(messages: impl Iterator<Item = &Received>) {
    for received in messages {
        received.give_sign().await;
    }
}
