// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why there is no ORB.

use std::fmt;
use std::io;

use orbium_sys::RealTimeError;
use orbium_transport::EndpointError;

/// Why an ORB could not be built.
pub enum OrbError {
    /// An endpoint that cannot be understood.
    Endpoint(EndpointError),
    /// An endpoint whose transport or messaging is not there, and why.
    Protocol(String, String),
    /// An endpoint whose protocol this program was built without, or a strategy,
    /// or a lane, and the feature of orbium that has it.
    Feature(String, &'static str),
    /// TLS that cannot be had: a file that cannot be used, or what is missing.
    Tls(String),
    /// Choices that make no sense, or not together.
    Config(&'static str),
    /// An endpoint that cannot be listened at.
    Listen(String, io::Error),
    /// A lane whose scheduling or processors the host refuses.
    RealTime(String, RealTimeError),
    /// A lane for which the system has no threads or descriptors.
    Threads(String, io::Error),
}

impl fmt::Debug for OrbError {
    // By hand, to be compiled here: what is derived is compiled by every program
    // whose `main` returns the error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (variant, first, second): (_, &dyn fmt::Debug, Option<&dyn fmt::Debug>) = match self {
            Self::Endpoint(error) => ("Endpoint", error, None),
            Self::Protocol(at, why) => ("Protocol", at, Some(why)),
            Self::Feature(what, feature) => ("Feature", what, Some(feature)),
            Self::Config(text) => ("Config", text, None),
            Self::Tls(text) => ("Tls", text, None),
            Self::Listen(at, error) => ("Listen", at, Some(error)),
            Self::RealTime(lane, error) => ("RealTime", lane, Some(error)),
            Self::Threads(lane, error) => ("Threads", lane, Some(error)),
        };
        let mut out = f.debug_tuple(variant);
        out.field(first);
        if let Some(second) = second {
            out.field(second);
        }
        out.finish()
    }
}

impl fmt::Display for OrbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, at, why): (&str, &str, &dyn fmt::Display) = match self {
            Self::Endpoint(error) => return error.fmt(f),
            Self::Config(text) => return f.write_str(text),
            Self::Tls(text) => return f.write_str(text),
            Self::Feature(what, feature) => {
                return write!(
                    f,
                    "{what}: this program was built without orbium's feature `{feature}`"
                );
            }
            Self::Protocol(at, why) => ("cannot listen at", at, why),
            Self::Listen(at, error) => ("cannot listen at", at, error),
            Self::RealTime(lane, error) => ("cannot serve in lane", lane, error),
            Self::Threads(lane, error) => ("no threads or descriptors for lane", lane, error),
        };
        write!(f, "{what} {at}: {why}")
    }
}

impl std::error::Error for OrbError {}

impl From<EndpointError> for OrbError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}
