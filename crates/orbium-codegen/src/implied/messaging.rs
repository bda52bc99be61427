// SPDX-License-Identifier: MIT OR Apache-2.0
//! The module `Messaging`, as far as reply handlers need it.

use std::sync::Arc;

use orbium_idl_model::{
    DefId, Definition, DefinitionKind, Interface, InterfaceKind, Location, Member, Model, Module,
    StateMember, Type, ValueKind, ValueType,
};

/// The definitions of module `Messaging` that reply handlers use.
pub(super) struct Messaging {
    pub(super) reply_handler: DefId,
    pub(super) exception_holder: DefId,
}

/// Finds the definitions, and adds those that no file contains.
pub(super) fn find_or_add(model: &mut Model) -> Messaging {
    let module = found(model, "::Messaging").unwrap_or_else(|| {
        let module = DefinitionKind::Module(Module::default());
        add(model, None, "Messaging", module)
    });
    let reply_handler = found(model, "::Messaging::ReplyHandler");
    let exception_holder = found(model, "::Messaging::ExceptionHolder");
    Messaging {
        reply_handler: reply_handler.unwrap_or_else(|| {
            let interface = DefinitionKind::Interface(Interface {
                kind: InterfaceKind::Plain,
                bases: Vec::new(),
                contents: Vec::new(),
                forward_only: false,
            });
            add(model, Some(module), "ReplyHandler", interface)
        }),
        exception_holder: exception_holder.unwrap_or_else(|| {
            let holder = DefinitionKind::ValueType(holder());
            add(model, Some(module), "ExceptionHolder", holder)
        }),
    }
}

fn found(model: &Model, name: &str) -> Option<DefId> {
    model.lookup(name).map(|it| it.id)
}

fn location() -> Location {
    Location {
        file: Arc::from("<built-in>/Messaging.idl"),
        line: 1,
        column: 1,
    }
}

fn holder() -> ValueType {
    let octets = Type::Sequence {
        element: Box::new(Type::Octet),
        bound: None,
    };
    let members = [
        ("is_system_exception", Type::Boolean),
        ("byte_order", Type::Boolean),
        ("marshaled_exception", octets),
    ];
    let members = members.map(|(name, ty)| StateMember {
        public: false,
        member: Member {
            name: name.to_owned(),
            ty,
            doc: None,
            annotations: Vec::new(),
            location: location(),
        },
    });
    ValueType {
        kind: ValueKind::Plain,
        event: false,
        truncatable: false,
        bases: Vec::new(),
        supports: Vec::new(),
        members: members.into(),
        factories: Vec::new(),
        contents: Vec::new(),
        forward_only: false,
    }
}

fn add(model: &mut Model, parent: Option<DefId>, name: &str, kind: DefinitionKind) -> DefId {
    let mut path = parent.map_or_else(Vec::new, |id| model[id].path.clone());
    path.push(name.to_owned());
    let definition = Definition {
        id: DefId(0),
        name: name.to_owned(),
        repository_id: format!("IDL:omg.org/{}:1.0", path.join("/")),
        path,
        parent,
        doc: None,
        location: location(),
        in_main_file: false,
        annotations: Vec::new(),
        kind,
    };
    model.insert(definition, None)
}
