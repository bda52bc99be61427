// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requirements from a table of text.

use std::sync::Arc;

use orbium_idl::{Diagnostic, Excerpt, Severity};
use orbium_sched::{Listing, TextError, parse};

use crate::requirements::{Call, Requirement, Requirements};

/// Maximum length of a line that is shown.
const MAX_SHOWN: usize = 160;

impl Requirements {
    /// Reads a table of RT_Infos, the format of [`orbium_sched::parse`]. The name of the file is
    /// used in diagnostics.
    ///
    /// ```
    /// use orbium_ridl::Requirements;
    ///
    /// let text = "operation Rudder::steer period=\"50 ms\" wcet=ten";
    /// let requirements = Requirements::listed("rudder.txt", text);
    /// let shown = requirements.diagnostics[0].to_string();
    /// assert!(shown.starts_with("rudder.txt:1:40: error: `ten` is no length of time"), "{shown}");
    /// ```
    #[must_use]
    pub fn listed(file: &str, text: &str) -> Self {
        let file: Arc<str> = file.into();
        match parse(text) {
            Ok(listing) => from_listing(&file, text, &listing),
            Err(error) => Requirements {
                operations: Vec::new(),
                diagnostics: vec![diagnostic(&file, text, &error)],
            },
        }
    }
}

fn from_listing(file: &Arc<str>, text: &str, listing: &Listing) -> Requirements {
    let lines: Vec<&str> = text.lines().collect();
    let infos = listing.repository.infos().iter();
    let operations = infos.zip(&listing.lines).map(|(info, number)| {
        let line = lines.get(*number as usize - 1).copied().unwrap_or_default();
        let indent = line.chars().take_while(|it| it.is_whitespace()).count();
        let dependencies = info.dependencies.iter();
        let calls = dependencies.map(|it| Call {
            on: it.on.number() as usize - 1,
            times: it.calls,
            kind: it.kind,
            state: it.state,
        });
        Requirement {
            operation: None,
            name: info.entry_point.clone(),
            timing: info.timing,
            state: info.state,
            calls: calls.collect(),
            excerpt: excerpt(file, line, *number, indent, line.chars().count() - indent),
        }
    });
    Requirements {
        operations: operations.collect(),
        diagnostics: Vec::new(),
    }
}

fn diagnostic(file: &Arc<str>, text: &str, error: &TextError) -> Diagnostic {
    let line = text.lines().nth(error.line as usize - 1);
    let (line, offset) = (line.unwrap_or_default(), error.column as usize - 1);
    Diagnostic {
        severity: Severity::Error,
        code: "table",
        message: error.message.clone(),
        excerpt: Some(excerpt(
            file,
            line,
            error.line,
            offset,
            error.width as usize,
        )),
        labels: Vec::new(),
        help: None,
    }
}

/// A position in a line, from `offset` on; long lines are not shown.
fn excerpt(file: &Arc<str>, line: &str, number: u32, offset: usize, width: usize) -> Excerpt {
    let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    let is_shown = line.chars().count() <= MAX_SHOWN;
    Excerpt {
        file: Arc::clone(file),
        line: number,
        column: count(offset).saturating_add(1),
        width: if is_shown { count(width).max(1) } else { 1 },
        source_line: if is_shown {
            line.to_owned()
        } else {
            String::new()
        },
        offset: if is_shown { count(offset) } else { 0 },
    }
}
