// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folders: the files in each, and the folders with files of one name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::ceiling::Values;
use xtask::shell;

/// Maximum number of files in one folder; its own module does not count.
pub(crate) const MAX_FILES: usize = 15;

/// Maximum number of folders with a file of the same name.
pub(crate) const MAX_FOLDERS: usize = 5;

/// Roots of crates and modules of folders.
const ROOTS: [&str; 3] = ["lib.rs", "main.rs", "mod.rs"];

/// Other names with the same meaning in every folder.
const COMMON: [&str; 2] = ["error.rs", "tests.rs"];

/// The files of all folders.
#[derive(Default)]
pub(crate) struct Folders {
    files: BTreeMap<PathBuf, usize>,
    names: BTreeMap<String, BTreeSet<PathBuf>>,
}

impl Folders {
    /// Counts a source file.
    pub(crate) fn add(&mut self, file: &Path) {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
            return;
        };
        let name = name.to_string_lossy().into_owned();
        if ROOTS.contains(&name.as_str()) {
            return;
        }
        *self.files.entry(folder.to_path_buf()).or_default() += 1;
        if !COMMON.contains(&name.as_str()) {
            let folders = self.names.entry(name).or_default();
            folders.insert(folder.to_path_buf());
        }
    }

    /// The number of files of the fullest folder.
    pub(crate) fn most_files(&self) -> usize {
        self.files.values().copied().max().unwrap_or(0)
    }

    /// The number of folders of the most frequent name.
    pub(crate) fn most_folders(&self) -> usize {
        self.names.values().map(BTreeSet::len).max().unwrap_or(0)
    }

    /// Folders beyond the maximum number of files.
    pub(crate) fn crowded(&self) -> impl Iterator<Item = (String, usize)> {
        let crowded = self.files.iter().filter(|(_, files)| **files > MAX_FILES);
        crowded.map(|(folder, &files)| (short(folder), files))
    }

    /// Names of files beyond the maximum number of folders.
    pub(crate) fn ambiguous(&self) -> impl Iterator<Item = (&str, usize)> {
        let folders = self
            .names
            .iter()
            .map(|(name, it)| (name.as_str(), it.len()));
        folders.filter(|&(_, folders)| folders > MAX_FOLDERS)
    }

    /// Sets the ceiling values: the figures beyond the bounds.
    pub(crate) fn set(&self, values: &mut Values) {
        for (folder, files) in self.crowded() {
            values.set("files in a folder", &folder, files);
        }
        for (name, folders) in self.ambiguous() {
            values.set("folders of a file name", name, folders);
        }
    }
}

/// A path relative to the root of the workspace.
pub(crate) fn short(path: &Path) -> String {
    let root = shell::root();
    path.strip_prefix(&root)
        .unwrap_or(path)
        .display()
        .to_string()
}
