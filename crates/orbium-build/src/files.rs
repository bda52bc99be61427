// SPDX-License-Identifier: MIT OR Apache-2.0
//! Input files of a project: paths of files, and the IDL files in folders.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// Files or folders to compile: one path, or several.
pub trait IdlFiles {
    /// The paths, in order.
    fn paths(self) -> Vec<PathBuf>;
}

macro_rules! one_path {
    ($($type:ty),+) => { $(
        impl IdlFiles for $type {
            fn paths(self) -> Vec<PathBuf> {
                vec![self.into()]
            }
        }
    )+ };
}

one_path!(&str, String, &String, &Path, PathBuf, &PathBuf);

impl<P: AsRef<Path>> IdlFiles for &[P] {
    fn paths(self) -> Vec<PathBuf> {
        self.iter().map(|path| path.as_ref().to_owned()).collect()
    }
}

impl<P: AsRef<Path>, const N: usize> IdlFiles for &[P; N] {
    fn paths(self) -> Vec<PathBuf> {
        self.as_slice().paths()
    }
}

impl<P: AsRef<Path>, const N: usize> IdlFiles for [P; N] {
    fn paths(self) -> Vec<PathBuf> {
        self.as_slice().paths()
    }
}

impl<P: AsRef<Path>> IdlFiles for Vec<P> {
    fn paths(self) -> Vec<PathBuf> {
        self.as_slice().paths()
    }
}

impl<P: AsRef<Path>> IdlFiles for &Vec<P> {
    fn paths(self) -> Vec<PathBuf> {
        self.as_slice().paths()
    }
}

/// Adds the IDL files in a folder and below, in the order of their names, and their folders, so
/// that a new file there is detected too.
pub(crate) fn below(
    folder: &Path,
    files: &mut Vec<PathBuf>,
    folders: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let unreadable = |cause| Error::Read {
        path: folder.to_owned(),
        cause,
    };
    folders.push(folder.to_owned());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    for path in paths {
        // A link could be part of a cycle.
        if path.is_dir() && !path.is_symlink() {
            below(&path, files, folders)?;
        } else if path.extension().is_some_and(|end| end == "idl") && !files.contains(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// The name of a file without its extension, or that of a folder.
pub(crate) fn stem(path: &Path) -> OsString {
    let name = |path: &Path| {
        if path.is_dir() {
            path.file_name().map(OsString::from)
        } else {
            path.file_stem().map(OsString::from)
        }
    };
    // The names of `.` and `..` are those of the canonical path.
    let whole = || name(&path.canonicalize().ok()?);
    name(path).or_else(whole).unwrap_or_else(|| "idl".into())
}
