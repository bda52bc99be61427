// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endpoints as people write them.

use std::fmt;
use std::str::FromStr;

/// A host (name, IPv4 or IPv6 address without brackets) and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// Name or address; empty means any.
    pub host: String,
    /// Port; 0 means any free port.
    pub port: u16,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.as_bytes().contains(&b':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Endpoint of a server: `scheme://address?parameter=value&…`.
///
/// The scheme selects the transport, which interprets the address: `iiop://host:port`,
/// `uiop:///run/x.sock`. An empty host listens on all interfaces, IPv6 addresses are in brackets, a
/// missing port or 0 selects a free one. Behind a network address translation, or in a container,
/// the address to publish differs: `iiop://0.0.0.0:5000?publish=orb.example:15000`.
///
/// The parameter `messaging` is interpreted by the ORB, not by the transport: the messaging
/// protocols over the transport, outermost first, by default GIOP.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The part before `://`, in lower case.
    pub scheme: String,
    /// The part between `://` and `?`.
    pub address: String,
    /// Names and values after `?`, in order.
    pub parameters: Vec<(String, String)>,
}

/// Error in an endpoint or address.
#[derive(Clone, PartialEq, Eq)]
pub enum EndpointError {
    /// No `scheme://`, or one of no registered transport.
    UnknownScheme(String),
    /// The port is not a number from 0 to 65535.
    BadPort(String),
    /// The host is not a host: unbalanced brackets, blanks.
    BadHost(String),
    /// The path is invalid for a socket.
    BadPath(String),
    /// An unknown parameter after `?`.
    UnknownParameter(String),
    /// A parameter with an invalid value.
    BadParameter(String),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, text, after) = match self {
            Self::UnknownScheme(text) => (
                "",
                text,
                " is not an endpoint of a protocol that is there: \
                 expected scheme://address, as in iiop://host:port",
            ),
            Self::BadPort(text) => ("", text, " is not a port (0 to 65535)"),
            Self::BadHost(text) => ("", text, " is not a host name or address"),
            Self::BadPath(text) => ("", text, " is not the path of a socket"),
            Self::UnknownParameter(text) => ("unknown endpoint parameter ", text, ""),
            Self::BadParameter(text) => ("", text, " has a value that it cannot have"),
        };
        write!(f, "{before}`{text}`{after}")
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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
                || matches!(c, '/' | '?' | '#' | '[' | ']' | '@')
                || (c == ':' && !in_brackets)
        };
        if host.chars().any(bad) || (in_brackets && host.is_empty()) {
            return Err(EndpointError::BadHost(text.to_owned()));
        }
        let port = match port {
            "" => 0,
            digits => {
                let port = digits.parse::<u32>().ok();
                port.and_then(|port| u16::try_from(port).ok())
                    .ok_or_else(|| EndpointError::BadPort(digits.to_owned()))?
            }
        };
        let host = host.to_owned();
        Ok(Self { host, port })
    }
}

impl Endpoint {
    /// A free port of all interfaces, over TCP.
    #[must_use]
    pub fn anywhere() -> Self {
        Self {
            scheme: "iiop".into(),
            address: String::new(),
            parameters: Vec::new(),
        }
    }

    /// The value of a parameter; the first, if it is given several times.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        for (known, value) in &self.parameters {
            if known == name {
                return Some(value);
            }
        }
        None
    }

    /// Checks that all parameters are among the `known` ones and those of the ORB.
    ///
    /// # Errors
    /// [`EndpointError::UnknownParameter`].
    pub fn check_parameters(&self, known: &[&str]) -> Result<(), EndpointError> {
        for (name, _) in &self.parameters {
            if name != MESSAGING && !known.contains(&name.as_str()) {
                return Err(EndpointError::UnknownParameter(name.clone()));
            }
        }
        Ok(())
    }

    /// Names of the messaging protocols, outermost first; empty for GIOP alone.
    pub fn messaging(&self) -> impl Iterator<Item = &str> {
        let names = self.parameter(MESSAGING).unwrap_or_default();
        names.split(',').filter(|name| !name.is_empty())
    }
}

/// The parameter that names messaging protocols.
const MESSAGING: &str = "messaging";

impl FromStr for Endpoint {
    type Err = EndpointError;

