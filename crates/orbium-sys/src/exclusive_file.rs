// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that one process at a time has open.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::fork::Origin;
use crate::lock_file::{is_at, try_lock, unlock};
use crate::whole_file::{Replaced, draft_options, flush, folder_of, replace_in};

/// A file that is read once, appended to and replaced as a whole by one process: no other process
/// can open it in this way until it is dropped. The lock belongs to the file, and a file that
/// replaces it is locked before it has the name.
///
/// ```
/// use orbium_sys::ExclusiveFile;
///
/// let path = std::env::temp_dir().join(format!("orbium-exclusive-{}", std::process::id()));
/// let mut file = ExclusiveFile::open(&path)?;
/// file.append(b"first\n")?;
/// assert!(ExclusiveFile::open(&path).is_err());
/// file.replace(b"second\n")?;
/// assert!(ExclusiveFile::open(&path).is_err());
/// drop(file);
/// assert_eq!(ExclusiveFile::open(&path)?.read(100)?, b"second\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ExclusiveFile {
    /// Behind symbolic links.
    path: PathBuf,
    file: File,
    /// Whether its directory is to be flushed: the last replacement could not.
    is_unflushed: bool,
    opened_by: Origin,
}

impl ExclusiveFile {
    /// Opens a file, or creates an empty one.
    ///
    /// # Errors
    /// `ResourceBusy`: it is open already, in this or another process; otherwise the system's.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        loop {
            let file = options.open(path)?;
            let path = fs::canonicalize(path)?;
            let opened_by = Origin::here();
            if !file.metadata()?.is_file() {
                // A device has no content to protect.
                return Ok(Self {
                    path,
                    file,
                    is_unflushed: false,
                    opened_by,
                });
            }
            try_lock(&file).map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => in_use(),
                _ => error,
            })?;
            // It may have been replaced since it was opened: then the lock of that file applies.
            if is_at(&file, &path)? {
                return Ok(Self {
                    path,
                    file,
                    is_unflushed: false,
                    opened_by,
                });
            }
        }
    }

    /// The content, of which at most that many bytes are read.
    ///
    /// # Errors
    /// `FileTooLarge` beyond `most`; else the system's.
    pub fn read(&mut self, most: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let limit = most.saturating_add(1);
        (&mut self.file).take(limit).read_to_end(&mut content)?;
        if content.len() as u64 > most {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            Ok(content)
        }
    }

    /// Appends to the content.
    ///
    /// # Errors
    /// The system's: a part may have been written.
    pub fn append(&mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)
    }

    /// Flushes the content to the disk, to protect it against a failure of the host. After
    /// [`replace`](Self::replace) this is needed for an error of the directory alone.
    ///
    /// # Errors
    /// The system's: appended data may be lost if the host fails, and a replacement undone.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.is_unflushed {
            flush(&folder_of(&self.path)?)?;
            self.is_unflushed = false;
        }
        self.file.sync_data()
    }

    /// Replaces the content: other processes read the old content or the new one, also after a
    /// failure of the host at any time. The permissions are preserved. The replacement is flushed
    /// to the disk, unless the system refuses that for the directory: [`sync`](Self::sync) then
    /// returns its error.
    ///
    /// # Errors
    /// The system's: the content is unchanged. A part may have been written to a device.
    pub fn replace(&mut self, content: &[u8]) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        if !metadata.is_file() {
            return self.append(content);
        }
        self.replace_in(&folder_of(&self.path)?, metadata.permissions(), content)
    }

    fn replace_in(
        &mut self,
        folder: &File,
        permissions: Permissions,
        content: &[u8],
    ) -> io::Result<()> {
        let options = draft_options(true);
        let Replaced { file, flushed } = replace_in(folder, &self.path, &options, |draft| {
            // Before other processes can open it by its name.
            try_lock(draft)?;
            draft.set_permissions(permissions)?;
            draft.write_all(content)
        })?;
        // Also without the flush: the file of that name has the lock.
        self.file = file;
        self.is_unflushed = flushed.is_err();
        Ok(())
    }
}

impl Drop for ExclusiveFile {
    fn drop(&mut self) {
        // In a forked child the lock is still that of its parent.
        if self.opened_by.is_here() {
            unlock(&self.file);
        }
    }
}

