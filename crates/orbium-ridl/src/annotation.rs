// SPDX-License-Identifier: MIT OR Apache-2.0
//! `@rt` and `@calls`: their values and errors.

use orbium_idl::model::{Annotation, AnnotationParameter, AnnotationValue, ConstValue};
use orbium_idl::{Diagnostic, Excerpt, Severity};
use orbium_sched::Timing;

/// The example in messages.
const RT: &str = "write such as `@rt(period=\"50 ms\", wcet=\"2 ms\", criticality=HIGH)`";
const CALLS: &str = "write such as `@calls(operation=\"Gyro::read\", times=2)`";

/// The annotation for messages: its name, the code of its errors, and an example.
pub(crate) struct Described {
    name: &'static str,
    code: &'static str,
    example: &'static str,
}

const OF_RT: Described = Described {
    name: "rt",
    code: "rt-argument",
    example: RT,
};

/// `@qos`.
pub(crate) const QOS: Described = Described {
    name: "qos",
    code: "qos-argument",
    example: "write such as `@qos(class=MESSAGE, priority=20000, deadline=\"10 ms\")`",
};

/// The timing of `@rt`; invalid fields are reported and omitted.
pub(crate) fn timing(rt: &Annotation, diagnostics: &mut Vec<Diagnostic>) -> Timing {
    let mut timing = Timing::default();
    each_field(rt, &OF_RT, diagnostics, |field, text| {
        timing.set(field, text)
    });
    timing
}

/// Sets each named field; fields without a name, duplicates, and those that `set` refuses are
/// reported.
pub(crate) fn each_field(
    annotation: &Annotation,
    described: &Described,
    diagnostics: &mut Vec<Diagnostic>,
    mut set: impl FnMut(&str, &str) -> Result<(), String>,
) {
    let &Described {
        name,
        code,
        example,
    } = described;
    let mut seen: Vec<&str> = Vec::new();
    for it in &annotation.parameters {
        let Some(field) = it.name.as_deref() else {
            let message = format!("an argument of `@{name}` has a name");
            diagnostics.push(error(code, it, message, example));
            continue;
        };
        if seen.contains(&field) {
            let message = format!("`{field}` is set twice");
            diagnostics.push(error(code, it, message, "remove one of them"));
            continue;
        }
        seen.push(field);
        let done = match text(&it.value) {
            Some(text) => set(field, &text),
            None => Err(format!("`{field}` is no text, name or number")),
        };
        if let Err(message) = done {
            diagnostics.push(error(code, it, message, example));
        }
    }
}

/// The content of `@calls`.
pub(crate) struct Said<'a> {
    /// The name as it is written.
    pub(crate) operation: &'a str,
    pub(crate) times: u32,
    /// The position of the name.
    pub(crate) excerpt: &'a Excerpt,
}

/// The call of `@calls`; errors are reported.
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

/// The value of a field in the form of [`Timing::set`].
fn text(value: &AnnotationValue) -> Option<String> {
    match value {
        AnnotationValue::Name(name) => Some(name.clone()),
        AnnotationValue::Const(ConstValue::String(text)) => Some(text.clone()),
        AnnotationValue::Const(ConstValue::Integer(number)) => Some(number.to_string()),
        AnnotationValue::Const(_) => None,
    }
}

/// An annotation of a definition that is not an operation.
pub(crate) fn misplaced(annotation: &Annotation) -> Diagnostic {
    let message = format!("`@{}` belongs to an operation", annotation.name);
    let help = "write it before an operation of an interface";
    at("misplaced-annotation", &annotation.excerpt, message, help)
}

/// A second `@rt` or `@qos` of one operation.
pub(crate) fn repeated(annotation: &Annotation) -> Diagnostic {
    let message = format!("an operation has one `@{}`", annotation.name);
    let code = match annotation.name.as_str() {
        "qos" => QOS.code,
        _ => OF_RT.code,
    };
    at(code, &annotation.excerpt, message, "remove one of them")
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

/// Whether a module of generated code can have that name.
pub(crate) fn is_module_name(text: &str) -> bool {
    let letter = |it: char| it.is_ascii_lowercase() || it == '_';
    text.starts_with(letter)
        && !text.trim_matches('_').is_empty()
        && text.chars().all(|it| letter(it) || it.is_ascii_digit())
}
