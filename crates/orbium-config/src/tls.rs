// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS configuration as plain values.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Trust anchors, the ORB's certificate, and the rules of their use.
///
/// A server needs a certificate and its key, a client needs trust anchors; with both, one value
/// serves both roles and the certificate is presented to servers that request one. Without the
/// files for a role, that role is unavailable, never less strict.
///
/// # Example
/// ```
/// use orbium_config::tls::{ClientAuthentication, TlsConfig, TlsVersion};
///
/// let mutual = TlsConfig {
///     certificate: Some("/etc/orb/chain.pem".into()),
///     key: Some("/etc/orb/key.pem".into()),
///     authorities: Some("/etc/orb/ca.pem".into()),
///     client_authentication: ClientAuthentication::Require,
///     min_version: TlsVersion::V1_3,
///     ..TlsConfig::default()
/// };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsConfig {
    /// PEM file with the certificate of this ORB, followed by those up to the trust
    /// anchor. May contain the key as well.
    pub certificate: Option<PathBuf>,
    /// PEM file with the key, not encrypted. Default: the key is in the file of
    /// the certificate.
    pub key: Option<PathBuf>,
    /// Accepts a key file that its group or other users may read or write. Default: false, such a
    /// file is refused.
    pub key_readable_by_others: bool,
    /// PEM file with the trust anchors: the certificates of the trusted authorities. There is no
    /// other source of trust.
    pub authorities: Option<PathBuf>,
    /// PEM files with certificate revocation lists. With any, every certificate of a
    /// peer's chain below the trust anchor is looked up in the list of the authority that
    /// issued it; a peer is refused if a certificate of the chain is revoked, or if an
    /// authority has no list here, in both roles. Default: none, no certificate is looked up.
    pub revocation_lists: Vec<PathBuf>,
    /// Treatment of a revocation list after its `nextUpdate` time. Default: peers
    /// are refused until there is a new list.
    pub outdated_lists: OutdatedLists,
    /// Whether calls to other hosts, and endpoints reachable from other hosts, must use TLS; others
    /// are refused. Default: false; then calls prefer TLS if a reference offers it and there are
    /// trust anchors.
    pub require: bool,
    /// Whether a server requests or requires certificates of its clients. Default: neither.
    pub client_authentication: ClientAuthentication,
    /// The name required in the certificate of a server. Default: the host of the connection.
    pub server_name: NameCheck,
    /// Oldest accepted version. Default: 1.2.
    pub min_version: TlsVersion,
    /// Newest accepted version. Default: 1.3.
    pub max_version: TlsVersion,
    /// Maximum time of a handshake, counted from when the connection was accepted or opened.
    /// Default: ten seconds.
    pub handshake_time: Duration,
    /// Whether each new connection checks if the files have changed. Default: true.
    pub watch_files: bool,
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self {
            certificate: None,
            key: None,
            key_readable_by_others: false,
            authorities: None,
            revocation_lists: Vec::new(),
            outdated_lists: OutdatedLists::Refuse,
            require: false,
            client_authentication: ClientAuthentication::Ignore,
            server_name: NameCheck::Host,
            min_version: TlsVersion::V1_2,
            max_version: TlsVersion::V1_3,
            handshake_time: Duration::from_secs(10),
            watch_files: true,
        }
    }
}

/// Treatment of revocation lists after their `nextUpdate` time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutdatedLists {
    /// They are not used: peers that need the list are refused.
    #[default]
    Refuse,
    /// They are used as before: later revocations are unknown.
    Accept,
}

impl FromStr for OutdatedLists {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "refuse" => Ok(Self::Refuse),
            "accept" => Ok(Self::Accept),
            _ => Err("expected refuse or accept".to_owned()),
        }
    }
}

impl fmt::Display for OutdatedLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refuse => "refuse",
            Self::Accept => "accept",
        })
    }
}

/// Authentication that a server requires of its clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// No certificate: any client may connect.
    #[default]
    Ignore,
    /// A certificate if the client has one. A client without one is served
    /// without a name; one with an untrusted certificate is refused.
    Request,
    /// A certificate that is trusted; others are refused.
    Require,
}

impl FromStr for ClientAuthentication {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::Ignore),
            "request" => Ok(Self::Request),
            "require" => Ok(Self::Require),
            _ => Err("expected none, request or require".to_owned()),
        }
    }
}

impl fmt::Display for ClientAuthentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ignore => "none",
            Self::Request => "request",
            Self::Require => "require",
        })
    }
}

/// Name required in the certificate of a server. With each choice, the certificate must lead to a
/// trust anchor, be valid now and be for servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NameCheck {
    /// The host name or the address in the reference, as an alternative name of
    /// the certificate. Many references carry bare addresses: the certificate
    /// then needs an alternative name of type IP address.
    #[default]
    Host,
    /// One of these names or addresses, for every host.
    OneOf(Vec<String>),
    /// No name check: any certificate of the authorities is accepted. Safe only if
    /// they certify only servers that are equally trusted, as any of
    /// these can impersonate any other.
    ChainOnly,
}

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    V1_2,
    /// TLS 1.3 (RFC 8446).
    V1_3,
}

impl FromStr for TlsVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "1.2" => Ok(Self::V1_2),
            "1.3" => Ok(Self::V1_3),
            _ => Err("expected 1.2 or 1.3".to_owned()),
        }
    }
}

impl fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_2 => "1.2",
            Self::V1_3 => "1.3",
        })
    }
}
