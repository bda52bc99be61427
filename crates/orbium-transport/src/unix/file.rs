// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of a Unix socket: taken over if nobody listens there any more,
//! removed as long as it is ours.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use orbium_sys::fork::Origin;
use orbium_sys::{self as sys, LockFile, UnixName};

use crate::Deadline;

/// Time to wait for others that look at the same path. They need a few system
/// calls.
const PATIENCE: Duration = Duration::from_secs(5);

/// A socket's file.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode. No other file can have the same as long as the socket
    /// is open.
    identity: (u64, u64),
    made_by: Origin,
}

/// Listens at a path.
///
/// What is looked at is done under a lock, from the look at what is there until
/// somebody would be found listening: of two that find the same dead file one
/// replaces it, and the other finds the first.
pub(super) fn listen(
    path: &Path,
    name: &UnixName,
    mode: Option<u32>,
) -> io::Result<(UnixListener, SocketFile)> {
    let _lock = lock(path)?;
    remove_if_dead(path, name)?;
    let socket = sys::bind_unix(name)?;
    let identity = identity(&fs::symlink_metadata(path)?);
    // Until it listens nobody can connect, whatever the permissions.
    let permitted = match mode {
        Some(mode) => fs::set_permissions(path, Permissions::from_mode(mode)),
        None => Ok(()),
    };
    match permitted.and_then(|()| socket.listen()) {
        Ok(listener) => {
            let path = path.to_owned();
            let made_by = Origin::here();
            let file = SocketFile {
                path,
                identity,
                made_by,
            };
            Ok((listener, file))
        }
        Err(error) => Err(sys::undone(error, &mut || remove(path, identity))),
    }
}

fn lock(path: &Path) -> io::Result<LockFile> {
    let mut name = OsString::from(path);
    name.push(".lock");
    LockFile::acquire(Path::new(&name), Deadline::after(Some(PATIENCE)))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Makes way at a path, if there is nothing but the file of a dead socket.
fn remove_if_dead(path: &Path, name: &UnixName) -> io::Result<()> {
    let there = match fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(error) => return sys::unless(error, &[io::ErrorKind::NotFound]),
    };
    if !there.file_type().is_socket() {
        let what = "what is there is no socket";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    match sys::is_listening(name) {
        Ok(true) => {
            let what = "somebody listens there";
            Err(io::Error::new(io::ErrorKind::AddrInUse, what))
        }
        Ok(false) => fs::remove_file(path),
        Err(error) => sys::unless(error, &[io::ErrorKind::NotFound]),
    }
}

/// Removes a file if it is that one. The lock must be held: between the look and
/// the removal nobody may put another there.
fn remove(path: &Path, expected: (u64, u64)) {
    if let Some(there) = sys::if_done(fs::symlink_metadata(path))
        && identity(&there) == expected
    {
        // What cannot be removed is found dead by the next one who wants it.
        sys::if_done(fs::remove_file(path));
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A forked child leaves what is its parent's.
        if self.made_by.is_here()
            && let Some(_lock) = sys::if_done(lock(&self.path))
        {
            remove(&self.path, self.identity);
        }
    }
}

/// A directory for one socket, gone when dropped.
#[derive(Debug)]
pub(super) struct PrivateDirectory(PathBuf, Origin);

impl PrivateDirectory {
    /// Makes one that nobody else may write to; who may connect to a socket of
    /// that mode may pass. Also the path of the socket in it.
    pub(super) fn new(mode: Option<u32>) -> io::Result<(Self, PathBuf)> {
        let own = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR").unwrap_or_default());
        if own.is_absolute()
            && let Some(made) = sys::if_done(Self::new_in(&own, mode))
        {
            return Ok(made);
        }
        if let Some(made) = sys::if_done(Self::new_in(&std::env::temp_dir(), mode)) {
            return Ok(made);
        }
        Self::new_in(Path::new("/tmp"), mode)
    }

    fn new_in(place: &Path, mode: Option<u32>) -> io::Result<(Self, PathBuf)> {
        let (process, random) = (std::process::id(), sys::random_number());
        let directory = place.join(format!("orbium-{process}-{random:x}"));
        let path = directory.join("socket");
        UnixName::path(&path)?;
        // Fails if there is anything by that name.
        DirBuilder::new().mode(0o700).create(&directory)?;
        let made = Self(directory, Origin::here());
        let passing = 0o700 | ((mode.unwrap_or(0) & 0o022) >> 1);
        fs::set_permissions(&made.0, Permissions::from_mode(passing))?;
        Ok((made, path))
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if self.1.is_here() {
            sys::if_done(fs::remove_dir(&self.0));
        }
    }
}
