// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failures of TLS connections and their certificates.

use std::fmt;
use std::io;

/// Failure of a handshake, or of the connection later.
///
/// It is contained in the [`io::Error`]; see [`TlsFailure::of`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The certificate of the server is not good enough for us.
    ServerCertificate(CertificateFault),
    /// The certificate of the client is not good enough for us.
    ClientCertificate(CertificateFault),
    /// Our certificate is not good enough for the peer.
    OwnCertificate(CertificateFault),
    /// No version that both allow: an old peer, or an attacker
    /// that forces a downgrade.
    NoCommonVersion,
    /// No cipher suite, key exchange or signature that both allow.
    NothingInCommon(String),
    /// The received data are not TLS.
    NotTls,
    /// No trust anchors are configured: no server can be trusted.
    NoTrustAnchors,
    /// The name of the host cannot occur in a certificate.
    BadName(String),
    /// The peer ended the connection during the handshake. So does a server
    /// that expects no TLS.
    ClosedEarly,
    /// The handshake exceeded its time limit.
    TooSlow,
    /// The peer ended the connection for the reason given (RFC 8446, 6.2).
    Refused(&'static str),
    /// The received data do not come from the peer, or were corrupted in transit.
    Damaged,
    /// The peer breaks the protocol.
    Protocol(String),
    /// The limit of data under one key is reached; TLS 1.2 cannot change keys.
    KeysExhausted,
}

/// Fault of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateFault {
    /// The peer has presented none.
    Missing,
    /// The certificate, or one between it and the authority, has expired.
    Expired,
    /// The certificate, or one between it and the authority, is not yet valid.
    NotYetValid,
    /// The certificate does not have the expected name.
    WrongName {
        /// The expected name; empty if several are accepted.
        expected: String,
        /// Its names.
        presented: Vec<String>,
    },
    /// It does not lead to a trusted authority.
    UnknownAuthority,
    /// It was revoked.
    Revoked,
    /// There is no revocation list of an authority in its chain.
    NoRevocationList,
    /// The revocation list of an authority of its chain is out of date.
    OutdatedRevocationList,
    /// The certificate is for another purpose: for example a client certificate of a server.
    WrongPurpose,
    /// It is invalid for another reason.
    Invalid(String),
}

impl fmt::Display for CertificateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Expired => f.write_str("has expired"),
            Self::NotYetValid => f.write_str("is not valid yet"),
            Self::WrongName {
                expected,
                presented,
            } => {
                f.write_str("does not bear the name ")?;
                match expected.as_str() {
                    "" => f.write_str("expected")?,
                    name => write!(f, "`{name}`")?,
                }
                match presented.as_slice() {
                    [] => Ok(()),
                    names => write!(f, " but {}", names.join(", ")),
                }
            }
            Self::UnknownAuthority => f.write_str("comes from no authority that is trusted"),
            Self::Revoked => f.write_str("was revoked"),
            Self::NoRevocationList => f.write_str(
                "comes from an authority of which there is no revocation list (tls.revocation_lists)",
            ),
            Self::OutdatedRevocationList => f.write_str(
                "comes from an authority whose revocation list is out of date \
                 (tls.revocation_lists, tls.outdated_lists)",
            ),
            Self::WrongPurpose => f.write_str("is meant for another purpose"),
            Self::Invalid(reason) => write!(f, "cannot be used: {reason}"),
        }
    }
}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServerCertificate(fault) => write!(f, "the certificate of the server {fault}"),
            Self::ClientCertificate(fault) => write!(f, "the certificate of the client {fault}"),
            Self::OwnCertificate(fault) => {
                write!(f, "the peer says that our certificate {fault}")
            }
            Self::NoCommonVersion => f.write_str("no TLS version that both sides allow"),
            Self::NothingInCommon(what) => write!(f, "nothing in common: {what}"),
            Self::NotTls => f.write_str("the peer does not speak TLS"),
            Self::NoTrustAnchors => {
                f.write_str("no trust anchors are configured: no server could be trusted")
            }
            Self::BadName(name) => write!(f, "`{name}` can be no name in a certificate"),
            Self::ClosedEarly => f.write_str(
                "the peer ended the connection during the TLS handshake: perhaps it expects none",
            ),
            Self::TooSlow => f.write_str("the TLS handshake took too long"),
            Self::Refused(reason) => write!(f, "the peer refuses: {reason}"),
            Self::Damaged => f.write_str("a TLS record is damaged or forged"),
            Self::Protocol(what) => write!(f, "TLS protocol error: {what}"),
            Self::KeysExhausted => f.write_str("the TLS 1.2 keys are used up"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TlsFailure {}

impl TlsFailure {
    /// The failure in an error, if it is one of TLS.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// `PermissionDenied` if trust or configuration is the cause, `ConnectionAborted` if a retry
    /// may help.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::ClosedEarly | Self::TooSlow | Self::Damaged | Self::KeysExhausted => {
                io::ErrorKind::ConnectionAborted
            }
            _ => io::ErrorKind::PermissionDenied,
        }
    }

    pub(crate) fn into_error(self) -> io::Error {
        io::Error::new(self.kind(), self)
    }
}
