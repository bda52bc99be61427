// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of a Unix socket: replaced if no process listens there any more,
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

/// Maximum time to wait for other processes that check the same path, which takes a few system
/// calls.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

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
/// The checks are made under a lock, from the first until the socket listens: of two processes that
/// find the same stale file one replaces it, and the other finds the first listening.
pub(super) fn listen(
    path: &Path,
    name: &UnixName,
    mode: Option<u32>,
) -> io::Result<(UnixListener, SocketFile)> {
    let _lock = lock(path)?;
    remove_if_dead(path, name)?;
    let socket = sys::bind_unix(name)?;
    let identity = identity(&fs::symlink_metadata(path)?);
    // No client can connect before it listens, regardless of the permissions.
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
        Err(error) => {
            remove(path, identity);
            Err(error)
        }
    }
}

fn lock(path: &Path) -> io::Result<LockFile> {
    let mut name = OsString::from(path);
    name.push(".lock");
    LockFile::acquire(Path::new(&name), Deadline::after(Some(LOCK_TIMEOUT)))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Removes the file of a socket at which no process listens.
fn remove_if_dead(path: &Path, name: &UnixName) -> io::Result<()> {
    let there = match fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !there.file_type().is_socket() {
        let what = "the file is not a socket";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    match sys::is_listening(name) {
        Ok(true) => {
            let what = "another process listens there";
            Err(io::Error::new(io::ErrorKind::AddrInUse, what))
        }
        Ok(false) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes that file, if it is still the expected one. The lock must be held, so that no process
/// replaces the file between the check and the removal.
fn remove(path: &Path, expected: (u64, u64)) {
    if let Ok(there) = fs::symlink_metadata(path)
        && identity(&there) == expected
    {
        // The next process that binds here removes the file if this fails.
        let _ = fs::remove_file(path);
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A forked child leaves the file to its parent.
        if self.made_by.is_here()
            && let Ok(_lock) = lock(&self.path)
        {
            remove(&self.path, self.identity);
        }
    }
}

/// The name of the socket in its private directory.
const SOCKET: &str = "socket";

/// A directory for one socket, removed when dropped.
#[derive(Debug)]
pub(super) struct PrivateDirectory(PathBuf, Origin);

/// The age from which a directory without a listener is stale: a process that creates one
/// listens in it soon.
const MIN_STALE_AGE: Duration = Duration::from_secs(60);

/// Maximum number of entries that are checked in a shared directory.
const MAX_SWEPT_ENTRIES: usize = 4096;

/// The prefix of the names of private directories.
const NAMES: &str = "orbium-";

/// Removes the private directories that dead processes of this user have left in a directory,
/// unless they contain anything but a socket and its lock.
fn sweep(place: &Path, user: u32) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    for entry in entries.take(MAX_SWEPT_ENTRIES).flatten() {
        let directory = entry.path();
        if is_stale(&directory, user) {
            let socket = directory.join(SOCKET);
            // The directory remains if this fails.
            let _ = fs::remove_file(&socket);
            let _ = fs::remove_file(directory.join("socket.lock"));
            let _ = fs::remove_dir(&directory);
        }
    }
}

/// Whether a path is the private directory of a process that no longer exists.
fn is_stale(directory: &Path, user: u32) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str());
    let owner = name.and_then(|name| name.strip_prefix(NAMES)?.split_once('-'));
    let Some((process, random)) = owner else {
        return false;
    };
    let is_random = !random.is_empty() && random.bytes().all(|it| it.is_ascii_hexdigit());
    let Ok(process) = process.parse() else {
        return false;
    };
    let Ok(about) = fs::symlink_metadata(directory) else {
        return false;
    };
    let age = about.modified().ok().and_then(|made| made.elapsed().ok());
    is_random
        && about.is_dir()
        && about.uid() == user
        && age.is_some_and(|age| age > MIN_STALE_AGE)
        && !sys::is_process(process)
        && !has_listener(&directory.join(SOCKET))
}

/// Whether a process listens there, possibly in another container; true if that cannot be
/// determined.
fn has_listener(socket: &Path) -> bool {
    let Ok(name) = UnixName::path(socket) else {
        return true;
    };
    match sys::is_listening(&name) {
        Ok(listening) => listening,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// The permissions of a directory through which those other users may pass that may connect to a
/// socket of that mode.
fn passing(mode: Option<u32>) -> u32 {
    (mode.unwrap_or(0) & 0o022) >> 1
}

/// Whether a directory, and those around it, have these permissions.
fn lets_pass(directory: &Path, permissions: u32) -> bool {
    let has = |it: &Path| fs::metadata(it).is_ok_and(|it| it.mode() & permissions == permissions);
    permissions == 0 || directory.ancestors().all(has)
}

impl PrivateDirectory {
    /// Creates a directory that only its owner may write to, and that users with the right to
    /// connect to a socket of that mode may pass through. Also returns the path of the socket in
    /// it.
    pub(super) fn new(mode: Option<u32>) -> io::Result<(Self, PathBuf)> {
        let own = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR").unwrap_or_default());
        let own = own.is_absolute().then_some(own);
        let places = own.into_iter().chain([std::env::temp_dir()]);
        match Self::new_in_one_of(places, mode) {
            Some(made) => Ok(made),
            None => Self::new_in(Path::new("/tmp"), mode),
        }
    }

    /// Creates it in the first place where that is possible and users with the right to connect can
    /// reach it: the directories of a user often admit no other.
    fn new_in_one_of(
        mut places: impl Iterator<Item = PathBuf>,
        mode: Option<u32>,
    ) -> Option<(Self, PathBuf)> {
        places.find_map(|place| {
            let is_reached = lets_pass(&place, passing(mode));
            is_reached.then(|| Self::new_in(&place, mode).ok())?
        })
    }

    fn new_in(place: &Path, mode: Option<u32>) -> io::Result<(Self, PathBuf)> {
        let (process, random) = (std::process::id(), sys::random_number());
        let directory = place.join(format!("{NAMES}{process}-{random:x}"));
        let path = directory.join(SOCKET);
        UnixName::path(&path)?;
        // Fails if the name exists.
        DirBuilder::new().mode(0o700).create(&directory)?;
        let made = Self(directory, Origin::here());
        fs::set_permissions(&made.0, Permissions::from_mode(0o700 | passing(mode)))?;
        sweep(place, fs::symlink_metadata(&made.0)?.uid());
        Ok((made, path))
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if self.1.is_here() {
            let _ = fs::remove_dir(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};
    use std::time::SystemTime;

    use super::*;

    /// Regression: a socket for other users was in the runtime directory of its user, which admits
    /// no other.
    #[test]
    fn a_socket_for_others_is_where_they_can_reach_it() {
        let temporary = std::env::temp_dir();
        let private = temporary.join(format!("private-{}", id()));
        DirBuilder::new().mode(0o700).create(&private).unwrap();
        let places = || [&private, &temporary].into_iter().cloned();
        for (mode, place) in [
            (None, Some(&private)),
            (Some(0o600), Some(&private)),
            // Unless the temporary directory of this user is private, too.
            (
                Some(0o666),
                lets_pass(&temporary, 0o011).then_some(&temporary),
            ),
            (
                Some(0o620),
                lets_pass(&temporary, 0o010).then_some(&temporary),
            ),
        ] {
            let made = PrivateDirectory::new_in_one_of(places(), mode);
            let parent = made
                .as_ref()
                .and_then(|(directory, _)| directory.0.parent());
            assert_eq!(parent, place.map(PathBuf::as_path), "{mode:?}");
        }
        fs::remove_dir(&private).unwrap();
    }

    /// Regression: the files of killed processes were never removed.
    #[test]
    fn files_left_by_dead_processes_are_swept() {
        let place = std::env::temp_dir().join(format!("sweeping-{}", id()));
        fs::create_dir(&place).unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let dead = child.id();
        let made = |name: String, is_old: bool| {
            let directory = place.join(name);
            fs::create_dir(&directory).unwrap();
            let socket = UnixListener::bind(directory.join(SOCKET)).unwrap();
            if is_old {
                let long_ago = SystemTime::now() - 2 * MIN_STALE_AGE;
                let folder = fs::File::open(&directory).unwrap();
                folder.set_modified(long_ago).unwrap();
            }
            (directory, socket)
        };
        let (left, _) = made(format!("orbium-{dead}-1a"), true);
        let (listening, socket) = made(format!("orbium-{dead}-2b"), true);
        let (young, _) = made(format!("orbium-{dead}-3c"), false);
        let (living, _) = made(format!("orbium-{}-4d", id()), true);
        let (others, _) = made(format!("orbium-{dead}-notes"), true);
        let (full, _) = made(format!("orbium-{dead}-5e"), false);
        fs::write(full.join("precious"), "").unwrap();
        let folder = fs::File::open(&full).unwrap();
        folder
            .set_modified(SystemTime::now() - 2 * MIN_STALE_AGE)
            .unwrap();
        let (own, _) = PrivateDirectory::new_in(&place, None).unwrap();
        assert!(!left.exists(), "of a process that is no more");
        assert!(full.join("precious").exists());
        for (directory, why) in [
            (&listening, "another process listens there"),
            (&young, "it was only just made"),
            (&living, "its process is there"),
            (&others, "it only looks alike"),
        ] {
            assert!(directory.join(SOCKET).exists(), "{why}");
        }
        drop((own, socket));
        fs::remove_dir_all(&place).unwrap();
    }
}
