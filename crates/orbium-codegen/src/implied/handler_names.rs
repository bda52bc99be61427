// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of reply handlers and their operations that do not collide with names in IDL.

use std::collections::HashSet;

use orbium_idl_model::{DefId, Definition, DefinitionKind, Model};

/// Names of IDL are equal if they differ only in case.
fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// `AMI_IHandler`, with further prefixes `AMI_` while the scope has that name.
pub(super) fn fresh_handler(model: &Model, interface: DefId) -> String {
    let siblings = match model[interface].parent {
        Some(scope) => model.contents(scope),
        None => model.top_level(),
    };
    let taken: HashSet<_> = siblings.iter().map(|it| key(&model[*it].name)).collect();
    let mut name = format!("AMI_{}Handler", model[interface].name);
    while taken.contains(&key(&name)) {
        name.insert_str(0, "AMI_");
    }
    name
}

/// The repository id of a handler: that of its interface with another name, or the default one if
/// the interface has an explicit id.
pub(super) fn repository_id(interface: &Definition, handler: &Definition) -> String {
    let body = interface.repository_id.strip_prefix("IDL:");
    let body = body.and_then(|it| it.rsplit_once(':'));
    let scope = body.and_then(|(body, _)| body.strip_suffix(&interface.name));
    match scope {
        Some(scope) if scope.is_empty() || scope.ends_with('/') => {
            format!("IDL:{scope}{}:1.0", handler.name)
        }
        _ => format!("IDL:{}:1.0", handler.path.join("/")),
    }
}

/// The repository id of an operation of a handler.
pub(super) fn within(handler: &Definition, name: &str) -> String {
    let body = handler.repository_id.strip_suffix(":1.0");
    let body = body.unwrap_or(&handler.repository_id);
    format!("{body}/{name}:1.0")
}

/// Names of operations that a handler must not use.
pub(super) struct HandlerNames {
    taken: HashSet<String>,
    /// Names that the interface itself declares: exceptions avoid them, as in other ORBs.
    declared: HashSet<String>,
}

impl HandlerNames {
    /// The names that the handler inherits, and those of the interface.
    pub(super) fn new(model: &Model, interface: DefId, handler: DefId) -> Self {
        let mut taken = HashSet::new();
        for base in model.all_bases(handler) {
            for &inherited in model.contents(base) {
                taken.insert(key(&model[inherited].name));
            }
        }
        let mut declared = HashSet::new();
        for &own in model.contents(interface) {
            let kind = &model[own].kind;
            if let DefinitionKind::Operation(_) | DefinitionKind::Attribute(_) = kind {
                declared.insert(key(&model[own].name));
            }
        }
        Self { taken, declared }
    }

    /// `op`, `get_x`, `set_x`, with `ami_` before the name of the operation or attribute while
    /// there is such a name.
    pub(super) fn reply(&mut self, prefix: &str, name: &str) -> String {
        let mut ami = String::new();
        loop {
            let wanted = format!("{prefix}{ami}{name}");
            let is_declared = !prefix.is_empty() && self.declared.contains(&key(&wanted));
            if !is_declared && self.taken.insert(key(&wanted)) {
                return wanted;
            }
            ami.push_str("ami_");
        }
    }

    /// `op_excep`, with `_ami` before `_excep` while there is such a name.
    pub(super) fn exception(&mut self, reply: &str) -> String {
        let mut ami = String::new();
        loop {
            let wanted = format!("{reply}{ami}_excep");
            let is_declared = self.declared.contains(&key(&wanted));
            if !is_declared && self.taken.insert(key(&wanted)) {
                return wanted;
            }
            ami.push_str("_ami");
        }
    }
}
