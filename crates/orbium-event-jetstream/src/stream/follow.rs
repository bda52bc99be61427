// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumers of the stream: events are delivered in sets, each until its delivery has succeeded.

mod correlate;
mod offer;
mod succession;

use std::iter;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::consumer::pull::Config;
use async_nats::jetstream::consumer::{Consumer, DeliverPolicy};
use orbium::lock::Mutex;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::{Instant, interval, sleep};

pub(crate) use self::succession::Succession;
use crate::delivery::delivery_outcome::{Outcome, Progress, Settling};
use crate::error::{Awaited, JetStreamError};
use crate::stream::Stream;
use crate::stream::attempts::until_it_passes;
use crate::stream::correlator::Correlator;
use crate::stream::offering::Offering;
use crate::stream::replayed::Replayed;
use crate::stream::requests::Requests;
use crate::stream::server_consumer::{Subscription, consumer_config, make};
use crate::stream::set::{Incoming, Received, SetSize};

/// Delays between two attempts to request events.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// Called with a set, and returns the outcomes of its first events, of one at least: it is called
/// again with those behind them. It may block for the duration of pushes to a consumer.
pub(crate) type Handler = dyn Fn(&[Received]) -> Vec<Outcome> + Send + Sync;

/// Called when a delivery has returned [`Outcome::Gone`].
type Gone = Box<dyn FnOnce() + Send>;

/// The manner of delivery to a consumer.
pub(crate) enum Deliver {
    /// In sets of the events that have arrived, each of which is passed independently.
    Sets(Arc<Handler>),
    /// By a stateful subscription.
    Correlated(Box<Correlator>),
    /// As they arrive: the consumer reports on each later.
    Offered(Box<Offering>),
}

impl Deliver {
    /// The events that wait for the consumer, independently of the server.
    fn open(&self) -> Box<dyn Iterator<Item = &Received> + Send + '_> {
        match self {
            Self::Sets(_) => Box::new(iter::empty()),
            Self::Correlated(correlator) => Box::new(correlator.messages()),
            Self::Offered(offering) => Box::new(offering.messages()),
        }
    }
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

/// A consumer of the stream.
struct Follower {
    stream: Arc<Stream>,
    config: Config,
    progress: Arc<Progress>,
    settling: Settling,
    replayed: Arc<Replayed>,
    until: watch::Receiver<()>,
    gone: Mutex<Option<Gone>>,
}

/// Reason for the end of serving a consumer.
enum End {
    /// The consumer does not exist any more.
    Gone,
    /// It is not to be served any more.
    Dropped,
}

/// The undelivered events of a set.
#[derive(Default)]
struct Rest {
    set: Arc<[Received]>,
    from: usize,
}

impl Rest {
    fn events(&self) -> impl Iterator<Item = &Received> {
        self.set[self.from..].iter()
    }
}

