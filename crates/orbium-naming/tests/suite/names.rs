// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names as values and as text.

use orbium_naming::{Name, NameComponent, NameSyntaxErrorKind as Kind};

fn name(components: &[(&str, &str)]) -> Name {
    let components = components.iter();
    components
        .map(|(id, kind)| NameComponent::with_kind(*id, *kind))
        .collect::<Vec<_>>()
        .into()
}

/// Conformance: names - names in the form of text
#[test]
fn names_are_parsed_and_printed() {
    for (components, text) in [
        (&[("a", "")][..], "a"),
        (&[("a", "b"), ("c", "")], "a.b/c"),
        (&[("a.b", "c/d")], r"a\.b.c\/d"),
        (&[("", "k")], ".k"),
        (&[("", "")], "."),
        (&[("a", ""), ("", ""), ("b", "")], "a/./b"),
        (&[(r"\", r"\\")], r"\\.\\\\"),
        (&[("/", ".")], r"\/.\."),
        (&[("a b", "ž€"), (" ", "")], "a b.ž€/ "),
    ] {
        let value = name(components);
        assert_eq!(value.to_string(), text);
        assert_eq!(text.parse(), Ok(value), "{text}");
    }
}

#[test]
fn malformed_names_are_refused_with_their_place() {
    for (text, kind, offset) in [
        ("", Kind::EmptyComponent, 0),
        ("/", Kind::EmptyComponent, 0),
        ("/a", Kind::EmptyComponent, 0),
        ("a/", Kind::EmptyComponent, 2),
        ("a//b", Kind::EmptyComponent, 2),
        ("a.", Kind::EmptyKind, 1),
        ("x/a./b", Kind::EmptyKind, 3),
        ("a.b.c", Kind::SecondDot, 3),
        ("..", Kind::SecondDot, 1),
        (r"a\", Kind::BadEscape, 1),
        (r"a\b", Kind::BadEscape, 1),
        (r"ž\ž", Kind::BadEscape, 2),
    ] {
        let error = text.parse::<Name>().expect_err(text);
        assert_eq!((error.kind, error.offset), (kind, offset), "{text}");
        assert!(error.to_string().starts_with("not a name: "), "{error}");
    }
}

/// Conformance: names - `to_url`
#[test]
fn names_become_urls() {
    let value = name(&[("a.b", "k"), ("c d%#", "")]);
    for (address, url) in [
        (":host", r"corbaname::host#a%5c.b.k/c%20d%25%23"),
        (
            "iiop:1.2@[::1]:99,:b/Key%20",
            "corbaname:iiop:1.2@[::1]:99,:b/Key%20#a%5c.b.k/c%20d%25%23",
        ),
        ("rir:", "corbaname:rir:#a%5c.b.k/c%20d%25%23"),
    ] {
        assert_eq!(value.to_url(address).as_deref(), Ok(url));
        assert_eq!(
            Name::default().to_url(address).as_deref(),
            Ok(url.split('#').next().unwrap())
        );
    }
    for address in ["", "host", ":host:x", "rir:x,:a"] {
        assert!(value.to_url(address).is_err(), "{address}");
    }
}
