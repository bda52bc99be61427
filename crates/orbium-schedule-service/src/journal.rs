// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of the state: a table of RT_Infos to which changes are appended.
//!
//! A line `operation` for an existing name replaces it; a line `schedule` has the options of the
//! last computed priorities. Appended lines survive the process, but not a failure of the host. A
//! file that has doubled is rewritten: each operation once. One service opens a file at a time.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use orbium_sched::{Options, Repository, Strategy, listing, parse};
use orbium_sys::ExclusiveFile;

use crate::error::ServiceError;

/// Maximum length of a file.
const MAX_FILE: u64 = 256 << 20;
/// Maximum length of the lines of all operations and dependencies, each once: as many fit into the
/// file again, as changes, with the options of the schedule.
pub(crate) const MAX_TEXT: u64 = MAX_FILE / 2 - 4096;
/// Length up to which a file is not rewritten.
const MIN_REWRITTEN: u64 = 1 << 20;

/// A file to which changes are appended.
#[derive(Debug)]
pub(crate) struct Journal {
    file: ExclusiveFile,
    has_failed: bool,
    length: u64,
    /// Length beyond which it is rewritten.
    rewrite_at: u64,
}

/// The content of a file.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    pub(crate) repository: Repository,
    pub(crate) options: Option<Options>,
}

impl Journal {
    /// Opens a file, or creates one, and rewrites its content: each operation once.
    pub(crate) fn open(path: &Path) -> Result<(Self, Saved), ServiceError> {
        let failed = |error: io::Error| file_error(path, &error);
        let mut file = ExclusiveFile::open(path).map_err(failed)?;
        let bytes = file.read(MAX_FILE).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => {
                damaged(path, format!("it is longer than {MAX_FILE} bytes"))
            }
            _ => failed(error),
        })?;
        let saved = read(path, &whole_lines(bytes, path)?)?;
        let text = content(&saved.repository, saved.options.as_ref());
        let mut journal = Journal {
            file,
            has_failed: false,
            length: 0,
            rewrite_at: 0,
        };
        journal.rewrite(&text).map_err(failed)?;
        Ok((journal, saved))
    }

    /// Whether the file has all changes.
    pub(crate) fn is_whole(&self) -> bool {
        !self.has_failed
    }

    /// Whether the file is to be rewritten before these lines are appended.
    pub(crate) fn is_full_for(&self, lines: &str) -> bool {
        self.length + lines.len() as u64 > self.rewrite_at
    }

    /// Appends lines. After a failure every further call fails until the file is rewritten.
    pub(crate) fn append(&mut self, lines: &str) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier change was not written"));
        }
        let length = self.length + lines.len() as u64;
        if length > MAX_FILE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let written = self.file.append(lines.as_bytes());
        self.has_failed = written.is_err();
        self.length = length;
        written
    }

    /// Rewrites the file with that text.
    pub(crate) fn rewrite(&mut self, text: &str) -> io::Result<()> {
        let replaced = self.file.replace(text.as_bytes());
        self.has_failed = replaced.is_err();
        self.length = text.len() as u64;
        self.rewrite_at = (2 * self.length).clamp(MIN_REWRITTEN, MAX_FILE);
        replaced
    }
}

/// Maximum length of the line of an operation of that name.
pub(crate) fn operation_length(name: &str) -> u64 {
    quoted_length(name) + 320
}

/// Maximum length of the line of a dependency between operations of these names.
pub(crate) fn dependency_length(name: &str, on: &str) -> u64 {
    quoted_length(name) + quoted_length(on) + 64
}

/// Maximum length of the lines of all operations and dependencies.
pub(crate) fn text_length(repository: &Repository) -> u64 {
    let infos = repository.infos().iter();
    let lengths = infos.map(|info| {
        let name = &info.entry_point;
        let all = info.dependencies.iter();
        let all = all.map(|it| dependency_length(name, repository.name(it.on)));
        operation_length(name) + all.sum::<u64>()
    });
    lengths.sum()
}

fn quoted_length(name: &str) -> u64 {
    let escaped = name.bytes().filter(|it| b"\n\r\"\\".contains(it));
    (name.len() + escaped.count() + 2) as u64
}

/// The whole file: operations, each once, and the options of the last computed priorities.
pub(crate) fn content(repository: &Repository, options: Option<&Options>) -> String {
    let mut text = listing(repository);
    text.extend(options.map(schedule_line));
    text
}

/// The line with the options of the computed priorities.
pub(crate) fn schedule_line(options: &Options) -> String {
    let Options {
        strategy,
        min_priority,
        max_priority,
        ..
    } = options;
    format!("schedule {strategy} {min_priority} {max_priority}\n")
}

/// The text up to the last end of a line. A killed process may have left half a line behind it, and
/// half a character.
fn whole_lines(mut bytes: Vec<u8>, path: &Path) -> Result<String, ServiceError> {
    let end = bytes.iter().rposition(|it| *it == b'\n');
    bytes.truncate(end.map_or(0, |end| end + 1));
    String::from_utf8(bytes).map_err(|error| damaged(path, error.to_string()))
}

fn read(path: &Path, whole: &str) -> Result<Saved, ServiceError> {
    let mut lines: Vec<&str> = Vec::new();
    let mut line_of_name: HashMap<String, usize> = HashMap::new();
    let mut options = None;
    for (number, line) in (1..).zip(whole.lines()) {
        if let Some(rest) = line.strip_prefix("schedule ") {
            let unreadable = || damaged(path, format!("line {number}: no strategy and priorities"));
            options = Some(computed_for(rest).ok_or_else(unreadable)?);
            continue;
        }
        if line.starts_with("operation ") {
            let alone = parse(line);
            let alone =
                alone.map_err(|it| damaged(path, format!("line {number}: {}", it.message)))?;
            let name = alone.repository.infos().first().map(|it| &it.entry_point);
            if let Some(earlier) = name.and_then(|it| line_of_name.get(it)) {
                lines[*earlier] = line;
                continue;
            }
            line_of_name.extend(name.map(|it| (it.clone(), lines.len())));
        }
        lines.push(line);
    }
    let listed = parse(&lines.join("\n")).map_err(|it| damaged(path, it.message))?;
    Ok(Saved {
        repository: listed.repository,
        options,
    })
}

fn computed_for(text: &str) -> Option<Options> {
    let mut words = text.split(' ');
    let strategy: Strategy = words.next()?.parse().ok()?;
    let options = Options {
        min_priority: words.next()?.parse().ok()?,
        max_priority: words.next()?.parse().ok()?,
        ..Options::new(strategy)
    };
    words.next().is_none().then_some(options)
}

fn file_error(path: &Path, error: &io::Error) -> ServiceError {
    ServiceError::File {
        path: path.to_owned(),
        why: error.to_string(),
    }
}

fn damaged(path: &Path, why: String) -> ServiceError {
    ServiceError::Damaged {
        path: path.to_owned(),
        why,
    }
}
