// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL names in Rust case.

use std::collections::HashSet;

use orbium_idl_model::{Enum, Member};

/// The names in use in a scope.
pub(crate) type NameSet = HashSet<String>;

/// The words of a name: split at underscores and changes of case. `getXMLName_2` is `get`, `XML`,
/// `Name`, `2`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (i, letter) in letters.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| letters[i]);
        let after = letters.get(i + 1);
        let starts = match before {
            Some(before) if letter.is_ascii_uppercase() => {
                !before.is_ascii_uppercase() || after.is_some_and(char::is_ascii_lowercase)
            }
            _ => false,
        };
        let last = words.len() - 1;
        if (*letter == '_' || starts) && !words[last].is_empty() {
            words.push(String::new());
        }
        if *letter != '_' {
            let last = words.len() - 1;
            words[last].push(*letter);
        }
    }
    if words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    words
}

/// `snake_case`, for functions, members and modules.
pub(crate) fn snake(name: &str) -> String {
    words(name)
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect::<Vec<_>>()
        .join("_")
}

/// `SCREAMING_CASE`, for constants and statics.
pub(crate) fn screaming(name: &str) -> String {
    snake(name).to_ascii_uppercase()
}

/// `CamelCase`, for types and variants.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::new();
    for word in &words(name) {
        // Two adjacent numbers would become another number.
        let digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if digits(out.chars().last()) && digits(word.chars().next()) {
            out.push('_');
        }
        let mut starts = true;
        for letter in word.chars() {
            out.push(if starts {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            });
            starts = false;
        }
    }
    out
}

/// Reserved words of Rust, of any edition.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// A snake-case name as an identifier: raw if it is a keyword.
pub(crate) fn identifier(name: &str) -> String {
    match name {
        "self" | "super" | "crate" => format!("{name}_"),
        _ if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

/// The name of a function, parameter or member for that IDL name.
pub(crate) fn value(name: &str) -> String {
    identifier(&snake(name))
}

/// The stem of longer names: an identifier without `r#`, and without the underscores that made it
/// unique, since two in a row violate Rust case.
pub(crate) fn stem(identifier: &str) -> &str {
    let bare = identifier.strip_prefix("r#").unwrap_or(identifier);
    bare.trim_end_matches('_')
}

/// The name of a type or variant for that IDL name.
pub(crate) fn ty(name: &str) -> String {
    match camel(name) {
        name if name == "Self" => "Self_".to_owned(),
        name => name,
    }
}

/// The name, or the name with as many underscores as make it unique; it is added to those in use.
pub(crate) fn fresh(name: &str, taken: &mut NameSet) -> String {
    let mut name = name.to_owned();
    while taken.contains(&name) {
        // `r#type_` would be a needless raw identifier.
        name = format!("{}_", name.strip_prefix("r#").unwrap_or(&name));
    }
    taken.insert(name.clone());
    name
}

/// Field names of members, each unique.
pub(crate) fn fields(members: &[Member]) -> Vec<String> {
    let mut taken = NameSet::new();
    members
        .iter()
        .map(|member| fresh(&value(&member.name), &mut taken))
        .collect::<Vec<_>>()
}

/// Variant names of enumerators, each unique.
pub(crate) fn variants(enumeration: &Enum) -> Vec<String> {
    let mut taken = NameSet::new();
    enumeration
        .enumerators
        .iter()
        .map(|enumerator| fresh(&ty(&enumerator.name), &mut taken))
        .collect::<Vec<_>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_rust_case() {
        for (name, snakes, camels) in [
            ("cube_octet", "cube_octet", "CubeOctet"),
            ("makePeers", "make_peers", "MakePeers"),
            ("XMLParser", "xml_parser", "XmlParser"),
            ("A_SHORT", "a_short", "AShort"),
            ("IOR", "ior", "Ior"),
            ("red", "red", "Red"),
            ("Type1_2x", "type1_2x", "Type1_2x"),
            ("V2Foo", "v2_foo", "V2Foo"),
            ("a__b_", "a_b", "AB"),
        ] {
            assert_eq!(snake(name), snakes);
            assert_eq!(camel(name), camels);
        }
        assert_eq!(screaming("aShort"), "A_SHORT");
    }

    #[test]
    fn keywords_become_identifiers() {
        assert_eq!(value("type"), "r#type");
        assert_eq!(value("Self"), "self_");
        assert_eq!(value("union"), "union");
        assert_eq!(ty("self"), "Self_");
    }

    #[test]
    fn clashing_names_get_underscores() {
        let mut taken = NameSet::new();
        assert!(taken.insert("r#type".into()) && taken.insert("a".into()));
        assert_eq!(fresh("r#type", &mut taken), "type_");
        assert_eq!(fresh("a", &mut taken), "a_");
        assert_eq!(fresh("a", &mut taken), "a__");
    }
}
