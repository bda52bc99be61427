// SPDX-License-Identifier: MIT OR Apache-2.0
//! The implied IDL of reply handlers (CORBA 3.3 Part 1, 17.13): for each interface that of the
//! objects which receive the replies of its asynchronous calls.

mod handler_names;
mod messaging;
#[cfg(test)]
mod tests;

use orbium_idl_model::{
    DefId, DefMap, DefSet, Definition, DefinitionKind, Direction, Interface, InterfaceKind, Model,
    Operation, Parameter, Type,
};

use handler_names::{HandlerNames, fresh_handler, repository_id};
use messaging::Messaging;

use crate::ami::said_of;

/// The operations of a reply handler for one function of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HandlerOperations {
    /// Receives the results: `op`, `get_attribute`, `set_attribute`.
    pub(crate) reply: DefId,
    /// Receives an exception: `op_excep`.
    pub(crate) exception: DefId,
}

/// The reply handlers added to a model.
#[derive(Debug, Default)]
pub(crate) struct ReplyHandlers {
    /// By interface.
    handlers: DefMap<DefId>,
    are_handlers: DefSet,
    /// By feature: one for an operation, two for an attribute: reading, then writing.
    operations: DefMap<Vec<HandlerOperations>>,
}

impl ReplyHandlers {
    /// The reply handler of an interface, if it has one.
    pub(crate) fn of(&self, interface: DefId) -> Option<DefId> {
        self.handlers.get(interface).copied()
    }

    /// Whether an interface is an added reply handler.
    pub(crate) fn contains(&self, interface: DefId) -> bool {
        self.are_handlers.contains(interface)
    }

    /// The operations of the reply handler for an operation, or for reading and writing an
    /// attribute; empty without a reply handler.
    pub(crate) fn operations(&self, feature: DefId) -> &[HandlerOperations] {
        match self.operations.get(feature) {
            Some(operations) => operations,
            None => &[],
        }
    }
}

/// Adds the reply handlers of the interfaces of the main files, and of their bases.
pub(crate) fn add(model: &mut Model) -> ReplyHandlers {
    let mut replies = ReplyHandlers::default();
    let interfaces = interfaces(model);
    if interfaces.is_empty() {
        return replies;
    }
    let messaging = messaging::find_or_add(model);
    for interface in interfaces {
        let handler = add_handler(model, interface, &messaging, &replies);
        replies.handlers.insert(interface, handler);
        replies.are_handlers.insert(handler);
        fill(model, interface, handler, &messaging, &mut replies);
    }
    replies
}

/// The interfaces with a reply handler, bases first: remote ones that are not reply handlers
/// themselves.
fn interfaces(model: &Model) -> Vec<DefId> {
    let handler = model.lookup("::Messaging::ReplyHandler").map(|it| it.id);
    let (mut found, mut seen) = (Vec::new(), DefSet::default());
    let mut pending = Vec::new();
    for definition in model.definitions() {
        if definition.in_main_file {
            pending.push((definition.id, false));
        }
        while let Some((id, has_bases)) = pending.pop() {
            if has_bases {
                found.push(id);
            } else if has_handler(model, handler, id) && seen.insert(id) {
                pending.push((id, true));
                let bases = model.bases(id).iter().rev();
                pending.extend(bases.map(|base| (*base, false)));
            }
        }
    }
    found
}

/// Whether an interface has a reply handler, given the base of all of those.
fn has_handler(model: &Model, handler: Option<DefId>, id: DefId) -> bool {
    let DefinitionKind::Interface(interface) = &model[id].kind else {
        return false;
    };
    let is_handler = |it: &DefId| Some(*it) == handler;
    let is_remote = interface.kind == InterfaceKind::Plain && !interface.forward_only;
    is_remote && !is_handler(&id) && !model.all_bases(id).iter().any(is_handler)
}

/// A new definition of a scope, at the position of another one in the text.
fn definition(
    model: &Model,
    at: DefId,
    scope: Option<DefId>,
    name: String,
    kind: DefinitionKind,
) -> Definition {
    let mut path = scope.map_or_else(Vec::new, |id| model[id].path.clone());
    path.push(name.clone());
    Definition {
        id: at,
        name,
        path,
        parent: scope,
        repository_id: String::new(),
        doc: None,
        location: model[at].location.clone(),
        in_main_file: model[at].in_main_file,
        annotations: Vec::new(),
        kind,
    }
}

