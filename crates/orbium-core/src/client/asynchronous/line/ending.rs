// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a line, and its effect on pending calls.

use std::net::Shutdown;
use std::sync::Arc;

use orbium_giop::{Completion, ExceptionKind, SystemException, Version, close_connection, minor};

use super::{Awaiting, Line, Phase};
use crate::client::asynchronous::call::News;
use crate::client::asynchronous::reader::Reader;
use crate::client::exchange::Outcome;
use crate::client::story::Phase as CallPhase;
use crate::metrics::Closing;

/// Why a line has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client::asynchronous) enum End {
    /// It was never made.
    Unreachable(SystemException),
    /// The server ended it in order: what it has not answered it has not begun.
    Closed,
    Lost,
    /// The server says that a message of ours was none.
    MessageError,
    /// What came was no message.
    Garbage,
    /// What came is larger than the limit.
    TooLarge,
    /// The server does not trust us, or wants none of the band.
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
    /// What it means to calls, where the line has noted no cause.
    fn text(self) -> Option<String> {
        Some(match self {
            // Noted with its cause.
            Self::Unreachable(_) | Self::Lost | Self::Garbage | Self::TooLarge => return None,
            Self::Closed => "the server closed the connection (CloseConnection)".to_owned(),
            Self::MessageError => "the server answered MessageError".to_owned(),
            Self::Refused(exception) | Self::WithOrb(exception) => exception.to_string(),
            Self::Idle => "the connection was closed, for it was idle".to_owned(),
        })
    }

    /// Why this side closes the connection; `None` if the server did.
    fn closing(self) -> Option<Closing> {
        match self {
            Self::Unreachable(_) | Self::Closed | Self::Lost | Self::Refused(_) => None,
            Self::MessageError | Self::Garbage | Self::TooLarge => Some(Closing::Error),
            Self::Idle => Some(Closing::Idle),
            Self::WithOrb(_) => Some(Closing::Shutdown),
        }
    }

    /// What it means to a call.
    pub(super) fn news(self, is_sent: bool) -> News {
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
        News::Outcome(match is_sent {
            true if self == Self::Lost => Outcome::Lost(orbium(kind, code, Completion::Maybe)),
            true => Outcome::Failed(orbium(kind, code, Completion::Maybe)),
            // It did not go out whole, so the server cannot have begun.
            false => Outcome::NotBegun(orbium(
                ExceptionKind::CommFailure,
                minor::SEND_FAILED,
                Completion::No,
            )),
        })
    }
}

impl Line {
    /// Ends the line, unless it has ended before. Not under its lock.
    pub(in crate::client::asynchronous) fn end(self: &Arc<Self>, reader: &Arc<Reader>, end: End) {
        if let Some(text) = end.text() {
            self.note(CallPhase::Wait, &text);
        }
        let (pending, last_sent, midway, notes) = {
            let mut state = self.lock();
            // A call may have been added in between.
            if state.is_over() || end == End::Idle && !state.pending.is_empty() {
                return;
            }
            let midway = state.is_midway();
            state.phase = Phase::Over(end);
            state.first = None;
            state.queue.clear();
            state.batch = None;
            if let (Some(counted), Some(cause)) = (state.counted.take(), end.closing()) {
                counted.note_cause(cause);
            }
            state.stop_sending(self.number, reader);
            let notes = state.notes.clone();
            let pending = state.pending.take_all();
            (pending, state.last_sent, midway, notes)
        };
        reader.forget(self);
        if let Some(stream) = self.stream.get() {
            if let (End::Idle | End::WithOrb(_), false) = (end, midway) {
                let _ = stream.send(&close_connection(Version::V1_2));
            }
            stream.shutdown(Shutdown::Both);
        }
        for pending in pending {
            let is_sent = pending.number <= last_sent;
            let Awaiting::Call(call) = pending.awaiting else {
                continue;
            };
            call.note_after_its_beginning(&notes);
            match end {
                End::WithOrb(exception) => call.end(SystemException {
                    completed: match is_sent {
                        true => Completion::Maybe,
                        false => Completion::No,
                    },
                    ..exception
                }),
                end => call.hear(end.news(is_sent)),
            }
        }
    }

    /// Says something before the end, if that can be done at once.
    pub(super) fn say_last(&self, message: &[u8]) {
        let state = self.lock();
        if let (Some(stream), false) = (self.stream.get(), state.is_midway()) {
            let _ = stream.send(message);
        }
    }
}
