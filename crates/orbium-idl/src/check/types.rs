// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolution of types at their uses.

use super::scope::Entity;
use super::{Checker, Progress};
use crate::diagnostic::article::with_article;
use crate::diagnostic::point_at;
use crate::model::{ConstValue, DefId, DefSet, DefinitionKind, InterfaceKind, Model, Type};
use crate::parser::idl4_integer;
use crate::source::Span;
use crate::syntax::ast::{Declarator, Expr, ScopedName, TypeKind, TypeSpec};

/// The use of a type, which determines whether it may be incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    /// A typedef or value box.
    Alias,
    /// A member of a struct, union, exception or value.
    Member,
    /// The element of a sequence.
    Element,
    /// A parameter, result or attribute.
    Operation,
    /// The type of a constant or discriminator.
    Other,
}

/// The repository id of the interface that represents `CORBA::TypeCode` in files of some ORBs.
const TYPE_CODE: &str = "IDL:omg.org/CORBA/TypeCode:1.0";

impl Checker<'_> {
    /// The type of a specification. None if it is invalid, which has been reported.
    pub(super) fn type_of(&mut self, spec: &TypeSpec, usage: Usage) -> Option<Type> {
        let ty = match &spec.kind {
            TypeKind::Basic(ty) => ty.clone(),
            TypeKind::Text { wide, bound } => {
                let bound = match bound {
                    Some(bound) => Some(self.positive(bound, "the bound of a string")?),
                    None => None,
                };
                if *wide {
                    Type::WString(bound)
                } else {
                    Type::String(bound)
                }
            }
            TypeKind::Fixed(None) => Type::Fixed {
                digits: 31,
                scale: 0,
            },
            TypeKind::Fixed(Some((digits, scale))) => self.fixed_type(digits, scale)?,
            TypeKind::Sequence { element, bound } => {
                let element = self.type_of(element, Usage::Element);
                let bound = match bound {
                    Some(bound) => Some(self.positive(bound, "the bound of a sequence")?),
                    None => None,
                };
                self.note_anonymous(usage, spec.span, "sequence");
                Type::Sequence {
                    element: Box::new(element?),
                    bound,
                }
            }
            TypeKind::Named(name) => {
                let ty = self.named_type(name)?;
                self.note_use(&ty, name.span);
                ty
            }
            TypeKind::Inline(item) => Type::Named(self.constructed(item)?),
            TypeKind::Wrong => return None,
            TypeKind::Unsupported(what) => {
                let message = format!("`{what}` has no form in CORBA");
                self.report.error("unsupported", spec.span, message).help(
                    "IDL 4.2 leaves it out for CORBA: use a sequence of structs of key and value",
                );
                return None;
            }
        };
        self.check_complete(&ty, usage, spec.span)?;
        Some(ty)
    }

    /// Records the first use of a type that is only forward declared so far.
    fn note_use(&mut self, ty: &Type, span: Span) {
        if let Type::Named(id) = ty
            && let Some(state) = self.states.get_mut(*id)
            && state.progress == Progress::Forward
        {
            state.used.get_or_insert(span);
        }
    }

    /// The type of a declarator: the array dimensions follow its name.
    pub(super) fn declared_type(
        &mut self,
        ty: &Type,
        declarator: &Declarator,
        usage: Usage,
    ) -> Option<Type> {
        if declarator.dimensions.is_empty() {
            return Some(ty.clone());
        }
        let mut dimensions = Vec::new();
        let mut good = true;
        for dimension in &declarator.dimensions {
            match self.positive(dimension, "the size of an array") {
                Some(size) => dimensions.push(size),
                None => good = false,
            }
        }
        self.note_anonymous(usage, declarator.name.span, "array");
        good.then(|| Type::Array {
            element: Box::new(ty.clone()),
            dimensions,
        })
    }

    fn note_anonymous(&mut self, usage: Usage, span: Span, what: &str) {
        if self.options.pedantic && usage != Usage::Alias {
            let message = format!("anonymous {what} types are deprecated");
            self.report
                .warning("anonymous-type", span, message)
                .help("give the type a name with `typedef`");
        }
    }

    fn fixed_type(&mut self, digits: &Expr, scale: &Expr) -> Option<Type> {
        let digits_value = self.positive(digits, "the number of digits")?;
        let scale_value = match self.evaluate(scale, &Type::ULong)? {
            ConstValue::Integer(value) => value,
            _ => return None,
        };
        if digits_value > 31 {
            let message = format!("a fixed type has at most 31 digits, not {digits_value}");
            self.report.error("fixed-digits", digits.span, message);
            return None;
        }
        if scale_value > i128::from(digits_value) {
            let message = format!(
                "the scale {scale_value} is greater than the number of digits {digits_value}"
            );
            self.report.error("fixed-scale", scale.span, message);
            return None;
        }
        Some(Type::Fixed {
            digits: u8::try_from(digits_value).ok()?,
            scale: u8::try_from(scale_value).ok()?,
        })
    }

    /// A bound or size: a positive integer of 32 bits.
    pub(super) fn positive(&mut self, expr: &Expr, what: &str) -> Option<u32> {
        let ConstValue::Integer(value) = self.evaluate(expr, &Type::LongLong)? else {
            return None;
        };
        if value < 1 {
            let message = format!("{what} must be at least 1, not {value}");
            self.report.error("not-positive", expr.span, message);
            return None;
        }
        let size = u32::try_from(value).ok();
        if size.is_none() {
            let message = format!("{what} is too large: {value} does not fit 32 bits");
            self.report.error("out-of-range", expr.span, message);
        }
        size
    }

    fn named_type(&mut self, name: &ScopedName) -> Option<Type> {
        if let Some(predefined) = self.predefined_type(name) {
            return Some(predefined);
        }
        self.wants_type = name.parts.len() == 1;
        let entity = self.resolve(name);
        self.wants_type = false;
        let entity = entity?;
        let Entity::Def(id) = entity else {
            return self.no_type(name, entity);
        };
        match &self.model[id].kind {
            DefinitionKind::Exception(_) => {
                let message = format!("the exception `{}` is not a type", name.text());
                self.report
                    .error("exception-as-type", name.span, message)
                    .help("exceptions can only be raised; use a struct to pass the data");
                None
            }
            DefinitionKind::Interface(_) | DefinitionKind::Native
                if self.model[id].repository_id == TYPE_CODE =>
            {
                Some(Type::TypeCode)
            }
            DefinitionKind::Interface(_)
            | DefinitionKind::Struct(_)
            | DefinitionKind::Union(_)
            | DefinitionKind::Enum(_)
            | DefinitionKind::Alias(_)
            | DefinitionKind::ValueType(_)
            | DefinitionKind::ValueBox(_)
            | DefinitionKind::Native
            | DefinitionKind::Unmapped(_) => Some(Type::Named(id)),
            _ => self.no_type(name, entity),
        }
    }

    fn no_type(&mut self, name: &ScopedName, entity: Entity) -> Option<Type> {
        let message = format!(
            "`{}` is not a type but {}",
            name.text(),
            with_article(self.entity_noun(entity))
        );
        let place = self.entity_span(entity);
        let draft = self.report.error("not-a-type", name.span, message);
        point_at(draft, place);
        None
    }

    /// `CORBA::TypeCode` without including `orb.idl`, and the integer names of IDL 4.
    fn predefined_type(&self, name: &ScopedName) -> Option<Type> {
        let declared = |text: &str| self.visible(text);
        match name.parts.as_slice() {
            [only] if !name.absolute && !declared(&only.name) => match &*only.name {
                "TypeCode" => Some(Type::TypeCode).filter(|_| self.inside_corba()),
                text => idl4_integer(text),
            },
            [corba, type_code] if &*corba.name == "CORBA" && &*type_code.name == "TypeCode" => {
                Some(Type::TypeCode).filter(|_| self.model.lookup("CORBA::TypeCode").is_none())
            }
            _ => None,
        }
    }

    fn inside_corba(&self) -> bool {
        let around = self.scopes[self.scope.0].def;
        around.is_some_and(|id| {
            self.model[id]
                .path
                .first()
                .is_some_and(|first| first == "CORBA")
        })
    }

    /// Reports a struct or union that is used before it is complete where that is not allowed.
    fn check_complete(&mut self, ty: &Type, usage: Usage, span: Span) -> Option<()> {
        let Some((id, through_sequence)) = self.incomplete(ty) else {
            return Some(());
        };
        let open = self.progress(id) == Progress::Open;
        let allowed = match usage {
            Usage::Element => true,
            Usage::Alias => through_sequence,
            Usage::Member => through_sequence && open,
            Usage::Operation | Usage::Other => false,
        };
        if allowed {
            return Some(());
        }
        let (name, noun) = (self.model[id].name.clone(), self.model[id].kind.noun());
        let message = if open {
            format!("the {noun} `{name}` is recursive: it cannot contain itself by value")
        } else {
            format!(
                "the incomplete type `{name}` cannot be used before the {noun} is fully defined"
            )
        };
        let declared = self.span_of(id);
        self.report
            .error("incomplete-type", span, message)
            .label(declared, "declared here")
            .help(if open {
                "use a sequence of it"
            } else {
                "define it before, or use a sequence of it inside its own definition"
            });
        None
    }

    /// The incomplete struct or union that a type contains, and whether it is within a sequence.
    pub(super) fn incomplete(&self, ty: &Type) -> Option<(DefId, bool)> {
        let mut ty = ty;
        let mut through_sequence = false;
        loop {
            match ty {
                Type::Sequence { element, .. } => {
                    through_sequence = true;
                    ty = element;
                }
                Type::Array { element, .. } => ty = element,
                Type::Named(id) => match &self.model[*id].kind {
                    DefinitionKind::Alias(_) if self.complete_aliases.contains(*id) => return None,
                    DefinitionKind::Alias(alias) => ty = &alias.ty,
                    DefinitionKind::Struct(_) | DefinitionKind::Union(_)
                        if self.progress(*id) != Progress::Complete =>
                    {
                        return Some((*id, through_sequence));
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// A local interface that a type is or contains.
    pub(super) fn local_part(&mut self, ty: &Type) -> Option<DefId> {
        let (local, _) = self.immobile_parts(ty);
        local
    }

    /// The first local interface and the first native type that a type is or contains.
    pub(super) fn immobile_parts(&mut self, ty: &Type) -> (Option<DefId>, Option<DefId>) {
        let mut found = (None, None);
        let mut seen = DefSet::default();
        let mut parts = Vec::new();
        let mut pending = Model::named_in(ty);
        while let Some(part) = pending.pop() {
            if self.mobile.contains(part) || !seen.insert(part) {
                continue;
            }
            parts.push(part);
            match &self.model[part].kind {
                DefinitionKind::Interface(i) if i.kind == InterfaceKind::Local => {
                    found.0.get_or_insert(part);
                }
                DefinitionKind::Native => {
                    found.1.get_or_insert(part);
                }
                _ => {}
            }
            pending.append(&mut self.model.parts(part));
        }
        // An incomplete type may later contain a local one.
        let settled = |id: &DefId| self.progress(*id) == Progress::Complete;
        if found == (None, None) && parts.iter().all(settled) {
            for part in &parts {
                self.mobile.insert(*part);
            }
        }
        found
    }
}
