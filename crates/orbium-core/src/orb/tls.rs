// SPDX-License-Identifier: MIT OR Apache-2.0
//! The preparation of a configuration: checks, and registration of the transport of `Config::tls`.

use orbium_config::tls::TlsConfig;
use orbium_transport::Transport;

use crate::{Config, OrbError};

impl Config {
    /// Whether the program was built with the feature `tls`.
    #[must_use]
    pub fn has_tls() -> bool {
        constructor().is_some()
    }

    /// Reads the files named by `tls` and registers the transport `ssliop`, unless `tls` is the
    /// default; resets `tls`. An ORB does so itself when it is built; a program that selects from
    /// [`Config::protocols`] before that calls it earlier.
    ///
    /// # Errors
    /// [`OrbError::Tls`]: a missing setting or an invalid file. [`OrbError::Feature`]: the program
    /// was built without the feature `tls`.
    pub fn register_tls(&mut self) -> Result<(), OrbError> {
        let tls = std::mem::take(&mut self.tls);
        if tls != TlsConfig::default() {
            self.protocols.register(ssliop(tls)?);
        }
        Ok(())
    }

    /// The configuration as used by an ORB: checked, with its TLS registered.
    ///
    /// # Errors
    /// [`OrbError::Config`], and those of [`register_tls`](Self::register_tls).
    pub fn prepared(mut self) -> Result<Self, OrbError> {
        self.check().map_err(OrbError::Config)?;
        let said = self.tls.clone();
        self.register_tls()?;
        self.tls = said;
        Ok(self)
    }
}

type Constructor = fn(TlsConfig) -> Result<Transport, OrbError>;

fn constructor() -> Option<Constructor> {
    let constructors: &[Constructor] = &[
        #[cfg(feature = "tls")]
        |tls| {
            let transport = orbium_tls::Tls::new(tls);
            let transport = transport.map_err(|error| OrbError::Tls(error.to_string()))?;
            Ok(Transport::stream(transport))
        },
    ];
    constructors.first().copied()
}

fn ssliop(tls: TlsConfig) -> Result<Transport, OrbError> {
    match constructor() {
        Some(construct) => construct(tls),
        None => Err(OrbError::Feature("Config::tls".to_owned(), "tls")),
    }
}
