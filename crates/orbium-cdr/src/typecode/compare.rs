// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equality and equivalence of TypeCodes.

use super::TypeRef;
use super::kind::TCKind;
use super::known::Known;

/// Pairs of parts that are compared before two types are taken to differ: no
/// type that people wrote comes near, and a peer's cannot keep us busy.
const MAX_PAIRS: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Equal,
    Equivalent,
}

impl TypeRef<'_> {
    /// See [`TypeCode::equal`](super::TypeCode::equal).
    #[must_use]
    #[inline]
    pub fn equal(self, other: TypeRef<'_>) -> bool {
        same(self, other, Rule::Equal)
    }

    /// See [`TypeCode::equivalent`](super::TypeCode::equivalent).
    #[must_use]
    #[inline]
    pub fn equivalent(self, other: TypeRef<'_>) -> bool {
        same(self, other, Rule::Equivalent)
    }
}

/// Pairs under comparison are taken to be the same: if they are not, the
/// difference is found where they differ. So recursion ends, every pair is
/// looked at once, and no depth of nesting can exhaust the stack.
fn same(a: TypeRef<'_>, b: TypeRef<'_>, rule: Rule) -> bool {
    if let Some(same) = decide(a, b, rule) {
        return same;
    }
    let mut seen = Known::default();
    let mut work = vec![(a, b)];
    while let Some((a, b)) = work.pop() {
        match decide(a, b, rule) {
            Some(true) => continue,
            Some(false) => return false,
            None => {}
        }
        let (a, b) = (rule.look(a), rule.look(b));
        if !agree(a, b, rule) || seen.len() > MAX_PAIRS {
            return false;
        }
        if !seen.note_pair(a.identity(), b.identity()) {
            continue;
        }
        match (a.content(), b.content()) {
            (Some(a), Some(b)) => work.push((a, b)),
            (None, None) => {}
            _ => return false,
        }
        for (a, b) in a.members().zip(b.members()) {
            if let (Some(a), Some(b)) = (a.type_code(), b.type_code()) {
                work.push((a, b));
            }
        }
    }
    true
}

impl Rule {
    #[inline]
    fn look(self, code: TypeRef<'_>) -> TypeRef<'_> {
        match self {
            Self::Equal => code,
            Self::Equivalent => code.unaliased(),
        }
    }
}

/// The comparison where it needs no walk.
fn decide(a: TypeRef<'_>, b: TypeRef<'_>, rule: Rule) -> Option<bool> {
    let (a, b) = (rule.look(a), rule.look(b));
    if a.identity() == b.identity() {
        return Some(true);
    }
    if a.kind() != b.kind() {
        return Some(false);
    }
    if a.kind().is_simple() {
        return Some(true);
    }
    if rule == Rule::Equivalent && !a.id().is_empty() && !b.id().is_empty() {
        return Some(a.id() == b.id());
    }
    None
}

/// Whether two types of one kind agree as far as their parts are not asked.
fn agree(a: TypeRef<'_>, b: TypeRef<'_>, rule: Rule) -> bool {
    if rule == Rule::Equal && (a.id() != b.id() || a.name() != b.name()) {
        return false;
    }
    a.member_count() == b.member_count()
        && a.length() == b.length()
        && a.digits() == b.digits()
        && a.scale() == b.scale()
        && a.value_modifier() == b.value_modifier()
        && a.default_index() == b.default_index()
        && members_agree(a, b, rule)
}

fn members_agree(a: TypeRef<'_>, b: TypeRef<'_>, rule: Rule) -> bool {
    let labelled = matches!(a.kind(), TCKind::Union | TCKind::Value | TCKind::Event);
    for (a, b) in a.members().zip(b.members()) {
        if rule == Rule::Equal && a.name() != b.name() {
            return false;
        }
        if labelled && (a.label() != b.label() || a.is_public() != b.is_public()) {
            return false;
        }
    }
    true
}