fn in_use() -> io::Error {
    io::Error::new(
        io::ErrorKind::ResourceBusy,
        "it is open already, here or in another process",
    )
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    /// A file that is removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("orbium-exclusive-{}-{name}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_second_one_is_refused_until_the_first_is_dropped() {
        let scratch = Scratch::new("second");
        let mut first = ExclusiveFile::open(&scratch.0).unwrap();
        for content in ["a", "b"] {
            first.replace(content.as_bytes()).unwrap();
            let error = ExclusiveFile::open(&scratch.0).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        }
        first.append(b"c").unwrap();
        drop(first);
        let mut second = ExclusiveFile::open(&scratch.0).unwrap();
        assert_eq!(second.read(2).unwrap(), b"bc");
    }

    /// Regression: a service that was stopped and opened again found its file in use: another
    /// thread was starting a process, which had the descriptor until it executed its program.
    #[test]
    fn a_descriptor_that_a_child_has_keeps_no_lock() {
        let scratch = Scratch::new("inherited");
        let first = ExclusiveFile::open(&scratch.0).unwrap();
        let inherited = first.file.try_clone().unwrap();
        assert!(ExclusiveFile::open(&scratch.0).is_err());
        drop(first);
        assert!(ExclusiveFile::open(&scratch.0).is_ok());
        drop(inherited);
    }

    /// One thread replaces the file repeatedly: no other one can open it at any time.
    #[test]
    fn no_moment_of_a_replacement_lets_a_second_one_in() {
        let scratch = Scratch::new("window");
        let mut first = ExclusiveFile::open(&scratch.0).unwrap();
        let (refused, admitted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !ends.load(Ordering::Relaxed) {
                        let count = match ExclusiveFile::open(&scratch.0) {
                            Ok(_) => &admitted,
                            Err(_) => &refused,
                        };
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            let tries = || refused.load(Ordering::Relaxed) + admitted.load(Ordering::Relaxed);
            let mut replaced = 0;
            while replaced < 200 || tries() < 200 {
                first.replace(b"content").unwrap();
                replaced += 1;
            }
            ends.store(true, Ordering::Relaxed);
        });
        assert_eq!(admitted.into_inner(), 0);
    }

    /// Regression: the replaced file retained the lock, and another service could open the one that
    /// had its name.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_replacement_in_a_directory_that_is_not_flushed_has_the_lock() {
        use std::os::unix::fs::OpenOptionsExt as _;

        let scratch = Scratch::new("unflushed");
        let mut file = ExclusiveFile::open(&scratch.0).unwrap();
        // The system flushes no such descriptor.
        let unflushed = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(scratch.0.parent().unwrap())
            .unwrap();
        let permissions = Permissions::from_mode(0o640);
        file.replace_in(&unflushed, permissions, b"new").unwrap();
        assert!(file.is_unflushed);
        assert!(ExclusiveFile::open(&scratch.0).is_err());
        file.append(b"er").unwrap();
        file.sync().unwrap();
        assert!(!file.is_unflushed);
        drop(file);
        let mut next = ExclusiveFile::open(&scratch.0).unwrap();
        assert_eq!(next.read(100).unwrap(), b"newer");
    }

    #[test]
    fn permissions_and_links_stay_and_the_length_is_bounded() {
        let (scratch, link) = (Scratch::new("linked"), Scratch::new("link"));
        fs::write(&scratch.0, "content").unwrap();
        fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&scratch.0, &link.0).unwrap();
        let mut file = ExclusiveFile::open(&link.0).unwrap();
        let error = file.read(6).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        file.replace(b"new").unwrap();
        assert!(ExclusiveFile::open(&scratch.0).is_err());
        assert!(fs::symlink_metadata(&link.0).unwrap().is_symlink());
        assert_eq!(fs::read(&scratch.0).unwrap(), b"new");
        let mode = fs::metadata(&scratch.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_device_is_not_locked() {
        let mut first = ExclusiveFile::open(Path::new("/dev/null")).unwrap();
        let mut second = ExclusiveFile::open(Path::new("/dev/null")).unwrap();
        first.replace(b"gone").unwrap();
        assert!(second.read(10).unwrap().is_empty());
    }
}
