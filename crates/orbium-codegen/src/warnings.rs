// SPDX-License-Identifier: MIT OR Apache-2.0
//! Warnings about definitions that are omitted or ignored.

use std::fmt;

use orbium_idl_model::{Annotation, Definition, DefinitionKind, Location, Member};

use crate::mapped::Reason;
use crate::plan::Plan;

/// Kind of a warning: the fate of its definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// It is not generated.
    LeftOut,
    /// It is generated, but a property of it has no effect.
    Ignored,
    /// It is not generated, which was acknowledged.
    Allowed,
}

/// A definition that is not generated as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The kind.
    pub kind: WarningKind,
    /// The definition and the reason, in one sentence without a full stop.
    pub message: String,
    /// The location.
    pub location: Location,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { file, line, column } = &self.location;
        let severity = match self.kind {
            WarningKind::Allowed => "note",
            _ => "warning",
        };
        write!(f, "{file}:{line}:{column}: {severity}: {}", self.message)
    }
}

/// Left-out definitions of acknowledged constructs.
#[derive(Default)]
struct Allowed {
    /// The number of definitions of each construct.
    own: Vec<(&'static str, usize)>,
    /// The number of their users.
    users: usize,
}

impl Allowed {
    fn count(&mut self, reason: &Reason) {
        if !reason.own {
            self.users += 1;
            return;
        }
        match self
            .own
            .iter_mut()
            .find(|(known, _)| *known == reason.construct)
        {
            Some((_, count)) => *count += 1,
            None => self.own.push((reason.construct, 1)),
        }
    }

    /// One line about all of them, if there are any.
    fn note(&self, location: Location) -> Option<Warning> {
        let mut parts = self
            .own
            .iter()
            .map(|(construct, count)| {
                let end = match (*count, construct.ends_with('x')) {
                    (1, _) => "",
                    (_, true) => "es",
                    _ => "s",
                };
                format!("{count} {construct}{end}")
            })
            .collect::<Vec<_>>();
        if self.users > 0 {
            parts.push(format!("{} that use such", self.users));
        }
        let parts = parts.join(", ");
        (!parts.is_empty()).then(|| Warning {
            kind: WarningKind::Allowed,
            message: format!("left out, as allowed: {parts}"),
            location,
        })
    }
}

/// All warnings, in the order of the definitions.
pub(crate) fn of(plan: &Plan<'_>) -> Vec<Warning> {
    let start = Location {
        file: plan.options.source_name().into(),
        line: 1,
        column: 1,
    };
    let mut found = Found {
        plan,
        warnings: Vec::new(),
        allowed: Allowed::default(),
    };
    for message in plan.options.without_effect(plan.model) {
        found.ignored(message, &start);
    }
    for definition in plan.model.definitions() {
        if plan.is_of_others(definition) {
            continue;
        }
        match plan.left_out.get(definition.id) {
            Some(Some(reason)) => found.left_out(definition, reason),
            // The reason is that of the enclosing scope.
            Some(None) => {}
            None => found.without_effect(definition),
        }
    }
    found.warnings.extend(found.allowed.note(start));
    found.warnings
}

/// The warnings so far.
struct Found<'p, 'm> {
    plan: &'p Plan<'m>,
    warnings: Vec<Warning>,
    allowed: Allowed,
}

impl Found<'_, '_> {
    fn ignored(&mut self, message: String, location: &Location) {
        self.warnings.push(Warning {
            kind: WarningKind::Ignored,
            message,
            location: location.clone(),
        });
    }

    fn ignored_annotation(&mut self, of: &str, annotation: &Annotation) {
        let name = &annotation.name;
        self.ignored(
            format!("annotation `@{name}` of {of} has no effect"),
            &annotation.excerpt.location(),
        );
    }

    fn left_out(&mut self, definition: &Definition, reason: &Reason) {
        if self.plan.options.allows(reason.construct) {
            return self.allowed.count(reason);
        }
        let noun = definition.kind.noun();
        let name = definition.scoped_name();
        self.warnings.push(Warning {
            kind: WarningKind::LeftOut,
            message: format!("{noun} `{name}` is left out: {}", reason.text),
            location: definition.location.clone(),
        });
    }

    /// Reports annotations and properties of a generated definition without effect.
    fn without_effect(&mut self, definition: &Definition) {
        let name = definition.scoped_name();
        for annotation in &definition.annotations {
            if !self.plan.takes_effect(annotation, definition) {
                self.ignored_annotation(&format!("`{name}`"), annotation);
            }
        }
        for (part, annotations) in annotated_parts(&definition.kind) {
            for annotation in annotations {
                self.ignored_annotation(&format!("`{name}::{part}`"), annotation);
            }
        }
        for message in self.plan.owned_parameters(definition) {
            self.ignored(message, &definition.location);
        }
        if let Some(message) = self.plan.async_servant_obstacle(definition) {
            self.ignored(message, &definition.location);
        }
        let DefinitionKind::Operation(operation) = &definition.kind else {
            return;
        };
        for parameter in &operation.parameters {
            for annotation in &parameter.annotations {
                let of = format!("parameter `{}` of `{name}`", parameter.name);
                self.ignored_annotation(&of, annotation);
            }
        }
    }
}

/// The members, cases or enumerators of a type, with their annotations.
fn annotated_parts(kind: &DefinitionKind) -> Vec<(&str, &[Annotation])> {
    fn of(member: &Member) -> (&str, &[Annotation]) {
        (&member.name, &member.annotations)
    }
    match kind {
        DefinitionKind::Struct(s) => s.members.iter().map(of).collect(),
        DefinitionKind::Exception(e) => e.members.iter().map(of).collect(),
        DefinitionKind::Union(u) => u.cases.iter().map(|case| of(&case.member)).collect(),
        DefinitionKind::Enum(e) => e
            .enumerators
            .iter()
            .map(|it| (it.name.as_str(), it.annotations.as_slice()))
            .collect(),
        _ => Vec::new(),
    }
}
