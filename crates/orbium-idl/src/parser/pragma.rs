// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreted pragmas: `prefix`, `ID`, `version` (CORBA 3.3 Part 1, 14.7.5).

use std::rc::Rc;

use super::Parser;
use crate::diagnostic::Reporter;
use crate::source::Span;
use crate::syntax::ast::{Ident, Pragma, ScopedName};
use crate::syntax::literal::whole;
use crate::syntax::token::{Token, TokenKind, spelled};

impl Parser<'_> {
    /// Parses a pragma; None if it is unknown or invalid.
    pub(super) fn pragma(&mut self, tokens: &[Token], span: Span) -> Option<Pragma> {
        let (first, rest) = tokens.split_first()?;
        let pragma = match &*first.text {
            "prefix" => self.prefix(rest, span),
            "ID" => self.id(rest, span),
            "version" => self.version(rest, span),
            other => {
                if self.options.pedantic {
                    let message = format!("unknown pragma `{other}` is ignored");
                    self.report.warning("unknown-pragma", span, message);
                }
                return None;
            }
        };
        if pragma.is_none() {
            let usage = match &*first.text {
                "prefix" => "`#pragma prefix \"text\"`",
                "ID" => "`#pragma ID name \"id\"`",
                _ => "`#pragma version name major.minor`",
            };
            let message = format!("malformed `#pragma {}`", first.text);
            let curly = rest.iter().any(|token| token.text.starts_with(['“', '”']));
            self.report
                .error("malformed-pragma", span, message)
                .help(if curly {
                    "the quotes are curly: write straight ones, `\"`".to_owned()
                } else {
                    format!("write {usage}")
                });
        }
        pragma
    }

    fn ignored_rest(&mut self, rest: &[Token], directive: &str) {
        extra_tokens(self.report, rest, directive);
    }

    fn prefix(&mut self, rest: &[Token], span: Span) -> Option<Pragma> {
        let text = plain(rest.first()?)?;
        self.ignored_rest(rest.get(1..).unwrap_or(&[]), "#pragma prefix");
        let doubtful = text.starts_with(['_', '-', '.']) || text.ends_with('/');
        if doubtful {
            let message = format!(
                "the prefix \"{text}\" should not start with `_`, `-` or `.` nor end in `/`"
            );
            self.report.warning("malformed-prefix", span, message);
        }
        Some(Pragma::Prefix(text))
    }

    fn id(&mut self, rest: &[Token], span: Span) -> Option<Pragma> {
        let (name, rest) = scoped_name(rest)?;
        let text = plain(rest.first()?)?;
        self.ignored_rest(rest.get(1..).unwrap_or(&[]), "#pragma ID");
        Some(Pragma::Id(name, text, span))
    }

    fn version(&mut self, rest: &[Token], span: Span) -> Option<Pragma> {
        let (name, rest) = scoped_name(rest)?;
        let version = spelled(rest);
        let (major, minor) = version.split_once('.')?;
        let number = |text: &str| whole(text, 10).is_some_and(|n| n <= u16::MAX.into());
        (number(major) && number(minor)).then(|| Pragma::Version(name, version.clone(), span))
    }
}

/// Warns of tokens behind a complete directive.
pub(crate) fn extra_tokens(report: &mut Reporter, rest: &[Token], directive: &str) {
    let [first, ..] = rest else { return };
    let span = rest
        .last()
        .map_or(first.span, |last| first.span.to(last.span));
    let message = format!("{} after `{directive}` is ignored", first.describe());
    report
        .warning("extra-tokens", span, message)
        .help("a directive ends with its line, without a `;`");
}

/// The text of a string literal, which must be in quotes.
fn plain(token: &Token) -> Option<String> {
    let inner = token.text.strip_prefix('"')?.strip_suffix('"')?;
    (token.kind == TokenKind::Text).then(|| inner.to_owned())
}

fn scoped_name(tokens: &[Token]) -> Option<(ScopedName, &[Token])> {
    let absolute = tokens.first()?.is("::");
    let mut rest = tokens.get(usize::from(absolute)..)?;
    let mut parts = Vec::new();
    loop {
        let (first, after) = rest.split_first()?;
        if !first.is_identifier() {
            return None;
        }
        let name: Rc<str> = first
            .text
            .strip_prefix('_')
            .map_or_else(|| first.text.clone(), Rc::from);
        parts.push(Ident {
            name,
            span: first.span,
        });
        rest = after;
        match rest.split_first() {
            Some((separator, after)) if separator.is("::") => rest = after,
            _ => break,
        }
    }
    let span = tokens[0].span.to(parts.last()?.span);
    Some((
        ScopedName {
            absolute,
            parts,
            span,
        },
        rest,
    ))
}
