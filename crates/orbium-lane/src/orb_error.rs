// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of building an ORB.

use std::fmt;
use std::io;

use orbium_channel::protocol::OpenError;
use orbium_giop::SystemException;
use orbium_sys::RealTimeError;
use orbium_transport::EndpointError;

use crate::start_error::StartError;

/// Error of building an ORB.
pub enum OrbError {
    /// An endpoint that cannot be parsed.
    Endpoint(EndpointError),
    /// An endpoint with an address or a parameter that cannot be parsed.
    Address(String, EndpointError),
    /// An endpoint without its transport or messaging protocol, with the reason.
    Protocol(String, String),
    /// An endpoint, strategy or lane that this program was built without, and the required feature
    /// of orbium.
    Feature(String, &'static str),
    /// TLS is unavailable: an unusable file, or a missing setting.
    Tls(String),
    /// An ORB initialiser has refused.
    Initializer(SystemException),
    /// Invalid or inconsistent settings.
    Config(&'static str),
    /// An endpoint that cannot be listened at.
    Listen(String, io::Error),
    /// A lane with scheduling or processors that the host refuses.
    RealTime(String, RealTimeError),
    /// A lane refused threads or descriptors by the system.
    Threads(String, io::Error),
}

impl fmt::Display for OrbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, at, why): (&str, &str, &dyn fmt::Display) = match self {
            Self::Endpoint(error) => return error.fmt(f),
            Self::Initializer(exception) => {
                return write!(f, "an ORB initialiser has refused: {exception}");
            }
            Self::Config(text) => return f.write_str(text),
            Self::Tls(text) => return f.write_str(text),
            Self::Feature(what, feature) => {
                return write!(
                    f,
                    "{what}: this program was built without orbium's feature `{feature}`"
                );
            }
            Self::Address(at, error) => ("cannot listen at", at, error),
            Self::Protocol(at, why) => ("cannot listen at", at, why),
            Self::Listen(at, error) => ("cannot listen at", at, error),
            Self::RealTime(lane, error) => ("cannot serve in lane", lane, error),
            Self::Threads(lane, error) => ("no threads or descriptors for lane", lane, error),
        };
        write!(f, "{what} {at}: {why}")
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for OrbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for OrbError {}

impl From<OpenError> for OrbError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Endpoint(at, error) => Self::Address(at, error),
            OpenError::Protocol(endpoint, why) => Self::Protocol(endpoint, why),
            OpenError::Feature(endpoint, feature) => Self::Feature(endpoint, feature),
            OpenError::Listen(endpoint, error) => Self::Listen(endpoint, error),
        }
    }
}

impl From<EndpointError> for OrbError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

impl From<StartError> for OrbError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::RealTime(lane, error) => Self::RealTime(lane, error),
            StartError::Threads(lane, error) => Self::Threads(lane, error),
        }
    }
}
