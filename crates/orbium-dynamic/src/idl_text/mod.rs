// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions as IDL: an interface with its bases and every type that it uses.

mod declarations;
mod identifiers;
mod selection;

use orbium_idl::model::{DefId, DefinitionKind, Model};

use crate::definitions::Definitions;
use declarations::Writer;
pub use identifiers::escaped as idl_identifier;
use selection::Selection;

impl Definitions {
    /// IDL of an interface, its bases, and the types that they use; only the names of other
    /// interfaces. It compiles to the same repository ids.
    #[must_use]
    pub fn idl_of(&self, interface: DefId) -> String {
        let model = self.model();
        let selection = Selection::of(model, interface);
        let prefix = identifiers::prefix(&model[interface]);
        let mut writer = Writer::new(model, &selection, prefix);
        writer.begin();
        forward(model, &selection, model.top_level(), &mut writer);
        define(model, &selection, model.top_level(), &mut writer);
        writer.finish()
    }
}

/// Declares types that may be used before their definition.
fn forward(model: &Model, selection: &Selection, scope: &[DefId], writer: &mut Writer<'_>) {
    for id in scope {
        if !selection.has_forward(model, *id) {
            continue;
        }
        match &model[*id].kind {
            DefinitionKind::Module(module) => {
                writer.open(*id, "module");
                forward(model, selection, &module.contents, writer);
                writer.close();
            }
            _ => writer.forward(*id),
        }
    }
}

fn define(model: &Model, selection: &Selection, scope: &[DefId], writer: &mut Writer<'_>) {
    for id in scope {
        if !selection.is_defined(*id) {
            continue;
        }
        match &model[*id].kind {
            DefinitionKind::Module(module) => {
                writer.open(*id, "module");
                define(model, selection, &module.contents, writer);
                writer.close();
            }
            _ => writer.define(*id),
        }
    }
}
