// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file: records to which changes are appended. It is rewritten and renamed when most of it is
//! outdated.
//!
//! A line of text is followed by entries: the length of the body, its complement, the CRC-32 of the
//! body, and the body, which is a key, and a record unless the object has ended. A killed process
//! may have left a partial entry at the end.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crc32fast::hash as crc32;
use orbium_sys::ExclusiveFile;

use super::key::Key;

const TITLE: &[u8] = b"orbium notification connections 1\n";
/// Length, complement and checksum in front of a body.
const FRAME: usize = 12;
/// Maximum length of a file that is read or written.
const MAX_FILE: u64 = 256 << 20;
/// Maximum length of a body. A greater length is that of a damaged file.
const MAX_BODY: usize = 64 << 20;
/// Outdated bytes that are tolerated in any file.
const SLACK: u64 = 1 << 20;

/// Records by the keys of their objects.
pub(super) type Records = BTreeMap<Key, Box<[u8]>>;

/// Error of opening a file.
#[derive(Debug)]
pub(super) enum OpenError {
    Io(io::Error),
    Damaged(String),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Debug)]
pub(super) struct RecordFile {
    /// The file, to which changes are appended.
    file: ExclusiveFile,
    /// Whether it has all records; otherwise it has to be rewritten.
    is_whole: bool,
    pub(super) records: Records,
    /// Bytes of the file, and of its records alone.
    bytes: u64,
    live: u64,
}

impl RecordFile {
    /// Opens a file, or creates one. A partial entry at its end is removed.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let mut file = ExclusiveFile::open(path)?;
        let content = file.read(MAX_FILE).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => {
                OpenError::Damaged(format!("it is longer than {MAX_FILE} bytes"))
            }
            _ => error.into(),
        })?;
        let (records, end) = read(&content).map_err(OpenError::Damaged)?;
        let mut opened = Self {
            file,
            is_whole: end > 0 && end == content.len(),
            live: records.values().map(|it| size(it)).sum(),
            records,
            bytes: content.len() as u64,
        };
        if !opened.is_whole {
            opened.rewrite()?;
        }
        Ok(opened)
    }

    /// Sets or removes a record, on the disk when this returns.
    ///
    /// # Errors
    /// The record is too long, and the file unchanged; or the file is outdated, and the next change
    /// writes all of it.
    pub(super) fn change(&mut self, key: Key, record: Option<Box<[u8]>>) -> io::Result<()> {
        let old = self.records.get(&key);
        if old == record.as_ref() && self.is_whole {
            return Ok(());
        }
        let removed = old.map_or(0, |it| size(it));
        let added = record.as_deref().map_or(0, size);
        let live = self.live - removed + added;
        if live > MAX_FILE / 2 || added > MAX_BODY as u64 {
            return Err(io::Error::other("the file would be too long"));
        }
        let mut entry = Vec::new();
        append_entry(&mut entry, key, record.as_deref());
        self.live = live;
        match record {
            Some(record) => self.records.insert(key, record),
            None => self.records.remove(&key),
        };
        let bytes = self.bytes + entry.len() as u64;
        if !self.is_whole || bytes > 2 * live + SLACK {
            return self.rewrite();
        }
        self.is_whole = false;
        self.file.append(&entry)?;
        self.file.sync()?;
        (self.is_whole, self.bytes) = (true, bytes);
        Ok(())
    }

    /// Rewrites the whole file.
    fn rewrite(&mut self) -> io::Result<()> {
        self.is_whole = false;
        let mut content = TITLE.to_vec();
        for (key, record) in &self.records {
            append_entry(&mut content, *key, Some(record));
        }
        self.file.replace(&content)?;
        self.file.sync()?;
        self.bytes = content.len() as u64;
        self.is_whole = true;
        Ok(())
    }
}

fn size(record: &[u8]) -> u64 {
    (FRAME + Key::SIZE + record.len()) as u64
}

fn append_entry(out: &mut Vec<u8>, key: Key, record: Option<&[u8]>) {
    let mut body = key.to_bytes().to_vec();
    // A record is never empty.
    body.extend_from_slice(record.unwrap_or_default());
    // Bodies are shorter than `MAX_BODY`.
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    for word in [length, !length, crc32(&body)] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&body);
}