    /// Parses the parts; the transport interprets the address. omniORB's `giop:tcp:host:port`,
    /// `giop:ssl:host:port` and `giop:unix:path` are also accepted.
    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let unknown = || EndpointError::UnknownScheme(text.to_owned());
        if let Some(theirs) = text.strip_prefix("giop:") {
            return from_omniorb(theirs).ok_or_else(unknown);
        }
        let (scheme, rest) = text.split_once(':').ok_or_else(unknown)?;
        let rest = rest.strip_prefix("//").ok_or_else(unknown)?;
        let in_scheme = |c: u8| c.is_ascii_alphanumeric() || b"+-.".contains(&c);
        if scheme.is_empty() || !scheme.bytes().all(in_scheme) {
            return Err(unknown());
        }
        let (address, written) = rest.split_once('?').unwrap_or((rest, ""));
        let mut parameters = Vec::new();
        for parameter in written.split('&') {
            match parameter.split_once('=') {
                Some((name, value)) => parameters.push((name.to_owned(), value.to_owned())),
                None if parameter.is_empty() => {}
                None => return Err(EndpointError::UnknownParameter(parameter.to_owned())),
            }
        }
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            address: address.to_owned(),
            parameters,
        })
    }
}

/// The part after `giop:` in an omniORB endpoint.
fn from_omniorb(text: &str) -> Option<Endpoint> {
    let (transport, address) = text.split_once(':')?;
    let scheme = match transport {
        "tcp" => "iiop",
        "ssl" => "ssliop",
        "unix" => "uiop",
        _ => return None,
    };
    Some(Endpoint {
        scheme: scheme.to_owned(),
        address: address.to_owned(),
        parameters: Vec::new(),
    })
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.address)?;
        for (i, (name, value)) in self.parameters.iter().enumerate() {
            let separator = if i == 0 { '?' } else { '&' };
            write!(f, "{separator}{name}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conformance: references - endpoints, several published
    /// Conformance: TAO 48 - IPv6, port 0, wildcard endpoints, corbaloc
    #[test]
    fn endpoints_are_read_as_written() {
        for text in [
            "iiop://localhost:5000",
            "iiop://:0",
            "iiop://[::1]:12",
            "iiop://0.0.0.0:5000?publish=orb.example:15000",
            "uiop:///run/x.sock",
            "uiop:///run/x.sock?messaging=giop-lite,checksum&mode=0600",
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
        let endpoint: Endpoint = "IIOP://h?messaging=a,b".parse().unwrap();
        assert_eq!(endpoint.scheme, "iiop");
        assert_eq!(endpoint.messaging().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn the_endpoints_of_omniorb_are_read() {
        for (theirs, ours) in [
            ("giop:tcp::5000", "iiop://:5000"),
            ("giop:tcp:orb.example:5000", "iiop://orb.example:5000"),
            ("giop:tcp:[::1]:5000", "iiop://[::1]:5000"),
            ("giop:tcp::", "iiop://:"),
            ("giop:ssl:h:684", "ssliop://h:684"),
            ("giop:unix:/run/x.sock", "uiop:///run/x.sock"),
        ] {
            assert_eq!(theirs.parse::<Endpoint>().unwrap().to_string(), ours);
        }
        for text in ["giop:http:h:1", "giop:", "giop:tcp"] {
            let error = text.parse::<Endpoint>().unwrap_err();
            assert!(matches!(error, EndpointError::UnknownScheme(_)), "{text}");
        }
    }

    /// Conformance: references - endpoints, several published
    #[test]
    fn each_mistake_has_its_own_error() {
        let error = |text: &str| text.parse::<Endpoint>().unwrap_err();
        for text in ["x:1", "://x", "ii op://x"] {
            assert!(matches!(error(text), EndpointError::UnknownScheme(_)));
        }
        assert!(matches!(
            error("iiop://x?publish"),
            EndpointError::UnknownParameter(_)
        ));
        let error = |text: &str| text.parse::<HostPort>().unwrap_err();
        assert!(matches!(error("x:70000"), EndpointError::BadPort(_)));
        assert!(matches!(error("x:1:2"), EndpointError::BadPort(_)));
        assert!(matches!(error("[::1:5"), EndpointError::BadHost(_)));
        assert!(matches!(error("a b:5"), EndpointError::BadHost(_)));
        assert!(matches!(error("a/b:5"), EndpointError::BadHost(_)));
    }
}
