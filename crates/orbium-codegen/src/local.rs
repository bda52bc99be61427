// SPDX-License-Identifier: MIT OR Apache-2.0
//! Local interfaces: plain traits, which no request ever reaches.

use orbium_idl::model::{Definition, Direction, Interface, InterfaceKind};

use crate::docs;
use crate::emit::Emitter;
use crate::operations::Function;

impl Emitter<'_, '_> {
    pub(crate) fn local_interface(&mut self, definition: &Definition, interface: &Interface) {
        let name = self.name(definition);
        let local = |id: &&orbium_idl::model::DefId| {
            self.plan.interface_kind(**id) == Some(InterfaceKind::Local)
        };
        let supertraits: Vec<String> = interface
            .bases
            .iter()
            .filter(local)
            .map(|id| self.plan.path_to(&self.module, *id))
            .collect();
        // What local bases declare comes from their traits; what the others
        // declare belongs here.
        let bases = self.plan.model.all_bases(definition.id);
        let inherited: Vec<_> = bases.iter().filter(local).copied().collect();
        let covered: Vec<_> = inherited
            .iter()
            .flat_map(|base| self.plan.features(*base))
            .map(|feature| feature.id)
            .collect();
        let functions: Vec<Function> = self
            .plan
            .features(definition.id)
            .into_iter()
            .filter(|feature| !covered.contains(&feature.id))
            .flat_map(|feature| Function::of(self.plan, feature))
            .collect();
        self.note_lints(&functions);
        self.results(definition);
        let count = supertraits.len();
        let supertraits = match count {
            0 => "$Send + $Sync + 'static".to_owned(),
            _ => supertraits.join(" + "),
        };
        self.text.blank();
        self.doc(&docs::of(definition, "local interface"));
        let head = format!("pub trait {name}: {supertraits}");
        if functions.is_empty() {
            return self.text.line(format!("{head} {{}}"));
        }
        self.trait_head(&head, count);
        for function in &functions {
            self.text.blank();
            self.doc(&function.full_doc(self.plan));
            let mut parameters = vec!["&self".to_owned()];
            for parameter in function.sent() {
                let ty = match parameter.direction {
                    Direction::InOut => format!("&mut {}", self.rust(&parameter.ty)),
                    _ => self.plan.parameter(&parameter.ty, &self.module, ""),
                };
                parameters.push(format!("{}: {ty}", parameter.name));
            }
            let value = function.value(self.plan, &self.module);
            let error = function.error(self.plan, &self.module);
            let tail = format!(" -> $Result<{value}, {error}>;");
            self.text
                .signature(&format!("fn {}", function.name), &parameters, &tail);
        }
        self.text.close("}");
    }
}
