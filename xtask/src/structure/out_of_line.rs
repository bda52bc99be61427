// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions with `#[inline(never)]`, each with the reason in a comment directly above the attribute.

use proc_macro2::{TokenStream, TokenTree};

/// The functions of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OutOfLine {
    pub(crate) functions: usize,
    /// Lines of the attributes without a comment above.
    pub(crate) unexplained: Vec<usize>,
}

/// The functions of a source that are never inlined. Documentation does not count as a comment: it
/// describes the function.
pub(super) fn out_of_line(tokens: TokenStream, text: &str) -> OutOfLine {
    let mut lines = Vec::new();
    collect(tokens, &mut lines);
    let text: Vec<_> = text.lines().map(str::trim).collect();
    let explained = |line: usize| line > 1 && text.get(line - 2).is_some_and(|it| is_comment(it));
    OutOfLine {
        functions: lines.len(),
        unexplained: lines.into_iter().filter(|&line| !explained(line)).collect(),
    }
}

/// Adds the lines of the attributes.
fn collect(tokens: TokenStream, lines: &mut Vec<usize>) {
    let mut hash = None;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                hash = Some(punct.span().start().line);
            }
            TokenTree::Group(group) => match hash.take() {
                Some(line) if keeps_out_of_line(group.stream()) => lines.push(line),
                _ => collect(group.stream(), lines),
            },
            _ => hash = None,
        }
    }
}

/// Whether an attribute has `inline(never)`, also within `cfg_attr`.
fn keeps_out_of_line(attribute: TokenStream) -> bool {
    let tokens: Vec<_> = attribute.into_iter().collect();
    let is_never = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(inline), TokenTree::Group(group)] => {
            inline == "inline" && group.stream().to_string() == "never"
        }
        _ => false,
    };
    tokens.windows(2).any(is_never)
        || tokens
            .iter()
            .any(|it| matches!(it, TokenTree::Group(group) if keeps_out_of_line(group.stream())))
}

fn is_comment(line: &str) -> bool {
    line.strip_prefix("//")
        .is_some_and(|text| !text.starts_with(['/', '!']) && !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_directly_above_is_a_reason_and_documentation_is_none() {
        let text = "
            // Out of the loop of the reactor.
            #[inline(never)]
            fn explained() {}
            /// Closes it.
            #[inline(never)]
            fn documented() {}
            impl S {
                // Too far above.
                #[cold]
                #[cfg_attr(not(test), inline(never))]
                fn separated() {}
            }
            //
            #[inline(never)]
            fn empty() {}
            // #[inline(never)]
            #[inline]
            fn inlined() -> &'static str { \"#[inline(never)]\" }
        ";
        let expected = OutOfLine {
            functions: 4,
            unexplained: vec![6, 11, 15],
        };
        assert_eq!(out_of_line(text.parse().unwrap(), text), expected);
    }
}
