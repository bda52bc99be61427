// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stage between preprocessor and parser: components and template modules are replaced by their
//! equivalents, and literals of fixed constants get their suffix.

use std::rc::Rc;

use crate::diagnostic::Reporter;
use crate::options::Options;
use crate::preprocessor::TokenStream;
use crate::syntax::token::{Token, TokenKind};

/// Replaces the constructs that the parser does not read.
pub(crate) fn expand(options: &Options, stream: &mut TokenStream, report: &mut Reporter) {
    complete_fixed_literals(&mut stream.tokens, report);
    if options.pre_corba3 {
        return;
    }
    let words: Vec<&str> = stream.tokens.iter().map(|it| &*it.text).collect();
    let Some(expanded) = orbium_ccm::expand(&words, options.limits.tokens) else {
        return;
    };
    let given = &stream.tokens;
    for note in &expanded.notes {
        report.warning("not-mapped", given[note.at].span, note.message.clone());
    }
    let tokens = expanded.tokens.iter();
    let tokens = tokens
        .map(|made| token(&given[made.at], &made.text))
        .collect();
    for (at, _) in &mut stream.events {
        *at = expanded.place(*at);
    }
    stream.tokens = tokens;
}

/// A token in place of a given one, or that one unchanged.
fn token(given: &Token, text: &str) -> Token {
    if *given.text == *text {
        return given.clone();
    }
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    Token {
        kind: if is_word {
            TokenKind::Identifier
        } else {
            TokenKind::Punctuation
        },
        text: Rc::from(text),
        starts_line: false,
        spaced: true,
        ..given.clone()
    }
}

/// `const fixed X = 1.5;` is read as `1.5d`, as other compilers do.
fn complete_fixed_literals(tokens: &mut [Token], report: &mut Reporter) {
    let mut is_fixed = false;
    for at in 1..tokens.len() {
        if tokens[at].is("fixed") && tokens[at - 1].is("const") {
            is_fixed = true;
        } else if tokens[at].is(";") || tokens[at].is("<") {
            is_fixed = false;
        }
        let token = &mut tokens[at];
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
        if is_fixed && token.kind == TokenKind::Number && is_plain(&token.text) {
            let literal = format!("{}d", token.text);
            let message = format!(
                "the fixed point literal `{}` is read as `{literal}`",
                token.text
            );
            report.warning("fixed-literal", token.span, message);
            token.text = Rc::from(literal);
        }
    }
}
