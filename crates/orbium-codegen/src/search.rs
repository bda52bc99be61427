// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searching short texts.
//!
//! The search of the standard library prepares for long ones, which is much to
//! compile in every build that has IDL.

/// Where a text comes first in another.
pub(crate) fn find(text: &str, wanted: &str) -> Option<usize> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let mut at = 0;
    while at + wanted.len() <= text.len() {
        if text[at] == wanted[0] && text[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// What stands before and behind a text where it comes first.
pub(crate) fn cut<'t>(text: &'t str, at: &str) -> Option<(&'t str, &'t str)> {
    let place = find(text, at)?;
    Some((&text[..place], &text[place + at.len()..]))
}

/// What stands before and behind a text where it comes last.
pub(crate) fn cut_last<'t>(text: &'t str, at: &str) -> Option<(&'t str, &'t str)> {
    let (mut before, mut behind) = cut(text, at)?;
    while let Some((_, rest)) = cut(behind, at) {
        before = &text[..text.len() - rest.len() - at.len()];
        behind = rest;
    }
    Some((before, behind))
}

/// Whether code names something in `orb`: comments, text, and names that only end
/// like it do not count.
pub(crate) fn names_runtime(code: &str) -> bool {
    let (mut text, mut escaped, mut before) = (false, false, b' ');
    for line in code.lines() {
        for (at, octet) in line.bytes().enumerate() {
            match octet {
                _ if escaped => escaped = false,
                b'\\' if text => escaped = true,
                b'"' => text = !text,
                _ if text => {}
                b'/' if before == b'/' => break,
                b'o' if line.as_bytes()[at..].starts_with(b"orb::") => {
                    let part = before.is_ascii_alphanumeric() || matches!(before, b'_' | b':');
                    if !part {
                        return true;
                    }
                }
                _ => {}
            }
            before = octet;
        }
        before = b' ';
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_into_the_runtime_count() {
        assert!(names_runtime("pub s: Vec<orb::Any>,"));
        assert!(names_runtime("f(\"a \\\" b\", &orb::X)"));
        for other in [
            "/// IDL module `orb::M`.",
            "pub const A: i32 = 1; // orb::A",
            "pub const A: &str = \"orb::A\";",
            "pub b: super::borb::B,",
            "pub b: ::my::orb::B,",
        ] {
            assert!(!names_runtime(other), "{other}");
        }
    }

    #[test]
    fn texts_are_cut_where_they_should() {
        assert_eq!(cut("a: b: c", ": "), Some(("a", "b: c")));
        assert_eq!(cut_last("a: b: c", ": "), Some(("a: b", "c")));
        assert_eq!(cut("äöü", "ö"), Some(("ä", "ü")));
        assert_eq!(cut("ab", "abc"), None);
        assert_eq!(find("aab", "ab"), Some(1));
        assert_eq!(find("", "a"), None);
    }
}
