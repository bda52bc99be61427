// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parser: from tokens to declarations, with recovery after errors.
//!
//! An invalid declaration is reported once and skipped up to its `;` or closing brace. The skipped
//! identifiers are recorded: a name that may have been declared there is not reported as undeclared
//! later.

mod annotation;
mod component;
mod definition;
mod expression;
mod interface;
mod keyword;
mod pragma;
mod slip;
mod types;

pub use keyword::clash as keyword_clash;
pub(crate) use pragma::extra_tokens;
pub(crate) use slip::type_meant;
pub(crate) use types::idl4_integer;

use std::collections::HashSet;
use std::rc::Rc;

use crate::diagnostic::{Draft, Reporter, Severity};
use crate::options::Options;
use crate::preprocessor::{Event, TokenStream};
use crate::source::Span;
use crate::syntax::ast::{Ident, Item, ItemKind, ScopedName};
use crate::syntax::token::{Token, TokenKind};

/// An invalid declaration, which has been reported.
#[derive(Debug)]
struct Broken;

type Parse<T> = Result<T, Broken>;

/// All declarations of a translation unit.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) items: Vec<Item>,
    /// Lower-case identifiers in invalid declarations.
    pub(crate) tainted: HashSet<String>,
}

pub(crate) fn parse(options: &Options, mut stream: TokenStream, report: &mut Reporter) -> Unit {
    stream.events.reverse();
    let mut parser = Parser {
        options,
        report,
        tokens: stream.tokens,
        next: 0,
        events: stream.events,
        closing_shift: false,
        depth: 0,
        tainted: HashSet::new(),
    };
    let items = parser.specification();
    Unit {
        items,
        tainted: parser.tainted,
    }
}

