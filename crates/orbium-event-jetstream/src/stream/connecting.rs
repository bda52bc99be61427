// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting to the server, and creating the stream there.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};
use tokio::sync::watch;

use crate::config::JetStreamConfig;
use crate::error::{Awaited, JetStreamError};
use crate::stream::attempts::ServerFailure;
use crate::stream::message::subjects;

/// Interval between two pings of the server. A connection on which two of them have no reply is
/// replaced: after a partition without an error, for instance of a firewall that has dropped its
/// state.
const PING: Duration = Duration::from_secs(2);
/// Minimum time limit for the reply of one of several servers.
const MIN_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum number of commands that wait for the connection.
const COMMANDS: usize = 256;

/// The number of lost connections: messages that were sent on them and not acknowledged never will
/// be.
pub(crate) type Losses = watch::Receiver<u64>;

/// The time at which a connection is established.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connecting {
    /// Immediately, or there is an error.
    Now,
    /// As soon as a server is available.
    Background,
}

fn servers(config: &JetStreamConfig) -> Vec<&str> {
    config.servers.split(',').map(str::trim).collect()
}

/// The connection time-out of each server: a silent one leaves time for the others.
fn timeout_of_server(config: &JetStreamConfig) -> Duration {
    let servers = u32::try_from(servers(config).len()).unwrap_or(u32::MAX);
    let each = config.connect_timeout / servers.max(1);
    each.max(MIN_TIMEOUT).min(config.connect_timeout)
}

/// Connects to a server.
///
/// # Errors
/// [`JetStreamError`].
pub(crate) async fn connect(
    config: Arc<JetStreamConfig>,
    connecting: Connecting,
) -> Result<(Context, Losses), JetStreamError> {
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
        .connection_timeout(timeout_of_server(&config))
        .ping_interval(PING)
        .client_capacity(COMMANDS)
        .subscription_capacity(config.window.saturating_mul(2).max(64));
    if let Some(path) = &config.credentials {
        let read = options.credentials_file(path).await;
        options = read.map_err(|error| failed(format!("{}: {error}", path.display())))?;
    }
    if connecting == Connecting::Background {
        options = options.retry_on_initial_connect();
    }
    let client = options.connect(servers(&config)).await;
    let client: Client = client.map_err(|error| match error.kind() {
        ConnectErrorKind::TimedOut => JetStreamError::Timeout(Awaited::Connection),
        ConnectErrorKind::Io | ConnectErrorKind::Dns => {
            JetStreamError::Unreachable(error.to_string())
        }
        _ => failed(error.to_string()),
    })?;
    let mut context = jetstream::new(client);
    context.set_timeout(config.attempt_timeout);
    Ok((context, losses))
}

/// Creates a stream, if it does not exist.
///
/// # Errors
/// It cannot be made, or is another one.
pub(crate) async fn make_stream(
    context: Context,
    config: Arc<JetStreamConfig>,
    name: String,
) -> Result<(), ServerFailure> {
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
    let stream = stream.map_err(|error| ServerFailure::of_stream(&error.kind()))?;
    let present = &stream.cached_info().config;
    let error = if !present.subjects.contains(&subjects) {
        JetStreamError::OtherSubjects(name)
    } else if present.num_replicas < config.replicas {
        JetStreamError::FewerReplicas {
            stream: name,
            replicas: present.num_replicas,
        }
    } else {
        return Ok(());
    };
    Err(ServerFailure::lasting(error))
}
