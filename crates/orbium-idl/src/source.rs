// SPDX-License-Identifier: MIT OR Apache-2.0
//! Source files, spans in them, and their locations in reports.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::builtin;
use crate::model::{Excerpt, Location};

/// A range of octets in one source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) file: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    /// From the start of this to the end of the other, or just this if they are in different files.
    pub(crate) fn to(self, other: Span) -> Span {
        if self.file == other.file && other.end >= self.start {
            Span {
                end: other.end,
                ..self
            }
        } else {
            self
        }
    }

    /// The empty span right behind this one.
    pub(crate) fn after(self) -> Span {
        Span {
            start: self.end,
            ..self
        }
    }
}

/// A comment, marks included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comment {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Whether only white space precedes it on its line.
    pub(crate) own_line: bool,
}

/// `#line 7 "x.idl"`: the line after `at` is reported as line 7 of x.idl.
#[derive(Debug)]
struct Marker {
    at: u32,
    name: Arc<str>,
    line: u32,
}

#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: Arc<str>,
    /// The identity of the file, common to all its paths.
    pub(crate) identity: PathBuf,
    /// The number of the file among those compiled together that first read it.
    pub(crate) unit: usize,
    /// Whether it is compiled rather than only included.
    is_main: bool,
    /// The files that it includes.
    pub(crate) includes: Vec<u32>,
    /// The number of the file among those compiled together for which it is not included again,
    /// because of `#pragma once`.
    pub(crate) once: Option<usize>,
    /// The offsets of its output tokens.
    pub(crate) tokens: Vec<u32>,
    pub(crate) text: Arc<str>,
    pub(crate) comments: Vec<Comment>,
    line_starts: Vec<u32>,
    markers: Vec<Marker>,
    /// The last computed column, as line start, offset and characters between them: locations are
    /// mostly requested in order, and lines can be as long as the file.
    cursor: Cell<(u32, u32, u32)>,
}

impl SourceFile {
    /// Index of the physical line that contains the offset.
    fn line_index(&self, offset: u32) -> usize {
        let starts = &self.line_starts;
        starts
            .partition_point(|start| *start <= offset)
            .saturating_sub(1)
    }

    /// The start of the line that contains the offset.
    pub(crate) fn line_start(&self, offset: u32) -> u32 {
        self.line_starts
            .get(self.line_index(offset))
            .copied()
            .unwrap_or(0)
    }

    /// Characters between the start of the line and the offset.
    fn column(&self, offset: u32) -> u32 {
        let start = self.line_start(offset);
        let (line, known, before) = self.cursor.get();
        let column = if line == start && known <= offset {
            before.saturating_add(self.characters(known, offset))
        } else if line == start && known - offset < offset - start {
            before.saturating_sub(self.characters(offset, known))
        } else {
            self.characters(start, offset)
        };
        self.cursor.set((start, offset, column));
        column
    }

    /// The number of characters between two offsets.
    fn characters(&self, from: u32, to: u32) -> u32 {
        let gap = self.text.get(from as usize..to as usize).unwrap_or("");
        u32::try_from(gap.chars().count()).unwrap_or(u32::MAX)
    }

    fn line_text(&self, index: usize) -> &str {
        let start = self.line_starts.get(index).copied().unwrap_or(0) as usize;
        let end = self
            .line_starts
            .get(index + 1)
            .map_or(self.text.len(), |e| *e as usize);
        self.text
            .get(start..end)
            .unwrap_or("")
            .trim_end_matches(['\n', '\r'])
    }

    /// File and line according to line markers.
    fn presumed(&self, index: usize) -> (Arc<str>, u32) {
        let physical = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        let position = self.markers.partition_point(|marker| marker.at < physical);
        match position.checked_sub(1).and_then(|p| self.markers.get(p)) {
            Some(m) => (m.name.clone(), m.line.saturating_add(physical - m.at - 1)),
            None => (self.name.clone(), physical),
        }
    }
}

/// All files of a compilation, in the order in which they were first opened.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    pub(crate) files: Vec<SourceFile>,
}

/// Maximum length of the excerpt of a source line in a diagnostic, in characters.
const EXCERPT_WIDTH: usize = 200;

impl SourceMap {
    pub(crate) fn add(&mut self, name: &str, identity: PathBuf, bytes: Vec<u8>) -> u32 {
        let text = decode(bytes);
        let mut line_starts = vec![0];
        for (octet, next) in text.bytes().zip(1u32..) {
            if octet == b'\n' {
                line_starts.push(next);
            }
        }
        self.files.push(SourceFile {
            name: name.into(),
            identity,
            unit: 0,
            is_main: false,
            includes: Vec::new(),
            once: None,
            tokens: Vec::new(),
            text: text.into(),
            comments: Vec::new(),
            line_starts,
            markers: Vec::new(),
            cursor: Cell::new((0, 0, 0)),
        });
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }

