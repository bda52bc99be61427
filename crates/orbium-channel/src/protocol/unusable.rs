// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of protocols that cannot be used and of endpoints that cannot be listened at.

use std::{fmt, io};

use orbium_giop::messaging::StackError;
use orbium_transport::EndpointError;

use super::protocol_names::only;

/// Error of listening at an endpoint or connecting a channel.
#[derive(Debug)]
pub enum OpenError {
    /// An endpoint with an invalid address or parameter.
    Endpoint(String, EndpointError),
    /// An endpoint of an unknown transport or messaging protocol, and the reason.
    Protocol(String, String),
    /// An endpoint with a protocol that this program was built without, and the feature of orbium
    /// that provides it.
    Feature(String, &'static str),
    /// An endpoint at which listening failed.
    Listen(String, io::Error),
}

/// Reason for which a protocol cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// This program was built without it.
    Feature {
        /// Of the transport or messaging protocol.
        name: String,
        /// The feature of orbium that provides it.
        feature: &'static str,
    },
    /// No certificate and no authorities are configured, or the program was built without TLS.
    NoTls,
    /// No transport has that name.
    NoTransport {
        /// The scheme.
        scheme: String,
        /// The registered transports.
        known: String,
    },
    /// No messaging protocol has that name.
    NoMessaging {
        /// The name.
        name: String,
        /// The registered messaging protocols.
        known: String,
    },
    /// The messaging protocol keeps state, and datagrams are lost.
    NeedsStream {
        /// Of the messaging protocol.
        name: String,
    },
    /// Messaging protocols that cannot be combined.
    Stack(StackError),
    /// An address that the transport does not understand.
    Address(EndpointError),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature { name, feature } => write!(
                f,
                "`{name}` is not in this program: it comes with orbium's feature `{feature}`"
            ),
            Self::NoTls => f.write_str(
                "`ssliop` needs orbium's feature `tls`, with tls.certificate and tls.key to be \
                 listened at, with tls.authorities to be called over",
            ),
            Self::NoTransport { scheme, known } => {
                write!(f, "there is no transport `{scheme}` here{}", only(known))
            }
            Self::NoMessaging { name, known } => {
                write!(f, "there is no messaging `{name}` here{}", only(known))
            }
            Self::NeedsStream { name } => write!(
                f,
                "messaging {name} needs a stream: datagrams get lost and overtake each other"
            ),
            Self::Stack(error) => error.fmt(f),
            Self::Address(error) => error.fmt(f),
        }
    }
}

impl Unusable {
    pub(super) fn missing(name: &str, feature: &'static str) -> Self {
        Self::Feature {
            name: name.to_owned(),
            feature,
        }
    }

    /// The error that an ORB or bridge cannot be opened at an endpoint for this reason.
    pub fn at(self, endpoint: impl fmt::Display) -> OpenError {
        match self {
            Self::Feature { feature, .. } => OpenError::Feature(endpoint.to_string(), feature),
            other => OpenError::Protocol(endpoint.to_string(), other.to_string()),
        }
    }
}
