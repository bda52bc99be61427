// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loaders: sources of the text of files.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Provides the content of files by path.
pub trait Loader {
    /// The octets of the file, or none if it does not exist.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// The canonical identity of a file's paths: by default the lexically normalised path.
    fn identity(&self, path: &Path) -> PathBuf {
        without_detours(path)
    }
}

/// A path without `.`, and without `..` behind a folder.
fn without_detours(path: &Path) -> PathBuf {
    let mut direct = PathBuf::new();
    for part in path.components() {
        let detour = match part {
            Component::CurDir => true,
            Component::ParentDir => {
                matches!(direct.components().next_back(), Some(Component::Normal(_)))
                    && direct.pop()
            }
            _ => false,
        };
        if !detour {
            direct.push(part);
        }
    }
    direct
}

/// Loads from the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystem;

impl Loader for FileSystem {
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        if path.is_dir() {
            return Ok(None);
        }
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    fn identity(&self, path: &Path) -> PathBuf {
        std::fs::canonicalize(path).unwrap_or_else(|_| without_detours(path))
    }
}

/// Loads from memory: for tests, fuzzing and programs that contain their IDL.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Memory {
    /// A loader without files.
    pub fn new() -> Self {
        Memory::default()
    }

    /// Adds a file, or replaces it.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        let path = path.into();
        self.files.retain(|(known, _)| *known != path);
        self.files.push((path, content.into()));
        self
    }
}

impl Loader for Memory {
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        for (known, content) in &self.files {
            if known == path {
                return Ok(Some(content.clone()));
            }
        }
        Ok(None)
    }
}