/// The records of a file, and the offset of their end.
fn read(content: &[u8]) -> Result<(Records, usize), String> {
    let mut records = Records::new();
    if TITLE.starts_with(content) {
        // The title was written partially.
        return Ok((records, 0));
    }
    let Some(mut rest) = content.strip_prefix(TITLE) else {
        return Err("it does not begin with the title of such a file".to_owned());
    };
    loop {
        let at = content.len() - rest.len();
        let Some((frame, behind)) = rest.split_first_chunk::<FRAME>() else {
            return Ok((records, at));
        };
        if rest.iter().all(|it| *it == 0) {
            // The host failed before the appended entry was on the disk.
            return Ok((records, at));
        }
        let word = |index: usize| {
            let bytes = [0, 1, 2, 3].map(|it| frame[4 * index + it]);
            u32::from_le_bytes(bytes)
        };
        let length = word(0) as usize;
        if word(0) != !word(1) || length > MAX_BODY {
            return Err(format!("no entry at byte {at}"));
        }
        let Some((body, behind)) = behind.split_at_checked(length) else {
            return Ok((records, at));
        };
        if crc32(body) != word(2) {
            return match behind {
                [] => Ok((records, at)),
                _ => Err(format!("the entry at byte {at} is damaged")),
            };
        }
        let (key, record) = body.split_at_checked(Key::SIZE).unwrap_or_default();
        let key =
            Key::from_bytes(key).ok_or_else(|| format!("the entry at byte {at} has no key"))?;
        match record {
            [] => records.remove(&key),
            record => records.insert(key, record.into()),
        };
        rest = behind;
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::{fs, mem, thread};

    use super::*;
    use crate::connections::key::Kind;

    fn key(id: i32) -> Key {
        Key::new(Kind::Filter, 0, id)
    }

    fn record(bytes: usize) -> Option<Box<[u8]>> {
        Some(vec![7; bytes].into_boxed_slice())
    }

    fn scratch(test: &str) -> PathBuf {
        let name = format!("orbium-record-file-{}-{test}", std::process::id());
        std::env::temp_dir().join(name)
    }

    #[test]
    fn a_change_that_was_not_written_is_written_with_the_next() {
        let path = scratch("full");
        let mut file = RecordFile::open(&path).unwrap();
        file.change(key(1), record(10)).unwrap();
        let full = ExclusiveFile::open(Path::new("/dev/full")).unwrap();
        let written = mem::replace(&mut file.file, full);
        let full = file.change(key(2), record(10)).unwrap_err();
        file.file = written;
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        file.change(key(1), None).unwrap();
        let expected = file.records.clone();
        assert!(expected.keys().eq([&key(2)]));
        drop(file);
        assert_eq!(RecordFile::open(&path).unwrap().records, expected);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn the_file_is_no_longer_than_twice_its_records_and_some() {
        let path = scratch("long");
        let mut file = RecordFile::open(&path).unwrap();
        for bytes in 1..100 {
            file.change(key(1), record(100_000 + bytes)).unwrap();
            let length = fs::metadata(&path).unwrap().len();
            assert_eq!(length, file.bytes);
            assert!(length <= 2 * file.live + SLACK, "{length}");
        }
        assert!(file.change(key(2), record(MAX_BODY)).is_err());
        assert_eq!(file.records.len(), 1);
        drop(file);
        assert_eq!(RecordFile::open(&path).unwrap().records.len(), 1);
        fs::remove_file(&path).unwrap();
    }

    /// Regression: a service that had opened the file just before its replacement got the lock of
    /// the old one.
    #[test]
    fn no_other_service_opens_a_file_that_is_being_replaced() {
        let path = scratch("replaced");
        let mut file = RecordFile::open(&path).unwrap();
        file.change(key(1), record(10)).unwrap();
        let attempts = AtomicU32::new(0);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                while attempts.fetch_add(1, Ordering::Relaxed) < 1000 {
                    assert!(RecordFile::open(&path).is_err());
                }
            });
            while !other.is_finished() {
                file.rewrite().unwrap();
            }
            other.join().unwrap();
        });
        fs::remove_file(&path).unwrap();
    }
}
