// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detection of valuetypes within types.

use std::collections::HashSet;

use orbium_cdr::{MemberRef, TCKind, TypeRef};

/// Whether data of a type may contain values of valuetypes or abstract interfaces, except within
/// anys.
pub(crate) fn holds_values(code: TypeRef<'_>) -> bool {
    any_part(code, is_value)
}

/// As [`holds_values`]; a type that contains an any also counts, as the any may contain a value.
pub(crate) fn may_hold_values(code: TypeRef<'_>) -> bool {
    any_part(code, |kind| is_value(kind) || kind == TCKind::Any)
}

fn is_value(kind: TCKind) -> bool {
    matches!(
        kind,
        TCKind::Value | TCKind::ValueBox | TCKind::Event | TCKind::AbstractInterface
    )
}

/// Whether `is_wanted` accepts the kind of a type or of a part of it.
fn any_part(code: TypeRef<'_>, is_wanted: impl Fn(TCKind) -> bool) -> bool {
    // Parts of a received type may be described once and occur in many places.
    let mut seen = HashSet::new();
    let mut pending = vec![code];
    while let Some(part) = pending.pop() {
        match part.kind() {
            kind if is_wanted(kind) => return true,
            TCKind::Struct | TCKind::Union | TCKind::Except if seen.insert(part.identity()) => {
                pending.extend(part.members().filter_map(MemberRef::type_code));
            }
            TCKind::Sequence | TCKind::Array | TCKind::Alias => pending.extend(part.content_type()),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use orbium_cdr::{Type, TypeCode};

    use super::*;

    #[test]
    fn values_are_found_in_parts_of_types() {
        let boxed = TypeCode::value_box("IDL:B:1.0", "B", Type::LONG.into());
        let deep = TypeCode::sequence(TypeCode::alias("IDL:A:1.0", "A", boxed), 0);
        let code = TypeCode::structure("IDL:S:1.0", "S", [("m", deep)]);
        assert!(holds_values(code.as_ref()) && may_hold_values(code.as_ref()));
        let any = TypeCode::structure("IDL:S:1.0", "S", [("m", Type::ANY.into())]);
        assert!(!holds_values(any.as_ref()) && may_hold_values(any.as_ref()));
    }

    #[test]
    fn a_type_that_contains_itself_is_looked_at_once() {
        let own = TypeCode::sequence(TypeCode::recursive("IDL:S:1.0"), 0);
        let members = [("a", own.clone()), ("b", own), ("c", Type::LONG.into())];
        let code = TypeCode::structure("IDL:S:1.0", "S", members);
        assert!(!may_hold_values(code.as_ref()));
    }
}
