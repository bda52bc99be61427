// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why there is no ORB.

use std::fmt;
use std::io;

use orbium_sys::RealTimeError;
use orbium_transport::EndpointError;

/// Why an ORB could not be built.
#[derive(Debug)]
pub enum OrbError {
    /// An endpoint that cannot be understood.
    Endpoint(EndpointError),
    /// An endpoint whose transport or messaging is not there, and why.
    Protocol(String, String),
    /// An endpoint whose protocol this program was built without, or a strategy,
    /// or a lane, and the feature of orbium that has it.
    Feature(String, &'static str),
    /// Choices that make no sense, or not together.
    Config(&'static str),
    /// An endpoint that cannot be listened at.
    Listen(String, io::Error),
    /// A lane whose scheduling or processors the host refuses.
    RealTime(String, RealTimeError),
    /// A lane for which the system has no threads or descriptors.
    Threads(String, io::Error),
}

impl fmt::Display for OrbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(error) => error.fmt(f),
            Self::Protocol(at, why) => write!(f, "cannot listen at {at}: {why}"),
            Self::Feature(what, feature) => write!(
                f,
                "{what}: this program was built without orbium's feature `{feature}`"
            ),
            Self::Config(text) => f.write_str(text),
            Self::RealTime(lane, error) => write!(f, "cannot serve in lane {lane}: {error}"),
            Self::Threads(lane, error) => {
                write!(f, "no threads or descriptors for lane {lane}: {error}")
            }
            Self::Listen(at, error) => write!(f, "cannot listen at {at}: {error}"),
        }
    }
}

impl std::error::Error for OrbError {}

impl From<EndpointError> for OrbError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}
