// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks between processes, by the name of a file.
#![expect(unsafe_code, reason = "a lock on an open file")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Deadline;
use crate::fork::Origin;

/// Interval between two attempts: other processes hold a lock for a few system calls only.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// A held lock, until it is dropped. The file is removed with it; one that a killed process left is
/// no obstacle.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    taken_by: Origin,
    _file: File,
}

impl LockFile {
    /// Acquires the lock of that name.
    ///
    /// # Errors
    /// `TimedOut` if another process holds it until the deadline; `AlreadyExists` if the file has
    /// contents, and thus is not a lock; the system's error if it cannot be created. Symbolic links
    /// are never followed.
    pub fn acquire(path: &Path, deadline: Deadline) -> io::Result<Self> {
        loop {
            let file = open(path)?;
            if file.metadata()?.len() > 0 {
                let what = format!("{}: not a lock file", path.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
            match try_lock(&file) {
                // The previous holder may have removed the file since it was opened.
                Ok(()) if is_at(&file, path)? => {
                    return Ok(Self {
                        path: path.to_owned(),
                        taken_by: Origin::here(),
                        _file: file,
                    });
                }
                Ok(()) => {}
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {
                        std::thread::sleep(RETRY_INTERVAL);
                    }
                    _ => return Err(error),
                },
            }
            deadline.remaining()?;
        }
    }
}

/// Acquires the exclusive lock of the file, if no other process has it.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as the file is borrowed.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Releases the exclusive lock of the file, even if its descriptor is also open elsewhere: a child
/// process that is being started has all descriptors until it executes its program.
pub(crate) fn unlock(file: &File) {
    // SAFETY: as above. It cannot fail: the descriptor is one of a file.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    // A FIFO without a reader must not block.
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options.open(path)
}

/// Whether the path refers to the file.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if !self.taken_by.is_here() {
            // The parent process still holds the lock.
            return;
        }
        // Removed while locked: a waiter that acquires the lock then sees that the path
        // names another file, or none.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_at_a_time_has_the_lock_and_nothing_is_left() {
        let directory = std::env::temp_dir().join(format!("orbium-lock-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let path = directory.join("lock");
        let inside = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let lock = LockFile::acquire(&path, Deadline::NEVER).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        let held = LockFile::acquire(&path, Deadline::NEVER).unwrap();
        let soon = Deadline::after(Some(Duration::from_millis(5)));
        let error = LockFile::acquire(&path, soon).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(held);
        // Content that was written by others is neither read nor removed.
        fs::write(&path, "precious").unwrap();
        let error = LockFile::acquire(&path, Deadline::NEVER).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        fs::remove_file(&path).unwrap();
        // Fails unless it is empty.
        fs::remove_dir(&directory).unwrap();
    }
}