/// Serves a consumer. `gone` is called when a delivery has returned [`Outcome::Gone`].
///
/// # Errors
/// [`JetStreamError`].
pub(crate) fn follow(
    stream: &Arc<Stream>,
    subscription: Subscription<'_>,
    deliver: Deliver,
    gone: Gone,
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
        gone: Mutex::new(Some(gone)),
    };
    let made = if stream.is_spooling() {
        // It is created when a server is available.
        None
    } else {
        Some(make_now(&follower)?)
    };
    stream.runtime.handle()?.spawn(async move {
        if let End::Gone = follower.serve(made, deliver).await {
            follower.report_gone();
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
    let of = (follower.present_config(), stream.config.stream.clone());
    let (context, replayed) = (stream.context.clone(), Arc::clone(&follower.replayed));
    let attempt = move || make(context.clone(), of.clone(), Arc::clone(&replayed));
    let making = async move { until_it_passes(limit.0, attempt).await };
    stream.runtime.wait(limit, making)
}

impl Follower {
    /// Requests events and delivers them, across failures of the server.
    async fn serve(&self, mut made: Option<Consumer<Config>>, mut deliver: Deliver) -> End {
        let _turn = match &self.config.durable_name {
            Some(name) => tokio::select! {
                () = self.dropped() => return End::Dropped,
                turn = self.stream.succession.begin(name) => turn,
            },
            None => None,
        };
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
        self.deliver_from(consumer, manner).await
    }

    async fn make(&self) -> Result<Consumer<Config>, String> {
        let stream = &self.stream;
        let of = (self.present_config(), stream.config.stream.clone());
        let made = make(stream.context.clone(), of, Arc::clone(&self.replayed)).await;
        made.map_err(|failure| failure.error.to_string())
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

    /// Delivers what arrives, until the end or an error of the server's, and gives back what is not delivered then.
    async fn deliver_from(
        &self,
        consumer: Consumer<Config>,
        (deliver, pause): (&mut Deliver, &mut Duration),
    ) -> Result<End, String> {
        let connection = (self.stream.context.clone(), self.stream.losses());
        let requests = Requests::new(consumer, connection, self.stream.config.window).await?;
        let mut incoming = Incoming::new(requests, &self.stream.config, self.replayed.end());
        let mut rest = Rest::default();
        let ended = match deliver {
            Deliver::Sets(handler) => {
                let delivering = self.deliver_sets(&mut incoming, (handler, pause));
                delivering.await.map(|(end, of_set)| {
                    rest = of_set;
                    end
                })
            }
            Deliver::Correlated(correlator) => {
                self.correlate(&mut incoming, (correlator, pause)).await
            }
            Deliver::Offered(offering) => self.offer_all(&mut incoming, (offering, pause)).await,
        };
        if let Ok(End::Gone) = ended {
            self.report_gone();
        }
        if self.config.durable_name.is_some() {
            let open: Vec<_> = rest.events().chain(deliver.open()).collect();
            let behind = self.end_requests(incoming, &open).await;
            // After an error of the server's what is open waits for the next session.
            if ended.is_ok() {
                give_back(open.into_iter()).await;
            }
            give_back(behind.iter()).await;
        }
        ended
    }

    /// Waits until the server has ended all requests, and returns what it has sent for them. What is given back before that is
    /// sent for one of them once more.
    async fn end_requests(&self, mut incoming: Incoming, open: &[&Received]) -> Vec<Received> {
        incoming.close();
        let mut signs = interval(self.sign_period());
        signs.tick().await;
        let mut behind = Vec::new();
        loop {
            tokio::select! {
                biased;
                next = incoming.next_of_rest() => match next {
                    Some(received) => behind.push(received),
                    None => return behind,
                },
                _ = signs.tick() => {
                    extend_ack_waits(open.iter().copied()).await;
                    extend_ack_waits(behind.iter()).await;
                }
            }
        }
    }

    /// Calls `gone`, once.
    fn report_gone(&self) {
        if let Some(gone) = self.gone.lock().take() {
            // It may block.
            spawn_blocking(gone);
        }
    }

    /// Returns what of the last set is not delivered, too.
    async fn deliver_sets(
        &self,
        incoming: &mut Incoming,
        (handler, pause): (&Arc<Handler>, &mut Duration),
    ) -> Result<(End, Rest), String> {
        let mut size = SetSize::new(&self.stream.config);
        loop {
            let next = tokio::select! {
                () = self.dropped() => return Ok((End::Dropped, Rest::default())),
                next = incoming.next_set(size.events()) => next,
            };
            let set = next?.into();
            *pause = RETRY_PAUSES[0];
            if let Some(ended) = self.deliver(set, (handler, &mut size)).await {
                return Ok(ended);
            }
        }
    }

    /// Delivers a set, in parts if an event fails. Returns why the consumer is not served any more, and what is left of the set.
    async fn deliver(
        &self,
        set: Arc<[Received]>,
        (handler, size): (&Arc<Handler>, &mut SetSize),
    ) -> Option<(End, Rest)> {
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
        end.map(|it| (it, Rest { set, from }))
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
                _ = signs.tick() => extend_ack_waits(messages()).await,
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
async fn extend_ack_waits(messages: impl Iterator<Item = &Received>) {
    for received in messages {
        received.extend_ack_wait().await;
    }
}
