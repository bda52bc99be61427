// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packages to which the house rules apply.

use std::path::{Path, PathBuf};

use xtask::outcome::Outcome;
use xtask::shell;

/// A package of the workspace: its name is that of its folder.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

/// The packages in `crates`, by name, the harness of the benches, and `xtask`.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn packages() -> Outcome<Vec<Package>> {
    let root = shell::root();
    let mut folders = list(&root.join("crates"))?;
    folders.push(root.join("benches/orbium-bench"));
    folders.push(root.join("xtask"));
    let packages = folders
        .into_iter()
        .filter(|it| it.join("Cargo.toml").is_file());
    let named = packages.map(|folder| Package {
        name: folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        folder,
    });
    Ok(named.collect())
}

/// The entries of a folder, sorted.
///
/// # Errors
/// It cannot be read.
pub(crate) fn list(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let in_folder = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(in_folder)? {
        found.push(entry.map_err(in_folder)?.path());
    }
    found.sort();
    Ok(found)
}

/// All Rust files below a folder; none if it is missing.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn rust_files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    files(folder, "rs")
}

/// All files with that extension below a folder, except build output; none if it is missing.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn files(folder: &Path, extension: &str) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !folder.is_dir() || folder.ends_with("target") {
        return Ok(found);
    }
    for entry in list(folder)? {
        if entry.is_dir() {
            found.extend(files(&entry, extension)?);
        } else if entry.extension().is_some_and(|it| it == extension) {
            found.push(entry);
        }
    }
    Ok(found)
}
