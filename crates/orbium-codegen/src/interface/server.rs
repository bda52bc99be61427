// SPDX-License-Identifier: MIT OR Apache-2.0
//! The traits of servants, in the form that the runtime's macros generate.

use orbium_idl_model::{DefId, Direction};

use crate::emit::Emitter;
use crate::interface::operations::Function;
use crate::plan::Plan;

/// The parts of a method's signature.
pub(crate) struct Signature {
    /// `fn name`.
    pub(crate) head: String,
    pub(crate) parameters: Vec<String>,
    /// The type returned.
    pub(crate) result: String,
}

impl Emitter<'_, '_> {
    /// The path of the trait of an interface's servants.
    pub(crate) fn servant_path(&self, id: DefId) -> String {
        let module = &self.plan.place_of(id).module;
        self.plan
            .path(&self.module, module, &self.plan.interface(id).servant)
    }

    /// The head of a trait; too many supertraits are on separate lines.
    pub(crate) fn trait_head(&mut self, head: &str, bases: usize) {
        if bases < 2 || self.text.fits(&format!("{head} {{")) {
            return self.text.open(format!("{head} {{"));
        }
        let (name, supertraits) = head.split_once(": ").unwrap_or((head, ""));
        self.text.line(format!("{name}:"));
        self.text.inwards();
        if self.text.fits(supertraits) {
            self.text.line(supertraits);
        } else {
            let (mut rest, mut plus) = (supertraits, "");
            while let Some((base, others)) = rest.split_once(" + ") {
                self.text.line(format!("{plus}{base}"));
                (rest, plus) = (others, "+ ");
            }
            self.text.line(format!("{plus}{rest}"));
        }
        self.text.outwards();
        self.text.open("{");
    }

    /// The parts of the signature of a servant's method.
    pub(crate) fn servant_signature(&self, function: &Function) -> Signature {
        let mut parameters = vec![
            "&self".to_owned(),
            format!("{}: &orb::Call<'_>", function.local("call")),
        ];
        for parameter in &function.sent() {
            let ty = match parameter.direction {
                Direction::InOut if !function.slot && !function.deferred => {
                    format!("&mut {}", self.rust(&parameter.ty))
                }
                _ if self.plan.is_view(function, parameter) => {
                    self.plan.view(&parameter.ty, &self.module, "")
                }
                _ => self.plan.parameter(&parameter.ty, &self.module, ""),
            };
            parameters.push(format!("{}: {ty}", parameter.name));
        }
        let mut value = function.value(self.plan, &self.module);
        if function.slot {
            let ty = self.plan.slot(function, &self.module);
            parameters.push(format!("{}: {ty}", function.local("reply")));
            "orb::Sent".clone_into(&mut value);
        }
        let error = function.error(self.plan, &self.module);
        if function.deferred && !function.slot {
            let value = self.plan.deferred_value(function, &self.module, Plan::rust);
            let token = match error.as_str() {
                "orb::SystemException" => format!("orb::DeferredReply<{value}>"),
                error => format!("orb::DeferredReply<{value}, {error}>"),
            };
            parameters.push(format!("{}: {token}", function.local("reply")));
            return Signature {
                head: format!("fn {}", function.name),
                parameters,
                result: String::new(),
            };
        }
        Signature {
            head: format!("fn {}", function.name),
            parameters,
            result: format!("$Result<{value}, {error}>"),
        }
    }
}
