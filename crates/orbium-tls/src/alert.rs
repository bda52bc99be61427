// SPDX-License-Identifier: MIT OR Apache-2.0
//! Alerts (RFC 8446, 6): the reasons of peers for ending a connection.

use crate::{CertificateFault, TlsFailure};

/// The failure that an alert other than close_notify represents for its receiver.
pub(crate) fn meaning(description: u8) -> TlsFailure {
    use CertificateFault as Fault;
    let own = TlsFailure::OwnCertificate;
    match description {
        41 | 116 => own(Fault::Missing),
        42 | 43 | 46 => own(Fault::Invalid(name(description).to_owned())),
        44 => own(Fault::Revoked),
        45 => own(Fault::Expired),
        48 => own(Fault::UnknownAuthority),
        70 | 86 => TlsFailure::NoCommonVersion,
        other => TlsFailure::Refused(name(other)),
    }
}

/// The name in the specification.
fn name(description: u8) -> &'static str {
    match description {
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        40 => "handshake_failure",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        71 => "insufficient_security",
        80 => "internal_error",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        112 => "unrecognized_name",
        115 => "unknown_psk_identity",
        120 => "no_application_protocol",
        _ => "an alert of unknown meaning",
    }
}
