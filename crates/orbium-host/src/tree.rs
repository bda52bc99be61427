// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files below a root directory, read if possible, and changed individually.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Maximum bytes that are read of a file: more than any useful file has.
const LIMIT: u64 = 1 << 20;
/// Maximum number of entries of a directory that are read.
const ENTRIES: usize = 1 << 16;
/// Maximum characters of a word from a file that are shown.
const MAX_SHOWN_CHARACTERS: usize = 80;

/// Root of `proc`, `sys` and `etc`.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The files of this host, or of a copy.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The path below the root for an absolute path. It cannot leave the root.
    fn place(&self, path: &str) -> PathBuf {
        let mut place = self.root.clone();
        for part in Path::new(path).components() {
            if let Component::Normal(part) = part {
                place.push(part);
            }
        }
        place
    }

    /// The text of a file; invalid UTF-8 is replaced.
    pub(crate) fn read(&self, path: &str) -> io::Result<String> {
        let place = self.place(path);
        // Opening a pipe would wait for a writer.
        if !fs::metadata(&place)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let mut octets = vec![];
        File::open(&place)?.take(LIMIT).read_to_end(&mut octets)?;
        Ok(String::from_utf8_lossy(&octets).into_owned())
    }

    /// The text of a file, if it can be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.read(path).ok()
    }

    /// The first line of a file, sanitized for display. May be empty.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        self.whole_line(path).map(|line| shown(&line))
    }

    /// The complete first line of a file.
    pub(crate) fn whole_line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        Some(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// The number that is the whole content of a file.
    pub(crate) fn number<N: std::str::FromStr>(&self, path: &str) -> Option<N> {
        self.text(path)?.trim().parse().ok()
    }

    /// The word of a file that is in brackets, as in `always [madvise] never`.
    pub(crate) fn chosen(&self, path: &str, open: char, close: char) -> Option<String> {
        let text = self.text(path)?;
        let (_, after) = text.split_once(open)?;
        Some(shown(after.split_once(close)?.0))
    }

    /// Names of the entries of a directory that are numbers, in order.
    pub(crate) fn numbered(&self, path: &str) -> Option<Vec<u32>> {
        let entries = fs::read_dir(self.place(path)).ok()?;
        let mut numbers: Vec<u32> = entries
            .take(ENTRIES)
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        numbers.sort_unstable();
        Some(numbers)
    }

    /// Names of the entries of a directory, in order.
    pub(crate) fn entries(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.place(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .take(ENTRIES)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether it is a copy, in which only files can be changed.
    pub(crate) fn is_copy(&self) -> bool {
        self.root != Path::new("/")
    }

    /// Replaces the content of a file, in one write as settings of the kernel require.
    pub(crate) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.place(path))
            .and_then(|mut file| file.write_all(text.as_bytes()))
    }

    /// Creates a file completely or not at all: an undo would not recognise a part of it.
    pub(crate) fn create(&self, path: &str, text: &str) -> Result<(), String> {
        let place = self.place(path);
        if place.exists() {
            return Err("the file exists already".to_owned());
        }
        let folder = place.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| orbium_sys::write_whole(&place, text.as_bytes()))
            .map_err(|error| error.to_string())
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &str) -> Result<(), String> {
        fs::remove_file(self.place(path)).map_err(|error| error.to_string())
    }

    /// Whether there is certainly no such file: false also if a folder cannot be searched.
    pub(crate) fn lacks(&self, path: &str) -> bool {
        let found = fs::symlink_metadata(self.place(path));
        // A file in the place of a folder has no files below it.
        let missing = [ErrorKind::NotFound, ErrorKind::NotADirectory];
        found.is_err_and(|error| missing.contains(&error.kind()))
    }

    /// Whether a file was removed from its folder: the folder is there, and certainly lacks it.
    pub(crate) fn has_lost(&self, folder: &str, path: &str) -> bool {
        self.lacks(path) && self.has(folder)
    }

    /// Whether the mode of a file lets anyone write.
    pub(crate) fn is_writable(&self, path: &str) -> bool {
        fs::metadata(self.place(path)).is_ok_and(|it| !it.permissions().readonly())
    }

    /// Whether there is such a file or directory.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.place(path).exists()
    }
}

/// Text of a file for a terminal: short, without control characters.
pub(crate) fn shown(text: &str) -> String {
    text.trim()
        .chars()
        .take(MAX_SHOWN_CHARACTERS)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeHost;
    use super::{Tree, shown};

    #[test]
    fn unreadable_files_count_as_missing() {
        let host = FakeHost::empty();
        host.file("/sys/empty", "").file("/sys/odd", b"a\xffb\n");
        let tree = host.tree();
        assert_eq!(tree.text("/sys/missing"), None);
        assert_eq!(tree.text("/sys"), None, "a directory is no file");
        assert_eq!(tree.line("/sys/empty").as_deref(), Some(""));
        assert_eq!(tree.line("/sys/odd").as_deref(), Some("a\u{fffd}b"));
        assert_eq!(tree.number::<u32>("/sys/odd"), None);
        assert_eq!(tree.numbered("/nowhere"), None);
    }

    #[test]
    fn no_path_leaves_the_root() {
        let host = FakeHost::empty();
        host.file("/inside", "1");
        assert_eq!(host.tree().number("/../../inside"), Some(1));
        assert_eq!(host.tree().number("../inside"), Some(1));
    }

    #[test]
    fn a_long_file_is_read_in_part() {
        let host = FakeHost::empty();
        host.file("/long", vec![b'7'; (1 << 20) + 10]);
        assert_eq!(host.tree().text("/long").unwrap().len(), 1 << 20);
    }

    #[cfg(unix)]
    #[test]
    fn endless_files_are_not_read() {
        let host = FakeHost::empty();
        let place = host.root().join("endless");
        std::os::unix::fs::symlink("/dev/zero", place).unwrap();
        std::os::unix::fs::symlink("loop", host.root().join("loop")).unwrap();
        assert_eq!(host.tree().text("/endless"), None);
        assert_eq!(host.tree().text("/loop"), None);
    }

    /// The root for the process in which no file may have a byte.
    const FULL: &str = "ORBIUM_HOST_FULL";

    /// Regression: an empty file was left behind, which an undo did not recognise: it stayed, and
    /// so did the journal.
    #[test]
    fn nothing_is_left_of_a_file_that_cannot_be_written() {
        if let Some(root) = std::env::var_os(FULL) {
            let tree = Tree::at(root.as_ref());
            let failed = tree.create("/limits.d/new.conf", "text").unwrap_err();
            assert!(failed.contains("File too large"), "{failed}");
            return;
        }
        let host = FakeHost::empty();
        // A write fails with EFBIG then, as it fails with ENOSPC on a full disk.
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
        let name = "tree::tests::nothing_is_left_of_a_file_that_cannot_be_written";
        let ran = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(FULL, host.root())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(said.contains("1 passed"), "{said}");
        assert_eq!(host.tree().entries("/limits.d"), Vec::<String>::new());
    }

    #[test]
    fn terminals_are_safe() {
        assert_eq!(shown(" a\x1b[31mb \n"), "a?[31mb");
        assert_eq!(shown(&"x".repeat(1000)).len(), 80);
    }
}
