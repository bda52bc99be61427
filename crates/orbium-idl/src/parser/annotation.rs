// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL 4 annotations.

use std::rc::Rc;

use super::{Parse, Parser};
use crate::syntax::ast::Annotation;

impl Parser<'_> {
    /// Annotations before a declaration, member, parameter or enumerator; possibly none.
    pub(super) fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.at("@") && !self.peek_at(1).is("annotation") {
            let start = self.bump().span;
            let name = self.annotation_name()?;
            let mut parameters = Vec::new();
            // A parenthesis after a blank would begin something else, but no construct that may
            // follow an annotation begins with one.
            if self.eat("(") && !self.eat(")") {
                loop {
                    let named = self.peek().is_identifier() && self.peek_at(1).is("=");
                    let parameter = if named {
                        let name = self.bump().text;
                        self.bump();
                        Some(name)
                    } else {
                        None
                    };
                    parameters.push((parameter, self.expression()?));
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
            }
            annotations.push(Annotation {
                name,
                parameters,
                span: start.to(self.last_span()),
            });
        }
        Ok(annotations)
    }

    /// Annotations of a type within a declaration: none has an effect.
    pub(super) fn annotations_of_type(&mut self) -> Parse<()> {
        for Annotation { name, span, .. } in self.annotations()? {
            match &*name {
                "idempotent" | "borrow" | "deferred" | "view" => {
                    let message = format!("`@{name}` belongs to an operation or an attribute");
                    self.report.error("misplaced-annotation", span, message)
                }
                _ => {
                    let message = format!("annotation `@{name}` of a type has no effect");
                    self.report
                        .warning("annotation-without-effect", span, message)
                }
            };
        }
        Ok(())
    }

    /// The name may be scoped, also from file scope, and may be a keyword (`@default`).
    fn annotation_name(&mut self) -> Parse<Rc<str>> {
        self.eat("::");
        let mut name = String::new();
        loop {
            if !self.peek().is_identifier() {
                self.unexpected("the name of an annotation");
                return Err(super::Broken);
            }
            name.push_str(&self.bump().text);
            if !self.eat("::") {
                return Ok(name.into());
            }
            name.push_str("::");
        }
    }
}
