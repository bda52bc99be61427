// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selection of protocols: those of this program and of shared libraries.

use std::path::{Path, PathBuf};

use clap::Args;
use orbium::{Config, protocol::TrustedLibrary};

use crate::failure::Failure;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct LoadArgs {
    /// Shared library with further transports or messaging protocols; may be repeated. Its code
    /// runs as part of this program: name trusted libraries only
    #[arg(long, value_name = "FILE")]
    load: Vec<PathBuf>,
    /// The transports and messaging protocols to register, by name, and no others: iiop,uiop
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    protocols_only: Vec<String>,
}

/// A library that the command line names.
#[expect(unsafe_code, reason = "to load a library is to run it")]
fn named_by_the_user(path: &Path) -> TrustedLibrary {
    // SAFETY: the user of this program has named the file as code to run with the rights of the
    // program, which are the user's; the help of the option says so.
    unsafe { TrustedLibrary::new(path) }
}

impl LoadArgs {
    /// Adds the protocols of the libraries to the configuration of an ORB.
    pub(crate) fn add_to(&self, config: &mut Config) -> Result<(), Failure> {
        for path in &self.load {
            let loaded = config.protocols.load(&named_by_the_user(path));
            loaded.map_err(|error| Failure::because(error.to_string()))?;
        }
        Ok(())
    }

    /// Removes all protocols that were not named from the configuration, once all others are added.
    pub(crate) fn choose(&self, config: &mut Config) -> Result<(), Failure> {
        if self.protocols_only.is_empty() {
            return Ok(());
        }
        let names = self.protocols_only.iter().map(String::as_str);
        let chosen = config.protocols.only(names);
        config.protocols = chosen.map_err(|error| Failure::wrong_usage(error.to_string()))?;
        Ok(())
    }
}
