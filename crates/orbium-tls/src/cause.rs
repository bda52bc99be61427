// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion of errors of rustls to failures.

use rustls::{CertificateError, Error, InvalidMessage, PeerIncompatible};

use crate::alert;
use crate::failure::{CertificateFault, TlsFailure};

impl TlsFailure {
    /// The failure that an error of rustls represents for a client or a server.
    pub(crate) fn from_rustls(error: Error, is_client: bool) -> Self {
        let of_peer = if is_client {
            Self::ServerCertificate
        } else {
            Self::ClientCertificate
        };
        match error {
            Error::InvalidCertificate(error) => of_peer(fault(error)),
            Error::NoCertificatesPresented => of_peer(CertificateFault::Missing),
            Error::AlertReceived(description) => alert::meaning(description.into()),
            Error::PeerIncompatible(error) => incompatible(&error),
            Error::InvalidMessage(
                InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
            ) => Self::NotTls,
            Error::DecryptError => Self::Damaged,
            other => Self::Protocol(other.to_string()),
        }
    }
}

fn fault(error: CertificateError) -> CertificateFault {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            CertificateFault::Expired
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            CertificateFault::NotYetValid
        }
        CertificateError::NotValidForName => CertificateFault::WrongName {
            expected: String::new(),
            presented: Vec::new(),
        },
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => CertificateFault::WrongName {
            expected: expected.to_str().into_owned(),
            presented,
        },
        CertificateError::UnknownIssuer => CertificateFault::UnknownAuthority,
        // An authority of the same name but with another key.
        CertificateError::BadSignature => CertificateFault::UnknownAuthority,
        CertificateError::Revoked => CertificateFault::Revoked,
        CertificateError::UnknownRevocationStatus => CertificateFault::NoRevocationList,
        CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. } => {
            CertificateFault::OutdatedRevocationList
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            CertificateFault::WrongPurpose
        }
        other => CertificateFault::Invalid(other.to_string()),
    }
}

fn incompatible(error: &PeerIncompatible) -> TlsFailure {
    match error {
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::SupportedVersionsExtensionRequired
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled => TlsFailure::NoCommonVersion,
        other => TlsFailure::NothingInCommon(format!("{other:?}")),
    }
}
