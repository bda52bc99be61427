// SPDX-License-Identifier: MIT OR Apache-2.0
//! A folder for the sockets of a run, removed at its end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::Failure;

/// A folder that only this user may enter.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new folder.
    pub fn new() -> Result<Self, Failure> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("orbium-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let failed = |error: &io::Error| {
            Failure::because(format!("cannot make `{}`: {error}", path.display()))
        };
        match create(&path) {
            Ok(()) => Ok(Self(path)),
            // Left by a process with this process id that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let _ = std::fs::remove_dir_all(&path);
                create(&path).map_err(|error| failed(&error))?;
                Ok(Self(path))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it, as text.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

#[cfg(unix)]
fn create(path: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &std::path::Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
