// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer at the server: how it is made, and deleted with its position.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::pull::Config;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy};
use orbium_event::Replay;

use crate::error::{Awaited, JetStreamError};
use crate::stream::Stream;
use crate::stream::attempts::ServerFailure;
use crate::stream::replayed::{Replayed, begin};

/// Time after which the server deletes an unnamed consumer that no channel serves.
const ANONYMOUS: Duration = Duration::from_secs(60);

/// The events that a consumer gets.
pub(crate) struct Subscription<'a> {
    /// The position that it goes on from; without one it gets what is stored from now on.
    pub(crate) name: Option<&'a str>,
    pub(crate) subjects: String,
    /// Events that the subscription retains, at most.
    pub(crate) open: usize,
    /// The beginning of an unnamed one, in place of events stored from now on.
    pub(crate) replay: Option<Replay>,
    /// Its progress before it was suspended.
    pub(crate) replayed: Option<Arc<Replayed>>,
    /// Whether a position that is new begins with what is stored from now on.
    pub(crate) is_connection: bool,
}

/// Makes a consumer, and notes the last event that it gets from before; of one that gets none, where it begins.
pub(super) async fn make(
    context: Context,
    (config, of): (Config, String),
    replayed: Arc<Replayed>,
) -> Result<Consumer<Config>, ServerFailure> {
    if replayed.is_open() {
        let stream = context.get_stream(of.as_str()).await;
        let stream = stream.map_err(|error| ServerFailure::of_look_up(&error))?;
        replayed.end_with(stream.cached_info().state.last_sequence);
    }
    let is_new = matches!(config.deliver_policy, DeliverPolicy::New);
    let made = context.create_consumer_on_stream(config, of).await;
    let made =
        made.map_err(|error| ServerFailure::of_consumer(&error.kind(), error.to_string()))?;
    if is_new {
        replayed.deliver(made.cached_info().delivered.stream_sequence);
    }
    Ok(made)
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

/// The configuration of a consumer at the server.
pub(super) fn consumer_config(stream: &Stream, subscription: Subscription<'_>) -> Config {
    let (config, name) = (&stream.config, subscription.name);
    Config {
        durable_name: name.map(str::to_owned),
        deliver_policy: match (name, subscription.replay) {
            // The same each time that it is made.
            (Some(_), _) if subscription.is_connection => DeliverPolicy::New,
            (Some(_), _) => DeliverPolicy::All,
            (None, Some(replay)) => begin(replay),
            // What the spool holds is stored before the consumer is made, perhaps.
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
