// SPDX-License-Identifier: MIT OR Apache-2.0
//! Articles in diagnostics.

/// A noun with `a` or `an` before it.
pub(crate) fn with_article(noun: &str) -> String {
    let article = match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        // A union, as it is spoken.
        true if !noun.starts_with("uni") => "an",
        _ => "a",
    };
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
