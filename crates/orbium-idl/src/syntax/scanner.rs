// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scanner of preprocessing tokens: comments, line splices, literals.

use std::sync::Arc;

use crate::diagnostic::Reporter;
use crate::source::{Comment, Span};
use crate::syntax::token::{Interner, Token, TokenKind};

/// Scans one file from start to end.
#[derive(Debug)]
pub(crate) struct Scanner {
    text: Arc<str>,
    position: usize,
    file: u32,
    starts_line: bool,
    /// Whether errors are suppressed: the text is being skipped or is free text of a directive.
    pub(crate) lenient: bool,
    pub(crate) comments: Vec<Comment>,
}

/// The characters that word processors substitute for quotes.
const CURLY: [char; 5] = ['“', '”', '„', '‘', '’'];

/// Two-character punctuation; all other punctuation is a single character.
const PAIRS: [&str; 10] = ["::", "<<", ">>", "##", "&&", "||", "==", "!=", "<=", ">="];

impl Scanner {
    pub(crate) fn new(text: Arc<str>, file: u32) -> Self {
        Scanner {
            text,
            position: 0,
            file,
            starts_line: true,
            lenient: false,
            comments: Vec::new(),
        }
    }

    /// Scans text that is not from a file, such as the result of pasting two tokens. All tokens get
    /// the given span.
    pub(crate) fn retokenize(text: &str, span: Span, names: &mut Interner) -> Vec<Token> {
        let mut scanner = Scanner::new(text.into(), span.file);
        scanner.lenient = true;
        let mut ignored = Reporter::new(0);
        let mut tokens = Vec::new();
        while let Some(mut token) = scanner.next(names, &mut ignored) {
            token.span = span;
            token.starts_line = false;
            tokens.push(token);
        }
        tokens
    }

    /// The next token, across lines if needed.
    pub(crate) fn next(&mut self, names: &mut Interner, report: &mut Reporter) -> Option<Token> {
        let mut spaced = false;
        loop {
            spaced |= self.skip_blanks(report);
            match self.peek()? {
                '\n' => {
                    self.bump();
                    self.starts_line = true;
                    spaced = true;
                }
                _ => return Some(self.token(spaced, names, report)),
            }
        }
    }

    /// The tokens up to the end of the line, which is consumed.
    pub(crate) fn rest_of_line(
        &mut self,
        names: &mut Interner,
        report: &mut Reporter,
    ) -> Vec<Token> {
        let mut tokens = Vec::new();
        while let Some(token) = self.next_on_line(names, report) {
            tokens.push(token);
        }
        if self.bump().is_some() {
            self.starts_line = true;
        }
        tokens
    }

    /// The next token of the current line; none at its end, which is not consumed.
    pub(crate) fn next_on_line(
        &mut self,
        names: &mut Interner,
        report: &mut Reporter,
    ) -> Option<Token> {
        let spaced = self.skip_blanks(report);
        match self.peek() {
            None | Some('\n') => None,
            Some(_) => Some(self.token(spaced, names, report)),
        }
    }

    /// The characters up to the end of the line, with leading blanks skipped. Only the blanks are
    /// consumed.
    pub(crate) fn peek_line(&mut self, report: &mut Reporter) -> &str {
        self.skip_blanks(report);
        let rest = self.text.get(self.position..).unwrap_or("");
        rest.lines().next().unwrap_or("")
    }

    /// A span of the given width at the current position.
    pub(crate) fn here(&self, width: usize) -> Span {
        self.span(self.position, self.position + width)
    }

