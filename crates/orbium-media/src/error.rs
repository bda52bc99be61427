// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of media streams.

use std::{fmt, io};

use orbium_transport::{EndpointError, ListenError};

/// Error of sending or receiving a frame.
pub enum MediaError {
    /// An invalid endpoint.
    Endpoint(EndpointError),
    /// No transport for datagrams of that scheme is registered, or the endpoint requests another
    /// messaging protocol than media.
    Protocol(String),
    /// The reference has no usable media protocol; those that it has.
    NotOffered(String),
    /// Invalid options.
    Options(&'static str),
    /// A frame that requires more than 65,535 datagrams.
    TooLarge(usize),
    /// The given room is too small for the frame, which has that many octets and is lost.
    RoomTooSmall(usize),
    /// The application holds all buffers: it must drop a frame.
    BuffersHeld,
    /// No frame arrived in time.
    TimedOut,
    /// The receiver was stopped.
    Ended,
    /// The system's error.
    Io(io::Error),
}

impl fmt::Display for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(error) => error.fmt(f),
            Self::Protocol(text) => f.write_str(text),
            Self::NotOffered(offered) => {
                write!(f, "no media that can be used; offered: {offered}")
            }
            Self::Options(text) => f.write_str(text),
            Self::TooLarge(len) => write!(f, "a frame of {len} octets takes too many datagrams"),
            Self::RoomTooSmall(len) => write!(f, "no room for a frame of {len} octets"),
            Self::BuffersHeld => f.write_str("all buffers are held: drop a frame"),
            Self::TimedOut => f.write_str("no frame came in time"),
            Self::Ended => f.write_str("the receiver was stopped"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for MediaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Endpoint(error) => Some(error),
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<EndpointError> for MediaError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

impl From<io::Error> for MediaError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ListenError> for MediaError {
    fn from(error: ListenError) -> Self {
        match error {
            ListenError::Endpoint(error) => Self::Endpoint(error),
            ListenError::Io(error) => Self::Io(error),
        }
    }
}
