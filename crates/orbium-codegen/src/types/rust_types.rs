// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL types as Rust types, and properties of them.

use orbium_idl_model::{DefId, DefSet, DefinitionKind, InterfaceKind, Member, Type, Union};

use crate::plan::Plan;
use crate::types::facts::Fact;

/// Structs larger than this when marshalled are marshalled member by member: their values are too
/// large to be moved.
const FIXED_LIMIT: u64 = 1024;
/// Maximum length of arrays that implement `Default`.
const DEFAULT_ARRAY: u32 = 32;

/// The default case of a union: the first one with a label.
pub(crate) fn first_case(union: &Union) -> usize {
    let labelled = union.cases.iter().position(|case| !case.labels.is_empty());
    labelled.unwrap_or(0)
}

/// The number of elements of an array.
fn product(dimensions: &[u32]) -> u64 {
    let mut product = 1u64;
    for dimension in dimensions {
        product = product.saturating_mul(u64::from(*dimension));
    }
    product
}

/// The types of a struct's or union's members.
fn held(kind: &DefinitionKind) -> Vec<&Type> {
    let mut types = Vec::new();
    match kind {
        DefinitionKind::Struct(s) => {
            for member in &s.members {
                types.push(&member.ty);
            }
        }
        DefinitionKind::Union(u) => {
            for case in &u.cases {
                types.push(&case.member.ty);
            }
        }
        _ => {}
    }
    types
}

