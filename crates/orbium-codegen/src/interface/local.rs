// SPDX-License-Identifier: MIT OR Apache-2.0
//! Local interfaces: plain traits, without requests.

use orbium_idl_model::{DefSet, Definition, Direction, Interface, InterfaceKind};

use crate::docs;
use crate::emit::Emitter;
use crate::interface::operations::{Function, distinct_names};
use crate::interface::server::Signature;
use crate::names::NameSet;

impl Emitter<'_, '_> {
    pub(crate) fn local_interface(&mut self, definition: &Definition, interface: &Interface) {
        let name = self.name(definition);
        let local = |id| self.plan.interface_kind(id) == Some(InterfaceKind::Local);
        let mut supertraits = Vec::new();
        for id in &interface.bases {
            if local(*id) {
                supertraits.push(self.plan.path_to(&self.module, *id));
            }
        }
        let functions = self.local_functions(definition);
        self.results(definition);
        let count = supertraits.len();
        let supertraits = match count {
            0 => "$Send + $Sync + 'static".to_owned(),
            _ => supertraits.join(" + "),
        };
        self.text.blank();
        let what = docs::of(definition, "local interface");
        self.doc(&what);
        let head = format!("pub trait {name}: {supertraits}");
        if functions.is_empty() {
            return self.text.line(format!("{head} {{}}"));
        }
        self.trait_head(&head, count);
        for function in &functions {
            self.comment(function.doc.as_deref());
            let Signature {
                head,
                parameters,
                result,
            } = self.local_signature(function);
            self.text
                .signature(&head, &parameters, &format!(" -> {result};"));
        }
        self.text.close("}");
    }

    /// The functions of the trait of a local interface, under its names of them.
    pub(crate) fn local_functions(&self, definition: &Definition) -> Vec<Function> {
        let local = |id| self.plan.interface_kind(id) == Some(InterfaceKind::Local);
        // Functions of local bases are in their traits; those of other bases are declared here.
        let mut covered = DefSet::default();
        for &base in &self.plan.model.all_bases(definition.id) {
            if local(base) {
                for &feature in &self.plan.features(base) {
                    covered.insert(feature.id);
                }
            }
        }
        let (mut functions, mut inherited) = (Vec::new(), NameSet::new());
        for &feature in &self.plan.features(definition.id) {
            let mut of_feature = Function::of(self.plan, feature);
            if covered.contains(feature.id) {
                inherited.extend(of_feature.into_iter().map(|it| it.name));
            } else {
                functions.append(&mut of_feature);
            }
        }
        let names = distinct_names(&functions, definition.id, inherited);
        for (function, name) in functions.iter_mut().zip(names) {
            function.name = name;
        }
        functions
    }

    /// The parts of the signature of a method of a local interface.
    pub(crate) fn local_signature(&self, function: &Function) -> Signature {
        let mut parameters = vec!["&self".to_owned()];
        for parameter in &function.sent() {
            let ty = match parameter.direction {
                Direction::InOut => format!("&mut {}", self.rust(&parameter.ty)),
                _ => self.plan.parameter(&parameter.ty, &self.module, ""),
            };
            parameters.push(format!("{}: {ty}", parameter.name));
        }
        let value = function.value(self.plan, &self.module);
        let error = function.error(self.plan, &self.module);
        Signature {
            head: format!("fn {}", function.name),
            parameters,
            result: format!("$Result<{value}, {error}>"),
        }
    }
}
