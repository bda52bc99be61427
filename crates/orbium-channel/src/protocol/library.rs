// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocols out of shared libraries.

use std::fmt;
use std::path::PathBuf;

use orbium_sys::library::load_library;
pub use orbium_sys::library::{LibraryError, TrustedLibrary};

use super::Protocols;

#[doc(hidden)]
pub use orbium_sys::export_library;

/// Error of loading protocols from a shared library.
pub struct LoadError {
    path: PathBuf,
    cause: Option<LibraryError>,
}

impl LoadError {
    /// The error of the library; `None` if it is one of orbium, but built for another version of
    /// [`Protocols`].
    #[must_use]
    pub const fn cause(&self) -> Option<&LibraryError> {
        self.cause.as_ref()
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.path.display())?;
        match &self.cause {
            Some(error) => error.fmt(f),
            None => f.write_str(
                "declares no protocols, or was built from other sources of orbium than this program",
            ),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {}

impl Protocols {
    /// Adds the protocols that a shared library has exported with
    /// [`export_protocols!`](crate::export_protocols). It remains loaded. Creating a
    /// [`TrustedLibrary`] is unsafe: loading runs the library's code.
    ///
    /// # Errors
    /// [`LoadError`]; no protocol was added then.
    pub fn load(&mut self, library: &TrustedLibrary) -> Result<(), LoadError> {
        let failed = |cause| LoadError {
            path: library.path().to_owned(),
            cause,
        };
        let made = load_library(library).map_err(|error| failed(Some(error)))?;
        let protocols: Box<Self> = made.downcast().map_err(|_| failed(None))?;
        self.add(*protocols);
        Ok(())
    }
}

/// Exports protocols from a shared library, for programs that load it with
/// [`Protocols::load`](crate::Protocols::load). Once per library.
///
/// ```ignore
/// orbium::protocol::export_protocols!(|| {
///     let mut protocols = orbium::protocol::Protocols::none();
///     protocols.register(orbium::transport::Transport::stream(Pipes));
///     protocols
/// });
/// ```
#[macro_export]
macro_rules! export_protocols {
    ($make:expr) => {
        $crate::protocol::library::export_library!(|| -> $crate::Protocols { ($make)() });
    };
}
