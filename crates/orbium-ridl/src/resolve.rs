// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolution of an operation's name.

use orbium_idl::model::{Definition, DefinitionKind, Model};

/// The operation of that name, resolved from an operation: in its interface, in the enclosing
/// scopes, and from file scope. The interface of a scoped name may inherit the operation.
pub(crate) fn resolve<'m>(
    model: &'m Model,
    from: &Definition,
    name: &str,
) -> Option<&'m Definition> {
    if let Some(absolute) = name.strip_prefix("::") {
        return named(model, &[], absolute);
    }
    let scopes = &from.path[..from.path.len().saturating_sub(1)];
    let outward = (0..=scopes.len()).rev().map(|depth| &scopes[..depth]);
    outward
        .into_iter()
        .find_map(|scope| named(model, scope, name))
}

fn named<'m>(model: &'m Model, scope: &[String], name: &str) -> Option<&'m Definition> {
    let mut path = scope.join("::");
    if !path.is_empty() {
        path.push_str("::");
    }
    path.push_str(name);
    let is_operation = |it: &Definition| matches!(it.kind, DefinitionKind::Operation(_));
    if let Some(declared) = model.lookup(&path).filter(|it| is_operation(it)) {
        return Some(declared);
    }
    let (interface, operation) = path.rsplit_once("::")?;
    let features = model.all_features(model.lookup(interface)?.id);
    let mut features = features.into_iter().map(|id| &model[id]);
    features.find(|it| it.name == operation && is_operation(it))
}
