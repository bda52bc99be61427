// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS 1.3 by rustls alone, for the raw peer.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use orbium_demo::raw::Listen;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use crate::tls::TlsArgs;

/// A TCP listener for connections under TLS.
pub(crate) struct TlsListener {
    tcp: TcpListener,
    config: Arc<ServerConfig>,
}

impl TlsListener {
    /// Presents the given certificate.
    pub(crate) fn new(tcp: TcpListener, files: &TlsArgs) -> io::Result<Self> {
        let (Some(certificate), Some(key)) = (&files.tls_cert, &files.tls_key) else {
            return Err(missing("a certificate and its key"));
        };
        let key = PrivateKeyDer::from_pem_file(key).map_err(io::Error::other)?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(certificates(certificate)?, key)
            .map_err(io::Error::other)?;
        let config = Arc::new(config);
        Ok(Self { tcp, config })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

impl Listen for TlsListener {
    type Stream = StreamOwned<ServerConnection, TcpStream>;

    fn next(&self) -> io::Result<Self::Stream> {
        let stream = self.tcp.next()?;
        let session = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        Ok(StreamOwned::new(session, stream))
    }
}

/// TLS over a connection, with the given trusted authorities.
pub(crate) fn connect(
    stream: TcpStream,
    to: IpAddr,
    files: &TlsArgs,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let authorities = files.tls_ca.as_deref();
    let mut roots = RootCertStore::empty();
    for authority in certificates(authorities.ok_or_else(|| missing("an authority"))?)? {
        roots.add(authority).map_err(io::Error::other)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::IpAddress(to.into());
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(session, stream))
}

fn certificates(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(file).map_err(io::Error::other)?;
    all.collect::<Result<_, _>>().map_err(io::Error::other)
}

fn missing(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("TLS needs {what}"))
}
