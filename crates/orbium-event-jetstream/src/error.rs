// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the stream, and their system exceptions.

use std::fmt;

use orbium::{Completion, ExceptionKind, SystemException};

/// Reply of the stream for which the wait has timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A connection to a server.
    Connection,
    /// A reply about the stream.
    Stream,
    /// The acknowledgement of an event.
    Acknowledgement,
    /// A reply about a consumer of the stream.
    Consumer,
}

/// Error of storing or receiving events.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JetStreamError {
    /// The server has not replied in time.
    Timeout(Awaited),
    /// No server could be reached: the message of the client.
    Unreachable(String),
    /// The server cannot be connected to as configured, or it refuses the account: the message of
    /// the client.
    Connect(String),
    /// The server refuses the stream, for instance without JetStream: its message.
    Stream(String),
    /// A stream of that name exists, and does not store the subjects of the channel.
    OtherSubjects(String),
    /// The stream exists with fewer copies than configured.
    FewerReplicas {
        /// The name of the stream.
        stream: String,
        /// The number of its copies.
        replicas: usize,
    },
    /// The name is invalid for a stream or consumer.
    Name(String),
    /// The stream of the dead letters is that of the channel, or the number of deliveries is 0.
    DeadLetters,
    /// The server refuses the event: its message. The stream may be full.
    Refused(String),
    /// The event exceeds the largest message of the server.
    TooLarge,
    /// The server refuses the consumer: its message.
    Consumer(String),
    /// The spool has no space left for the events.
    SpoolFull,
    /// The file of the spool cannot be read or written, for instance because another channel uses
    /// it.
    Spool(String),
    /// The channel has ended.
    Ended,
    /// The system cannot start a thread for the client.
    NoThread,
}

impl fmt::Display for JetStreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(Awaited::Connection) => f.write_str("the NATS server does not answer"),
            Self::Timeout(Awaited::Stream) => {
                f.write_str("the NATS server does not answer about the stream")
            }
            Self::Timeout(Awaited::Acknowledgement) => {
                f.write_str("the stream has not acknowledged the event in time")
            }
            Self::Timeout(Awaited::Consumer) => {
                f.write_str("the NATS server does not answer about the consumer")
            }
            Self::Unreachable(why) | Self::Connect(why) => {
                write!(f, "cannot connect to the NATS server: {why}")
            }
            Self::Stream(why) => write!(f, "the NATS server refuses the stream: {why}"),
            Self::OtherSubjects(name) => {
                write!(f, "stream {name} does not store orb.ev.{name}.>")
            }
            Self::FewerReplicas { stream, replicas } => {
                let copies = if *replicas == 1 { "copy" } else { "copies" };
                write!(
                    f,
                    "stream {stream} exists with {replicas} {copies}: change it, or open it with as many replicas"
                )
            }
            Self::DeadLetters => {
                f.write_str("dead letters need a stream of their own and at least one delivery")
            }
            Self::Name(name) => write!(
                f,
                "{name:?} is no name: up to 64 letters, digits, '-' and '_'"
            ),
            Self::Refused(why) => write!(f, "the stream refuses the event: {why}"),
            Self::TooLarge => f.write_str("the event exceeds the largest message of the server"),
            Self::Consumer(why) => write!(f, "the NATS server refuses the consumer: {why}"),
            Self::SpoolFull => f.write_str(
                "the stream cannot be reached, and the spool has no space left for the events",
            ),
            Self::Spool(why) => write!(f, "the spool: {why}"),
            Self::Ended => f.write_str("the channel has ended"),
            Self::NoThread => f.write_str("the system has no thread left for the client"),
        }
    }
}

impl fmt::Debug for JetStreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for JetStreamError {}

/// For suppliers and consumers. After TIMEOUT and TRANSIENT the event may have been stored: if it
/// is pushed again the duplicate is detected.
impl From<JetStreamError> for SystemException {
    fn from(error: JetStreamError) -> Self {
        let kind = match error {
            JetStreamError::Timeout(_) => ExceptionKind::Timeout,
            JetStreamError::Unreachable(_) | JetStreamError::Connect(_) | JetStreamError::Ended => {
                ExceptionKind::Transient
            }
            JetStreamError::TooLarge => ExceptionKind::ImpLimit,
            JetStreamError::Name(_) | JetStreamError::DeadLetters => ExceptionKind::BadParam,
            JetStreamError::Stream(_)
            | JetStreamError::OtherSubjects(_)
            | JetStreamError::FewerReplicas { .. }
            | JetStreamError::Refused(_)
            | JetStreamError::Consumer(_)
            | JetStreamError::SpoolFull
            | JetStreamError::Spool(_)
            | JetStreamError::NoThread => ExceptionKind::NoResources,
        };
        let completed = match error {
            // An earlier attempt may have reached the stream.
            JetStreamError::Timeout(_) | JetStreamError::SpoolFull | JetStreamError::Spool(_) => {
                Completion::Maybe
            }
            _ => Completion::No,
        };
        Self::new(kind, 0, completed)
    }
}
