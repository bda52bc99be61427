// SPDX-License-Identifier: MIT OR Apache-2.0
//! Causes of a line's end, and the outcome of each for its pending calls.

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_metrics::Closing;

use crate::pending_call::News;
use orbium_connection::outcome::Outcome;

/// The reason for the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It was never connected.
    Unreachable(SystemException),
    /// The server closed it with CloseConnection: unanswered requests were not begun.
    Closed,
    Lost,
    /// The server replied MessageError.
    MessageError,
    /// The received data are not a GIOP message.
    Garbage,
    /// A received message exceeds the limit.
    TooLarge,
    /// The server refuses this client, or the band.
    Refused(SystemException),
    /// No call is pending.
    Idle,
    /// The ORB has ended.
    WithOrb(SystemException),
}

fn orbium(kind: ExceptionKind, code: u32, completed: Completion) -> SystemException {
    SystemException::orbium(kind, code, completed)
}

impl End {
    /// The cause for calls, if the line has noted none.
    pub(super) fn text(self) -> Option<String> {
        Some(match self {
            // Noted with its cause.
            Self::Unreachable(_) | Self::Lost | Self::Garbage | Self::TooLarge => return None,
            Self::Closed => "the server closed the connection (CloseConnection)".to_owned(),
            Self::MessageError => "the server answered MessageError".to_owned(),
            Self::Refused(exception) | Self::WithOrb(exception) => exception.to_string(),
            Self::Idle => "the connection was closed, for it was idle".to_owned(),
        })
    }

    /// Whether this side ends a connection that is in order, with CloseConnection.
    pub(super) fn is_orderly(self) -> bool {
        matches!(self, Self::Idle | Self::WithOrb(_))
    }

    /// The reason why this side closes the connection; `None` if the server did.
    pub(super) fn closing(self) -> Option<Closing> {
        match self {
            Self::Unreachable(_) | Self::Closed | Self::Lost | Self::Refused(_) => None,
            Self::MessageError | Self::Garbage | Self::TooLarge => Some(Closing::Error),
            Self::Idle => Some(Closing::Idle),
            Self::WithOrb(_) => Some(Closing::Shutdown),
        }
    }

    /// The effect on a call.
    pub(crate) fn news(self, is_sent: bool) -> News {
        let code = match self {
            Self::Unreachable(exception) => return News::Unreachable(exception),
            Self::Refused(exception) | Self::WithOrb(exception) => {
                return News::Outcome(Outcome::Failed(exception));
            }
            Self::Closed | Self::Idle => {
                return News::Outcome(Outcome::NotBegun(orbium(
                    ExceptionKind::Transient,
                    minor::CONNECTION_CLOSED,
                    Completion::No,
                )));
            }
            Self::Lost => minor::CONNECTION_LOST,
            Self::MessageError => minor::MESSAGE_ERROR,
            Self::Garbage => minor::PROTOCOL_ERROR,
            Self::TooLarge => minor::MESSAGE_TOO_LARGE,
        };
        let kind = match self {
            Self::TooLarge => ExceptionKind::Marshal,
            _ => ExceptionKind::CommFailure,
        };
        News::Outcome(if !is_sent {
            // It was not sent completely, so the server cannot have begun.
            Outcome::NotBegun(orbium(
                ExceptionKind::CommFailure,
                minor::SEND_FAILED,
                Completion::No,
            ))
        } else if self == Self::Lost {
            Outcome::Lost(orbium(kind, code, Completion::Maybe))
        } else {
            Outcome::Failed(orbium(kind, code, Completion::Maybe))
        })
    }
}
