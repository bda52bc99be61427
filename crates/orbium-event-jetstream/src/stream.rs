// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream: it stores events, and the positions of consumers.

mod attempts;
mod connecting;
pub(crate) mod correlator;
mod draining;
pub(crate) mod follow;
pub(crate) mod message;
pub(crate) mod offering;
mod publisher;
pub(crate) mod replayed;
mod requests;
mod runtime;
pub(crate) mod server_consumer;
pub(crate) mod set;
mod spool;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream::Context;
use tokio::time::Instant;

use crate::config::JetStreamConfig;
use crate::counts::{Counts, StreamStatistics};
use crate::delivery::failures::NamedFailures;
use crate::error::{Awaited, JetStreamError};
use crate::stream::attempts::{ServerFailure, until_it_passes};
use crate::stream::connecting::{Connecting, Losses, connect, make_stream};
use crate::stream::draining::Draining;
use crate::stream::follow::Succession;
use crate::stream::message::Message;
use crate::stream::publisher::Publisher;
use crate::stream::runtime::Runtime;
use crate::stream::spool::Spool;

/// A connection to a stream.
pub(crate) struct Stream {
    pub(crate) config: Arc<JetStreamConfig>,
    pub(crate) runtime: Runtime,
    pub(crate) context: Context,
    publisher: Publisher,
    spool: Option<Arc<Spool>>,
    /// Random: the name of this process in the ids of events.
    origin: u64,
    last_entry: AtomicU64,
    pub(crate) counts: Counts,
    pub(crate) failures: NamedFailures,
    pub(crate) succession: Succession,
}

impl Stream {
    /// Connects, and creates the stream if it does not exist. With a spool a server is not needed
    /// yet.
    ///
    /// # Errors
    /// [`JetStreamError`].
    pub(crate) fn open(config: JetStreamConfig) -> Result<Self, JetStreamError> {
        config.check_names()?;
        let config = Arc::new(config.bounded());
        let spool = config.spool.as_ref();
        let spool = spool
            .map(|it| Spool::open(it, &config.stream))
            .transpose()?;
        let runtime = Runtime::start(config.consumers)?;
        let may_wait = spool.is_some();
        let (context, losses, is_connected) = reach(&runtime, &config, may_wait)?;
        let is_made = is_connected && make_streams(&runtime, &config, &context, may_wait)?;
        let stream = Self {
            publisher: Publisher::new(&config, context.clone(), losses),
            spool: spool.map(Arc::new),
            failures: NamedFailures::new(config.consumers),
            succession: Succession::default(),
            config,
            runtime,
            context,
            origin: RandomState::new().build_hasher().finish(),
            last_entry: AtomicU64::new(0),
            counts: Counts::default(),
        };
        stream.start_draining(is_made)?;
        Ok(stream)
    }

    /// Without effect if there is no spool.
    fn start_draining(&self, is_made: bool) -> Result<(), JetStreamError> {
        let Some(spool) = &self.spool else {
            return Ok(());
        };
        if is_made {
            spool.end_if_empty();
        }
        let draining = Draining {
            config: Arc::clone(&self.config),
            spool: Arc::clone(spool),
            publisher: self.publisher.clone(),
            context: self.context.clone(),
            is_made,
        };
        self.runtime.handle()?.spawn(draining.run());
        Ok(())
    }

    /// The connections that are lost from now on.
    pub(crate) fn losses(&self) -> Losses {
        self.publisher.losses_from_now()
    }

