// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of functions and constants that hide their subject.

use proc_macro2::{LexError, TokenStream, TokenTree};

/// Words that must not begin a function's name, which is a statement about its subject.
const OPENINGS: [&str; 7] = [
    "nobody", "those", "what", "whatever", "who", "whoever", "whose",
];

/// Names of constants without their bound; `MAX_ENTRIES` has it.
const BARE: [&str; 30] = [
    "AGAIN", "AHEAD", "AROUND", "BEFORE", "CHORES", "COARSE", "DEEPEST", "FAR", "FEW", "FREELY",
    "HIGHEST", "HOW", "KEPT", "LARGEST", "LATE", "LEAST", "LITTLE", "LONGEST", "LOOKS", "LULLS",
    "MOMENT", "MOST", "PAUSE", "PAUSES", "SHORTEST", "SMALLEST", "SOON", "TRIES", "WHERE", "WORN",
];

/// Such names with their lines, in the order of the text.
///
/// # Errors
/// The text is not made of Rust tokens.
pub(super) fn listed(text: &str) -> Result<Vec<(usize, String)>, LexError> {
    let mut found = Vec::new();
    collect(text.parse()?, &mut found);
    found.sort();
    Ok(found)
}

fn collect(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut before = String::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                before.clear();
                collect(group.stream(), found);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let hides = match before.as_str() {
                    "fn" => OPENINGS.contains(&name.split('_').next().unwrap_or_default()),
                    "const" | "static" => BARE.contains(&name.as_str()),
                    _ => false,
                };
                if hides {
                    found.push((ident.span().start().line, name.clone()));
                }
                if name != "mut" {
                    before = name;
                }
            }
            _ => before.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let listed = listed(text).unwrap().into_iter();
        listed.map(|(_, name)| name).collect()
    }

    #[test]
    fn functions_that_begin_with_a_pronoun_are_found_in_macros_as_well() {
        let text =
            "fn what_is_idle() {} mod a { m! { fn those_that_remain() {} } } fn whatsoever() {}";
        assert_eq!(found(text), ["those_that_remain", "what_is_idle"]);
    }

    #[test]
    fn constants_of_one_word_are_found_and_their_uses_are_not() {
        let text = "const MOST: u8 = 1;\nstatic mut KEPT: u8 = MOST;\nconst MAX_MOST: u8 = MOST;";
        assert_eq!(found(text), ["MOST", "KEPT"]);
    }
}
