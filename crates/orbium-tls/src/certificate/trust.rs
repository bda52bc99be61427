// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verification of server certificates by clients.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::certificate::revocation::Revocation;
use crate::{NameCheck, TlsError};

/// The verifier of server certificates.
pub(crate) fn server_verifier(
    roots: Arc<RootCertStore>,
    names: &NameCheck,
    revocation: &Revocation,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    if roots.is_empty() {
        return Err(TlsError::NoTrustAnchors);
    }
    let accepted = match names {
        NameCheck::Host => None,
        NameCheck::OneOf(names) if names.is_empty() => return Err(TlsError::NoNames),
        NameCheck::OneOf(names) => {
            let names = names.iter().map(|name| {
                ServerName::try_from(name.clone()).map_err(|_| TlsError::BadName(name.clone()))
            });
            Some(Accepted::Names(names.collect::<Result<_, _>>()?))
        }
        NameCheck::ChainOnly => Some(Accepted::All),
    };
    let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
        .with_crls(revocation.lists());
    let builder = if revocation.refuses_outdated() {
        builder.enforce_revocation_expiration()
    } else {
        builder
    };
    let built = builder.build();
    let whole = built.map_err(|error| TlsError::Refused(error.to_string()))?;
    Ok(match accepted {
        None => whole,
        Some(accepted) => Arc::new(ChainVerifier { whole, accepted }),
    })
}

#[derive(Debug)]
enum Accepted {
    Names(Vec<ServerName<'static>>),
    All,
}

/// Checks the chain to a trust anchor, but not the name connected to.
#[derive(Debug)]
struct ChainVerifier {
    whole: Arc<WebPkiServerVerifier>,
    accepted: Accepted,
}

impl ServerCertVerifier for ChainVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chain = self.whole.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match chain {
            // The name is checked last, after the chain and the revocation lists have accepted the
            // certificate.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ))
            | Ok(_) => {}
            Err(error) => return Err(error),
        }
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let Accepted::Names(names) = &self.accepted else {
            return Ok(ServerCertVerified::assertion());
        };
        let mut refusal = Error::InvalidCertificate(CertificateError::NotValidForName);
        for name in names {
            match verify_server_name(&certificate, name) {
                Ok(()) => return Ok(ServerCertVerified::assertion()),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.whole
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.whole
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.whole.supported_verify_schemes()
    }
}
