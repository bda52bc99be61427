// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of type that are written as objects.

use orbium_cdr::TCKind;

/// The word for a kind of type that is represented by an object.
pub(super) fn word(kind: TCKind) -> Option<&'static str> {
    WORDS
        .iter()
        .find_map(|(word, other)| (*other == kind).then_some(*word))
}

/// Each kind with its word.
pub(super) const WORDS: &[(&str, TCKind)] = &[
    ("struct", TCKind::Struct),
    ("exception", TCKind::Except),
    ("union", TCKind::Union),
    ("enum", TCKind::Enum),
    ("alias", TCKind::Alias),
    ("sequence", TCKind::Sequence),
    ("array", TCKind::Array),
    ("objref", TCKind::ObjRef),
    ("valuetype", TCKind::Value),
    ("eventtype", TCKind::Event),
    ("valuebox", TCKind::ValueBox),
    ("abstract interface", TCKind::AbstractInterface),
];

/// The modifier of a valuetype as a word.
pub(super) const MODIFIERS: &[(&str, i16)] = &[("custom", 1), ("abstract", 2), ("truncatable", 3)];
