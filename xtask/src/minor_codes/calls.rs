// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of a source file, and its tuples.

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};

/// A call, or a tuple, which has an empty name.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Vec<Vec<TokenTree>>,
    /// The enclosing function or named closure.
    pub(super) within: String,
}

/// The calls outside test modules.
///
/// # Errors
/// The text is not Rust.
pub(super) fn of(text: &str) -> Result<Vec<Call>, LexError> {
    let mut calls = Vec::new();
    collect(text.parse()?, "", &mut calls);
    Ok(calls)
}

fn collect(tokens: TokenStream, within: &str, calls: &mut Vec<Call>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut scope = within.to_owned();
    let mut is_test = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                is_test |= is_test_attribute(group);
                if !is_test {
                    calls.extend(call(&tokens[..at], group, &scope));
                    collect(group.stream(), &scope, calls);
                }
                if group.delimiter() == Delimiter::Brace {
                    (scope, is_test) = (within.to_owned(), false);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                (scope, is_test) = (within.to_owned(), false);
            }
            _ => scope = named(&tokens[at..]).unwrap_or(scope),
        }
    }
}

fn is_test_attribute(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket && group.stream().to_string() == "cfg (test)"
}

/// The name of a function or closure that begins here.
fn named(tokens: &[TokenTree]) -> Option<String> {
    let words: Vec<String> = tokens.iter().take(4).map(ToString::to_string).collect();
    match words.first()?.as_str() {
        "fn" => words.get(1).cloned(),
        "let" if words.get(2)? == "=" && matches!(&**words.get(3)?, "|" | "move") => {
            words.get(1).cloned()
        }
        _ => None,
    }
}

/// The call or tuple with these parentheses, behind these tokens; none for the parameters of a
/// function.
fn call(before: &[TokenTree], group: &Group, within: &str) -> Option<Call> {
    let mut before = before.iter().rev().map(ToString::to_string);
    let name = before.next().unwrap_or_default();
    let is_definition = before.next().is_some_and(|it| it == "fn");
    if group.delimiter() != Delimiter::Parenthesis || is_definition {
        return None;
    }
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    Some(Call {
        name: if is_name { name } else { String::new() },
        arguments: arguments(group),
        within: within.to_owned(),
    })
}

fn arguments(group: &Group) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let is_comma = |it: &TokenTree| matches!(it, TokenTree::Punct(it) if it.as_char() == ',');
    tokens.split(is_comma).map(<[_]>::to_vec).collect()
}
