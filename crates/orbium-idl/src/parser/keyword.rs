// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reserved words (CORBA 3.3 Part 1, 7.2.4).

use crate::diagnostic::spelling::within_one_edit;
use crate::options::Options;

const CORBA2: [&str; 48] = [
    "abstract",
    "any",
    "attribute",
    "boolean",
    "case",
    "char",
    "const",
    "context",
    "custom",
    "default",
    "double",
    "enum",
    "exception",
    "factory",
    "FALSE",
    "fixed",
    "float",
    "in",
    "inout",
    "interface",
    "local",
    "long",
    "module",
    "native",
    "Object",
    "octet",
    "oneway",
    "out",
    "private",
    "public",
    "raises",
    "readonly",
    "sequence",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "TRUE",
    "truncatable",
    "typedef",
    "union",
    "unsigned",
    "ValueBase",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

const CORBA3: [&str; 17] = [
    "component",
    "consumes",
    "emits",
    "eventtype",
    "finder",
    "getraises",
    "home",
    "import",
    "manages",
    "multiple",
    "primarykey",
    "provides",
    "publishes",
    "setraises",
    "typeid",
    "typeprefix",
    "uses",
];

const IDL4: [&str; 18] = [
    "alias",
    "bitfield",
    "bitmask",
    "bitset",
    "connector",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "map",
    "mirrorport",
    "port",
    "porttype",
    "typename",
];

/// The keyword that an identifier equals, ignoring case: IDL writes such a name with a leading
/// underscore.
///
/// ```
/// use orbium_idl::{Options, keyword_clash};
///
/// assert_eq!(keyword_clash("Manages", &Options::new()), Some("manages"));
/// assert_eq!(keyword_clash("managers", &Options::new()), None);
/// ```
#[must_use]
pub fn clash(identifier: &str, options: &Options) -> Option<&'static str> {
    let lists: [(&[&str], bool); 3] = [
        (&CORBA2, true),
        (&CORBA3, !options.pre_corba3),
        (&IDL4, options.idl4),
    ];
    for (words, valid) in lists {
        for word in words {
            if valid && word.eq_ignore_ascii_case(identifier) {
                return Some(word);
            }
        }
    }
    None
}

/// Whether a keyword is older than value types. Identifiers that differ from a later keyword only
/// in case (`Factory`, `EventType`, `ValueType`) are errors by the standard, but common in files
/// that are older than the keyword, including those of the OMG's own services.
pub(super) fn is_old(keyword: &str) -> bool {
    const LATER: [&str; 10] = [
        "abstract",
        "custom",
        "factory",
        "local",
        "private",
        "public",
        "supports",
        "truncatable",
        "ValueBase",
        "valuetype",
    ];
    CORBA2.contains(&keyword) && !LATER.contains(&keyword)
}

/// Whether a word can only begin a definition, so that parsing can resume there.
pub(super) fn starts_definition(word: &str) -> bool {
    const STARTERS: [&str; 13] = [
        "module",
        "interface",
        "typedef",
        "struct",
        "union",
        "enum",
        "exception",
        "const",
        "valuetype",
        "native",
        "readonly",
        "attribute",
        "oneway",
    ];
    STARTERS.contains(&word)
}

/// The probably intended word at the beginning of a definition.
pub(super) fn misspelt(word: &str) -> Option<&'static str> {
    const BEGINNINGS: [&str; 14] = [
        "module",
        "interface",
        "typedef",
        "struct",
        "union",
        "enum",
        "exception",
        "const",
        "valuetype",
        "native",
        "abstract",
        "local",
        "custom",
        "import",
    ];
    let word = word.to_ascii_lowercase();
    match &*word {
        "class" | "trait" => return Some("interface"),
        "namespace" | "package" => return Some("module"),
        _ => {}
    }
    let mut beginnings = BEGINNINGS.into_iter();
    beginnings.find(|beginning| within_one_edit(&word, beginning))
}
