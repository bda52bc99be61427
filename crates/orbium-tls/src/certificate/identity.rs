// SPDX-License-Identifier: MIT OR Apache-2.0
//! The own identity: a chain of certificates and the key of the first.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, SignatureScheme};

use crate::certificate::pem;
use crate::{TlsConfig, TlsError};

/// Presents one certificate to all peers, as a client and as a server.
#[derive(Debug)]
pub(crate) struct Identity(Arc<CertifiedKey>);

impl Identity {
    /// Reads the files; `None` if no certificate is configured.
    pub(crate) fn load(
        config: &TlsConfig,
        provider: &CryptoProvider,
    ) -> Result<Option<Self>, TlsError> {
        let Some(path) = &config.certificate else {
            return match config.key {
                Some(_) => Err(TlsError::KeyWithoutCertificate),
                None => Ok(None),
            };
        };
        let exposed = config.key_readable_by_others;
        let octets = match &config.key {
            Some(_) => pem::read(path)?,
            None => pem::read_secret(path, exposed)?,
        };
        let chain = pem::certificates(path, &octets)?;
        for certificate in &chain {
            ParsedCertificate::try_from(certificate).map_err(|error| TlsError::BadCertificate {
                path: path.clone(),
                reason: error.to_string(),
            })?;
        }
        let key_path = config.key.as_ref().unwrap_or(path);
        let key = match &config.key {
            Some(path) => pem::key(path, &pem::read_secret(path, exposed)?)?,
            None => pem::key(path, &octets)?,
        };
        let bad_key = |error: Error| TlsError::BadKey {
            path: key_path.clone(),
            reason: error.to_string(),
        };
        let key = provider
            .key_provider
            .load_private_key(key)
            .map_err(bad_key)?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            Ok(()) => Ok(Some(Self(Arc::new(certified)))),
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                Err(TlsError::KeyMismatch {
                    certificate: path.clone(),
                    key: key_path.clone(),
                })
            }
            Err(error) => Err(bad_key(error)),
        }
    }
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

impl ResolvesClientCert for Identity {
    /// Presents the certificate for any authorities that the server names: it may trust ours
    /// through another one, and reports an error if not.
    fn resolve(
        &self,
        _authorities: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.0.key.choose_scheme(schemes)?;
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}
