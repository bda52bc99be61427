// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sleeps of tests: a test that waits for an event should wait for its notification.

use proc_macro2::{LexError, TokenStream, TokenTree};

/// The calls of `thread::sleep`, with their lines.
///
/// # Errors
/// The text is not made of Rust tokens.
pub(super) fn listed(text: &str) -> Result<Vec<(usize, String)>, LexError> {
    let mut found = Vec::new();
    collect(text.parse()?, &mut found);
    Ok(found)
}

fn collect(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut path = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                path.push(ident.to_string());
                if path.ends_with(&["thread".to_owned(), "sleep".to_owned()]) {
                    found.push((ident.span().start().line, path.join("::")));
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            TokenTree::Group(group) => {
                path.clear();
                collect(group.stream(), found);
            }
            _ => path.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn sleeps_are_found_by_their_path() {
        let text = "use std::thread::sleep as rest;\n\
                    fn wait() {\n    std::thread::sleep(SHORT);\n    sleep(&ring);\n}\n\
                    // thread::sleep(LONG)\n";
        let lines: Vec<usize> = listed(text).unwrap().iter().map(|it| it.0).collect();
        assert_eq!(lines, [1, 3]);
    }
}
