// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folder of the watch sockets, accessible only to its owner.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process;

/// The plain key of the object.
pub const KEY: &str = "OrbiumWatch";

/// Maximum number of socket names tried for one process.
const MAX_NAMES: usize = 64;

/// An ORB with a watch socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The id of its process.
    pub pid: u32,
    /// Its number among the ORBs of the process with a watch, in the order of creation: from 1.
    pub number: usize,
    /// The socket.
    pub path: PathBuf,
}

impl Watched {
    /// The ORB with that socket; `None` for any other file.
    fn at(path: PathBuf) -> Option<Self> {
        let stem = path.file_name()?.to_str()?.strip_suffix(".sock")?;
        let (pid, number) = stem.split_once('-').unwrap_or((stem, "1"));
        let (pid, number) = (pid.parse().ok()?, number.parse().ok()?);
        Some(Self { pid, number, path })
    }

    /// The object at a socket, as a URL for `Orb::string_to_object`.
    #[must_use]
    pub fn url_of(path: &Path) -> String {
        format!("corbaloc:uiop:1.2@{}|{}", path.display(), KEY)
    }
}

/// The user id of this process.
fn user() -> u32 {
    orbium_sys::effective_user()
}

/// The path of the folder, in `$XDG_RUNTIME_DIR` or the temporary directory.
fn place() -> PathBuf {
    match env::var_os("XDG_RUNTIME_DIR").filter(|it| Path::new(it).is_absolute()) {
        Some(runtime) => Path::new(&runtime).join("orbium"),
        None => env::temp_dir().join(format!("orbium-{}", user())),
    }
}

/// Refuses a folder that others can access, or have created.
fn check(path: &Path) -> io::Result<()> {
    let there = fs::symlink_metadata(path)?;
    let is_private =
        there.is_dir() && there.uid() == user() && there.permissions().mode() & 0o077 == 0;
    if is_private {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is not a folder that only this user can enter",
        ))
    }
}

/// The folder, created if it does not exist.
///
/// # Errors
/// It cannot be created, or others can access it: its path, and the reason.
pub fn private() -> Result<PathBuf, (PathBuf, io::Error)> {
    let path = place();
    let made = match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => check(&path),
    };
    match made {
        Ok(()) => Ok(path),
        Err(error) => Err((path, error)),
    }
}

/// The possible names of the sockets of this process.
pub fn names(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let (folder, pid) = (folder.to_owned(), process::id());
    (1..=MAX_NAMES).map(move |number| match number {
        1 => folder.join(format!("{pid}.sock")),
        _ => folder.join(format!("{pid}-{number}.sock")),
    })
}

/// The ORBs of this user's processes with a watch, in the order of process ids and numbers. Some
/// may have died without removing their sockets: connecting to them is refused.
///
/// # Errors
/// The folder cannot be read, or others can access it. A missing folder counts as empty.
pub fn watched() -> io::Result<Vec<Watched>> {
    let folder = place();
    match check(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        checked => checked?,
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder)? {
        all.extend(Watched::at(entry?.path()));
    }
    all.sort_by_key(|it| (it.pid, it.number));
    Ok(all)
}

/// As [`watched`], without ORBs that have died: each has a listener.
///
/// # Errors
/// As [`watched`].
pub fn alive() -> io::Result<Vec<Watched>> {
    let mut all = watched()?;
    all.retain(|it| UnixStream::connect(&it.path).is_ok());
    Ok(all)
}
