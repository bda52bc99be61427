// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folders: the files that lie in each, and the folders that hold files of one name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::ceiling::Values;
use xtask::shell;

/// Files that lie in one folder; its own module does not count.
pub(crate) const MAX_FILES: usize = 15;

/// Folders that hold a file of the same name.
pub(crate) const MAX_FOLDERS: usize = 5;

/// Roots of crates and modules of folders.
const ROOTS: [&str; 3] = ["lib.rs", "main.rs", "mod.rs"];

/// Other names that say the same in every folder.
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

    /// Files of the fullest folder.
    pub(crate) fn most_files(&self) -> usize {
        self.files.values().copied().max().unwrap_or(0)
    }

    /// Folders that hold the name which most of them hold.
    pub(crate) fn most_folders(&self) -> usize {
        self.names.values().map(BTreeSet::len).max().unwrap_or(0)
    }

    /// Folders with more files than they may have.
    pub(crate) fn crowded(&self) -> impl Iterator<Item = (String, usize)> {
        let crowded = self.files.iter().filter(|(_, files)| **files > MAX_FILES);
        crowded.map(|(folder, &files)| (short(folder), files))
    }

    /// Names of files that more folders hold than may.
    pub(crate) fn ambiguous(&self) -> impl Iterator<Item = (&str, usize)> {
        let folders = self
            .names
            .iter()
            .map(|(name, it)| (name.as_str(), it.len()));
        folders.filter(|&(_, folders)| folders > MAX_FOLDERS)
    }

    /// What may only fall: the figures beyond the bounds.
    pub(crate) fn set(&self, values: &mut Values) {
        for (folder, files) in self.crowded() {
            values.set("files in a folder", &folder, files);
        }
        for (name, folders) in self.ambiguous() {
            values.set("folders of a file name", name, folders);
        }
    }
}

/// A path as seen from the root of the workspace.
pub(crate) fn short(path: &Path) -> String {
    let root = shell::root();
    path.strip_prefix(&root)
        .unwrap_or(path)
        .display()
        .to_string()
}
