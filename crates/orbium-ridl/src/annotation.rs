// SPDX-License-Identifier: MIT OR Apache-2.0
//! `@rt` and `@calls`: their values, and what is wrong with them.

use orbium_idl::model::{Annotation, AnnotationParameter, AnnotationValue, ConstValue};
use orbium_idl::{Diagnostic, Excerpt, Severity};
use orbium_sched::Timing;

/// The example in messages.
const RT: &str = "write such as `@rt(period=\"50 ms\", wcet=\"2 ms\", criticality=HIGH)`";
const CALLS: &str = "write such as `@calls(operation=\"Gyro::read\", times=2)`";

/// The timing that `@rt` gives; wrong fields are reported and left out.
pub(crate) fn timing(rt: &Annotation, diagnostics: &mut Vec<Diagnostic>) -> Timing {
    let mut timing = Timing::default();
    let mut seen: Vec<&str> = Vec::new();
    for it in &rt.parameters {
        let Some(field) = it.name.as_deref() else {
            diagnostics.push(error(
                "rt-argument",
                it,
                "an argument of `@rt` has a name",
                RT,
            ));
            continue;
        };
        if seen.contains(&field) {
            let message = format!("`{field}` is set twice");
            diagnostics.push(error("rt-argument", it, message, "remove one of them"));
            continue;
        }
        seen.push(field);
        let set = match text(&it.value) {
            Some(text) => timing.set(field, &text),
            None => Err(format!("`{field}` is no text, name or number")),
        };
        if let Err(message) = set {
            diagnostics.push(error("rt-argument", it, message, RT));
        }
    }
    timing
}

/// What `@calls` says.
pub(crate) struct Said<'a> {
    /// The name as it is written.
    pub(crate) operation: &'a str,
    pub(crate) times: u32,
    /// Where the name stands.
    pub(crate) excerpt: &'a Excerpt,
}

/// The call that `@calls` names; mistakes are reported.
pub(crate) fn call<'a>(
    calls: &'a Annotation,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Said<'a>> {
    let (mut operation, mut times) = (None, 1);
    for it in &calls.parameters {
        match (it.name.as_deref(), &it.value) {
            (Some("operation"), AnnotationValue::Const(ConstValue::String(name)))
                if operation.is_none() =>
            {
                operation = Some((&**name, &it.excerpt));
            }
            (Some("times"), AnnotationValue::Const(ConstValue::Integer(number))) => {
                match u32::try_from(*number) {
                    Ok(number @ 1..) => times = number,
                    _ => {
                        let message =
                            format!("{number} is no number of calls from 1 to 4294967295");
                        diagnostics.push(error("calls-argument", it, message, CALLS));
                    }
                }
            }
            _ => {
                let message = "`@calls` takes operation=\"NAME\" and times=NUMBER, once each";
                diagnostics.push(error("calls-argument", it, message, CALLS));
            }
        }
    }
    let Some((operation, excerpt)) = operation else {
        let message = "`@calls` names no operation";
        diagnostics.push(at("calls-argument", &calls.excerpt, message, CALLS));
        return None;
    };
    Some(Said {
        operation,
        times,
        excerpt,
    })
}

/// The value of a field as [`Timing::set`] reads it.
fn text(value: &AnnotationValue) -> Option<String> {
    match value {
        AnnotationValue::Name(name) => Some(name.clone()),
        AnnotationValue::Const(ConstValue::String(text)) => Some(text.clone()),
        AnnotationValue::Const(ConstValue::Integer(number)) => Some(number.to_string()),
        AnnotationValue::Const(_) => None,
    }
}

/// An annotation of something that is no operation.
pub(crate) fn misplaced(annotation: &Annotation) -> Diagnostic {
    let message = format!("`@{}` belongs to an operation", annotation.name);
    let help = "write it before an operation of an interface";
    at("misplaced-annotation", &annotation.excerpt, message, help)
}

/// A second `@rt` of one operation.
pub(crate) fn repeated(annotation: &Annotation) -> Diagnostic {
    let message = "an operation has one `@rt`";
    at(
        "rt-argument",
        &annotation.excerpt,
        message,
        "remove one of them",
    )
}

/// A name that no operation has.
pub(crate) fn unknown(name: &str, excerpt: &Excerpt) -> Diagnostic {
    let name: String = name.chars().take(80).collect();
    let message = format!("there is no operation `{name}`");
    let help = "write the scoped name of an operation, such as `Module::Interface::operation`";
    at("unknown-operation", excerpt, message, help)
}

/// A call of an operation without `@rt`.
pub(crate) fn untimed(name: &str, excerpt: &Excerpt) -> Diagnostic {
    let message = format!("`{name}` is called and has no `@rt`: its time counts as none");
    Diagnostic {
        severity: Severity::Warning,
        ..at(
            "no-timing",
            excerpt,
            message,
            "annotate it with `@rt(wcet=\"…\")`",
        )
    }
}

fn error(
    code: &'static str,
    parameter: &AnnotationParameter,
    message: impl Into<String>,
    help: &str,
) -> Diagnostic {
    at(code, &parameter.excerpt, message, help)
}

fn at(code: &'static str, excerpt: &Excerpt, message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        code,
        message: message.into(),
        excerpt: Some(excerpt.clone()),
        labels: Vec::new(),
        help: Some(help.to_owned()),
    }
}