    /// Advances over characters of the current line.
    pub(crate) fn advance(&mut self, octets: usize) {
        self.position = (self.position + octets).min(self.text.len());
        self.starts_line = false;
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span {
            file: self.file,
            start: narrow(start),
            end: narrow(end),
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or("")
    }

    /// The next character, line splices removed.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = self.rest();
            let Some(after) = rest.strip_prefix('\\') else {
                return rest.chars().next();
            };
            let splice = match after.as_bytes() {
                [b'\n', ..] => 2,
                [b'\r', b'\n', ..] => 3,
                _ => return Some('\\'),
            };
            self.position += splice;
        }
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.position += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.bump();
        }
        found
    }

    /// Skips blanks and comments but no newline; returns whether there were any.
    fn skip_blanks(&mut self, report: &mut Reporter) -> bool {
        let start = self.position;
        loop {
            match self.peek() {
                // A byte order mark in the middle, of concatenated files.
                Some('\u{feff}') => {
                    let here = self.position;
                    self.bump();
                    let span = self.span(here, self.position);
                    report
                        .warning(
                            "byte-order-mark",
                            span,
                            "a byte order mark inside of the file is ignored",
                        )
                        .help("files that were put together leave it: remove it");
                }
                Some(' ' | '\t' | '\r' | '\x0b' | '\x0c' | '\u{a0}') => {
                    self.bump();
                }
                Some('/') => {
                    let before = self.position;
                    self.bump();
                    match self.peek() {
                        Some('/') => self.line_comment(before),
                        Some('*') => self.block_comment(before, report),
                        _ => {
                            self.position = before;
                            break;
                        }
                    }
                }
                _ => break,
            }
        }
        self.position > start
    }

    fn line_comment(&mut self, start: usize) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.bump();
        }
        self.remember_comment(start);
    }

    fn block_comment(&mut self, start: usize, report: &mut Reporter) {
        self.bump();
        let mut star = false;
        loop {
            match self.bump() {
                Some('/') if star => break,
                Some(c) => star = c == '*',
                None => {
                    let span = self.span(start, start + 2);
                    report
                        .error(
                            "unterminated-comment",
                            span,
                            "this comment is never closed: unterminated `/*`",
                        )
                        .help("close it with `*/`");
                    return;
                }
            }
        }
        self.remember_comment(start);
    }

    fn remember_comment(&mut self, start: usize) {
        let span = self.span(start, self.position);
        self.comments.push(Comment {
            start: span.start,
            end: span.end,
            own_line: self.starts_line,
        });
    }

    fn token(&mut self, spaced: bool, names: &mut Interner, report: &mut Reporter) -> Token {
        let start = self.position;
        let kind = self.scan(start, report);
        let raw = self.text.get(start..self.position).unwrap_or("");
        let text = match raw.find('\n') {
            _ if raw.starts_with(CURLY) && kind != TokenKind::Other => {
                names.intern(&with_straight_quotes(raw, kind))
            }
            Some(_) => names.intern(&without_splices(raw)),
            None => names.intern(raw),
        };
        let starts_line = std::mem::replace(&mut self.starts_line, false);
        Token {
            kind,
            text,
            span: self.span(start, self.position),
            starts_line,
            spaced,
            painted: false,
        }
    }

    /// Scans one token and returns its kind.
    fn scan(&mut self, start: usize, report: &mut Reporter) -> TokenKind {
        let Some(c) = self.bump() else {
            return TokenKind::End;
        };
        match c {
            'L' if matches!(self.peek(), Some('"' | '\'')) => match self.bump() {
                Some('"') => self.quoted(start, '"', TokenKind::WideText, report),
                _ => self.quoted(start, '\'', TokenKind::WideChar, report),
            },
            c if c.is_ascii_alphabetic() || c == '_' => {
                while self
                    .peek()
                    .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                {
                    self.bump();
                }
                TokenKind::Identifier
            }
            '0'..='9' => self.number(),
            '.' if self.peek().is_some_and(|c| c.is_ascii_digit()) => self.number(),
            '"' => self.quoted(start, '"', TokenKind::Text, report),
            '\'' => self.quoted(start, '\'', TokenKind::Char, report),
            '“' | '”' | '„' if !self.lenient => self.curly(start, '"', report),
            '‘' | '’' if !self.lenient => self.curly(start, '\'', report),
            c if c.is_ascii_punctuation() && !matches!(c, '\\' | '`' | '$') => {
                if let Some(second) = self.peek() {
                    let pair = [c, second];
                    if PAIRS.iter().any(|p| p.chars().eq(pair)) {
                        self.bump();
                    }
                }
                TokenKind::Punctuation
            }
            _ => TokenKind::Other,
        }
    }

    /// A literal between curly quotes of an editor. It is read as if they were straight.
    fn curly(&mut self, start: usize, straight: char, report: &mut Reporter) -> TokenKind {
        let mut closed = false;
        while let Some(c) = self.peek()
            && c != '\n'
            && !closed
        {
            self.bump();
            closed = CURLY.contains(&c) || c == straight;
        }
        report
            .error(
                "curly-quotes",
                self.span(start, self.position),
                "curly quotes do not delimit a literal",
            )
            .help(format!("write straight ones, `{straight}`"));
        match straight {
            '"' => TokenKind::Text,
            _ => TokenKind::Char,
        }
    }

    fn number(&mut self) -> TokenKind {
        let first = self.position.saturating_sub(1);
        let hexadecimal = |s: &Self| {
            s.text
                .get(first..first + 2)
                .is_some_and(|p| matches!(p, "0x" | "0X"))
        };
        while let Some(c) = self.peek() {
            if !c.is_ascii_alphanumeric() && c != '.' && c != '_' {
                break;
            }
            self.bump();
            if matches!(c, 'e' | 'E')
                && !hexadecimal(self)
                && matches!(self.peek(), Some('+' | '-'))
            {
                self.bump();
            }
        }
        TokenKind::Number
    }

    fn quoted(
        &mut self,
        start: usize,
        quote: char,
        kind: TokenKind,
        report: &mut Reporter,
    ) -> TokenKind {
        let opened = self.position;
        loop {
            match self.peek() {
                None | Some('\n') => break,
                Some('\\') => {
                    self.bump();
                    if self.peek().is_some_and(|c| c != '\n') {
                        self.bump();
                    }
                }
                Some(_) => {
                    let closed = self.eat(quote);
                    if closed {
                        return kind;
                    }
                    self.bump();
                }
            }
        }
        if self.lenient {
            // Free text, such as an apostrophe: only the quote is a token.
            self.position = opened;
            return TokenKind::Other;
        }
        let (code, what) = match quote {
            '"' => (
                "unterminated-string",
                "this string literal is not terminated on its line",
            ),
            _ => (
                "unterminated-character",
                "this character literal is not terminated on its line",
            ),
        };
        report
            .error(code, self.span(start, opened), what)
            .help(format!("close it with `{quote}`"));
        // The following text is part of the error: the literal is returned as if it were closed.
        kind
    }
}

/// A literal with straight quotes. An unclosed one stays so.
fn with_straight_quotes(raw: &str, kind: TokenKind) -> String {
    let quote = if kind == TokenKind::Text { "\"" } else { "'" };
    let inner = raw.trim_start_matches(CURLY);
    let body = inner.trim_end_matches(CURLY);
    let body = body.strip_suffix(quote).unwrap_or(body);
    if body.len() < inner.len() {
        format!("{quote}{body}{quote}")
    } else {
        format!("{quote}{body}")
    }
}

/// A token without the backslashes before line ends, and without these.
fn without_splices(raw: &str) -> String {
    let mut text = String::new();
    for line in raw.split_inclusive('\n') {
        let kept = line.strip_suffix("\\\n").or(line.strip_suffix("\\\r\n"));
        text.push_str(kept.unwrap_or(line));
    }
    text
}
