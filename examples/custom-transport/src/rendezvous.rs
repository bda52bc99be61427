// SPDX-License-Identifier: MIT OR Apache-2.0
//! The directory where servers and clients meet.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// The pipe that clients say their name to.
pub(crate) const DOOR: &str = "door";

/// Octets of a name.
pub(crate) const NAME: usize = 32;

/// How often somebody else may take a directory away while it is being locked.
const ATTEMPTS: usize = 8;

/// The name of a connection: a number in hexadecimal digits.
#[derive(Debug)]
pub(crate) struct Name(String);

impl Name {
    /// One that nobody else has.
    pub(crate) fn new() -> Self {
        let random = || RandomState::new().build_hasher().finish();
        Self(format!("{:016x}{:016x}", random(), random()))
    }

    /// What was said at the door: anybody may have said it.
    pub(crate) fn said(octets: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(octets).ok()?;
        let digit = |octet: u8| octet.is_ascii_digit() || (b'a'..=b'f').contains(&octet);
        (text.len() == NAME && text.bytes().all(digit)).then(|| Self(text.to_owned()))
    }

    pub(crate) fn octets(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The pipe from the client to the server.
    pub(crate) fn up(&self) -> String {
        format!("{}.up", self.0)
    }

    /// The pipe from the server to the client.
    pub(crate) fn down(&self) -> String {
        format!("{}.down", self.0)
    }
}

/// Opens the directory.
pub(crate) fn enter(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Makes a pipe that only this user may open.
pub(crate) fn make_pipe(directory: &OwnedFd, name: &str) -> io::Result<()> {
    Ok(rustix::fs::mkfifoat(
        directory,
        name,
        Mode::RUSR | Mode::WUSR,
    )?)
}

/// Opens one end of a pipe, which never blocks: neither this nor what is done
/// with it.
pub(crate) fn open_pipe(directory: &OwnedFd, name: &str, end: OFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let pipe = match rustix::fs::openat(directory, name, end | flags, Mode::empty()) {
        Ok(pipe) => pipe,
        // Nobody has the other end.
        Err(Errno::NXIO) => return Err(io::ErrorKind::ConnectionRefused.into()),
        Err(error) => return Err(error.into()),
    };
    match FileType::from_raw_mode(rustix::fs::fstat(&pipe)?.st_mode) {
        FileType::Fifo => Ok(pipe),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "what is there is no pipe",
        )),
    }
}

/// Removes a pipe. That it is gone already is as good.
pub(crate) fn remove_pipe(directory: &OwnedFd, name: &str) {
    let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
}

/// A directory that is ours to listen in, and to tidy up.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// Locked as long as it is open, also if this process is killed.
    directory: OwnedFd,
    is_new: bool,
}

impl Place {
    /// Takes a directory, which is made if need be. What the last one who
    /// listened has left behind is removed.
    ///
    /// # Errors
    /// `AddrInUse` if somebody listens there, `AlreadyExists` if something else
    /// is in it, or the system's error.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let is_new = match DirBuilder::new().mode(0o700).create(path) {
                Ok(()) => true,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
                Err(error) => return Err(error),
            };
            let directory = match enter(path) {
                Ok(directory) => directory,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    let what = "somebody listens there";
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, what));
                }
                Err(error) => return Err(error.into()),
            }
            if !is_removed(&directory)? {
                remove_pipes(path, &directory)?;
                return Ok(Self {
                    path: path.to_owned(),
                    directory,
                    is_new,
                });
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    pub(crate) fn directory(&self) -> &OwnedFd {
        &self.directory
    }
}

/// Whether the last one who listened has removed the directory meanwhile.
fn is_removed(directory: &OwnedFd) -> io::Result<bool> {
    Ok(rustix::fs::fstat(directory)?.st_nlink == 0)
}

/// Removes all pipes from a directory that has nothing else in it.
fn remove_pipes(path: &Path, directory: &OwnedFd) -> io::Result<()> {
    let mut pipes = Vec::new();
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        let is_ours = |name: &str| {
            let pipe = name.strip_suffix(".up").or(name.strip_suffix(".down"));
            name == DOOR || pipe.is_some_and(|name| Name::said(name.as_bytes()).is_some())
        };
        match name.to_str() {
            Some(name) if is_ours(name) => pipes.push(name.to_owned()),
            _ => {
                let what = "what is there is no directory for pipes";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
        }
    }
    pipes.iter().for_each(|name| remove_pipe(directory, name));
    Ok(())
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nobody finds the door from now on. What cannot be removed is removed
        // by the next one who listens.
        remove_pipe(&self.directory, DOOR);
        let _ = remove_pipes(&self.path, &self.directory);
        if self.is_new {
            let _ = fs::remove_dir(&self.path);
        }
    }
}
