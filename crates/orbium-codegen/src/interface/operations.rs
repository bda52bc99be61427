// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions of an interface for stubs and skeletons. Attributes have two: one to read, one to
//! write.

use orbium_idl_model::{
    Attribute, DefId, Definition, DefinitionKind, Direction, Factory, Operation, Type,
};

use crate::names::{self, NameSet};
use crate::plan::Plan;

/// One function of an interface.
pub(crate) struct Function {
    /// The name in Rust.
    pub(crate) name: String,
    /// The name in requests.
    pub(crate) wire: String,
    /// The comment in IDL.
    pub(crate) doc: Option<String>,
    pub(crate) oneway: bool,
    /// Calls may be sent again even if they may have been served.
    pub(crate) idempotent: bool,
    pub(crate) result: Type,
    pub(crate) parameters: Vec<Parameter>,
    /// The declared exceptions.
    pub(crate) raises: Vec<DefId>,
    /// The names of its context clause: if there are any, a list of context strings is sent.
    pub(crate) context: Vec<String>,
    /// Name of the struct of several outputs.
    pub(crate) results: Option<String>,
    /// Its servant sends the results through a reply slot.
    pub(crate) slot: bool,
    /// Its servant replies with a token, possibly after it has returned.
    pub(crate) deferred: bool,
    /// Its servant gets views of its arguments.
    pub(crate) views: bool,
    /// The interface that declares it.
    pub(crate) owner: DefId,
    /// The operation or attribute to which it belongs.
    pub(crate) feature: DefId,
}

/// The names of the functions of one trait or handle, each different and none of those in use. Those
/// that `owner` itself declares come first; bases of IDL may have names that are equal in Rust, as
/// an attribute `x` and an operation `set_x`.
pub(crate) fn distinct_names(
    functions: &[Function],
    owner: DefId,
    mut in_use: NameSet,
) -> Vec<String> {
    let mut names: Vec<_> = functions.iter().map(|it| it.name.clone()).collect();
    let mut taken = in_use.clone();
    taken.extend(names.iter().cloned());
    for own in [true, false] {
        for (function, name) in functions.iter().zip(&mut names) {
            if (function.owner == owner) == own && !in_use.insert(name.clone()) {
                *name = names::fresh(name, &mut taken);
            }
        }
    }
    names
}

/// A parameter under its Rust name.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) direction: Direction,
    pub(crate) ty: Type,
}

/// An output value: its field of the results struct.
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// It is an `inout` parameter rather than a result.
    pub(crate) inout: bool,
}

impl Function {
    /// The functions of an operation or attribute.
    pub(crate) fn of(plan: &Plan<'_>, definition: &Definition) -> Vec<Self> {
        match &definition.kind {
            DefinitionKind::Operation(operation) => {
                vec![Self::operation(plan, definition, operation)]
            }
            DefinitionKind::Attribute(attribute) => Self::attribute(plan, definition, attribute),
            _ => Vec::new(),
        }
    }

    fn operation(plan: &Plan<'_>, definition: &Definition, operation: &Operation) -> Self {
        let methods = plan.methods_of(definition.id);
        let mut taken = NameSet::new();
        let mut parameters = Vec::new();
        for parameter in &operation.parameters {
            parameters.push(Parameter {
                name: names::fresh(&names::value(&parameter.name), &mut taken),
                direction: parameter.direction,
                ty: parameter.ty.clone(),
            });
        }
        let mut function = Self {
            name: methods.call.clone(),
            wire: definition.name.clone(),
            doc: definition.doc.clone(),
            oneway: operation.oneway,
            idempotent: definition.is_idempotent(),
            result: operation.result.clone(),
            parameters,
            raises: operation.raises.clone(),
            context: operation.contexts.clone(),
            results: methods.results.clone(),
            slot: false,
            deferred: plan.is_deferred(definition),
            views: plan.has_views(definition),
            owner: plan.owner(definition),
            feature: definition.id,
        };
        function.slot = plan.has_slot(definition, &function.outputs());
        function
    }

    /// A factory of a value type; the new value is not among its outputs.
    pub(crate) fn factory(value: DefId, factory: &Factory) -> Self {
        let mut taken = NameSet::new();
        let mut parameters = Vec::new();
        for parameter in &factory.parameters {
            parameters.push(Parameter {
                name: names::fresh(&names::value(&parameter.name), &mut taken),
                direction: parameter.direction,
                ty: parameter.ty.clone(),
            });
        }
        Self {
            name: names::value(&factory.name),
            wire: factory.name.clone(),
            doc: factory.doc.clone(),
            oneway: false,
            idempotent: false,
            deferred: false,
            result: Type::Void,
            parameters,
            raises: factory.raises.clone(),
            context: Vec::new(),
            results: None,
            slot: false,
            views: false,
            owner: value,
            feature: value,
        }
    }

