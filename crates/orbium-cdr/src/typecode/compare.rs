// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equality and equivalence of TypeCodes.

use super::TypeRef;
use super::kind::TCKind;
use super::known::Known;

/// Maximum steps of a comparison, after which two types count as different: hand-written types need
/// far fewer, and those of a peer cannot exhaust the processor.
const MAX_STEPS: usize = 1 << 20;

/// Octets of ids and names compared in one step.
const OCTETS_PER_STEP: usize = 64;

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

/// Pairs under comparison are assumed to be the same: if they are not, the difference is found in
/// their parts. Thus recursion ends, every pair is compared once, and no depth of nesting can
/// exhaust the stack.
fn same(a: TypeRef<'_>, b: TypeRef<'_>, rule: Rule) -> bool {
    if let Some(same) = decide(a, b, rule) {
        return same;
    }
    let mut walk = Comparison {
        rule,
        seen: Known::default(),
        work: vec![(a, b)],
        steps: 0,
    };
    while let Some((a, b)) = walk.work.pop() {
        if !walk.pair(rule.look(a), rule.look(b)) {
            return false;
        }
    }
    true
}

/// A comparison part by part.
struct Comparison<'a, 'b> {
    rule: Rule,
    /// The pairs that are or were in `work`.
    seen: Known,
    work: Vec<(TypeRef<'a>, TypeRef<'b>)>,
    steps: usize,
}

impl<'a, 'b> Comparison<'a, 'b> {
    /// Compares two types, without aliases if those are not significant; their parts are compared
    /// later.
    fn pair(&mut self, a: TypeRef<'a>, b: TypeRef<'b>) -> bool {
        if !self.spend(a) || !agree(a, b, self.rule) {
            return false;
        }
        let parts_agree = match (a.content(), b.content()) {
            (Some(a), Some(b)) => self.add(a, b),
            (None, None) => true,
            _ => false,
        };
        parts_agree
            && a.members()
                .zip(b.members())
                .all(|(a, b)| match (a.type_code(), b.type_code()) {
                    (Some(a), Some(b)) => self.add(a, b),
                    _ => true,
                })
    }

    /// Whether two parts may be the same. A pair is compared once, however often it occurs.
    fn add(&mut self, a: TypeRef<'a>, b: TypeRef<'b>) -> bool {
        if self.rule == Rule::Equivalent {
            self.steps += usize::from(a.aliases()) + usize::from(b.aliases());
        }
        let (a, b) = (self.rule.look(a), self.rule.look(b));
        if !a.kind().is_simple() && !self.spend_octets(a.id().len()) {
            return false;
        }
        match decide(a, b, self.rule) {
            Some(same) => same,
            None => {
                if self.seen.note_pair(a.identity(), b.identity()) {
                    self.work.push((a, b));
                }
                true
            }
        }
    }

    /// Spends the steps for a type and the names of its members.
    fn spend(&mut self, code: TypeRef<'_>) -> bool {
        let names = code.members().map(|member| member.name().len());
        self.steps += code.member_count();
        self.spend_octets(code.id().len() + code.name().len() + names.sum::<usize>())
    }

    fn spend_octets(&mut self, octets: usize) -> bool {
        self.steps += 1 + octets / OCTETS_PER_STEP;
        self.steps <= MAX_STEPS
    }
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

/// The result of a comparison that needs no walk.
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

/// Whether two types of one kind agree in everything but their parts.
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
