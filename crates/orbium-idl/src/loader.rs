// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loaders: sources of the text of files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// Provides the content of files by path.
pub trait Loader {
    /// The octets of the file, or none if it does not exist. A file with more octets than `limit`
    /// is refused, so that `limit + 1` of them suffice.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    fn load(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>>;

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

/// Loads regular files from the file system. Pipes and devices are refused: they may be endless, or
/// never have an end.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystem;

impl Loader for FileSystem {
    fn load(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
        match read(path, limit) {
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            read => read,
        }
    }

    fn identity(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| without_detours(path))
    }
}

/// The octets of a regular file, up to one more than the limit; none of a folder.
fn read(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Ok(None);
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let mut file = File::open(path)?.take(limit.saturating_add(1));
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
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
    fn load(&self, path: &Path, _limit: usize) -> io::Result<Option<Vec<u8>>> {
        for (known, content) in &self.files {
            if known == path {
                return Ok(Some(content.clone()));
            }
        }
        Ok(None)
    }
}