/// The handler of an interface, without operations yet. Its bases are the handlers of the bases, or
/// `Messaging::ReplyHandler` if there are none.
fn add_handler(
    model: &mut Model,
    interface: DefId,
    messaging: &Messaging,
    replies: &ReplyHandlers,
) -> DefId {
    let bases = model.bases(interface).iter();
    let mut bases: Vec<_> = bases.filter_map(|it| replies.of(*it)).collect();
    if bases.is_empty() {
        bases.push(messaging.reply_handler);
    }
    let kind = DefinitionKind::Interface(Interface {
        kind: InterfaceKind::Plain,
        bases,
        contents: Vec::new(),
        forward_only: false,
    });
    let name = fresh_handler(model, interface);
    let scope = model[interface].parent;
    let mut handler = definition(model, interface, scope, name, kind);
    handler.repository_id = repository_id(&model[interface], &handler);
    handler.doc = Some(format!(
        "Takes the replies of asynchronous calls of {}.",
        model[interface].name
    ));
    model.insert(handler, Some(interface))
}

/// One reply of an interface: its feature, and its results.
struct Reply {
    feature: DefId,
    /// The prefix of an attribute's name.
    prefix: &'static str,
    name: String,
    results: Vec<Parameter>,
}

fn fill(
    model: &mut Model,
    interface: DefId,
    handler: DefId,
    messaging: &Messaging,
    replies: &mut ReplyHandlers,
) {
    let own = own_replies(model, interface);
    let mut names = HandlerNames::new(model, interface, handler);
    let mut added = Vec::new();
    for reply in &own {
        let name = names.reply(reply.prefix, &reply.name);
        let done = add_operation(model, handler, reply, &name, reply.results.clone());
        added.push((name, done));
    }
    for (reply, (name, done)) in own.iter().zip(added) {
        let holder = Parameter {
            name: "excep_holder".to_owned(),
            direction: Direction::In,
            ty: Type::Named(messaging.exception_holder),
            annotations: Vec::new(),
            location: model[reply.feature].location.clone(),
        };
        let exception = names.exception(&name);
        let exception = add_operation(model, handler, reply, &exception, vec![holder]);
        let operations = HandlerOperations {
            reply: done,
            exception,
        };
        match replies.operations.get_mut(reply.feature) {
            Some(of_attribute) => of_attribute.push(operations),
            None => drop(replies.operations.insert(reply.feature, vec![operations])),
        }
    }
}

/// The replies of the features that an interface itself declares. Oneways and features with
/// `@ami(FALSE)` have none.
fn own_replies(model: &Model, interface: DefId) -> Vec<Reply> {
    let mut replies = Vec::new();
    for &feature in model.contents(interface) {
        let definition = &model[feature];
        if said_of(model, feature) == Some(false) {
            continue;
        }
        let mut add = |prefix, results| {
            replies.push(Reply {
                feature,
                prefix,
                name: definition.name.clone(),
                results,
            });
        };
        match &definition.kind {
            DefinitionKind::Operation(operation) if !operation.oneway => {
                add("", results(definition, operation));
            }
            DefinitionKind::Attribute(attribute) => {
                let ty = attribute.ty.clone();
                add("get_", vec![return_value(definition, ty)]);
                if !attribute.readonly {
                    add("set_", Vec::new());
                }
            }
            _ => {}
        }
    }
    replies
}

fn return_value(of: &Definition, ty: Type) -> Parameter {
    Parameter {
        name: "ami_return_val".to_owned(),
        direction: Direction::In,
        ty,
        annotations: Vec::new(),
        location: of.location.clone(),
    }
}

/// The result, then `inout` and `out` arguments, all as `in`.
fn results(definition: &Definition, operation: &Operation) -> Vec<Parameter> {
    let mut results = Vec::new();
    if operation.result != Type::Void {
        results.push(return_value(definition, operation.result.clone()));
    }
    for parameter in &operation.parameters {
        if parameter.direction != Direction::In {
            results.push(Parameter {
                direction: Direction::In,
                annotations: Vec::new(),
                ..parameter.clone()
            });
        }
    }
    results
}

fn add_operation(
    model: &mut Model,
    handler: DefId,
    reply: &Reply,
    name: &str,
    parameters: Vec<Parameter>,
) -> DefId {
    let kind = DefinitionKind::Operation(Operation {
        oneway: false,
        result: Type::Void,
        parameters,
        raises: Vec::new(),
        contexts: Vec::new(),
    });
    let name = name.to_owned();
    let mut operation = definition(model, reply.feature, Some(handler), name, kind);
    operation.repository_id = handler_names::within(&model[handler], &operation.name);
    model.insert(operation, None)
}
