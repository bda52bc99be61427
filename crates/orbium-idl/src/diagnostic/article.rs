// SPDX-License-Identifier: MIT OR Apache-2.0
//! Articles in diagnostics.

/// A noun with `a` or `an` before it.
pub(crate) fn with_article(noun: &str) -> String {
    // By pronunciation: `a union`.
    let is_vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !noun.starts_with("uni");
    let article = if is_vowel { "an" } else { "a" };
    format!("{article} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_follows_the_sound() {
        assert_eq!(with_article("operation"), "an operation");
        assert_eq!(with_article("struct"), "a struct");
        assert_eq!(with_article("union"), "a union");
    }
}
