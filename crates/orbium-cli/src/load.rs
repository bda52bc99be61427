// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selection of protocols: those of this program, and those of shared libraries.

use std::path::{Path, PathBuf};

use clap::Args;
use orbium::{Config, protocol::TrustedLibrary};

use crate::failure::Failure;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct LoadArgs {
    /// Shared library with further transports or messaging protocols; may be repeated.
    /// Its code runs as part of this program: name only what you would run
    #[arg(long, value_name = "FILE")]
    load: Vec<PathBuf>,
    /// The transports and messaging to have, by name, and no others: iiop,uiop
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    protocols_only: Vec<String>,
}

/// A library that stands on the command line.
#[expect(unsafe_code, reason = "to load a library is to run it")]
fn named_by_the_user(path: &Path) -> TrustedLibrary {
    // SAFETY: the user of this program has named the file as code to run with
    // the rights of the program, which are the user's own; the help of the option says so.
    unsafe { TrustedLibrary::new(path) }
}

impl LoadArgs {
    /// Gives an ORB to be made what the libraries have.
    pub(crate) fn add_to(&self, config: &mut Config) -> Result<(), Failure> {
        for path in &self.load {
            let loaded = config.protocols.load(&named_by_the_user(path));
            loaded.map_err(|error| Failure::because(error.to_string()))?;
        }
        Ok(())
    }

    /// Leaves the ORB to be made only what was named. Done when everything else
    /// is there.
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
