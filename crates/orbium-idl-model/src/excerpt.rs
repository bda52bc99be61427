// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locations in the source, with excerpts of the text.

use std::sync::Arc;

/// Location in a source text. Lines and columns count from 1; columns count characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The name of the file: from the command line, an `#include` found on the search path, or a
    /// line marker.
    pub file: Arc<str>,
    /// The line in that file.
    pub line: u32,
    /// The column in that line.
    pub column: u32,
}

/// A location in the source with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The name of the file.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The number of marked characters, at least 1.
    pub width: u32,
    /// The source line, or an excerpt of it if it is very long.
    pub source_line: String,
    /// Characters of `source_line` before the location.
    pub offset: u32,
}

impl Excerpt {
    /// A location and its line.
    #[must_use]
    pub fn new(location: Location, source_line: String, offset: usize, width: usize) -> Self {
        Excerpt {
            file: location.file,
            line: location.line,
            column: location.column,
            width: u32::try_from(width).unwrap_or(u32::MAX),
            source_line,
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
        }
    }

    /// The location without the text.
    #[must_use]
    pub fn location(&self) -> Location {
        Location {
            file: Arc::clone(&self.file),
            line: self.line,
            column: self.column,
        }
    }
}
