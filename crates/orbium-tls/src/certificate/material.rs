// SPDX-License-Identifier: MIT OR Apache-2.0
//! Key material from files: ready configurations for either role.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ClientSessionMemoryCache, Resumption};
use rustls::crypto::CryptoProvider;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};

use crate::certificate::identity::Identity;
use crate::certificate::pem;
use crate::certificate::recheck::Sessions;
use crate::certificate::revocation::Revocation;
use crate::certificate::trust::server_verifier;
use crate::{ClientAuthentication, TlsConfig, TlsError, TlsVersion};

/// Maximum number of cached sessions of each role, for resumption.
const SESSIONS: usize = 1024;

/// One reading of the files.
#[derive(Debug)]
pub(crate) struct Material {
    /// For a server; present with a certificate.
    pub(crate) server: Option<ServerRole>,
    /// For a client; present with trust anchors.
    pub(crate) client: Option<ClientRole>,
}

/// The configuration of server handshakes.
#[derive(Clone, Debug)]
pub(crate) struct ServerRole {
    pub(crate) config: Arc<ServerConfig>,
    /// `None` if no certificate is requested.
    pub(crate) verifier: Option<Arc<dyn ClientCertVerifier>>,
    pub(crate) sessions: Arc<Sessions>,
}

/// The configuration of client handshakes.
#[derive(Clone, Debug)]
pub(crate) struct ClientRole {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) verifier: Arc<dyn ServerCertVerifier>,
    pub(crate) sessions: Arc<ClientSessionMemoryCache>,
}

impl Material {
    /// Reads the files.
    pub(crate) fn load(config: &TlsConfig) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = versions(config)?;
        let identity = Identity::load(config, &provider)?.map(Arc::new);
        let authorities = config.authorities.as_deref().map(anchors).transpose()?;
        if identity.is_none() && authorities.is_none() {
            return Err(TlsError::NothingConfigured);
        }
        let revocation = Revocation::load(config)?;
        let server = match &identity {
            Some(identity) => {
                let identity = Arc::clone(identity);
                Some(server(
                    config,
                    identity,
                    authorities.as_ref(),
                    &revocation,
                    &provider,
                    &versions,
                )?)
            }
            None => None,
        };
        let client = match authorities {
            Some(roots) => Some(client(
                config,
                identity,
                roots,
                &revocation,
                &provider,
                &versions,
            )?),
            None => None,
        };
        Ok(Self { server, client })
    }

    /// A copy without cached sessions. In a forked child the caches of the parent may be locked
    /// forever: the thread that held the lock does not exist there.
    pub(crate) fn without_sessions(&self) -> Self {
        let server = self.server.as_ref().map(|role| {
            let mut config = (*role.config).clone();
            let sessions = Sessions::new(SESSIONS);
            config.session_storage = Arc::clone(&sessions) as _;
            ServerRole {
                config: Arc::new(config),
                verifier: role.verifier.clone(),
                sessions,
            }
        });
        let client = self.client.as_ref().map(|role| {
            let mut config = (*role.config).clone();
            let sessions = Arc::new(ClientSessionMemoryCache::new(SESSIONS));
            config.resumption = Resumption::store(Arc::clone(&sessions) as _);
            ClientRole {
                config: Arc::new(config),
                verifier: Arc::clone(&role.verifier),
                sessions,
            }
        });
        Self { server, client }
    }
}

fn versions(config: &TlsConfig) -> Result<Vec<&'static SupportedProtocolVersion>, TlsError> {
    let all = [(TlsVersion::V1_2, &TLS12), (TlsVersion::V1_3, &TLS13)];
    let allowed = config.min_version..=config.max_version;
    let chosen: Vec<_> = all
        .into_iter()
        .filter(|(version, _)| allowed.contains(version))
        .map(|(_, version)| version)
        .collect();
    if chosen.is_empty() {
        return Err(TlsError::NoVersion);
    }
    Ok(chosen)
}

/// The trust anchors in a file: every certificate of it, or none at all.
fn anchors(path: &Path) -> Result<Arc<RootCertStore>, TlsError> {
    let octets = pem::read(path)?;
    let mut roots = RootCertStore::empty();
    for certificate in pem::certificates(path, &octets)? {
        roots
            .add(certificate)
            .map_err(|error| TlsError::BadCertificate {
                path: path.to_owned(),
                reason: error.to_string(),
            })?;
    }
    Ok(Arc::new(roots))
}

fn server(
    config: &TlsConfig,
    identity: Arc<Identity>,
    roots: Option<&Arc<RootCertStore>>,
    revocation: &Revocation,
    provider: &Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ServerRole, TlsError> {
    let refused = |reason: String| TlsError::Refused(reason);
    let builder = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(versions)
        .map_err(|error| refused(error.to_string()))?;
    let verifier = match config.client_authentication {
        ClientAuthentication::Ignore => None,
        asked => {
            let roots = roots.ok_or(TlsError::NoTrustAnchors)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(
                Arc::clone(roots),
                Arc::clone(provider),
            );
            let verifier = verifier.with_crls(revocation.lists());
            let verifier = if revocation.refuses_outdated() {
                verifier.enforce_revocation_expiration()
            } else {
                verifier
            };
            let verifier = match asked {
                ClientAuthentication::Request => verifier.allow_unauthenticated(),
                _ => verifier,
            };
            let verifier = verifier
                .build()
                .map_err(|error| refused(error.to_string()))?;
            Some(verifier)
        }
    };
    let builder = match &verifier {
        Some(verifier) => builder.with_client_cert_verifier(Arc::clone(verifier)),
        None => builder.with_no_client_auth(),
    };
    let sessions = Sessions::new(SESSIONS);
    let mut server = builder.with_cert_resolver(identity);
    server.session_storage = Arc::clone(&sessions) as _;
    Ok(ServerRole {
        config: Arc::new(server),
        verifier,
        sessions,
    })
}

fn client(
    config: &TlsConfig,
    identity: Option<Arc<Identity>>,
    roots: Arc<RootCertStore>,
    revocation: &Revocation,
    provider: &Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ClientRole, TlsError> {
    let verifier = server_verifier(roots, &config.server_name, revocation, provider)?;
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(versions)
        .map_err(|error| TlsError::Refused(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&verifier));
    let mut client = match identity {
        Some(identity) => builder.with_client_cert_resolver(identity),
        None => builder.with_no_client_auth(),
    };
    let sessions = Arc::new(ClientSessionMemoryCache::new(SESSIONS));
    client.resumption = Resumption::store(Arc::clone(&sessions) as _);
    Ok(ClientRole {
        config: Arc::new(client),
        verifier,
        sessions,
    })
}
