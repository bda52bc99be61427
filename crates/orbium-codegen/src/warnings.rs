// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to tell the user: what is left out, and what is ignored.

use std::fmt;

use orbium_idl::model::{Annotation, DefinitionKind, Location};

use crate::mapped::Reason;
use crate::plan::Plan;

/// What became of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// It is not generated.
    LeftOut,
    /// It is generated, but something said of it has no effect.
    Ignored,
    /// It is not generated, which was acknowledged.
    Allowed,
}

/// Something that is not generated the way it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What became of it.
    pub kind: WarningKind,
    /// What and why, in one sentence without a full stop.
    pub message: String,
    /// Where it stands.
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

/// What is left out and may be.
#[derive(Default)]
struct Allowed {
    /// How many of each construct.
    own: Vec<(&'static str, usize)>,
    /// How many use them.
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

    /// One line about all of it, if there is any.
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
    let mut warnings = Vec::new();
    let mut allowed = Allowed::default();
    let start = Location {
        file: plan.options.source_name().into(),
        line: 1,
        column: 1,
    };
    for message in plan.options.without_effect(plan.model) {
        warnings.push(Warning {
            kind: WarningKind::Ignored,
            message,
            location: start.clone(),
        });
    }
    for definition in plan.model.definitions() {
        if plan.is_of_others(definition) {
            continue;
        }
        if let Some(reason) = plan.left_out.get(definition.id) {
            let noun = definition.kind.noun();
            if let Some(reason) = reason
                && plan.options.allows(reason.construct)
            {
                allowed.count(reason);
            } else if let Some(reason) = reason {
                warnings.push(Warning {
                    kind: WarningKind::LeftOut,
                    message: format!(
                        "{noun} `{}` is left out: {}",
                        definition.scoped_name(),
                        reason.text
                    ),
                    location: definition.location.clone(),
                });
            }
            continue;
        }
        let name = definition.scoped_name();
        let mut ignored = |of: String, annotation: &Annotation| {
            warnings.push(Warning {
                kind: WarningKind::Ignored,
                message: format!("annotation `@{}` of {of} has no effect", annotation.name),
                location: annotation.location.clone(),
            });
        };
        for annotation in &definition.annotations {
            if !plan.is_heeded(annotation, definition) {
                ignored(format!("`{name}`"), annotation);
            }
        }
        let mut inside = |part: &str, annotations: &[Annotation]| {
            for annotation in annotations {
                ignored(format!("`{name}::{part}`"), annotation);
            }
        };
        match &definition.kind {
            DefinitionKind::Struct(s) => {
                for member in &s.members {
                    inside(&member.name, &member.annotations);
                }
            }
            DefinitionKind::Exception(e) => {
                for member in &e.members {
                    inside(&member.name, &member.annotations);
                }
            }
            DefinitionKind::Union(u) => {
                for case in &u.cases {
                    inside(&case.member.name, &case.member.annotations);
                }
            }
            DefinitionKind::Enum(e) => {
                for enumerator in &e.enumerators {
                    inside(&enumerator.name, &enumerator.annotations);
                }
            }
            DefinitionKind::Operation(operation) => {
                for parameter in &operation.parameters {
                    for annotation in &parameter.annotations {
                        let of = format!("parameter `{}` of `{name}`", parameter.name);
                        ignored(of, annotation);
                    }
                }
                if !operation.contexts.is_empty() {
                    warnings.push(Warning {
                        kind: WarningKind::Ignored,
                        message: format!(
                            "the context clause of `{name}` has no effect: an empty context is sent"
                        ),
                        location: definition.location.clone(),
                    });
                }
            }
            _ => {}
        }
    }
    if let Some(note) = allowed.note(start) {
        warnings.push(note);
    }
    warnings
}