struct Parser<'a> {
    options: &'a Options,
    report: &'a mut Reporter,
    tokens: Vec<Token>,
    next: usize,
    /// In reverse order: the next one last.
    events: Vec<(usize, Event)>,
    /// Whether a `>>` may close brackets here: the expression ends before it.
    closing_shift: bool,
    depth: usize,
    tainted: HashSet<String>,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        // The stream always ends in an End token, which is never consumed.
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + ahead).min(last)]
    }

    fn at(&self, text: &str) -> bool {
        self.peek().is(text)
    }

    fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    fn bump(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.bump();
        }
        found
    }

    /// The span of the token before the next one.
    fn last_span(&self) -> Span {
        self.tokens[self.next.saturating_sub(1)].span
    }

    /// Reports that something else was expected at the next token.
    fn unexpected(&mut self, wanted: &str) -> &mut Draft {
        let token = self.peek().clone();
        let message = format!("{wanted} expected, found {}", token.describe());
        self.report.error("syntax", token.span, message)
    }

    fn expect(&mut self, text: &'static str) -> Parse<Span> {
        if self.at(text) {
            Ok(self.bump().span)
        } else {
            self.unexpected(&format!("`{text}`"));
            Err(Broken)
        }
    }

    /// The `;` at the end of a declaration. If it is just missing, parsing continues.
    fn semicolon(&mut self) -> Parse<Span> {
        if self.at(";") {
            return Ok(self.bump().span);
        }
        let next = self.peek().clone();
        let forgotten = next.starts_line || next.is("}") || self.at_end();
        if !forgotten {
            self.unexpected("`;`").help("end the declaration with `;`");
            return Err(Broken);
        }
        let span = self.last_span();
        // The literal has consumed the rest of the line, including its `;`.
        if self.tokens[self.next.saturating_sub(1)].is_unterminated() {
            return Ok(span);
        }
        let message = format!("`;` expected, found {}", next.describe());
        self.report
            .error("missing-semicolon", span.after(), message)
            .help("end the declaration with `;`");
        Ok(span)
    }

    /// An identifier that a declaration defines, or that refers to a definition.
    fn identifier(&mut self, what: &str) -> Parse<Ident> {
        let token = self.peek().clone();
        if !token.is_identifier() {
            self.unexpected(what);
            return Err(Broken);
        }
        if let Some(escaped) = token.text.strip_prefix('_') {
            self.bump();
            if !escaped.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let message = format!("malformed identifier `{}`", token.text);
                self.report
                    .error("malformed-identifier", token.span, message)
                    .help("an identifier starts with a letter; one underscore before it is allowed to escape a keyword");
            }
            return Ok(Ident {
                name: Rc::from(escaped),
                span: token.span,
            });
        }
        match keyword::clash(&token.text, self.options) {
            None => {}
            Some(word) if word == &*token.text => {
                let message = format!("{what} expected, found the keyword `{word}`");
                self.report
                    .error("keyword", token.span, message)
                    .help(format!(
                        "write `_{word}` to use the keyword as an identifier"
                    ));
                return Err(Broken);
            }
            Some(word) => {
                let message = format!(
                    "the identifier `{}` collides with the keyword `{word}`: they differ only in case",
                    token.text
                );
                let severity = if keyword::is_old(word) {
                    Severity::Error
                } else {
                    Severity::Warning
                };
                self.report
                    .report(severity, "keyword-clash", Some(token.span), message)
                    .help(format!("write `_{}` or choose another name", token.text));
            }
        }
        self.bump();
        Ok(Ident {
            name: token.text,
            span: token.span,
        })
    }

    /// Whether the next token is an identifier that is not a keyword.
    fn at_name(&self) -> bool {
        let token = self.peek();
        token.is_identifier() && keyword::clash(&token.text, self.options) != Some(&*token.text)
    }

    fn scoped_name(&mut self) -> Parse<ScopedName> {
        let (start, first) = (self.peek().span, self.next);
        let absolute = self.eat("::");
        let mut parts = vec![self.identifier("a name")?];
        let mut dotted = false;
        while self.eat("::") || self.eat_dot(&mut dotted) {
            parts.push(self.identifier("a name")?);
        }
        if dotted {
            self.report_dots(start, first);
        }
        Ok(ScopedName {
            absolute,
            parts,
            span: start.to(self.last_span()),
        })
    }

    fn scoped_names(&mut self) -> Parse<Vec<ScopedName>> {
        let mut names = vec![self.scoped_name()?];
        while self.eat(",") {
            names.push(self.scoped_name()?);
        }
        Ok(names)
    }

    /// Parses a nested part, with the nesting counted.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= self.options.limits.nesting {
            let span = self.peek().span;
            self.report
                .error("nesting", span, "this is nested too deeply");
            return Err(Broken);
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// The items between braces, or up to the end of the unit if `top` is set. `item` parses one.
    fn items(&mut self, top: bool, item: fn(&mut Self) -> Parse<Vec<Item>>) -> Vec<Item> {
        let mut items = Vec::new();
        loop {
            self.take_events(&mut items);
            if self.at_end() || (!top && self.at("}")) || self.report.is_exhausted() {
                return items;
            }
            let before = self.next;
            match item(self) {
                Ok(mut read) => items.append(&mut read),
                Err(Broken) => self.recover(before, top),
            }
            if self.next == before && !self.at_end() {
                self.bump();
            }
        }
    }

    /// Skips the rest of a broken declaration that began at the given token.
    fn recover(&mut self, start: usize, top: bool) {
        let mut braces = 0usize;
        for token in &self.tokens[start..self.next] {
            braces += usize::from(token.is("{"));
            braces = braces.saturating_sub(usize::from(token.is("}")));
        }
        while !self.at_end() {
            let token = self.peek();
            if token.is("}") && braces == 0 && !top {
                break;
            }
            let fresh = braces == 0 && token.starts_line && self.next > start;
            if fresh && keyword::starts_definition(&token.text) {
                break;
            }
            let token = self.bump();
            braces += usize::from(token.is("{"));
            if token.is("}") {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    self.eat(";");
                    break;
                }
            }
            if token.is(";") && braces == 0 {
                break;
            }
        }
        for token in &self.tokens[start..self.next] {
            if token.is_identifier() {
                let name = token.text.trim_start_matches('_');
                self.tainted.insert(name.to_ascii_lowercase());
            }
        }
    }

    /// Converts pragmas and file boundaries before the next token into items.
    fn take_events(&mut self, items: &mut Vec<Item>) {
        let position = self.next;
        while self.events.last().is_some_and(|(at, _)| *at <= position)
            && let Some((_, event)) = self.events.pop()
        {
            let span = self.peek().span;
            let plain = |kind| Item {
                annotations: Vec::new(),
                start: span,
                end: span,
                kind,
            };
            match event {
                Event::Enter => items.push(plain(ItemKind::EnterFile)),
                Event::Leave => items.push(plain(ItemKind::LeaveFile)),
                Event::Pragma { tokens, span } => {
                    if let Some(pragma) = self.pragma(&tokens, span) {
                        items.push(Item {
                            annotations: Vec::new(),
                            start: span,
                            end: span,
                            kind: ItemKind::Pragma(pragma),
                        });
                    }
                }
            }
        }
    }

    fn specification(&mut self) -> Vec<Item> {
        if self.at_end() && !self.report.has_errors() {
            let span = self.peek().span;
            self.report
                .warning("empty-file", span, "this file defines nothing");
        }
        self.items(true, Self::definition)
    }
}
