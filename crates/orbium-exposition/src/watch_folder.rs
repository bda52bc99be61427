// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folder of the watch sockets, which only its owner can enter.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process;

/// The plain key of the object.
pub const KEY: &str = "OrbiumWatch";

/// Names that are tried for the watches of one process.
const MAX_NAMES: usize = 64;

/// An ORB that shows itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The id of its process.
    pub pid: u32,
    /// Its number among the ORBs of the process, in the order in which they began to show
    /// themselves: from 1.
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

/// The user that this process runs as.
fn user() -> u32 {
    orbium_sys::effective_user()
}

/// Where the folder would be, and whether it is below a place of the user's own.
fn place() -> PathBuf {
    match env::var_os("XDG_RUNTIME_DIR").filter(|it| Path::new(it).is_absolute()) {
        Some(runtime) => Path::new(&runtime).join("orbium"),
        None => env::temp_dir().join(format!("orbium-{}", user())),
    }
}

/// Refuses a folder that others can enter, or have made.
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

/// The folder, made if it is not there.
///
/// # Errors
/// It cannot be made, or others can enter it: its path, and why.
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

/// The names that the sockets of this process may have.
pub fn names(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let (folder, pid) = (folder.to_owned(), process::id());
    (1..=MAX_NAMES).map(move |number| match number {
        1 => folder.join(format!("{pid}.sock")),
        _ => folder.join(format!("{pid}-{number}.sock")),
    })
}

/// The ORBs of this user's processes that show themselves, in the order of process ids and
/// numbers. Some may have died without removing their sockets: connecting to them is refused.
///
/// # Errors
/// The folder cannot be read, or others can enter it. One that is not there has
/// nothing in it.
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

/// As [`watched`], without those that have died: each has a listener.
///
/// # Errors
/// As [`watched`].
pub fn alive() -> io::Result<Vec<Watched>> {
    let mut all = watched()?;
    all.retain(|it| UnixStream::connect(&it.path).is_ok());
    Ok(all)
}
