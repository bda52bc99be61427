// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endpoints as people write them.

use std::fmt;
use std::str::FromStr;

/// A host (name, IPv4 or IPv6 address without brackets) and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// Name or address; empty means any.
    pub host: String,
    /// Port; 0 means any that is free.
    pub port: u16,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Where to listen, and under which address to be known.
///
/// Written `iiop://host:port`; an empty host listens on all interfaces, IPv6
/// addresses stand in brackets, a missing port or 0 takes a free one. Behind a
/// network address translation, or in a container, the address to publish
/// differs: `iiop://0.0.0.0:5000?publish=orb.example:15000`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Where to listen.
    pub listen: HostPort,
    /// What to put into references; `None` publishes what was listened on.
    pub publish: Option<HostPort>,
}

/// An endpoint that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointError {
    /// No `scheme://`, or one that no transport here answers to.
    UnknownScheme(String),
    /// The port is not a number from 0 to 65535.
    BadPort(String),
    /// The host is not a host: unbalanced brackets, blanks.
    BadHost(String),
    /// A parameter after `?` that is not known.
    UnknownParameter(String),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownScheme(text) => {
                write!(f, "`{text}` is not an endpoint: expected iiop://host:port")
            }
            Self::BadPort(text) => write!(f, "`{text}` is not a port (0 to 65535)"),
            Self::BadHost(text) => write!(f, "`{text}` is not a host name or address"),
            Self::UnknownParameter(text) => {
                write!(
                    f,
                    "unknown endpoint parameter `{text}`: expected publish=host:port"
                )
            }
        }
    }
}

impl std::error::Error for EndpointError {}

impl FromStr for HostPort {
    type Err = EndpointError;

    /// Parses `host`, `host:port`, `[v6]`, `[v6]:port`, `:port`.
    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let (host, port) = if let Some(bracketed) = text.strip_prefix('[') {
            let Some((host, rest)) = bracketed.split_once(']') else {
                return Err(EndpointError::BadHost(text.to_owned()));
            };
            match rest.strip_prefix(':') {
                Some(port) => (host, port),
                None if rest.is_empty() => (host, ""),
                None => return Err(EndpointError::BadHost(text.to_owned())),
            }
        } else {
            text.split_once(':').unwrap_or((text, ""))
        };
        let in_brackets = text.starts_with('[');
        let bad = |c: char| {
            c.is_whitespace()
                || c.is_control()
                || "/?#[]@".contains(c)
                || (c == ':' && !in_brackets)
        };
        if host.contains(bad) || (in_brackets && host.is_empty()) {
            return Err(EndpointError::BadHost(text.to_owned()));
        }
        let port = match port {
            "" => 0,
            digits => digits
                .parse()
                .map_err(|_| EndpointError::BadPort(digits.to_owned()))?,
        };
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let Some(rest) = text.strip_prefix("iiop://") else {
            return Err(EndpointError::UnknownScheme(text.to_owned()));
        };
        let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let mut endpoint = Self {
            listen: address.parse()?,
            publish: None,
        };
        for parameter in parameters.split('&').filter(|p| !p.is_empty()) {
            match parameter.split_once('=') {
                Some(("publish", value)) => endpoint.publish = Some(value.parse()?),
                _ => return Err(EndpointError::UnknownParameter(parameter.to_owned())),
            }
        }
        Ok(endpoint)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iiop://{}", self.listen)?;
        match &self.publish {
            Some(publish) => write!(f, "?publish={publish}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_as_written() {
        for text in [
            "iiop://localhost:5000",
            "iiop://:0",
            "iiop://[::1]:12",
            "iiop://0.0.0.0:5000?publish=orb.example:15000",
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
        assert_eq!("iiop://h".parse::<Endpoint>().unwrap().listen.port, 0);
    }

    #[test]
    fn each_mistake_has_its_own_error() {
        let error = |text: &str| text.parse::<Endpoint>().unwrap_err();
        assert!(matches!(
            error("tcp://x:1"),
            EndpointError::UnknownScheme(_)
        ));
        assert!(matches!(error("iiop://x:70000"), EndpointError::BadPort(_)));
        assert!(matches!(error("iiop://x:1:2"), EndpointError::BadPort(_)));
        assert!(matches!(error("iiop://[::1:5"), EndpointError::BadHost(_)));
        assert!(matches!(error("iiop://a b:5"), EndpointError::BadHost(_)));
        assert!(matches!(
            error("iiop://x:1?color=red"),
            EndpointError::UnknownParameter(_)
        ));
    }
}
