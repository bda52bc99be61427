// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations and attributes.

use super::scope::{Entity, ScopeKind};
use super::types::Usage;
use super::{Checker, Surroundings};
use crate::diagnostic::article::with_article;
use crate::diagnostic::point_at;
use crate::model::{
    Attribute, DefId, DefinitionKind, Direction, InterfaceKind, Operation, Parameter, Type,
};
use crate::source::Span;
use crate::syntax::ast::{self, ScopedName};

impl Checker<'_> {
    pub(super) fn operation(&mut self, operation: &ast::Operation, around: Surroundings<'_>) {
        let result = match &operation.result {
            Some(spec) => {
                let ty = self.type_of(spec, Usage::Operation);
                if let Some(ty) = &ty {
                    self.check_remote(ty, spec.span, "the result");
                }
                ty.unwrap_or(Type::Any)
            }
            None => Type::Void,
        };
        let kind = DefinitionKind::Operation(Operation {
            oneway: operation.oneway.is_some(),
            result,
            parameters: Vec::new(),
            raises: Vec::new(),
            contexts: Vec::new(),
        });
        let id = self.define(&operation.name, kind, around);
        let parameters = self.parameters(operation);
        let raises = self.raises(&operation.raises, true);
        self.check_oneway(operation);
        let contexts = self.contexts(&operation.contexts);
        if let DefinitionKind::Operation(o) = &mut self.model.definition_mut(id).kind {
            o.parameters = parameters;
            o.raises = raises;
            o.contexts = contexts;
        }
    }

    /// The parameters, in a separate scope.
    pub(super) fn parameters(&mut self, operation: &ast::Operation) -> Vec<Parameter> {
        let outer = self.enter(ScopeKind::Operation, &operation.name, None);
        let mut parameters = Vec::new();
        for parameter in &operation.parameters {
            let ty = self.type_of(&parameter.ty, Usage::Operation);
            match &ty {
                Some(ty) => self.check_remote(ty, parameter.ty.span, "a parameter"),
                None => self.forget_uses(parameter.ty.span),
            }
            self.declare(&parameter.name, Entity::Parameter(parameter.name.span));
            parameters.push(Parameter {
                name: parameter.name.name.to_string(),
                direction: parameter.direction,
                ty: ty.unwrap_or(Type::Any),
                annotations: self.annotations(&parameter.annotations),
                location: self.sources.location(parameter.name.span),
            });
        }
        self.leave(outer);
        parameters
    }

    fn check_oneway(&mut self, operation: &ast::Operation) {
        if operation.oneway.is_none() {
            return;
        }
        if let Some(result) = &operation.result {
            self.report
                .error(
                    "oneway-result",
                    result.span,
                    "a oneway operation must return void: nothing comes back",
                )
                .help("write `oneway void`, or remove `oneway`");
        }
        for parameter in operation
            .parameters
            .iter()
            .filter(|p| p.direction != Direction::In)
        {
            self.report
                .error(
                    "oneway-parameter",
                    parameter.direction_span,
                    "a oneway operation allows only `in` parameters",
                )
                .help("remove `oneway`, or make the parameter `in`");
        }
        if let Some(first) = operation.raises.first() {
            self.report
                .error(
                    "oneway-raises",
                    first.span,
                    "a oneway operation may not raise user exceptions",
                )
                .help("remove `oneway` or the `raises` clause");
        }
    }

    /// The exceptions of a raises clause. `remote`: whether local data in them is an error in an
    /// unconstrained interface.
    pub(super) fn raises(&mut self, names: &[ScopedName], remote: bool) -> Vec<DefId> {
        let mut raises: Vec<DefId> = Vec::new();
        for name in names {
            // An exception is not a type, and the clause has no scope of its own: compilers agree
            // that naming an exception here does not bind the name in the interface.
            self.binding = false;
            let entity = self.resolve(name);
            self.binding = true;
            let Some(entity) = entity else { continue };
            let id = match entity {
                // A native type may represent an exception of the language mapping.
                Entity::Def(id)
                    if matches!(
                        self.model[id].kind,
                        DefinitionKind::Exception(_) | DefinitionKind::Native
                    ) =>
                {
                    id
                }
                _ => {
                    let message = format!(
                        "`{}` is not an exception but {}",
                        name.text(),
                        with_article(self.entity_noun(entity))
                    );
                    let place = self.entity_span(entity);
                    let draft = self.report.error("not-an-exception", name.span, message);
                    point_at(draft, place);
                    continue;
                }
            };
            if raises.contains(&id) {
                let message = format!("the exception `{}` is listed twice", name.text());
                self.report
                    .warning("duplicate-raises", name.span, message)
                    .help("list it once");
                continue;
            }
            if remote {
                self.check_remote(&Type::Named(id), name.span, "an exception");
            }
            raises.push(id);
        }
        raises
    }

    /// Checks that interfaces which may be called remotely use no local types.
    fn check_remote(&mut self, ty: &Type, span: Span, what: &str) {
        let owner = self.interface_around();
        let Some(owner) = owner else { return };
        let DefinitionKind::Interface(interface) = &self.model[owner].kind else {
            return;
        };
        if interface.kind == InterfaceKind::Local {
            return;
        }
        let owner_name = self.model[owner].name.clone();
        let (local, native) = self.immobile_parts(ty);
        if let Some(local) = local {
            let local_span = self.span_of(local);
            let message = format!(
                "{what} of an operation of `{owner_name}` has a local type: it is or contains the local interface `{}`",
                self.model[local].name
            );
            self.report
                .error("local-type", span, message)
                .label(local_span, "declared local here")
                .help(format!(
                    "make `{owner_name}` a local interface, or pass something else"
                ));
        } else if let Some(native) = native {
            let message = format!(
                "the native type `{}` cannot travel, but `{owner_name}` is not a local interface",
                self.model[native].name
            );
            self.report.warning("native-type", span, message);
        }
    }

    /// Whether the current scope is in a local interface.
    pub(super) fn is_in_local_interface(&self) -> bool {
        let owner = self.interface_around().map(|owner| &self.model[owner].kind);
        matches!(owner, Some(DefinitionKind::Interface(it)) if it.kind == InterfaceKind::Local)
    }

    /// The interface or value type that encloses the current scope.
    fn interface_around(&self) -> Option<DefId> {
        self.scopes[self.scope.0].def
    }

    fn contexts(&mut self, contexts: &[(Vec<u16>, Span)]) -> Vec<String> {
        let mut names = Vec::new();
        for (units, span) in contexts {
            let name = String::from_utf16_lossy(units);
            let body = name.strip_suffix('*').unwrap_or(&name);
            let first = body.chars().next();
            let good = first.is_some_and(|c| c.is_ascii_alphabetic())
                && body
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
            if !good {
                let message = format!("malformed context name \"{name}\"");
                self.report.error("malformed-context", *span, message).help(
                    "a context name is a letter, then letters, digits, `_` or `.`, and perhaps a `*` at the end",
                );
            }
            names.push(name);
        }
        names
    }

    pub(super) fn attribute(&mut self, attribute: &ast::Attribute, around: Surroundings<'_>) {
        let ty = self.type_of(&attribute.ty, Usage::Operation);
        if let Some(ty) = &ty {
            self.check_remote(ty, attribute.ty.span, "an attribute");
        }
        let get_raises = self.raises(&attribute.get_raises, true);
        let set_raises = self.raises(&attribute.set_raises, true);
        for (name, _) in &attribute.names {
            let kind = DefinitionKind::Attribute(Attribute {
                readonly: attribute.readonly,
                ty: ty.clone().unwrap_or(Type::Any),
                get_raises: get_raises.clone(),
                set_raises: set_raises.clone(),
            });
            self.define(name, kind, around);
        }
    }
}
