// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a TLS configuration.

use std::fmt;
use std::path::PathBuf;

/// Error in a TLS configuration.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsError {
    /// Neither a certificate nor trust anchors: no role is possible.
    NothingConfigured,
    /// There is a key but no certificate.
    KeyWithoutCertificate,
    /// Trust anchors are needed, to check the certificates of clients.
    NoTrustAnchors,
    /// The oldest version allowed is newer than the newest.
    NoVersion,
    /// An accepted server name is neither a host name nor an address.
    BadName(String),
    /// The list of accepted server names is empty.
    NoNames,
    /// A file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A file exceeds the limit of its kind.
    TooLarge(PathBuf),
    /// The contents of a file are not PEM.
    NotPem {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// No certificate is in a file.
    NoCertificate(PathBuf),
    /// No private key is in a file.
    NoKey(PathBuf),
    /// The private key in a file is encrypted.
    EncryptedKey(PathBuf),
    /// The file of a private key is readable or writable by others than its owner.
    ExposedKey {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// No revocation list is in a file.
    NoRevocationList(PathBuf),
    /// A revocation list cannot be used.
    BadRevocationList {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A certificate cannot be used.
    BadCertificate {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A private key cannot be used.
    BadKey {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The key is not that of the certificate.
    KeyMismatch {
        /// File of the certificate.
        certificate: PathBuf,
        /// File of the key.
        key: PathBuf,
    },
    /// The combination is refused for another reason.
    Refused(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingConfigured => f.write_str(
                "TLS needs a certificate with its key to serve, or trust anchors to connect",
            ),
            Self::KeyWithoutCertificate => f.write_str("a TLS key without its certificate"),
            Self::NoTrustAnchors => {
                f.write_str("no trust anchors are configured: no peer could be trusted")
            }
            Self::NoVersion => {
                f.write_str("the oldest TLS version allowed is newer than the newest")
            }
            Self::BadName(name) => write!(f, "`{name}` is neither a host name nor an address"),
            Self::NoNames => f.write_str("an empty list of names that servers may bear"),
            Self::Unreadable { path, reason } => {
                write!(f, "cannot read `{}`: {reason}", path.display())
            }
            Self::TooLarge(path) => write!(f, "`{}` is too large", path.display()),
            Self::NotPem { path, reason } => {
                write!(f, "`{}` is not a PEM file: {reason}", path.display())
            }
            Self::NoCertificate(path) => write!(f, "no certificate in `{}`", path.display()),
            Self::NoKey(path) => write!(f, "no private key in `{}`", path.display()),
            Self::EncryptedKey(path) => write!(
                f,
                "the private key in `{}` is encrypted: decrypt it (as with `openssl pkey`) and \
                 protect the file instead",
                path.display()
            ),
            Self::ExposedKey { path, mode } => write!(
                f,
                "the private key in `{0}` is not its owner's alone (mode {mode:04o}): run \
                 `chmod 600 {0}`, or set tls.key_readable_by_others if that is intended",
                path.display()
            ),
            Self::NoRevocationList(path) => {
                write!(f, "no revocation list (X509 CRL) in `{}`", path.display())
            }
            Self::BadRevocationList { path, reason } => {
                write!(f, "bad revocation list in `{}`: {reason}", path.display())
            }
            Self::BadCertificate { path, reason } => {
                write!(f, "bad certificate in `{}`: {reason}", path.display())
            }
            Self::BadKey { path, reason } => {
                write!(f, "bad private key in `{}`: {reason}", path.display())
            }
            Self::KeyMismatch { certificate, key } => write!(
                f,
                "the private key in `{}` is not that of the certificate in `{}`",
                key.display(),
                certificate.display()
            ),
            Self::Refused(reason) => write!(f, "TLS configuration refused: {reason}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TlsError {}
