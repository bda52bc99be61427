// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tokens of a constraint.

use super::error::{ConstraintError, ConstraintErrorKind};

/// One token of a constraint.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// An identifier that is not a keyword, or is escaped.
    Name(Box<str>),
    /// A keyword in lower case: `and`, `or`, `not`, `in`, `exist`, `default`.
    Keyword(&'static str),
    Bool(bool),
    Int(i128),
    Double(f64),
    Text(Box<str>),
    /// An operator or a bracket.
    Symbol(&'static str),
    End,
}

/// Longer ones first.
const SYMBOLS: [&str; 18] = [
    "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "~", "(", ")", "[", "]", "$", ".", ",",
];
const KEYWORDS: [&str; 6] = ["and", "or", "not", "in", "exist", "default"];

/// Splits a text into tokens, each with the position of its first byte.
pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
    last: Token,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            position: 0,
            last: Token::End,
        }
    }

    pub(super) fn next(&mut self) -> Result<(Token, usize), ConstraintError> {
        let rest = &self.text[self.position..];
        let trimmed = rest.trim_start();
        self.position += rest.len() - trimmed.len();
        let begin = self.position;
        let (token, length) = word(trimmed, &self.last).map_err(|kind| ConstraintError {
            kind,
            position: begin,
        })?;
        self.position += length;
        self.last.clone_from(&token);
        Ok((token, begin))
    }
}

/// The token at the start of a text after another one, and its length in bytes.
fn word(text: &str, last: &Token) -> Result<(Token, usize), ConstraintErrorKind> {
    let Some(first) = text.chars().next() else {
        return Ok((Token::End, 0));
    };
    match first {
        '\'' => literal(text),
        '\\' => {
            let length = name_length(&text[1..]);
            match length {
                0 => Err(ConstraintErrorKind::Character),
                _ => Ok((Token::Name(text[1..=length].into()), length + 1)),
            }
        }
        // `$.1.2` are two positions.
        '0'..='9' if *last == Token::Symbol(".") => number(&text[..digits(text)]),
        '0'..='9' => number(text),
        '.' if begins_operand(last) => number(text),
        _ if is_name_start(first) => {
            let length = name_length(text);
            Ok((named(&text[..length]), length))
        }
        _ => {
            let symbol = SYMBOLS.iter().find(|it| text.starts_with(**it));
            let symbol = symbol.ok_or(ConstraintErrorKind::Character)?;
            Ok((Token::Symbol(symbol), symbol.len()))
        }
    }
}

/// Whether an operand may follow: `.5` is a number then, and not a step.
fn begins_operand(last: &Token) -> bool {
    match last {
        Token::End | Token::Keyword(_) => true,
        Token::Symbol(symbol) => !matches!(*symbol, "$" | ")" | "]" | "."),
        _ => false,
    }
}

fn named(word: &str) -> Token {
    if let Some(keyword) = KEYWORDS.iter().find(|it| **it == word) {
        return Token::Keyword(keyword);
    }
    match word {
        "TRUE" | "true" => Token::Bool(true),
        "FALSE" | "false" => Token::Bool(false),
        _ => Token::Name(word.into()),
    }
}

fn is_name_start(it: char) -> bool {
    it.is_alphabetic() || it == '_'
}

fn name_length(text: &str) -> usize {
    let end = text.find(|it: char| !(it.is_alphanumeric() || it == '_'));
    if text.starts_with(is_name_start) {
        end.unwrap_or(text.len())
    } else {
        0
    }
}

/// A text in apostrophes, in which `\'` and `\\` are escapes.
fn literal(text: &str) -> Result<(Token, usize), ConstraintErrorKind> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\'' => return Ok((Token::Text(value.into()), at + 1)),
            '\\' => match characters.next() {
                Some((_, escaped @ ('\'' | '\\'))) => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
                None => break,
            },
            _ => value.push(character),
        }
    }
    Err(ConstraintErrorKind::Text)
}

fn digits(text: &str) -> usize {
    let end = text.find(|it: char| !it.is_ascii_digit());
    end.unwrap_or(text.len())
}

/// A number without sign. A point makes it a double only if a digit follows: `$.s.3.x` has none.
fn number(text: &str) -> Result<(Token, usize), ConstraintErrorKind> {
    let whole = digits(text);
    let mut length = whole;
    if text[length..].starts_with('.') {
        let fraction = digits(&text[length + 1..]);
        if fraction > 0 {
            length += 1 + fraction;
        }
    }
    let exponent = &text[length..];
    if exponent.starts_with(['e', 'E']) {
        let sign = usize::from(exponent[1..].starts_with(['+', '-']));
        let power = digits(&exponent[1 + sign..]);
        if power > 0 {
            length += 1 + sign + power;
        }
    }
    let digits = &text[..length];
    let token = if length == whole {
        digits
            .parse()
            .ok()
            .filter(|it| *it <= i128::from(u64::MAX))
            .map(Token::Int)
    } else {
        digits
            .parse()
            .ok()
            .filter(|it: &f64| it.is_finite())
            .map(Token::Double)
    };
    Ok((token.ok_or(ConstraintErrorKind::Number)?, length))
}
