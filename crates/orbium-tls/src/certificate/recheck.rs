// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resumed sessions: whether the peer is still trusted.
//!
//! rustls restores the certificates that the peer presented originally without validating them
//! again; and each session creates the next, so resumption could continue indefinitely after a
//! certificate has expired.

use std::sync::Arc;

use orbium_sync::lock::RwLock;

use rustls::Error;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ClientSessionMemoryCache, ClientSessionStore};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};

/// The verifier of the peer's original certificates, and the resulting sessions.
#[derive(Clone, Debug)]
pub(crate) enum Recheck {
    /// For the certificates of a server of that name.
    Server(
        Arc<dyn ServerCertVerifier>,
        ServerName<'static>,
        Arc<ClientSessionMemoryCache>,
    ),
    /// For the certificates of a client, if they are requested.
    Client(Option<Arc<dyn ClientCertVerifier>>, Arc<Sessions>),
}

impl Recheck {
    /// Whether these are trusted at that time. If not, the next handshake with this peer is a full
    /// one: it may have better ones by then.
    pub(crate) fn check(
        &self,
        certificates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let checked = self.verify(certificates, now);
        if checked.is_err() {
            self.forget();
        }
        checked
    }

    fn verify(&self, certificates: &[CertificateDer<'_>], now: UnixTime) -> Result<(), Error> {
        match (self, certificates) {
            (Self::Server(verifier, name, _), [own, others @ ..]) => verifier
                .verify_server_cert(own, others, name, &[], now)
                .map(drop),
            (Self::Client(Some(verifier), _), [own, others @ ..]) => {
                verifier.verify_client_cert(own, others, now).map(drop)
            }
            (Self::Client(Some(verifier), _), []) if !verifier.client_auth_mandatory() => Ok(()),
            (Self::Client(None, _), _) => Ok(()),
            (_, []) => Err(Error::NoCertificatesPresented),
        }
    }

    fn forget(&self) {
        match self {
            Self::Server(_, name, sessions) => {
                sessions.remove_tls12_session(name);
                while sessions.take_tls13_ticket(name).is_some() {}
            }
            // The sessions of this client are not known individually. A client cannot cause this
            // repeatedly: an untrusted one gets no new session.
            Self::Client(_, sessions) => sessions.clear(),
        }
    }
}

/// The sessions that a server remembers.
#[derive(Debug)]
pub(crate) struct Sessions {
    most: usize,
    current: RwLock<Arc<ServerSessionMemoryCache>>,
}

impl Sessions {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let current = RwLock::new(ServerSessionMemoryCache::new(most));
        Arc::new(Self { most, current })
    }

    fn current(&self) -> Arc<ServerSessionMemoryCache> {
        Arc::clone(&self.current.read())
    }

    fn clear(&self) {
        let empty = ServerSessionMemoryCache::new(self.most);
        *self.current.write() = empty;
    }
}

impl StoresServerSessions for Sessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.current().put(key, value)
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.current().get(key)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.current().take(key)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
