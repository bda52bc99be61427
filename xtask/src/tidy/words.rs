// SPDX-License-Identifier: MIT OR Apache-2.0
//! Search for the words of the list in comments and names, but not in literals.

use std::convert::Infallible;

use proc_macro2::{TokenStream, TokenTree};

/// The tidy list: words that personify a thread, a caller or a buffer, or for which the field has a
/// term.
const LIST: [&str; 22] = [
    "anybody",
    "apart",
    "bell",
    "beside",
    "heed",
    "heeded",
    "heeds",
    "meanwhile",
    "minded",
    "minds",
    "nobody",
    "roll",
    "seat",
    "seats",
    "shelf",
    "tells",
    "told",
    "who",
    "whoever",
    "whom",
    "whose",
    "wishes",
];

/// The words of the list with their lines, in the order of the text.
///
/// # Errors
/// The text is not made of Rust tokens.
pub(super) fn listed(text: &str) -> Result<Vec<(usize, String)>, proc_macro2::LexError> {
    let mut bytes = text.as_bytes().to_vec();
    blank_literals(text.parse()?, &mut bytes);
    Ok(in_lines(String::from_utf8_lossy(&bytes).lines()))
}

/// The words of the list on a page, with their lines: in its text, but neither in blocks of code
/// nor between backticks.
///
/// # Errors
/// Never: any text is a page.
pub(super) fn in_page(text: &str) -> Result<Vec<(usize, String)>, Infallible> {
    let mut is_code = false;
    let lines = text.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        let text = line.split('`').step_by(2);
        let text = text.filter(|_| !is_code && !is_fence);
        text.collect::<Vec<_>>().join(" ")
    });
    let lines: Vec<_> = lines.collect();
    Ok(in_lines(lines.iter().map(String::as_str)))
}

fn in_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<(usize, String)> {
    let words = (1..).zip(lines).flat_map(|(number, line)| {
        let words = words(line).into_iter();
        words.map(move |it| (number, it))
    });
    words
        .filter(|(_, word)| LIST.contains(&word.as_str()))
        .collect()
}

/// Overwrites literals; documentation comments are also literals for the compiler, and remain.
fn blank_literals(tokens: TokenStream, text: &mut [u8]) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => blank_literals(group.stream(), text),
            TokenTree::Literal(literal) => {
                let place = &mut text[literal.span().byte_range()];
                if !place.starts_with(b"/") {
                    let ends = |it: &u8| *it == b'\n';
                    place
                        .iter_mut()
                        .filter(|it| !ends(it))
                        .for_each(|it| *it = b' ');
                }
            }
            _ => {}
        }
    }
}

/// The words of a line in lower case: `TwoWords`, `twoWords` and `two_words` are two.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        if !letter.is_alphabetic() || (before.is_lowercase() && letter.is_uppercase()) {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            let last = words.len() - 1;
            words[last].extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|it| !it.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        listed(text)
            .unwrap()
            .into_iter()
            .map(|(_, word)| word)
            .collect()
    }

    #[test]
    fn comments_of_every_kind_are_searched() {
        let text = "//! Who waits.\n/// Nobody.\nfn f() { /* told */ g(); } // Meanwhile\n";
        assert_eq!(found(text), ["who", "nobody", "told", "meanwhile"]);
    }

    #[test]
    fn names_are_searched_word_by_word() {
        let text = "struct WhoWaits; fn nobody_waits(whom: u8) {} const TOLD: u8 = 0;";
        assert_eq!(found(text), ["who", "nobody", "whom", "told"]);
        assert!(found("struct Whole; fn wholly(untold: u8) {}").is_empty());
    }

    #[test]
    fn literals_are_not_searched() {
        let text = "const A: &str = \"who\"; const B: &[u8] = br#\"told\"#; const C: char = 'w';";
        assert!(found(text).is_empty());
    }

    #[test]
    fn pages_are_searched_but_for_their_code() {
        let page = "Who `told` whom?\n```text\nnobody\n```\n`a` meanwhile\n";
        let found = in_page(page).unwrap();
        let found: Vec<_> = found.iter().map(|(line, word)| (*line, &**word)).collect();
        assert_eq!(found, [(1, "who"), (1, "whom"), (5, "meanwhile")]);
    }

    #[test]
    fn a_word_is_found_at_its_line() {
        let text = "const A: &str = \"a\nb\";\n\n// who\n";
        assert_eq!(listed(text).unwrap(), [(4, "who".to_owned())]);
    }
}
