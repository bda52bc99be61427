// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transport that `Config::tls` describes.

use orbium_tls::{Tls, TlsConfig};
use orbium_transport::Transport;

use crate::{Config, OrbError};

impl Config {
    /// Reads the files that `tls` names and registers the transport `ssliop`, unless
    /// nothing is said there; takes what is said out. An ORB does so itself when it is
    /// built; a program that chooses among [`Config::protocols`] before that needs it sooner.
    ///
    /// # Errors
    /// [`OrbError::Tls`]: what is missing, or wrong with a file.
    pub fn register_tls(&mut self) -> Result<(), OrbError> {
        let tls = std::mem::take(&mut self.tls);
        if tls == TlsConfig::default() {
            return Ok(());
        }
        let made = Tls::new(tls).map_err(|error| OrbError::Tls(error.to_string()))?;
        self.protocols.register(Transport::stream(made));
        Ok(())
    }

    /// As above; what is said stays.
    pub(crate) fn with_tls(mut self) -> Result<Self, OrbError> {
        let said = self.tls.clone();
        self.register_tls()?;
        self.tls = said;
        Ok(self)
    }
}
