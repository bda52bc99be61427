// SPDX-License-Identifier: MIT OR Apache-2.0
//! Diagnostics: errors and warnings with their locations and advice.

pub(crate) mod article;
pub(crate) mod spelling;
use std::fmt;

use crate::model::Excerpt;
use crate::source::{SourceMap, Span};

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// There is no model.
    Error,
    /// Worth knowing; the model is valid.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// A secondary location of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The location.
    pub excerpt: Excerpt,
    /// The explanation.
    pub message: String,
}

/// One finding: plain data without reference to the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A short stable name for the rule, such as `undeclared-name`.
    pub code: &'static str,
    /// The message, in one sentence without a full stop.
    pub message: String,
    /// The location. None if the main file could not be read.
    pub excerpt: Option<Excerpt>,
    /// Other locations that explain it.
    pub labels: Vec<Label>,
    /// The advice.
    pub help: Option<String>,
}

impl fmt::Display for Diagnostic {
    /// Writes the diagnostic with source lines and carets, ending in a newline.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic {
            severity,
            code,
            message,
            ..
        } = self;
        match &self.excerpt {
            Some(at) => {
                writeln!(
                    f,
                    "{}:{}:{}: {severity}: {message} [{code}]",
                    at.file, at.line, at.column
                )?;
            }
            None => writeln!(f, "{severity}: {message} [{code}]")?,
        }
        let mut last = self.excerpt.as_ref().map_or(0, |at| at.line);
        for label in &self.labels {
            last = last.max(label.excerpt.line);
        }
        let gutter = last.to_string().len();
        if let Some(at) = &self.excerpt {
            write_excerpt(f, at, gutter, '^', "")?;
        }
        for label in &self.labels {
            let at = &label.excerpt;
            if self
                .excerpt
                .as_ref()
                .is_none_or(|main| main.file != at.file)
            {
                writeln!(f, "{:gutter$}--> {}:{}:{}", "", at.file, at.line, at.column)?;
            }
            write_excerpt(f, at, gutter, '-', &label.message)?;
        }
        match &self.help {
            Some(help) => writeln!(f, "{:gutter$} = help: {help}", ""),
            None => Ok(()),
        }
    }
}

fn write_excerpt(
    f: &mut fmt::Formatter<'_>,
    at: &Excerpt,
    gutter: usize,
    mark: char,
    message: &str,
) -> fmt::Result {
    // Tabs are preserved in the margin so that the carets are aligned whatever the width of a tab.
    let margin: String = at
        .source_line
        .chars()
        .take(at.offset as usize)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    let marks = mark.to_string().repeat(at.width as usize);
    writeln!(f, "{:>gutter$} | {}", at.line, at.source_line)?;
    let line = format!("{:gutter$} | {margin}{marks} {message}", "");
    writeln!(f, "{}", line.trim_end())
}

/// A diagnostic with locations as spans.
#[derive(Debug)]
pub(crate) struct Draft {
    severity: Severity,
    code: &'static str,
    message: String,
    span: Option<Span>,
    labels: Vec<(Span, String)>,
    help: Option<String>,
}

impl Draft {
    /// A dummy draft that is not reported.
    fn spare() -> Self {
        Draft {
            severity: Severity::Warning,
            code: "",
            message: String::new(),
            span: None,
            labels: Vec::new(),
            help: None,
        }
    }

    fn finish(self, sources: &SourceMap) -> Diagnostic {
        let mut labels = Vec::new();
        for (span, message) in &self.labels {
            labels.push(Label {
                excerpt: sources.excerpt(*span),
                message: message.clone(),
            });
        }
        Diagnostic {
            severity: self.severity,
            code: self.code,
            message: self.message,
            excerpt: self.span.map(|s| sources.excerpt(s)),
            labels,
            help: self.help,
        }
    }

    /// Adds a secondary location.
    pub(crate) fn label(&mut self, span: Span, message: impl Into<String>) -> &mut Self {
        self.labels.push((span, message.into()));
        self
    }

    /// Adds advice.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }
}

/// Adds the location of a declaration, if it is known.
pub(crate) fn point_at(draft: &mut Draft, declared: Option<Span>) {
    if let Some(span) = declared {
        draft.label(span, "declared here");
    }
}

/// Collects diagnostics. The same rule is reported once per location.
#[derive(Debug)]
pub(crate) struct Reporter {
    drafts: Vec<Draft>,
    errors: usize,
    limit: usize,
    spare: Draft,
}

impl Reporter {
    pub(crate) fn new(limit: usize) -> Self {
        Reporter {
            drafts: Vec::new(),
            errors: 0,
            limit,
            spare: Draft::spare(),
        }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Draft {
        self.report(Severity::Error, code, Some(span), message.into())
    }

    pub(crate) fn warning(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Draft {
        self.report(Severity::Warning, code, Some(span), message.into())
    }

    pub(crate) fn report(
        &mut self,
        severity: Severity,
        code: &'static str,
        span: Option<Span>,
        message: String,
    ) -> &mut Draft {
        let draft = Draft {
            severity,
            code,
            message,
            span,
            labels: Vec::new(),
            help: None,
        };
        let is_error = severity == Severity::Error;
        let full = self.drafts.len() >= self.limit.saturating_mul(4) || self.is_exhausted();
        if is_error {
            self.errors += 1;
        }
        // Their number is small, because of the limit.
        let known = |d: &Draft| d.code == code && d.span == span;
        if full || self.drafts.iter().any(known) {
            self.spare = draft;
            return &mut self.spare;
        }
        self.drafts.push(draft);
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether there are so many errors that further ones would not help.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.errors >= self.limit
    }

    /// All diagnostics in the order of their locations.
    pub(crate) fn finish(mut self, sources: &SourceMap) -> Vec<Diagnostic> {
        let is_exhausted = self.is_exhausted();
        self.drafts.sort_by_key(|draft| draft.span);
        let mut all: Vec<_> = self
            .drafts
            .into_iter()
            .map(|draft| draft.finish(sources))
            .collect();
        if is_exhausted {
            all.push(Diagnostic {
                severity: Severity::Error,
                code: "too-many-errors",
                message: "too many errors; the rest is not shown".to_owned(),
                excerpt: None,
                labels: Vec::new(),
                help: None,
            });
        }
        all
    }
}
