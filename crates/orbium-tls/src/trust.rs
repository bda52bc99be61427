// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which servers a client trusts.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor, verify_server_name,
};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::{NameCheck, TlsError};

/// What checks the certificate of a server.
pub(crate) fn server_verifier(
    roots: Arc<RootCertStore>,
    names: &NameCheck,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    if roots.is_empty() {
        return Err(TlsError::NoTrustAnchors);
    }
    let accepted = match names {
        NameCheck::Host => {
            let builder =
                WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider)).build();
            return match builder {
                Ok(verifier) => Ok(verifier),
                Err(error) => Err(TlsError::Refused(error.to_string())),
            };
        }
        NameCheck::OneOf(names) if names.is_empty() => return Err(TlsError::NoNames),
        NameCheck::OneOf(names) => {
            let names = names.iter().map(|name| {
                ServerName::try_from(name.clone()).map_err(|_| TlsError::BadName(name.clone()))
            });
            Accepted::Names(names.collect::<Result<_, _>>()?)
        }
        NameCheck::ChainOnly => Accepted::All,
    };
    Ok(Arc::new(ChainVerifier {
        roots,
        accepted,
        algorithms: provider.signature_verification_algorithms,
    }))
}

#[derive(Debug)]
enum Accepted {
    Names(Vec<ServerName<'static>>),
    All,
}

/// Checks the chain to a trust anchor, but not the name connected to.
#[derive(Debug)]
struct ChainVerifier {
    roots: Arc<RootCertStore>,
    accepted: Accepted,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for ChainVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &self.roots,
            intermediates,
            now,
            self.algorithms.all,
        )?;
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
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
