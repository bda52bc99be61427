// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS on the command line: the same options for every command that creates an ORB.

use std::path::{Path, PathBuf};

use clap::Args;
use orbium::tls::{ClientAuthentication, NameCheck, TlsConfig, TlsVersion};
use orbium::{Config, config::Configure as _};

use crate::failure::Failure;

/// The scheme of the transport.
pub(crate) const SCHEME: &str = "ssliop";

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "TLS (ssliop://HOST:PORT)")]
pub(crate) struct TlsArgs {
    /// PEM file with the certificate and those that lead to the authority; may contain the key as
    /// well
    #[arg(long, value_name = "FILE", env = "ORBIUM_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// PEM file with the key, not encrypted [default: the file of the certificate]
    #[arg(long, value_name = "FILE", env = "ORBIUM_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,
    /// PEM file with the authorities that are trusted
    #[arg(long, value_name = "FILE", env = "ORBIUM_TLS_CA")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Whether a server requires a certificate of its clients (require), requests one (request), or
    /// neither (none)
    #[arg(long, value_name = "WHAT", env = "ORBIUM_TLS_CLIENT_AUTH")]
    tls_client_auth: Option<ClientAuthentication>,
    /// Oldest version: 1.2 or 1.3 [default: 1.2]
    #[arg(long, value_name = "VERSION", env = "ORBIUM_TLS_MIN")]
    tls_min: Option<TlsVersion>,
    /// Newest version: 1.2 or 1.3 [default: 1.3]
    #[arg(long, value_name = "VERSION", env = "ORBIUM_TLS_MAX")]
    tls_max: Option<TlsVersion>,
    /// PEM file with revocation lists; may be repeated
    #[arg(
        long,
        value_name = "FILE",
        value_delimiter = ',',
        env = "ORBIUM_TLS_CRL"
    )]
    tls_crl: Vec<PathBuf>,
    /// Refuse calls and endpoints that leave this host without TLS
    #[arg(long, env = "ORBIUM_TLS_REQUIRE")]
    tls_require: bool,
    /// A name that the certificate of a server may bear, in place of the host in the reference; may
    /// be repeated
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        env = "ORBIUM_TLS_NAME"
    )]
    tls_name: Vec<String>,
    /// Accept any name in the certificate of a server, as long as it comes from a trusted
    /// authority: for references that contain plain addresses. Without effect together with
    /// --tls-name
    #[arg(long, env = "ORBIUM_TLS_NO_NAME_CHECK")]
    tls_no_name_check: bool,
}

impl TlsArgs {
    /// Adds the options to the configuration of an ORB, and the transport if there are files for
    /// it.
    pub(crate) fn add_to(&self, config: &mut Config) -> Result<(), Failure> {
        if !self.set_keys(config)? {
            let mut endpoints = config.endpoints.iter();
            return match endpoints.find(|endpoint| endpoint.scheme == SCHEME) {
                Some(endpoint) => Err(Failure::because(format!(
                    "{endpoint} needs a certificate: see --tls-cert"
                ))),
                None => Ok(()),
            };
        }
        let registered = config.register_tls();
        registered.map_err(|error| Failure::because(error.to_string()))
    }

    /// Sets the keys alone, without the transport; returns whether there are files for it.
    pub(crate) fn set_keys(&self, config: &mut Config) -> Result<bool, Failure> {
        self.choose(config)?;
        let tls = &config.tls;
        let files = [&tls.certificate, &tls.key, &tls.authorities];
        let has_files = files.iter().any(|file| file.is_some()) || tls.require;
        if !has_files {
            // Versions and the like, of the environment: without files they have no effect.
            config.tls = TlsConfig::default();
        }
        Ok(has_files)
    }

    /// Sets the keys of the configuration that correspond to the options.
    fn choose(&self, config: &mut Config) -> Result<(), Failure> {
        for (key, value) in self.settings(&config.tls)? {
            let set = config.set(key, &value);
            set.map_err(|error| Failure::because(error.to_string()))?;
        }
        if !self.tls_name.is_empty() {
            // Literally: `--tls-name any` is a name, not the keyword of the key.
            config.tls.server_name = NameCheck::OneOf(self.tls_name.clone());
        }
        Ok(())
    }

    /// The keys with their values.
    fn settings(&self, tls: &TlsConfig) -> Result<Vec<(&'static str, String)>, Failure> {
        let mut settings = Vec::new();
        for (key, file) in [
            ("tls.certificate", &self.tls_cert),
            ("tls.key", &self.tls_key),
            ("tls.authorities", &self.tls_ca),
        ] {
            if let Some(file) = file {
                settings.push((key, utf8(file)?.to_owned()));
            }
        }
        if !self.tls_crl.is_empty() {
            let lists: Result<Vec<_>, _> = self.tls_crl.iter().map(|file| utf8(file)).collect();
            settings.push(("tls.revocation_lists", lists?.join(",")));
        }
        if let Some(policy) = self.tls_client_auth {
            settings.push(("tls.client_certificates", policy.to_string()));
        }
        if let Some(versions) = self.versions(tls)? {
            settings.push(("tls.versions", versions));
        }
        if self.tls_require {
            settings.push(("tls.require", "true".to_owned()));
        }
        match self.tls_name.as_slice() {
            [] if self.tls_no_name_check => settings.push(("tls.server_names", "any".to_owned())),
            [] => {}
            names => settings.push(("tls.server_names", names.join(","))),
        }
        Ok(settings)
    }

    /// The oldest and the newest version, if either is given.
    fn versions(&self, tls: &TlsConfig) -> Result<Option<String>, Failure> {
        if self.tls_min.is_none() && self.tls_max.is_none() {
            return Ok(None);
        }
        let oldest = self.tls_min.unwrap_or(tls.min_version);
        let newest = self.tls_max.unwrap_or(tls.max_version);
        if oldest > newest {
            return Err(Failure::because(format!(
                "no TLS version is at least {oldest} and at most {newest}"
            )));
        }
        Ok(Some(format!("{oldest},{newest}")))
    }
}

/// A file name as a value of the configuration.
fn utf8(file: &Path) -> Result<&str, Failure> {
    let refused = || Failure::because(format!("{}: the file name is not UTF-8", file.display()));
    file.to_str().ok_or_else(refused)
}
