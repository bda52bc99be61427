// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion of IDL values to and from JSON.
//!
//! Keys that begin with `$` are not members: no IDL identifier has that character.

mod error;
mod float;
mod graph;
pub(crate) mod integer;
mod numbers;
mod object;
mod options;
mod parser;
mod print;
mod scalars;
mod text;
mod types;
mod union;
mod value;
mod value_graph;

use orbium_cdr::{Any, CdrError, CdrReader, Format, TypeCode, walk_value};
use orbium_value::Linked;

pub use error::JsonError;
pub use options::{JsonOptions, TypesById, quoted};

use graph::Graph;
use parser::Parser;
use print::Printer;

use crate::value_content::may_hold_values;

/// The value of an any as JSON, without its type.
///
/// # Errors
/// A [`CdrError`] if the value cannot be walked, for example that of a custom value type. The names
/// of members and enumerators in the text are limited to a mebibyte plus 256 octets for each octet
/// of the value; longer ones are [`NoMemory`](orbium_cdr::CdrErrorKind::NoMemory), and such types
/// in the value [`TooDeep`](orbium_cdr::CdrErrorKind::TooDeep).
pub fn to_json(any: &Any, options: &JsonOptions<'_>) -> Result<String, CdrError> {
    let code = any.type_code().as_ref();
    let size = any.value_octets().len();
    if !may_hold_values(code) {
        let graph = Graph::default();
        let mut printer = Printer::new(options, &graph, size);
        let mut octets = any.value_octets().to_vec();
        let reader = CdrReader::new(&mut octets, Format::native());
        walk_value(code, &mut reader.with_owner(any.owner()), &mut printer)?;
        return Ok(printer.finish());
    }
    let data = Linked::new(any)?;
    let graph = Graph::of(&data);
    let mut printer = Printer::new(options, &graph, size);
    data.read_with(|reader| walk_value(code, reader, &mut printer))?;
    Ok(printer.finish())
}

/// Reads a value of a type from JSON.
///
/// # Errors
/// A [`JsonError`] with the path of the invalid member.
pub fn from_json(code: &TypeCode, text: &str, options: &JsonOptions<'_>) -> Result<Any, JsonError> {
    Parser::new(options).value_alone(code, text)
}

/// Reads the members of a struct, each from a separate text, in the order of the struct: a `$ref`
/// in one may refer to a value in a previous one.
///
/// # Errors
/// A [`JsonError`] with the path of the invalid member; if the number of texts differs from that of
/// the members, with that of the whole.
pub fn members_from_json(
    code: &TypeCode,
    texts: &[&str],
    options: &JsonOptions<'_>,
) -> Result<Any, JsonError> {
    Parser::new(options).members_alone(code, texts)
}

/// Octets as base64, as in the JSON.
#[must_use]
pub fn base64(octets: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(octets)
}

/// The JSON text of named values: from an object with exactly these members in any order, or an
/// array in the order of the names.
///
/// # Errors
/// A [`JsonError`] that names the missing or unknown member.
pub fn members<'j>(text: &'j str, names: &[&str]) -> Result<Vec<&'j str>, JsonError> {
    let text = text.trim();
    let options = JsonOptions::default();
    let parser = Parser::new(&options);
    if text.starts_with('[') {
        let values: Vec<&serde_json::value::RawValue> = parser.read("an array", text)?;
        if values.len() != names.len() {
            let (found, wanted) = (values.len(), names.len());
            return Err(parser.error(format!("{found} values, where {wanted} are expected")));
        }
        return Ok(values
            .into_iter()
            .map(serde_json::value::RawValue::get)
            .collect());
    }
    let object = parser.object("an object or an array", text)?;
    if let Some((name, _)) = object
        .0
        .iter()
        .find(|(name, _)| !names.contains(&name.as_str()))
    {
        return Err(parser.error(format!("there is no `{name}`: {}", names.join(", "))));
    }
    let missing = |name: &str| parser.error(format!("`{name}` is missing"));
    let values = names
        .iter()
        .map(|name| Ok(object.get(name).ok_or_else(|| missing(name))?.get()));
    values.collect()
}
