// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are written as a whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file, or replaces an existing one: other processes read the old content or the new one,
/// never a part, also after a failure of the host at any time. The permissions of an existing file
/// are preserved, and a symbolic link then refers to the new content. A device, a pipe or the like
/// is written to directly.
///
/// ```
/// use orbium_sys::write_whole;
///
/// let path = std::env::temp_dir().join(format!("orbium-whole-{}", std::process::id()));
/// write_whole(&path, b"IOR:00")?;
/// assert_eq!(std::fs::read(&path)?, b"IOR:00");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The system's: the old file is unchanged, and no other file remains. If only the directory could
/// not be flushed, the new file has its name, and a failure of the host may bring the old one back.
/// A part may have been written to a device.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let present = fs::metadata(path).ok();
    if present.as_ref().is_some_and(|it| !it.is_file()) {
        return fs::write(path, content);
    }
    // Behind symbolic links.
    let path = match &present {
        Some(_) => &fs::canonicalize(path)?,
        None => path,
    };
    let permissions = present.map(|it| it.permissions());
    // The draft of a file that has permissions is readable for its owner alone until it has them.
    let options = draft_options(permissions.is_some());
    let replaced = replace_in(&folder_of(path)?, path, &options, |draft| {
        permissions.map_or(Ok(()), |it| draft.set_permissions(it))?;
        draft.write_all(content)
    });
    replaced?.flushed
}

/// A file that has replaced another one: other processes read it from now on.
#[derive(Debug)]
pub struct Replaced {
    /// The new file, open for writing after its content.
    pub file: File,
    /// The outcome of flushing its directory. After an error a failure of the host may bring the
    /// old file back.
    pub flushed: io::Result<()>,
}

/// As [`write_whole`], for a file that its owner alone can read, at any time and whatever the permissions
/// of an existing one are. A symbolic link is replaced.
///
/// # Errors
/// As for [`write_whole`].
pub fn write_secret(path: &Path, content: &[u8]) -> io::Result<()> {
    let options = draft_options(true);
    let replaced = replace_in(&folder_of(path)?, path, &options, |draft| {
        draft.write_all(content)
    });
    replaced?.flushed
}

/// Replaces a file by a new one, once `fill` has filled it: other processes read the old content or
/// the new one, also after a failure of the host at any time.
///
/// ```
/// use std::io::Write as _;
/// use orbium_sys::replace_whole;
///
/// let path = std::env::temp_dir().join(format!("orbium-replaced-{}", std::process::id()));
/// let mut replaced = replace_whole(&path, |file| file.write_all(b"first\n"))?;
/// replaced.flushed?;
/// replaced.file.write_all(b"second\n")?;
/// assert_eq!(std::fs::read(&path)?, b"first\nsecond\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// That of `fill` or the system: the old file is unchanged, and no other file remains.
pub fn replace_whole(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Replaced> {
    replace_in(&folder_of(path)?, path, &draft_options(false), fill)
}

/// Opens the directory of a file.
pub(crate) fn folder_of(path: &Path) -> io::Result<File> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))
}

/// As [`replace_whole`], in its open directory, as opening that after the replacement could fail, and
/// with the options to create a draft.
pub(crate) fn replace_in(
    folder: &File,
    path: &Path,
    options: &OpenOptions,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Replaced> {
    let (draft, mut file) = new_draft(path, options)?;
    let filled = fill(&mut file).and_then(|()| file.sync_all());
    let replaced = filled.and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    replaced?;
    Ok(Replaced {
        file,
        flushed: flush(folder),
    })
}

/// Flushes a directory, if its file system does that.
pub(crate) fn flush(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        flushed => flushed,
    }
}

/// The options to create a draft, for its owner alone if it is secret.
pub(crate) fn draft_options(is_secret: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_secret {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options
}

/// A new file in the same directory, and thus the same file system. It does not follow a link that
/// another process has created there.
fn new_draft(path: &Path, options: &OpenOptions) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut name = OsString::from(path);
        name.push(format!(".{}-{number}.new", std::process::id()));
        let draft = PathBuf::from(name);
        match options.open(&draft) {
            // Left by a killed process of the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((draft, made?)),
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// A folder that is removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("orbium-whole-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn files(&self) -> usize {
            fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn permissions_and_links_stay() {
        let folder = Folder::new("links");
        let (file, link) = (folder.0.join("file"), folder.0.join("link"));
        write_whole(&file, b"longer than what follows").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(folder.files(), 2);
    }

    #[test]
    fn a_secret_is_for_its_owner_alone() {
        let folder = Folder::new("secret");
        let file = folder.0.join("file");
        write_whole(&file, b"old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        write_secret(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(folder.files(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_written_stays_and_nothing_is_left() {
        let folder = Folder::new("failure");
        let file = folder.0.join("file");
        write_whole(&file, b"old").unwrap();
        let full = |_: &mut File| Err(io::ErrorKind::StorageFull.into());
        let error = replace_whole(&file, full).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(folder.files(), 1);
        let missing = folder.0.join("missing/file");
        let error = write_whole(&missing, b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    /// Regression: the error of the directory was reported as if the old file were unchanged.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_replacement_in_a_directory_that_is_not_flushed_is_handed_back() {
        use std::os::unix::fs::OpenOptionsExt as _;

        let folder = Folder::new("unflushed");
        let file = folder.0.join("file");
        write_whole(&file, b"old").unwrap();
        // The system flushes no such descriptor.
        let unflushed = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(&folder.0)
            .unwrap();
        let options = draft_options(false);
        let replaced = replace_in(&unflushed, &file, &options, |draft| draft.write_all(b"new"));
        let mut replaced = replaced.unwrap();
        assert!(replaced.flushed.is_err());
        replaced.file.write_all(b"er").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"newer");
        assert_eq!(folder.files(), 1);
    }

    /// Regression: where a file system flushes no directories, each file was reported as unchanged.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_directory_that_cannot_be_flushed_is_no_error() {
        let refuses = File::open("/dev/null").unwrap();
        assert!(refuses.sync_all().is_err());
        assert!(flush(&refuses).is_ok());
    }

    #[test]
    fn a_device_is_written_to() {
        write_whole(Path::new("/dev/null"), b"gone").unwrap();
        let error = write_whole(Path::new("/dev/full"), b"kept").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_draft_of_a_process_that_was_killed_hinders_none() {
        let folder = Folder::new("draft");
        let file = folder.0.join("file");
        let (left, _) = new_draft(&file, &draft_options(false)).unwrap();
        let (other, _) = new_draft(&file, &draft_options(true)).unwrap();
        assert_ne!(left, other);
    }
}