    /// A unique name for an event, among all channels.
    pub(crate) fn entry(&self) -> String {
        let number = self.last_entry.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}.{number}", self.origin)
    }

    /// Stores events, in their order, and waits until the stream has acknowledged all of them, or
    /// they are in the spool on the disk.
    ///
    /// # Errors
    /// [`JetStreamError`]: some of them may have been stored.
    pub(crate) fn publish(&self, messages: Vec<Message>) -> Result<(), JetStreamError> {
        let messages: Arc<[Message]> = messages.into();
        match &self.spool {
            Some(spool) => self.publish_or_spool(spool, &messages),
            None => {
                let until = Instant::now() + self.config.publish_timeout;
                let stored = self.publish_until(messages, until);
                stored.map_err(|it| it.error)
            }
        }
    }

    fn publish_or_spool(
        &self,
        spool: &Spool,
        messages: &Arc<[Message]>,
    ) -> Result<(), JetStreamError> {
        if self.is_direct(spool) {
            // One attempt: the spool makes further ones.
            match self.publish_until(Arc::clone(messages), Instant::now()) {
                Err(failure) if failure.may_pass => {}
                stored => return stored.map_err(|it| it.error),
            }
        }
        self.check_sizes(messages)?;
        spool.append(messages)?;
        self.counts.spooled(messages.len());
        Ok(())
    }

    fn publish_until(&self, messages: Arc<[Message]>, until: Instant) -> Result<(), ServerFailure> {
        // The task ends within that time, with its own error.
        let limit = self.config.publish_timeout + Duration::from_secs(1);
        let (publisher, count) = (self.publisher.clone(), messages.len());
        let storing = async move { Ok(publisher.store_all(&messages, until).await) };
        let limit = (limit, Awaited::Acknowledgement);
        let stored = self.runtime.wait(limit, storing).unwrap_or_else(|error| {
            Err(ServerFailure {
                may_pass: matches!(error, JetStreamError::Timeout(_)),
                error,
            })
        });
        self.counts.stored(count, stored?);
        Ok(())
    }

    /// Checks for messages that a server would always refuse, which are not spooled.
    fn check_sizes(&self, messages: &[Message]) -> Result<(), JetStreamError> {
        let most = self.context.client().max_payload();
        let is_in_bounds = |it: &Message| it.payload.len() + HEADERS + it.id.len() <= most;
        if messages.iter().all(is_in_bounds) {
            Ok(())
        } else {
            Err(JetStreamError::TooLarge)
        }
    }

    /// Whether events wait for a server, or for other events that wait for one.
    pub(crate) fn is_spooling(&self) -> bool {
        self.spool.as_ref().is_some_and(|it| !self.is_direct(it))
    }

    /// Whether a push goes to the stream directly.
    fn is_direct(&self, spool: &Spool) -> bool {
        spool.is_direct() && self.publisher.is_connected()
    }

    /// The counts of this process, and the events that wait in the spool.
    pub(crate) fn statistics(&self) -> StreamStatistics {
        StreamStatistics {
            waiting: self.spool.as_ref().map_or(0, |it| it.events()),
            ..self.counts.snapshot()
        }
    }
}

/// Maximum bytes of a message's headers in addition to its id.
const HEADERS: usize = 128;

/// Connects, and returns whether there is a connection: with a spool it may be established later.
fn reach(
    runtime: &Runtime,
    config: &Arc<JetStreamConfig>,
    may_wait: bool,
) -> Result<(Context, Losses, bool), JetStreamError> {
    let wait = |connecting| {
        let limit = (config.connect_timeout, Awaited::Connection);
        runtime.wait(limit, connect(Arc::clone(config), connecting))
    };
    match wait(Connecting::Now) {
        Ok((context, losses)) => Ok((context, losses, true)),
        Err(JetStreamError::Timeout(_) | JetStreamError::Unreachable(_)) if may_wait => {
            let (context, losses) = wait(Connecting::Background)?;
            Ok((context, losses, false))
        }
        Err(error) => Err(error),
    }
}

/// Creates missing streams, and returns whether a server has all of them: with a spool they may be
/// created later.
fn make_streams(
    runtime: &Runtime,
    config: &Arc<JetStreamConfig>,
    context: &Context,
    may_wait: bool,
) -> Result<bool, JetStreamError> {
    let limit = (config.connect_timeout, Awaited::Stream);
    for name in config.streams() {
        let of = (context.clone(), Arc::clone(config), name.to_owned());
        let make = move || make_stream(of.0.clone(), Arc::clone(&of.1), of.2.clone());
        if !may_wait {
            let making = async move { until_it_passes(limit.0, make).await };
            runtime.wait(limit, making)?;
            continue;
        }
        let making = async move { Ok(make().await) };
        match runtime
            .wait(limit, making)
            .unwrap_or_else(|it| Err(ServerFailure::passing(it)))
        {
            Ok(()) => {}
            Err(failure) if failure.may_pass => return Ok(false),
            Err(failure) => return Err(failure.error),
        }
    }
    Ok(true)
}