impl Plan<'_> {
    /// Computes the facts of all types, those of their parts first: a chain of types may be longer
    /// than the stack is deep.
    pub(crate) fn compute_facts(&self) {
        let mut seen = DefSet::default();
        let mut pending = Vec::new();
        for definition in self.model.definitions() {
            pending.push((definition.id, false));
            while let Some((id, has_parts)) = pending.pop() {
                let ty = Type::Named(id);
                if has_parts {
                    self.is_fixed(&ty);
                    self.is_copy(&ty);
                    self.has_default(&ty);
                    self.owns_memory(&ty);
                } else if self.is_compound(id) && seen.insert(id) {
                    pending.push((id, true));
                    let parts = self.model.parts(id).into_iter();
                    pending.extend(parts.map(|part| (part, false)));
                }
            }
        }
    }

    /// Whether facts of a type depend on those of its parts.
    fn is_compound(&self, id: DefId) -> bool {
        let kind = &self.model[id].kind;
        let has_parts = matches!(
            kind,
            DefinitionKind::Alias(_) | DefinitionKind::Struct(_) | DefinitionKind::Union(_)
        );
        has_parts && self.is_mapped(id)
    }

    /// Whether a type contains itself.
    pub(crate) fn is_recursive(&self, id: DefId) -> bool {
        self.facts
            .known(Fact::Recursive, id, || self.model.is_recursive(id))
    }

    /// The type of an owned value, from a module.
    pub(crate) fn rust(&self, ty: &Type, from: &[String]) -> String {
        match ty {
            Type::Void => "()".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Char => "orb::Char".to_owned(),
            Type::WChar => "orb::WChar".to_owned(),
            Type::Octet => "u8".to_owned(),
            Type::Int8 => "i8".to_owned(),
            Type::Short => "i16".to_owned(),
            Type::UShort => "u16".to_owned(),
            Type::Long => "i32".to_owned(),
            Type::ULong => "u32".to_owned(),
            Type::LongLong => "i64".to_owned(),
            Type::ULongLong => "u64".to_owned(),
            Type::Float => "f32".to_owned(),
            Type::Double => "f64".to_owned(),
            Type::LongDouble => "orb::LongDouble".to_owned(),
            Type::Any => "orb::Any".to_owned(),
            Type::TypeCode => "orb::TypeCode".to_owned(),
            Type::Object => "$Option<orb::ObjectRef>".to_owned(),
            Type::ValueBase => "$Option<orb::ValueBase>".to_owned(),
            Type::String(_) | Type::WString(_) => "$String".to_owned(),
            Type::Fixed { digits, scale } => format!("orb::Fixed<{digits}, {scale}>"),
            Type::Sequence { element, .. } => format!("$Vec<{}>", self.rust(element, from)),
            Type::Array {
                element,
                dimensions,
            } => {
                let mut inner = self.rust(element, from);
                for n in dimensions.iter().rev() {
                    inner = format!("[{inner}; {n}]");
                }
                inner
            }
            Type::Named(id) => self.named(*id, from),
        }
    }

    fn named(&self, id: DefId, from: &[String]) -> String {
        let path = self.path_to(from, id);
        match self.interface_kind(id) {
            Some(InterfaceKind::Local) => format!("$Option<orb::Arc<dyn {path}>>"),
            Some(InterfaceKind::Abstract) => format!("$Option<orb::Abstract<{path}>>"),
            Some(_) => format!("$Option<{path}>"),
            None if self.is_value(id) => format!("$Option<{path}>"),
            None => path,
        }
    }

    /// The type of an `in` parameter.
    pub(crate) fn parameter(&self, ty: &Type, from: &[String], lifetime: &str) -> String {
        let and = if lifetime.is_empty() {
            "&".to_owned()
        } else {
            format!("&{lifetime} ")
        };
        match self.model.resolve_alias(ty) {
            _ if self.by_value(ty) => self.rust(ty, from),
            Type::String(_) | Type::WString(_) => format!("{and}str"),
            Type::Sequence { element, .. } => format!("{and}[{}]", self.rust(element, from)),
            Type::Object => format!("$Option<{and}orb::ObjectRef>"),
            Type::ValueBase => format!("$Option<{and}orb::ValueBase>"),
            Type::Named(id) => match self.interface_kind(*id) {
                Some(InterfaceKind::Local) => {
                    format!("$Option<{and}orb::Arc<dyn {}>>", self.path_to(from, *id))
                }
                Some(InterfaceKind::Abstract) => {
                    format!("$Option<{and}orb::Abstract<{}>>", self.path_to(from, *id))
                }
                Some(_) => format!("$Option<{and}{}>", self.path_to(from, *id)),
                None if self.is_value(*id) => {
                    format!("$Option<{and}{}>", self.path_to(from, *id))
                }
                None => format!("{and}{}", self.rust(ty, from)),
            },
            _ => format!("{and}{}", self.rust(ty, from)),
        }
    }

    /// Whether a type is `Object`.
    pub(crate) fn is_object(&self, ty: &Type) -> bool {
        matches!(self.model.resolve_alias(ty), Type::Object)
    }

    /// Whether `in` parameters of the type are handles that may be nil or null.
    pub(crate) fn is_reference(&self, ty: &Type) -> bool {
        match self.model.resolve_alias(ty) {
            Type::Object | Type::ValueBase => true,
            Type::Named(id) => self.interface_kind(*id).is_some() || self.is_value(*id),
            _ => false,
        }
    }

    /// Whether `in` parameters of the type are passed by value: primitives and enums.
    pub(crate) fn by_value(&self, ty: &Type) -> bool {
        match self.model.resolve_alias(ty) {
            Type::Named(id) => matches!(self.model[*id].kind, DefinitionKind::Enum(_)),
            Type::Fixed { .. } | Type::WChar => true,
            Type::Array { .. } => false,
            resolved => self.is_fixed(resolved),
        }
    }

    /// Whether all values have the same size, so that the runtime moves them with one bounds check.
    pub(crate) fn is_fixed(&self, ty: &Type) -> bool {
        self.fixed_size(ty).is_some_and(|size| size <= FIXED_LIMIT)
    }

    /// An upper bound of the marshalled size, for types of fixed size.
    fn fixed_size(&self, ty: &Type) -> Option<u64> {
        match ty {
            Type::Boolean | Type::Char | Type::Octet | Type::Int8 => Some(1),
            Type::Short | Type::UShort => Some(2),
            Type::Long | Type::ULong | Type::Float => Some(4),
            Type::LongLong | Type::ULongLong | Type::Double => Some(8),
            Type::LongDouble => Some(16),
            Type::Array {
                element,
                dimensions,
            } => {
                let element = self.fixed_size(element)?;
                Some(element.saturating_mul(product(dimensions)))
            }
            Type::Named(id) => {
                let work = || match &self.model[*id].kind {
                    DefinitionKind::Enum(_) => Some(4),
                    DefinitionKind::Alias(alias) => self.fixed_size(&alias.ty),
                    DefinitionKind::Struct(s) if !self.is_recursive(*id) => {
                        let size = self.fixed_members(&s.members)?;
                        // A struct that is too large is not of fixed size, nor are types that
                        // contain it.
                        (size <= FIXED_LIMIT).then_some(size)
                    }
                    _ => None,
                };
                // No size is stored as the greatest number.
                let found = self
                    .facts
                    .measured(Fact::Fixed, *id, || work().unwrap_or(u64::MAX));
                (found < u64::MAX).then_some(found)
            }
            _ => None,
        }
    }

    fn fixed_members(&self, members: &[Member]) -> Option<u64> {
        let mut sum = 0u64;
        for member in members {
            let size = self.fixed_size(&member.ty)?;
            // Up to 7 octets of padding before each member.
            sum = sum.saturating_add(size).saturating_add(7);
        }
        Some(sum)
    }

    /// Whether the Rust type is `Copy`.
    pub(crate) fn is_copy(&self, ty: &Type) -> bool {
        match ty {
            Type::WChar | Type::Fixed { .. } => true,
            Type::Array { element, .. } => self.is_copy(element),
            Type::Named(id) => self
                .facts
                .known(Fact::Copy, *id, || match &self.model[*id].kind {
                    DefinitionKind::Alias(alias) => self.is_copy(&alias.ty),
                    kind @ (DefinitionKind::Struct(_) | DefinitionKind::Union(_)) => {
                        let mut copy = !self.is_recursive(*id);
                        for ty in &held(kind) {
                            copy = copy && self.is_copy(ty);
                        }
                        copy
                    }
                    DefinitionKind::Enum(_) => true,
                    _ => false,
                }),
            simple => self.fixed_size(simple).is_some(),
        }
    }

    /// Whether the Rust type has a `Default`.
    pub(crate) fn has_default(&self, ty: &Type) -> bool {
        match ty {
            Type::Array { element, .. } => self.has_default(element),
            Type::Named(id) => {
                self.facts
                    .known(Fact::Default, *id, || match &self.model[*id].kind {
                        DefinitionKind::Alias(alias) => self.has_default(&alias.ty),
                        DefinitionKind::Struct(s) => self.have_default(&s.members),
                        DefinitionKind::Union(u) => {
                            let case = &u.cases[first_case(u)];
                            self.has_default(&case.member.ty)
                        }
                        DefinitionKind::Enum(_)
                        | DefinitionKind::Interface(_)
                        | DefinitionKind::ValueType(_)
                        | DefinitionKind::ValueBox(_) => true,
                        _ => false,
                    })
            }
            // A sequence is empty by default, whatever its elements.
            _ => true,
        }
    }

    pub(crate) fn have_default(&self, members: &[Member]) -> bool {
        let mut have = true;
        for member in members {
            have = have && self.has_default(&member.ty);
        }
        have
    }

    /// Whether all members have a `Default` that can be derived.
    pub(crate) fn derive_default(&self, members: &[Member]) -> bool {
        members.iter().all(|it| self.derives_default(&it.ty))
    }

    /// Whether Rust has a `Default` for the type, if it has an initial value.
    pub(crate) fn derives_default(&self, ty: &Type) -> bool {
        self.long_array(ty).is_none()
    }

    /// The array of a type, if it has more elements than Rust has a `Default` for: its element and
    /// its dimensions.
    fn long_array<'t>(&'t self, ty: &'t Type) -> Option<(&'t Type, &'t [u32])> {
        let mut outermost = None;
        let mut ty = self.model.resolve_alias(ty);
        while let Type::Array {
            element,
            dimensions,
        } = ty
        {
            let outermost = *outermost.get_or_insert((&**element, dimensions.as_slice()));
            if dimensions.iter().any(|length| *length > DEFAULT_ARRAY) {
                return Some(outermost);
            }
            ty = self.model.resolve_alias(element);
        }
        None
    }

    /// The initial value of a type that has one.
    pub(crate) fn initial(&self, ty: &Type) -> String {
        let Some((element, dimensions)) = self.long_array(ty) else {
            return "$Default::default()".to_owned();
        };
        let element = self.initial(element);
        dimensions.iter().fold(element, |initial, _| {
            format!("::core::array::from_fn(|_| {initial})")
        })
    }

    /// Whether values own memory into which a later value can be read.
    pub(crate) fn owns_memory(&self, ty: &Type) -> bool {
        match ty {
            Type::String(_) | Type::WString(_) | Type::Sequence { .. } => true,
            Type::Array { element, .. } => self.owns_memory(element),
            Type::Named(id) => {
                self.facts
                    .known(Fact::Memory, *id, || match &self.model[*id].kind {
                        DefinitionKind::Alias(alias) => self.owns_memory(&alias.ty),
                        kind @ (DefinitionKind::Struct(_) | DefinitionKind::Union(_)) => {
                            let mut owns = false;
                            for ty in &held(kind) {
                                owns = owns || self.owns_memory(ty);
                            }
                            owns
                        }
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// Whether the codec of the Rust type is that of the IDL type: without a bound to check, and
    /// without wide characters in a narrow type.
    pub(crate) fn is_plain(&self, ty: &Type) -> bool {
        let mut ty = self.model.resolve_alias(ty);
        loop {
            let element = match ty {
                Type::Sequence { bound: Some(_), .. } => return false,
                Type::Sequence { element, .. } | Type::Array { element, .. } => element,
                Type::String(bound) => return bound.is_none(),
                Type::WString(_) => return false,
                _ => return true,
            };
            ty = self.model.resolve_alias(element);
        }
    }
}
