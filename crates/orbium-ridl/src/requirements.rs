// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timing requirements of the operations of a model.

use std::collections::HashMap;

use orbium_idl::model::{DefId, Definition, DefinitionKind, Model};
use orbium_idl::{Diagnostic, Excerpt, Severity};
use orbium_sched::{
    Dependency, DependencyKind, EnableState, Handle, Repository, SchedError, Timing,
};

use crate::annotation;
use crate::resolve::resolve;

/// The timing requirements of IDL files, or of a table.
#[derive(Clone, Debug, Default)]
pub struct Requirements {
    /// The operations, in the order of their definitions; those that are only called come last.
    pub operations: Vec<Requirement>,
    /// Errors and warnings of the annotations. With an error among them, `operations` lacks the
    /// unreadable ones.
    pub diagnostics: Vec<Diagnostic>,
}

/// Timing requirements of an operation.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The operation in the model; none for a table.
    pub operation: Option<DefId>,
    /// The name of its RT_Info: the scoped name without the leading `::`.
    pub name: String,
    /// Its timing.
    pub timing: Timing,
    /// Whether it is part of schedules; a table can disable it.
    pub state: EnableState,
    /// Its calls.
    pub calls: Vec<Call>,
    /// The annotation, or the line of a table.
    pub excerpt: Excerpt,
}

/// A dependency of an operation.
#[derive(Clone, Debug)]
pub struct Call {
    /// The index of the other operation in [`Requirements::operations`].
    pub on: usize,
    /// Calls per run of the caller; at least 1.
    pub times: u32,
    /// Two-way: this operation calls the other one. One-way: this operation consumes the data of
    /// the other one.
    pub kind: DependencyKind,
    /// Whether it is part of schedules; a table can disable it.
    pub state: EnableState,
}

impl Requirements {
    /// Reads the annotations of all operations of a model.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let mut reader = Reader {
            model,
            requirements: Requirements::default(),
            index: HashMap::new(),
        };
        for definition in model.definitions() {
            reader.timing(definition);
        }
        for definition in model.definitions() {
            reader.calls(definition);
        }
        reader.requirements
    }

    /// Whether an annotation has an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        let mut severities = self.diagnostics.iter().map(|it| it.severity);
        severities.any(|it| it == Severity::Error)
    }

    /// The operations as RT_Infos: the handle of an operation is its index plus 1.
    ///
    /// # Errors
    /// `DuplicateName` if two operations have one name, `PeriodTooLong`.
    pub fn repository(&self) -> Result<Repository, SchedError> {
        let mut repository = Repository::new();
        let mut handles: Vec<Handle> = Vec::with_capacity(self.operations.len());
        for it in &self.operations {
            let handle = repository.register(&it.name, it.timing)?;
            repository.set_enable_state(handle, it.state)?;
            handles.push(handle);
        }
        for (it, handle) in self.operations.iter().zip(&handles) {
            for call in &it.calls {
                let dependency = Dependency {
                    on: handles[call.on],
                    calls: call.times,
                    kind: call.kind,
                    state: call.state,
                };
                repository.depend(*handle, dependency)?;
            }
        }
        Ok(repository)
    }
}

struct Reader<'a> {
    model: &'a Model,
    requirements: Requirements,
    /// The index of each registered operation.
    index: HashMap<DefId, usize>,
}

impl Reader<'_> {
    /// `@rt` of a definition.
    fn timing(&mut self, definition: &Definition) {
        let mut named = definition.annotations.iter().filter(|it| it.name == "rt");
        let Some(rt) = named.next() else {
            return;
        };
        let diagnostics = &mut self.requirements.diagnostics;
        if !matches!(definition.kind, DefinitionKind::Operation(_)) {
            return diagnostics.push(annotation::misplaced(rt));
        }
        if let Some(second) = named.next() {
            diagnostics.push(annotation::repeated(second));
        }
        let timing = annotation::timing(rt, diagnostics);
        self.register(definition, timing, rt.excerpt.clone());
    }

    /// All `@calls` of a definition.
    fn calls(&mut self, definition: &Definition) {
        let calls = definition.annotations.iter();
        for it in calls.filter(|it| it.name == "calls") {
            let diagnostics = &mut self.requirements.diagnostics;
            if !matches!(definition.kind, DefinitionKind::Operation(_)) {
                diagnostics.push(annotation::misplaced(it));
                continue;
            }
            let Some(call) = annotation::call(it, diagnostics) else {
                continue;
            };
            let Some(callee) = resolve(self.model, definition, call.operation) else {
                diagnostics.push(annotation::unknown(call.operation, call.excerpt));
                continue;
            };
            if !self.index.contains_key(&definition.id) {
                self.register(definition, Timing::default(), it.excerpt.clone());
            }
            self.connect(definition.id, callee, call.times, call.excerpt);
        }
    }

    fn connect(&mut self, caller: DefId, callee: &Definition, times: u32, excerpt: &Excerpt) {
        if !self.index.contains_key(&callee.id) {
            let untimed = annotation::untimed(&name_of(callee), excerpt);
            self.requirements.diagnostics.push(untimed);
            self.register(callee, Timing::default(), excerpt.clone());
        }
        let (caller, on) = (self.index[&caller], self.index[&callee.id]);
        let is_oneway = matches!(&callee.kind, DefinitionKind::Operation(it) if it.oneway);
        let (from, on, kind) = if is_oneway {
            (on, caller, DependencyKind::OneWayCall)
        } else {
            (caller, on, DependencyKind::TwoWayCall)
        };
        let calls = &mut self.requirements.operations[from].calls;
        calls.push(Call {
            on,
            times,
            kind,
            state: EnableState::default(),
        });
    }

    fn register(&mut self, definition: &Definition, timing: Timing, excerpt: Excerpt) {
        let operations = &mut self.requirements.operations;
        self.index.insert(definition.id, operations.len());
        operations.push(Requirement {
            operation: Some(definition.id),
            name: name_of(definition),
            timing,
            state: EnableState::default(),
            calls: Vec::new(),
            excerpt,
        });
    }
}

fn name_of(definition: &Definition) -> String {
    definition.path.join("::")
}
