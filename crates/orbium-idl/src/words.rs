// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions to short texts and sorted lists.
//!
//! The standard library's answers are compiled again for every closure, without optimisation, in
//! every build that has IDL; these are compiled once.

/// Whether all letters are good.
pub(crate) fn all(text: &str, good: &dyn Fn(char) -> bool) -> bool {
    for letter in text.chars() {
        if !good(letter) {
            return false;
        }
    }
    true
}

/// Whether two words differ in case only, if at all.
pub(crate) fn same_but_case(one: &str, other: &str) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let other = other.as_bytes();
    for (i, octet) in one.bytes().enumerate() {
        if !octet.eq_ignore_ascii_case(&other[i]) {
            return false;
        }
    }
    true
}

/// A noun with `a` or `an` before it.
pub(crate) fn with_article(noun: &str) -> String {
    let article = match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        // A union, as it is spoken.
        true if !noun.starts_with("uni") => "an",
        _ => "a",
    };
    format!("{article} {noun}")
}

/// Parts with something between them.
pub(crate) fn joined(parts: &[String], between: &str) -> String {
    let mut text = String::new();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            text.push_str(between);
        }
        text.push_str(part);
    }
    text
}

/// How many places of a sorted list come before what is wanted.
pub(crate) fn places(count: usize, comes_before: &dyn Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if comes_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_and_joined() {
        assert!(same_but_case("Object", "oBJECT") && !same_but_case("a", "b"));
        assert!(!same_but_case("a", "ab"));
        assert_eq!(with_article("operation"), "an operation");
        assert_eq!(with_article("union"), "a union");
        assert!(all("abc", &char::is_alphabetic) && !all("a1", &char::is_alphabetic));
        assert_eq!(joined(&["a".to_owned(), "b".to_owned()], "::"), "a::b");
        assert_eq!(joined(&[], "::"), "");
    }

    #[test]
    fn places_are_counted() {
        let sorted = [1, 3, 3, 5];
        for (wanted, count) in [(0, 0), (3, 1), (4, 3), (6, 4)] {
            assert_eq!(places(sorted.len(), &|i| sorted[i] < wanted), count);
        }
    }
}