    /// The index of the file of that identity.
    pub(crate) fn find(&self, identity: &Path) -> Option<u32> {
        for (index, file) in self.files.iter().enumerate() {
            if file.identity == identity {
                return u32::try_from(index).ok();
            }
        }
        None
    }

    pub(crate) fn file(&self, index: u32) -> Option<&SourceFile> {
        self.files.get(index as usize)
    }

    /// Records a line marker at a span. A file included twice records its markers once.
    pub(crate) fn mark(&mut self, span: Span, line: u32, name: Option<&str>) {
        let Some(file) = self.files.get_mut(span.file as usize) else {
            return;
        };
        let index = file.line_index(span.start);
        let at = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        if file.markers.last().is_some_and(|m| m.at >= at) {
            return;
        }
        let name = name.map_or_else(|| file.presumed(index).0, Into::into);
        file.markers.push(Marker { at, name, line });
    }

    /// Marks a file as compiled. If a file only includes others, those are marked too.
    pub(crate) fn compile(&mut self, index: u32) {
        let Some(file) = self.files.get_mut(index as usize) else {
            return;
        };
        if file.is_main || file.identity.starts_with(builtin::FOLDER) {
            return;
        }
        file.is_main = true;
        if file.tokens.is_empty() {
            for included in file.includes.clone() {
                self.compile(included);
            }
        }
    }

    /// Whether the span is in a file being compiled. In text that was preprocessed elsewhere, the
    /// first line marker names the main file.
    pub(crate) fn in_main_file(&self, span: Span) -> bool {
        let Some(file) = self.file(span.file) else {
            return false;
        };
        if !file.is_main {
            return false;
        }
        let main = match file.markers.first() {
            Some(first) if first.at == 1 => &first.name,
            _ => &file.name,
        };
        file.markers.is_empty() || file.presumed(file.line_index(span.start)).0 == *main
    }

    pub(crate) fn location(&self, span: Span) -> Location {
        let Some(file) = self.file(span.file) else {
            return Location {
                file: "".into(),
                line: 0,
                column: 0,
            };
        };
        let index = file.line_index(span.start);
        let (name, line) = file.presumed(index);
        Location {
            file: name,
            line,
            column: file.column(span.start).saturating_add(1),
        }
    }

    /// The line that contains the span's start, truncated to a readable piece around it.
    pub(crate) fn excerpt(&self, span: Span) -> Excerpt {
        let location = self.location(span);
        let Some(file) = self.file(span.file) else {
            return Excerpt::new(location, String::new(), 0, 1);
        };
        let covered = file.text.get(span.start as usize..span.end as usize);
        let covered = covered.unwrap_or("").chars();
        let covered = covered.take_while(|letter| !matches!(letter, '\n' | '\r'));
        let width = covered.take(EXCERPT_WIDTH).count().max(1);
        // A line can be as long as the file: only the excerpt is read.
        let text = file.line_text(file.line_index(span.start));
        let before = location.column as usize - 1;
        let (start, before) = if text.len() > EXCERPT_WIDTH {
            let at = (span.start - file.line_start(span.start)) as usize;
            let behind = text.get(..at).unwrap_or(text).char_indices().rev();
            let kept = behind.take(EXCERPT_WIDTH / 2).last();
            (
                kept.map_or(0, |(start, _)| start),
                before.min(EXCERPT_WIDTH / 2),
            )
        } else {
            (0, before)
        };
        let shown: String = text[start..].chars().take(EXCERPT_WIDTH).collect();
        let room = shown.chars().count() + 1;
        let room = room.saturating_sub(before).max(1);
        Excerpt::new(location, shown, before, width.min(room))
    }
}

/// IDL is ISO 8859-1 by the standard and UTF-8 in practice: valid UTF-8 is decoded as such, any
/// other text octet by octet. A byte order mark at the beginning is not part of the text.
fn decode(bytes: Vec<u8>) -> String {
    let bytes = match bytes.strip_prefix("\u{feff}".as_bytes()) {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_markers_rename_the_lines_after_them() {
        let mut map = SourceMap::default();
        let file = map.add(
            "x.i",
            PathBuf::from("x.i"),
            b"a\n# 7 \"y.idl\"\nb\nc\n".to_vec(),
        );
        map.mark(
            Span {
                file,
                start: 2,
                end: 3,
            },
            7,
            Some("y.idl"),
        );
        let place = |start| {
            map.location(Span {
                file,
                start,
                end: start + 1,
            })
        };
        assert_eq!((&*place(0).file, place(0).line), ("x.i", 1));
        assert_eq!((&*place(14).file, place(14).line), ("y.idl", 7));
        assert_eq!((&*place(16).file, place(16).line), ("y.idl", 8));
    }

    #[test]
    fn text_that_is_not_utf8_is_latin1() {
        assert_eq!(decode(b"caf\xe9".to_vec()), "caf\u{e9}");
        assert_eq!(decode("\u{feff}caf\u{e9}".as_bytes().to_vec()), "caf\u{e9}");
    }
}