    fn attribute(plan: &Plan<'_>, definition: &Definition, attribute: &Attribute) -> Vec<Self> {
        let methods = plan.methods_of(definition.id);
        let mut functions = vec![Self {
            name: methods.call.clone(),
            wire: format!("_get_{}", definition.name),
            doc: definition.doc.clone(),
            oneway: false,
            idempotent: definition.is_idempotent(),
            result: attribute.ty.clone(),
            parameters: Vec::new(),
            raises: attribute.get_raises.clone(),
            context: Vec::new(),
            results: None,
            slot: false,
            deferred: plan.is_deferred(definition),
            views: false,
            owner: plan.owner(definition),
            feature: definition.id,
        }];
        functions[0].slot = plan.has_slot(definition, &functions[0].outputs());
        if let Some(name) = &methods.set {
            functions.push(Self {
                name: name.clone(),
                wire: format!("_set_{}", definition.name),
                doc: definition.doc.clone(),
                oneway: false,
                idempotent: definition.is_idempotent(),
                result: Type::Void,
                parameters: vec![Parameter {
                    name: "value".to_owned(),
                    direction: Direction::In,
                    ty: attribute.ty.clone(),
                }],
                raises: attribute.set_raises.clone(),
                context: Vec::new(),
                results: None,
                slot: false,
                deferred: plan.is_deferred(definition),
                views: plan.has_views(definition),
                owner: plan.owner(definition),
                feature: definition.id,
            });
        }
        functions
    }

    /// Whether it writes an attribute.
    pub(crate) fn is_setter(&self) -> bool {
        self.wire.starts_with("_set_")
    }

    /// The sent arguments: `in` and `inout` parameters in order.
    pub(crate) fn sent(&self) -> Vec<&Parameter> {
        let mut sent = Vec::new();
        for parameter in &self.parameters {
            if parameter.direction != Direction::Out {
                sent.push(parameter);
            }
        }
        sent
    }

    /// The outputs, in marshalling order.
    pub(crate) fn outputs(&self) -> Vec<Output> {
        let mut outputs = Vec::new();
        if self.result != Type::Void {
            outputs.push(Output {
                name: self.local("result"),
                ty: self.result.clone(),
                inout: false,
            });
        }
        for parameter in &self.parameters {
            if parameter.direction != Direction::In {
                outputs.push(Output {
                    name: parameter.name.clone(),
                    ty: parameter.ty.clone(),
                    inout: parameter.direction == Direction::InOut,
                });
            }
        }
        outputs
    }

    /// The only output, if there is exactly one and no `inout`.
    pub(crate) fn only_output(&self) -> Option<Type> {
        match self.outputs().as_slice() {
            [only] if !only.inout => Some(only.ty.clone()),
            _ => None,
        }
    }

    /// A name that differs from all parameters.
    pub(crate) fn local(&self, wanted: &str) -> String {
        names::fresh(wanted, &mut self.taken())
    }

    /// The names of its parameters.
    pub(crate) fn taken(&self) -> NameSet {
        let mut taken = NameSet::new();
        for parameter in &self.parameters {
            taken.insert(parameter.name.clone());
        }
        taken
    }

    /// The module of its error enum and results struct.
    pub(crate) fn home<'p>(&self, plan: &'p Plan<'_>) -> &'p [String] {
        &plan.place_of(self.owner).module
    }

    /// The error type, from a module.
    pub(crate) fn error(&self, plan: &Plan<'_>, from: &[String]) -> String {
        let home = self.home(plan);
        match plan.error_enum(home, &self.raises) {
            Some(error) if !self.raises.is_empty() => plan.path(from, home, &error.name),
            _ => "orb::SystemException".to_owned(),
        }
    }

    /// The result type, from a module.
    pub(crate) fn value(&self, plan: &Plan<'_>, from: &[String]) -> String {
        if let Some(results) = &self.results {
            return plan.path(from, self.home(plan), results);
        }
        let outputs = self.outputs();
        let value = outputs.iter().find(|output| !output.inout);
        value.map_or("()".to_owned(), |output| plan.rust(&output.ty, from))
    }
}
