// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Rust file of a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use crate::Error;

/// The Rust files of this process, with the given paths that each was compiled from.
static WRITTEN: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>> = Mutex::new(BTreeMap::new());

/// Records the Rust file of the given paths, which may be compiled again.
///
/// # Errors
/// It is that of others.
pub(crate) fn claim(path: &Path, given: &[PathBuf]) -> Result<(), Error> {
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = written
        .entry(path.to_owned())
        .or_insert_with(|| given.to_vec());
    if *known != given {
        return Err(Error::SameName {
            path: path.to_owned(),
            other: known[0].clone(),
        });
    }
    Ok(())
}

/// Writes a file unless its content is the same already: an unchanged file keeps its time and is
/// not compiled again. No partial file is left.
pub(crate) fn write(path: &Path, code: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|present| present == code.as_bytes()) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, code).inspect_err(|_| {
        let _ = path.is_file().then(|| fs::remove_file(path));
    })
}
