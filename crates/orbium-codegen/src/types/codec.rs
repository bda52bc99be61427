// SPDX-License-Identifier: MIT OR Apache-2.0
//! Codecs of IDL types that share a Rust type with others: bounds, and wide text. The runtime has a
//! codec for each of these forms, named behind `as`.

use orbium_idl_model::Type;

use crate::plan::Plan;

impl Plan<'_> {
    /// The codec of a type, from a module; `None` if its Rust type determines it.
    pub(crate) fn codec(&self, ty: &Type, from: &[String]) -> Option<String> {
        if self.is_plain(ty) {
            return None;
        }
        let bound = |bound: &Option<u32>| bound.map(|bound| number(u64::from(bound)));
        Some(match self.model.resolve_alias(ty) {
            Type::String(Some(most)) => format!("orb::BoundedString<{}>", number(u64::from(*most))),
            Type::WString(most) => match bound(most) {
                Some(most) => format!("orb::WideString<{most}>"),
                None => "orb::WideString".to_owned(),
            },
            Type::Sequence {
                element,
                bound: most,
            } => match (self.codec(element, from), bound(most)) {
                (Some(codec), Some(most)) => format!("orb::SequenceOf<{codec}, {most}>"),
                (Some(codec), None) => format!("orb::SequenceOf<{codec}>"),
                (None, most) => {
                    let element = self.rust(element, from);
                    format!(
                        "orb::BoundedSequence<{element}, {}>",
                        most.unwrap_or_default()
                    )
                }
            },
            Type::Array {
                element,
                dimensions,
            } => {
                let mut inner = self.codec(element, from)?;
                for count in dimensions.iter().rev() {
                    inner = format!("orb::ArrayOf<{inner}, {count}>");
                }
                inner
            }
            _ => return None,
        })
    }

    /// The codec of an `in` parameter: as [`Self::codec`], except that sequences of arrays of fixed
    /// size are read in place.
    pub(crate) fn parameter_codec(&self, ty: &Type, from: &[String]) -> Option<String> {
        if let Type::Sequence { element, bound } = self.model.resolve_alias(ty)
            && bound.is_none()
            && matches!(self.model.resolve_alias(element), Type::Array { .. })
            && self.is_fixed(element)
        {
            let element = self.rust(element, from);
            return Some(format!("orb::SequenceOfArrays<{element}>"));
        }
        self.codec(ty, from)
    }

    /// A Rust type with its codec: `String as orb::WideString`.
    pub(crate) fn marshalled(&self, ty: &Type, from: &[String]) -> String {
        let rust = self.rust(ty, from);
        match self.codec(ty, from) {
            Some(codec) => format!("{rust} as {codec}"),
            None => rust,
        }
    }
}

/// A number with its digits grouped.
pub(crate) fn number(value: u64) -> String {
    grouped(&value.to_string())
}

/// A number with its sign and its digits grouped.
pub(crate) fn integer(value: i128) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&value.unsigned_abs().to_string()))
}

/// Digits in groups of three from the right.
pub(crate) fn grouped(digits: &str) -> String {
    if digits.len() < 6 {
        return digits.to_owned();
    }
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}
