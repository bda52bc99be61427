// SPDX-License-Identifier: MIT OR Apache-2.0
//! Annotations: understood or reported.

use super::Checker;
use crate::ast::{self, Expr, Step};
use crate::model::{Annotation, AnnotationParameter, AnnotationValue, ConstValue};

/// The annotations of IDL 4 and those of orbium's mapping.
const KNOWN: [&str; 40] = [
    "id",
    "autoid",
    "hashid",
    "optional",
    "must_understand",
    "key",
    "external",
    "nested",
    "default_nested",
    "position",
    "value",
    "extensibility",
    "final",
    "appendable",
    "mutable",
    "default",
    "default_literal",
    "range",
    "min",
    "max",
    "unit",
    "bit_bound",
    "verbatim",
    "topic",
    "service",
    "oneway",
    "ami",
    "try_construct",
    "data_representation",
    "ignore_literal_names",
    "bound",
    "deadline",
    "priority",
    "rt",
    "interpreted",
    "inline",
    "shared",
    "Key",
    "Shared",
    "defaultLiteral",
];

impl Checker<'_> {
    pub(super) fn annotations(&mut self, annotations: &[ast::Annotation]) -> Vec<Annotation> {
        let mut checked = Vec::new();
        for annotation in annotations {
            checked.push(self.annotation(annotation));
        }
        checked
    }

    fn annotation(&mut self, annotation: &ast::Annotation) -> Annotation {
        if !KNOWN.contains(&&*annotation.name) {
            let message = format!("unknown annotation `@{}` is ignored", annotation.name);
            self.report
                .warning("unknown-annotation", annotation.span, message);
        }
        let mut parameters = Vec::new();
        for (name, value) in &annotation.parameters {
            if let Some(value) = self.annotation_value(value) {
                parameters.push(AnnotationParameter {
                    name: name.as_ref().map(ToString::to_string),
                    value,
                });
            }
        }
        Annotation {
            name: annotation.name.to_string(),
            parameters,
            location: self.sources.location(annotation.span),
        }
    }

    /// A name alone may be one of the annotation's own words, such as `FINAL`.
    fn annotation_value(&mut self, expr: &Expr) -> Option<AnnotationValue> {
        if let [(Step::Name(name), _)] = expr.steps.as_slice()
            && !self.visible(&name.parts[0].name)
        {
            return Some(AnnotationValue::Name(name.text()));
        }
        self.evaluate_freely(expr)
            .map(|value: ConstValue| AnnotationValue::Const(value))
    }
}
