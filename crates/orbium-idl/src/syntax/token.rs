// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens, shared by preprocessor and parser.

use std::collections::HashSet;
use std::rc::Rc;

use crate::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Identifier,
    /// A preprocessing number: any token that starts with a digit or a point and a digit.
    Number,
    Char,
    WideChar,
    Text,
    WideText,
    Punctuation,
    /// A character that cannot start a token.
    Other,
    /// The end of the translation unit.
    End,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// As written, without line splices; literals include their quotes.
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
    /// Whether it is the first token of its line.
    pub(crate) starts_line: bool,
    /// Whether white space precedes it.
    pub(crate) spaced: bool,
    /// Whether it results from the expansion of the macro with its own name.
    pub(crate) painted: bool,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Punctuation | TokenKind::Identifier) && &*self.text == text
    }

    pub(crate) fn is_identifier(&self) -> bool {
        self.kind == TokenKind::Identifier
    }

    /// Whether this is a literal without its closing quote, which has been reported.
    pub(crate) fn is_unterminated(&self) -> bool {
        let quote = match self.kind {
            TokenKind::Char | TokenKind::WideChar => '\'',
            TokenKind::Text | TokenKind::WideText => '"',
            _ => return false,
        };
        let body = self.text.trim_start_matches('L');
        let Some(inner) = body.get(1..).and_then(|rest| rest.strip_suffix(quote)) else {
            return true;
        };
        let escapes = inner.len() - inner.trim_end_matches('\\').len();
        escapes % 2 == 1
    }

    /// For messages: the token in back quotes, shortened.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ if self.text.chars().count() > 40 => {
                format!("`{}…`", self.text.chars().take(40).collect::<String>())
            }
            _ => format!("`{}`", self.text),
        }
    }
}

/// Tokens joined into one word.
pub(crate) fn spelled(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        text.push_str(&token.text);
    }
    text
}

/// Interns spellings, one copy of each.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    known: HashSet<Rc<str>>,
}

impl Interner {
    pub(crate) fn intern(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.known.get(text) {
            return Rc::clone(known);
        }
        let text = Rc::<str>::from(text);
        self.known.insert(Rc::clone(&text));
        text
    }
}
