// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS on the command line: the same options for every command that makes an
//! ORB.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use orbium::transport::{
    Acceptor, ByteStream, Connector, Deadline, EndpointError, ListenError, Protection,
    StreamTransport,
};
use orbium::{Config, Endpoint, ProtocolProperties, Transport};
use orbium_tls::{ClientAuthentication, NameCheck, Tls, TlsConfig, TlsFailure, TlsVersion};

use crate::failure::Failure;

/// The scheme of the transport.
pub(crate) const SCHEME: &str = "ssliop";

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "TLS (ssliop://HOST:PORT)")]
pub(crate) struct TlsArgs {
    /// PEM file with our certificate and those that lead to the authority; may
    /// hold the key as well
    #[arg(long, value_name = "FILE", env = "ORBIUM_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// PEM file with the key, not encrypted [default: the file of the certificate]
    #[arg(long, value_name = "FILE", env = "ORBIUM_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,
    /// PEM file with the authorities that are trusted
    #[arg(long, value_name = "FILE", env = "ORBIUM_TLS_CA")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// What a server wants of its clients: a certificate (require), one if they
    /// have one (request), or nothing (none)
    #[arg(
        long,
        value_name = "WHAT",
        default_value_t,
        env = "ORBIUM_TLS_CLIENT_AUTH"
    )]
    tls_client_auth: ClientAuthentication,
    /// Oldest version: 1.2 or 1.3
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "1.2",
        env = "ORBIUM_TLS_MIN"
    )]
    tls_min: TlsVersion,
    /// Newest version: 1.2 or 1.3
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "1.3",
        env = "ORBIUM_TLS_MAX"
    )]
    tls_max: TlsVersion,
    /// A name that the certificate of a server may bear, in place of the host in
    /// the reference; may be repeated
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        env = "ORBIUM_TLS_NAME"
    )]
    tls_name: Vec<String>,
    /// Any name will do in the certificate of a server, as long as it comes from
    /// a trusted authority: for references that carry bare addresses. Without
    /// effect beside --tls-name
    #[arg(long, env = "ORBIUM_TLS_NO_NAME_CHECK")]
    tls_no_name_check: bool,
}

impl Default for TlsArgs {
    /// No TLS.
    fn default() -> Self {
        Self {
            tls_cert: None,
            tls_key: None,
            tls_ca: None,
            tls_client_auth: ClientAuthentication::Ignore,
            tls_min: TlsVersion::V1_2,
            tls_max: TlsVersion::V1_3,
            tls_name: Vec::new(),
            tls_no_name_check: false,
        }
    }
}

impl TlsArgs {
    fn is_configured(&self) -> bool {
        self.tls_cert.is_some() || self.tls_key.is_some() || self.tls_ca.is_some()
    }

    /// Gives an ORB to be made the transport, if there are files for it.
    pub(crate) fn add_to(&self, config: &mut Config) -> Result<(), Failure> {
        if !self.is_configured() {
            let mut endpoints = config.endpoints.iter();
            return match endpoints.find(|endpoint| endpoint.scheme == SCHEME) {
                Some(endpoint) => Err(Failure::because(format!(
                    "{endpoint} needs a certificate: see --tls-cert"
                ))),
                None => Ok(()),
            };
        }
        let tls = Tls::new(self.config()).map_err(|error| Failure::because(error.to_string()))?;
        config
            .protocols
            .register(Transport::stream(Remembering { tls }));
        Ok(())
    }

    fn config(&self) -> TlsConfig {
        TlsConfig {
            certificate: self.tls_cert.clone(),
            key: self.tls_key.clone(),
            authorities: self.tls_ca.clone(),
            client_authentication: self.tls_client_auth,
            server_name: match self.tls_name.as_slice() {
                [] if self.tls_no_name_check => NameCheck::ChainOnly,
                [] => NameCheck::Host,
                names => NameCheck::OneOf(names.to_vec()),
            },
            min_version: self.tls_min,
            max_version: self.tls_max,
            ..TlsConfig::default()
        }
    }
}

/// Why the last connection was refused. An exception has no room for it.
static REFUSAL: Mutex<Option<TlsFailure>> = Mutex::new(None);

/// Why a TLS connection was last refused, if any was.
pub(crate) fn refusal() -> Option<TlsFailure> {
    let refusal = REFUSAL.lock().unwrap_or_else(PoisonError::into_inner);
    refusal.clone()
}

/// The transport, with a memory.
#[derive(Debug)]
struct Remembering {
    tls: Tls,
}

impl StreamTransport for Remembering {
    fn scheme(&self) -> &str {
        self.tls.scheme()
    }

    fn protection(&self) -> Protection {
        self.tls.protection()
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        self.tls.listen(endpoint, properties)
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let connector = self.tls.connector(address, properties)?;
        Ok(Box::new(RememberingConnector(connector)))
    }
}

#[derive(Debug)]
struct RememberingConnector(Box<dyn Connector>);

impl Connector for RememberingConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        self.0.connect(deadline).inspect_err(|error| {
            let mut refusal = REFUSAL.lock().unwrap_or_else(PoisonError::into_inner);
            *refusal = TlsFailure::of(error).cloned();
        })
    }
}
