// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places in the source, with the text that stands there.

use std::sync::Arc;

use crate::model::Location;

/// A place in the source with the line it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The file as it was named.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// How many characters are meant, at least 1.
    pub width: u32,
    /// The source line, or a piece of it when it is very long.
    pub source_line: String,
    /// Characters of `source_line` before the place.
    pub offset: u32,
}

impl Excerpt {
    pub(crate) fn new(
        location: Location,
        source_line: String,
        offset: usize,
        width: usize,
    ) -> Self {
        Excerpt {
            file: location.file,
            line: location.line,
            column: location.column,
            width: u32::try_from(width).unwrap_or(u32::MAX),
            source_line,
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
        }
    }
}
