// SPDX-License-Identifier: MIT OR Apache-2.0
//! Annotations: interpreted or reported.

use super::{Checker, constant};
use crate::model::{
    Annotation, AnnotationParameter, AnnotationValue, ConstValue, DefId, DefinitionKind, Direction,
    Operation, Type,
};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, Step};

/// The annotations of IDL 4 and those of orbium's mapping.
const KNOWN: &str = "id autoid hashid optional must_understand key external nested \
    default_nested position value extensibility final appendable mutable default default_literal range min max unit \
    bit_bound verbatim topic service oneway ami try_construct data_representation \
    ignore_literal_names bound deadline priority rt calls qos interpreted inline idempotent \
    borrow deferred view shared Key Shared defaultLiteral";

impl Checker<'_> {
    pub(super) fn annotations(&mut self, annotations: &[ast::Annotation]) -> Vec<Annotation> {
        let helps = [
            ("idempotent", "that may be called twice for one call"),
            ("borrow", "whose servant sends results that it borrows"),
            ("deferred", "whose servant answers after it has returned"),
            ("view", "whose servant reads its arguments in place"),
        ];
        for (name, which) in helps {
            if let Some(misplaced) = find(annotations, name) {
                let message = format!("`@{name}` belongs to an operation or an attribute");
                self.report
                    .error("misplaced-annotation", misplaced.span, message)
                    .help(format!("write it before each operation {which}"));
            }
        }
        self.annotations_in_place(annotations)
    }

    /// The annotations of a definition of that kind.
    pub(super) fn annotations_of(
        &mut self,
        kind: &DefinitionKind,
        annotations: &[ast::Annotation],
    ) -> Vec<Annotation> {
        match kind {
            DefinitionKind::Operation(operation) => {
                self.check_idempotent_has_effect(operation.oneway, annotations);
                self.check_borrow_has_effect(operation, annotations);
                self.check_deferred_has_effect(annotations);
                self.annotations_in_place(annotations)
            }
            DefinitionKind::Attribute(_) => {
                self.check_idempotent_has_effect(false, annotations);
                self.check_borrow_in_remote_interface(annotations);
                self.check_deferred_has_effect(annotations);
                self.annotations_in_place(annotations)
            }
            _ => self.annotations(annotations),
        }
    }

    fn check_idempotent_has_effect(&mut self, oneway: bool, annotations: &[ast::Annotation]) {
        let Some(idempotent) = find(annotations, "idempotent") else {
            return;
        };
        let message = if oneway {
            "`@idempotent` has no effect on a oneway operation: no reply can be missed"
        } else if self.is_in_local_interface() {
            "`@idempotent` has no effect in a local interface: its calls use no connection"
        } else {
            return;
        };
        self.report
            .warning("annotation-without-effect", idempotent.span, message)
            .help("remove it");
    }

    fn check_borrow_has_effect(&mut self, operation: &Operation, annotations: &[ast::Annotation]) {
        let gives = operation.result != Type::Void
            || operation
                .parameters
                .iter()
                .any(|it| it.direction != Direction::In);
        let message = match (operation.oneway, gives) {
            (true, _) => "`@borrow` has no effect on a oneway operation: it has no results",
            (_, false) => "`@borrow` has no effect on an operation without results",
            _ => return self.check_borrow_in_remote_interface(annotations),
        };
        self.warn_of_borrow(annotations, message);
    }

    fn check_borrow_in_remote_interface(&mut self, annotations: &[ast::Annotation]) {
        if self.is_in_local_interface() {
            let message = "`@borrow` has no effect in a local interface: nothing is sent";
            self.warn_of_borrow(annotations, message);
        }
    }

    fn check_deferred_has_effect(&mut self, annotations: &[ast::Annotation]) {
        let Some(deferred) = find(annotations, "deferred") else {
            return;
        };
        let message = match find(annotations, "borrow") {
            _ if self.is_in_local_interface() => {
                "`@deferred` has no effect in a local interface: nothing is sent"
            }
            Some(_) => {
                "`@deferred` has no effect beside `@borrow`: those results are sent before the servant returns"
            }
            None => return,
        };
        self.report
            .warning("annotation-without-effect", deferred.span, message)
            .help("remove it");
    }

    fn warn_of_borrow(&mut self, annotations: &[ast::Annotation], message: &str) {
        if let Some(borrow) = find(annotations, "borrow") {
            self.report
                .warning("annotation-without-effect", borrow.span, message)
                .help("remove it");
        }
    }

    fn annotations_in_place(&mut self, annotations: &[ast::Annotation]) -> Vec<Annotation> {
        let mut checked = Vec::new();
        for annotation in annotations {
            checked.push(self.annotation(annotation));
        }
        checked
    }

    fn annotation(&mut self, annotation: &ast::Annotation) -> Annotation {
        if !KNOWN.split(' ').any(|it| it == &*annotation.name) {
            let message = format!("unknown annotation `@{}` is ignored", annotation.name);
            self.report
                .warning("unknown-annotation", annotation.span, message);
        }
        let mut parameters = Vec::new();
        for (name, expression) in &annotation.parameters {
            if let Some(value) = self.annotation_value(expression)
                && self.can_copy(octets_of(&value), expression.span)
            {
                parameters.push(AnnotationParameter {
                    name: name.as_ref().map(ToString::to_string),
                    excerpt: self.sources.excerpt(expression.span),
                    value,
                });
            }
        }
        if &*annotation.name == "bit_bound" {
            self.check_bit_bound(annotation, &parameters);
        }
        if matches!(
            &*annotation.name,
            "idempotent" | "borrow" | "deferred" | "view"
        ) {
            self.check_switch(annotation, &parameters);
        }
        Annotation {
            name: annotation.name.to_string(),
            parameters,
            excerpt: self.sources.excerpt(annotation.span),
        }
    }

    /// The annotations of a field for one of its declarators.
    pub(super) fn copied_annotations(&mut self, of: &[Annotation], span: Span) -> Vec<Annotation> {
        let mut octets = 0;
        for annotation in of {
            octets += annotation.excerpt.source_line.len();
            for parameter in &annotation.parameters {
                octets += parameter.excerpt.source_line.len() + octets_of(&parameter.value);
            }
        }
        if self.can_copy(octets, span) {
            of.to_vec()
        } else {
            Vec::new()
        }
    }

    /// `@idempotent`, `@borrow`, `@deferred` and `@view` have no argument, or one boolean.
    fn check_switch(&mut self, annotation: &ast::Annotation, parameters: &[AnnotationParameter]) {
        let is_named_so = |name: &Option<String>| name.as_ref().is_none_or(|it| it == "value");
        match parameters {
            [] => return, // there is none, or it was reported already
            [only]
                if is_named_so(&only.name)
                    && matches!(only.value, AnnotationValue::Const(ConstValue::Boolean(_))) =>
            {
                return;
            }
            _ => {}
        }
        let name = &annotation.name;
        let message = format!("`@{name}` takes no argument but `TRUE` or `FALSE`");
        let code = match &**name {
            "borrow" => "borrow-argument",
            "deferred" => "deferred-argument",
            "view" => "view-argument",
            _ => "idempotent-argument",
        };
        let span = match annotation.parameters.as_slice() {
            [(_, value)] => value.span,
            _ => annotation.span,
        };
        self.report
            .error(code, span, message)
            .help(format!("write `@{name}`"));
    }

    /// Checks `@bit_bound`: its argument is the number of bits, at most 64.
    fn check_bit_bound(
        &mut self,
        annotation: &ast::Annotation,
        parameters: &[AnnotationParameter],
    ) {
        let found = match (bits(parameters), parameters) {
            (Some(1..=64), _) => return,
            (Some(other), _) => format!(", not {other}"),
            (None, []) if !annotation.parameters.is_empty() => return, // reported already
            _ => String::new(),
        };
        let message = format!("`@bit_bound` needs one integer from 1 to 64{found}");
        let span = match annotation.parameters.as_slice() {
            [(_, value)] => value.span,
            _ => annotation.span,
        };
        self.report
            .error("bit-bound", span, message)
            .help("write the number of bits, such as `@bit_bound(16)`");
    }

    /// Checks that an enum has at most 32 bits, and that its enumerators fit.
    pub(super) fn check_enum_bits(&mut self, id: DefId, around: &[ast::Annotation]) {
        let definition = &self.model[id];
        let DefinitionKind::Enum(e) = &definition.kind else {
            return;
        };
        let mut checked = definition.annotations.iter().zip(around);
        let Some((bound, source)) = checked.find(|(a, _)| a.name == "bit_bound") else {
            return;
        };
        let (count, name) = (e.enumerators.len() as u64, definition.name.clone());
        let message = match bits(&bound.parameters) {
            Some(bits @ 33..=64) => {
                format!("the enum `{name}` cannot have {bits} bits: 32 are the most")
            }
            Some(bits @ 1..=32) if count > 1 << bits => {
                let plural = if bits == 1 { "bit" } else { "bits" };
                format!(
                    "the {count} enumerators of `{name}` do not fit {bits} {plural}: {} do",
                    1u64 << bits
                )
            }
            _ => return,
        };
        self.report.error("bit-bound", source.span, message);
    }

    /// The value of an argument: a name alone may be a word of the annotation, such as `FINAL`.
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

/// The octets of text in the value of an argument.
fn octets_of(value: &AnnotationValue) -> usize {
    match value {
        AnnotationValue::Const(value) => constant::octets(value),
        AnnotationValue::Name(name) => name.len(),
    }
}

/// The annotation of that name.
fn find<'a>(annotations: &'a [ast::Annotation], name: &str) -> Option<&'a ast::Annotation> {
    annotations.iter().find(|it| &*it.name == name)
}

/// The integer value of the only parameter.
fn bits(parameters: &[AnnotationParameter]) -> Option<i128> {
    match parameters {
        [only] => match only.value {
            AnnotationValue::Const(ConstValue::Integer(bits)) => Some(bits),
            _ => None,
        },
        _ => None,
    }
}
