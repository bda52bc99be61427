// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typedefs, structs, unions, enums and exceptions.

use std::collections::HashMap;

use super::scope::{Entity, ScopeKind};
use super::types::Usage;
use super::{Checker, Progress, Surroundings};
use crate::model::{
    Alias, Case, DefId, DefinitionKind, Enum, Enumerator, Exception, Member, Struct, Type, Union,
};
use crate::source::Span;
use crate::syntax::ast::{self, CaseLabel, Declarator, Field, Ident, Item, ItemKind, TypeSpec};
use crate::syntax::doc;

impl Checker<'_> {
    pub(super) fn typedef(
        &mut self,
        spec: &TypeSpec,
        declarators: &[Declarator],
        around: Surroundings<'_>,
    ) {
        let base = self.type_of(spec, Usage::Alias);
        for declarator in declarators {
            let ty = base
                .as_ref()
                .and_then(|ty| self.declared_type(ty, declarator, Usage::Alias));
            // An invalid typedef is declared nevertheless, so that its uses are not reported too.
            let ty = ty.unwrap_or(Type::Any);
            let complete = self.incomplete(&ty).is_none();
            let id = self.define(
                &declarator.name,
                DefinitionKind::Alias(Alias { ty }),
                around,
            );
            if complete {
                self.complete_aliases.insert(id);
            }
        }
    }

    /// A struct, union or enum, or a forward declaration of one.
    pub(super) fn constructed(&mut self, item: &Item) -> Option<DefId> {
        let around = Surroundings::from(item);
        match &item.kind {
            ItemKind::Struct {
                name,
                members,
                base,
            } => {
                if let Some(base) = base {
                    let message = "inheritance of structs is IDL 4 and has no form in CORBA";
                    self.report.error("unsupported", base.span, message);
                }
                Some(self.structure(name, members, around))
            }
            ItemKind::StructForward { name, union } => {
                self.struct_forward(name, *union, around);
                None
            }
            ItemKind::Union(union) => Some(self.union(union, around)),
            ItemKind::Enum { name, enumerators } => {
                Some(self.enumeration(name, enumerators, around))
            }
            _ => None,
        }
    }

    fn struct_forward(&mut self, name: &Ident, union: bool, around: Surroundings<'_>) {
        if let Some(known) = self.known_struct(name, union) {
            self.check_spelling_of(known, name);
            self.annotate(known, around);
            return;
        }
        let id = self.define(name, Self::empty(union), around);
        self.set_progress(id, Progress::Forward);
    }

    fn empty(union: bool) -> DefinitionKind {
        if union {
            DefinitionKind::Union(Union {
                discriminator: Type::Long,
                cases: Vec::new(),
                contents: Vec::new(),
            })
        } else {
            DefinitionKind::Struct(Struct::default())
        }
    }

    /// A struct or union of that name in the current scope.
    fn known_struct(&self, name: &Ident, union: bool) -> Option<DefId> {
        match self.own_entity(name)? {
            Entity::Def(id) => match &self.model[id].kind {
                DefinitionKind::Struct(_) if !union => Some(id),
                DefinitionKind::Union(_) if union => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    /// Begins the definition of a struct or union, which may have been forward declared.
    fn begin(&mut self, name: &Ident, union: bool, around: Surroundings<'_>) -> DefId {
        match self
            .known_struct(name, union)
            .filter(|id| self.progress(*id) == Progress::Forward)
        {
            Some(id) => {
                self.complete_forward(id, name, around);
                self.set_progress(id, Progress::Open);
                id
            }
            None => self.define(name, Self::empty(union), around),
        }
    }

    fn structure(&mut self, name: &Ident, fields: &[Field], around: Surroundings<'_>) -> DefId {
        let id = self.begin(name, false, around);
        let outer = self.enter(ScopeKind::Members, name, Some(id));
        let members = self.members(fields);
        self.leave(outer);
        if let DefinitionKind::Struct(s) = &mut self.model.definition_mut(id).kind {
            s.members = members;
        }
        self.set_progress(id, Progress::Complete);
        id
    }

    pub(super) fn exception(&mut self, name: &Ident, fields: &[Field], around: Surroundings<'_>) {
        let id = self.define(
            name,
            DefinitionKind::Exception(Exception::default()),
            around,
        );
        let outer = self.enter(ScopeKind::Members, name, Some(id));
        let members = self.members(fields);
        self.leave(outer);
        if let DefinitionKind::Exception(e) = &mut self.model.definition_mut(id).kind {
            e.members = members;
        }
    }

    fn members(&mut self, fields: &[Field]) -> Vec<Member> {
        let mut members = Vec::new();
        for field in fields {
            members.append(&mut self.field(field));
        }
        members
    }

    /// The members that one field declares, in the current scope.
    pub(super) fn field(&mut self, field: &Field) -> Vec<Member> {
        let base = self.type_of(&field.ty, Usage::Member);
        if base.is_none() {
            self.forget_uses(field.ty.span);
        }
        let annotations = self.annotations(&field.annotations);
        let comment = doc::comment_of(self.sources, field.start, field.end);
        let mut members = Vec::new();
        for declarator in &field.declarators {
            let span = declarator.name.span;
            let doc = comment.clone();
            let doc = doc.filter(|it| self.can_copy(it.len(), span));
            let mut own = self.copied_annotations(&annotations, span);
            let ty = base
                .as_ref()
                .and_then(|ty| self.declared_type(ty, declarator, Usage::Member));
            self.declare(&declarator.name, Entity::Member(declarator.name.span));
            own.append(&mut self.annotations(&declarator.annotations));
            members.push(Member {
                name: declarator.name.name.to_string(),
                ty: ty.unwrap_or(Type::Any),
                doc,
                annotations: own,
                location: self.sources.location(declarator.name.span),
            });
        }
        members
    }

    fn enumeration(
        &mut self,
        name: &Ident,
        enumerators: &[ast::Enumerator],
        around: Surroundings<'_>,
    ) -> DefId {
        let id = self.define(name, DefinitionKind::Enum(Enum::default()), around);
        for (index, enumerator) in (0u32..).zip(enumerators) {
            let own = Enumerator {
                name: enumerator.name.name.to_string(),
                doc: self.comment(enumerator.start, enumerator.name.span),
                annotations: self.annotations(&enumerator.annotations),
                location: self.sources.location(enumerator.name.span),
            };
            if let DefinitionKind::Enum(e) = &mut self.model.definition_mut(id).kind {
                e.enumerators.push(own);
            }
            self.declare(&enumerator.name, Entity::Enumerator { of: id, index });
        }
        self.check_enum_bits(id, around.annotations);
        id
    }

    fn union(&mut self, union: &ast::Union, around: Surroundings<'_>) -> DefId {
        let id = self.begin(&union.name, true, around);
        let outer = self.enter(ScopeKind::Members, &union.name, Some(id));
        let discriminator = self.discriminator(&union.switch);
        let mut labels = Labels::default();
        let mut cases = Vec::new();
        for case in &union.cases {
            cases.extend(self.case(case, discriminator.as_ref(), &mut labels));
        }
        if let (Some(ty), Some(default)) = (&discriminator, labels.default) {
            self.check_default(ty, labels.seen.len(), default);
        }
        self.leave(outer);
        if let DefinitionKind::Union(u) = &mut self.model.definition_mut(id).kind {
            u.discriminator = discriminator.unwrap_or(Type::Long);
            u.cases = cases;
        }
        self.set_progress(id, Progress::Complete);
        id
    }

    fn discriminator(&mut self, spec: &TypeSpec) -> Option<Type> {
        let ty = self.type_of(spec, Usage::Other)?;
        let resolved = self.model.resolve_alias(&ty);
        let good = match resolved {
            Type::Char | Type::Boolean => true,
            Type::Octet | Type::WChar | Type::Int8 => self.options.idl4,
            Type::Named(id) => matches!(self.model[*id].kind, DefinitionKind::Enum(_)),
            other => other.is_integer(),
        };
        if !good {
            let message = format!(
                "illegal switch type: a union cannot switch on `{}`",
                self.model.type_name(&ty)
            );
            self.report
                .error("switch-type", spec.span, message)
                .help("use an integer type, `char`, `boolean` or an enum");
            return None;
        }
        Some(ty)
    }

    fn case(
        &mut self,
        case: &ast::Case,
        discriminator: Option<&Type>,
        labels: &mut Labels,
    ) -> Option<Case> {
        let mut values = Vec::new();
        let mut is_default = false;
        for label in &case.labels {
            match label {
                CaseLabel::Default(span) => {
                    is_default = true;
                    self.note_default(*span, labels);
                }
                CaseLabel::Value(expr) => {
                    let Some(value) = discriminator.and_then(|ty| self.evaluate(expr, ty)) else {
                        continue;
                    };
                    let ordinal = value.ordinal();
                    if let Some(first) = ordinal.and_then(|it| labels.seen.insert(it, expr.span)) {
                        self.report
                            .error(
                                "duplicate-label",
                                expr.span,
                                "duplicate case label in this union",
                            )
                            .label(first, "first used here")
                            .help("every label may be used once");
                    }
                    values.push(value);
                }
            }
        }
        let base = self.type_of(&case.ty, Usage::Member);
        if base.is_none() {
            self.forget_uses(case.ty.span);
        }
        let ty = base
            .as_ref()
            .and_then(|ty| self.declared_type(ty, &case.declarator, Usage::Member));
        let name = &case.declarator.name;
        self.declare(name, Entity::Member(name.span));
        let mut annotations = self.annotations(&case.annotations);
        annotations.append(&mut self.annotations(&case.declarator.annotations));
        let member = Member {
            name: name.name.to_string(),
            ty: ty?,
            doc: self.comment(case.start, case.end),
            annotations,
            location: self.sources.location(name.span),
        };
        Some(Case {
            labels: values,
            is_default,
            member,
        })
    }

    fn note_default(&mut self, span: Span, labels: &mut Labels) {
        if let Some(first) = labels.default {
            self.report
                .error("second-default", span, "a second `default` in this union")
                .label(first, "the first is here")
                .help("a union has at most one `default`");
        }
        labels.default.get_or_insert(span);
    }

    /// Checks `default`, which is an error if the labels already cover all values.
    fn check_default(&mut self, ty: &Type, labels: usize, default: Span) {
        let values = match self.model.resolve_alias(ty) {
            Type::Boolean => 2,
            Type::Char | Type::Octet | Type::Int8 => 256,
            Type::Named(id) => match &self.model[*id].kind {
                DefinitionKind::Enum(e) => e.enumerators.len(),
                _ => return,
            },
            _ => return,
        };
        if values > 0 && labels >= values {
            let message = "`default` is impossible here: the labels already cover all values";
            self.report
                .error("impossible-default", default, message)
                .help("remove the `default`");
        }
    }
}

/// Labels of a union seen so far.
#[derive(Default)]
struct Labels {
    /// By value.
    seen: HashMap<i128, Span>,
    default: Option<Span>,
}
