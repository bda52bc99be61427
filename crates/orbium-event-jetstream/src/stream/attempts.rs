// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the server that pass by themselves, as where a cluster elects a leader, and attempts until they have.

use std::error::Error as _;
use std::future::Future;
use std::time::Duration;

use async_nats::jetstream::context::{
    CreateStreamErrorKind, GetStreamError, GetStreamErrorKind, PublishError, PublishErrorKind,
};
use async_nats::jetstream::stream::ConsumerErrorKind;
use async_nats::jetstream::{Error, ErrorCode};
use tokio::time::{Instant, sleep};

use crate::error::{Awaited, JetStreamError};

/// Pause between two attempts.
pub(crate) const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// The reason that the server has not served a request.
#[derive(Debug)]
pub(crate) struct ServerFailure {
    pub(crate) error: JetStreamError,
    /// Whether it may pass by itself: there is no server, it has no stream yet, or a cluster has no leader.
    pub(crate) may_pass: bool,
}

impl ServerFailure {
    /// A failure that may pass.
    pub(crate) fn passing(error: JetStreamError) -> Self {
        Self {
            error,
            may_pass: true,
        }
    }

    /// A permanent failure.
    pub(crate) fn lasting(error: JetStreamError) -> Self {
        Self {
            error,
            may_pass: false,
        }
    }

    /// The failure of a look-up or creation of a stream.
    pub(crate) fn of_stream(kind: &CreateStreamErrorKind) -> Self {
        let may_pass = match kind {
            CreateStreamErrorKind::TimedOut => {
                return Self::passing(JetStreamError::Timeout(Awaited::Stream));
            }
            CreateStreamErrorKind::JetStreamUnavailable => true,
            CreateStreamErrorKind::JetStream(error) => is_of_election(error),
            _ => false,
        };
        Self {
            error: JetStreamError::Stream(kind.to_string()),
            may_pass,
        }
    }

    /// The failure of the look-up of a stream for a consumer.
    pub(crate) fn of_look_up(error: &GetStreamError) -> Self {
        let may_pass = match error.kind() {
            GetStreamErrorKind::Request => true,
            GetStreamErrorKind::JetStream(error) => is_of_election(&error),
            _ => false,
        };
        Self {
            error: JetStreamError::Consumer(error.to_string()),
            may_pass,
        }
    }

    /// The failure to create a consumer, with its message.
    pub(crate) fn of_consumer(kind: &ConsumerErrorKind, why: String) -> Self {
        let may_pass = match kind {
            ConsumerErrorKind::TimedOut => {
                return Self::passing(JetStreamError::Timeout(Awaited::Consumer));
            }
            // No server answers to the subject.
            ConsumerErrorKind::Request => true,
            ConsumerErrorKind::JetStream(error) => is_of_election(error),
            _ => false,
        };
        Self {
            error: JetStreamError::Consumer(why),
            may_pass,
        }
    }
}

/// Whether a server of a cluster is starting, or its servers elect a leader.
fn is_of_election(error: &Error) -> bool {
    matches!(
        error.error_code(),
        ErrorCode::CLUSTER_INCOMPLETE
            | ErrorCode::CLUSTER_NO_PEERS
            | ErrorCode::CLUSTER_NOT_ACTIVE
            | ErrorCode::CLUSTER_NOT_ASSIGNED
            | ErrorCode::CLUSTER_NOT_AVAILABLE
            | ErrorCode::CLUSTER_NOT_LEADER
    )
}

/// Whether another attempt to store an event may succeed: a server that restarts does not answer, then has no stream yet;
/// in a cluster it may have no leader, or be behind.
pub(crate) fn may_pass(error: &PublishError, is_in_cluster: bool) -> bool {
    use PublishErrorKind::{BrokenPipe, MaxAckPending, Other, StreamNotFound, TimedOut};
    match error.kind() {
        TimedOut | BrokenPipe | MaxAckPending | StreamNotFound => true,
        Other => code_of(error).is_some_and(|code| {
            matches!(
                code,
                ErrorCode::CLUSTER_NOT_ACTIVE
                    | ErrorCode::CLUSTER_NOT_AVAILABLE
                    | ErrorCode::CLUSTER_NOT_LEADER
                    | ErrorCode::STREAM_TOO_MANY_REQUESTS
            ) || is_in_cluster && code == ErrorCode::INSUFFICIENT_RESOURCES
        }),
        _ => false,
    }
}

/// The code with which the server has refused an event.
pub(crate) fn code_of(error: &PublishError) -> Option<ErrorCode> {
    let refusal = error.source()?.downcast_ref::<Error>()?;
    Some(refusal.error_code())
}

/// Repeats an attempt until it succeeds, fails for good, or its time is over.
///
/// # Errors
/// Of the last attempt.
pub(crate) async fn until_it_passes<T, F>(
    limit: Duration,
    mut attempt: impl FnMut() -> F,
) -> Result<T, JetStreamError>
where
    F: Future<Output = Result<T, ServerFailure>>,
{
    let end = Instant::now() + limit;
    loop {
        match attempt().await {
            Err(failure) if failure.may_pass && Instant::now() + RETRY_PAUSE < end => {
                sleep(RETRY_PAUSE).await;
            }
            done => return done.map_err(|it| it.error),
        }
    }
}
