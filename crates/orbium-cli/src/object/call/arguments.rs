// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments: from the command line to values.

use std::borrow::Cow;

use orbium::{Any, TypeCode, cdr::TCKind};
use orbium_dynamic::{
    JsonError, JsonOptions, Parameter, Signature, members, members_from_json, quoted,
};

use crate::failure::Failure;
use crate::object::given::text;
use crate::output::printable;

/// One argument for each parameter that is sent, as a struct.
pub(super) fn in_order(
    signature: &Signature,
    given: &[String],
    options: &JsonOptions<'_>,
) -> Result<Any, Failure> {
    let sent: Vec<_> = sent(signature).collect();
    if sent.len() != given.len() {
        return Err(wrong_count(signature, &sent, given.len()));
    }
    let texts = given.iter().map(|given| text(given));
    let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    values(signature, &texts, options)
}

/// All arguments out of one object or array, as a struct.
pub(super) fn by_name(
    signature: &Signature,
    given: &str,
    options: &JsonOptions<'_>,
) -> Result<Any, Failure> {
    let text = text(given)?;
    let names: Vec<_> = sent(signature).map(|it| it.name.as_str()).collect();
    let texts = members(&text, &names).map_err(|error| Failure::because(error.to_string()))?;
    values(signature, &texts, options)
}

fn sent(signature: &Signature) -> impl Iterator<Item = &Parameter> {
    let parameters = signature.parameters.iter();
    parameters.filter(|it| it.direction.is_sent())
}

fn wrong_count(signature: &Signature, sent: &[&Parameter], given: usize) -> Failure {
    let names: Vec<_> = sent
        .iter()
        .map(|it| printable(&format!("{} {}", type_name(&it.code), it.name)))
        .collect();
    let expected = match names.len() {
        0 => "no argument".to_owned(),
        1 => format!("1 argument ({})", names[0]),
        count => format!("{count} arguments ({})", names.join(", ")),
    };
    Failure::wrong_usage(format!(
        "`{}` takes {expected}, but {given} {} given",
        signature.name,
        if given == 1 { "is" } else { "are" }
    ))
}

/// The name of a type for messages.
fn type_name(code: &TypeCode) -> String {
    match code.name() {
        "" => code.to_string(),
        name => name.to_owned(),
    }
}

/// The values of all parameters that are sent: a value in one may be that of another.
fn values(
    signature: &Signature,
    texts: &[&str],
    options: &JsonOptions<'_>,
) -> Result<Any, Failure> {
    let texts = sent(signature).zip(texts).map(|(parameter, text)| {
        let code = parameter.code.unaliased();
        if is_plain_text(&code, text) {
            Cow::Owned(quoted(text.trim_end_matches(['\r', '\n'])))
        } else {
            Cow::Borrowed(*text)
        }
    });
    let texts: Vec<_> = texts.collect();
    let texts: Vec<_> = texts.iter().map(AsRef::as_ref).collect();
    let read = members_from_json(&signature.arguments_type(), &texts, options);
    read.map_err(|error| Failure::because(wrong_value(&error)))
}

/// The error of an argument, with the name of its parameter.
fn wrong_value(error: &JsonError) -> String {
    let path = error.path().trim_start_matches("$.");
    printable(&format!("{path}: {}", error.reason()))
}

/// Whether an argument is plain text in place of a JSON string.
fn is_plain_text(code: &TypeCode, text: &str) -> bool {
    let text = text.trim_start();
    match code.kind() {
        TCKind::String | TCKind::WString | TCKind::Char | TCKind::WChar => {
            !text.starts_with(['"', '{'])
        }
        TCKind::Enum => !text.starts_with('"') && !text.starts_with(|c: char| c.is_ascii_digit()),
        TCKind::ObjRef => !text.starts_with('"') && text.trim() != "null",
        _ => false,
    }
}
