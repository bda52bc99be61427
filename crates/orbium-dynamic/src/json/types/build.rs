// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes out of JSON.

use orbium_cdr::{TCKind, TypeCode};
use serde_json::value::RawValue;

use super::spelling;
use super::words::{MODIFIERS, WORDS};
use crate::json::object::Object;
use crate::json::parser::{Parsed, Parser};

/// Reads a type: its spelling, its repository id, or an object that describes it.
pub(super) fn code(parser: &mut Parser<'_>, text: &str) -> Parsed<TypeCode> {
    if !text.starts_with('{') {
        return named(parser, text);
    }
    let object = parser.object("a type", text)?;
    if let Some(id) = object.get("$rec") {
        return Ok(TypeCode::recursive(
            &parser.string("a repository id", id.get())?,
        ));
    }
    let kind = kind(parser, &object)?;
    let id = text_of(parser, &object, "id")?;
    let name = text_of(parser, &object, "name")?;
    described(parser, &object, kind, (&id, &name))
}

fn kind(parser: &Parser<'_>, object: &Object<'_>) -> Parsed<TCKind> {
    let word = required(parser, object, "kind")?;
    let word = parser.string("the kind of a type", word)?;
    let kind = WORDS.iter().find(|(other, _)| *other == word);
    let kind = kind.map(|(_, kind)| *kind);
    kind.ok_or_else(|| parser.mismatch("the kind of a type", &word))
}

/// An optional string.
fn text_of(parser: &Parser<'_>, object: &Object<'_>, key: &str) -> Parsed<String> {
    match object.get(key) {
        Some(value) => parser.string("a string", value.get()),
        None => Ok(String::new()),
    }
}

fn described(
    parser: &mut Parser<'_>,
    object: &Object<'_>,
    kind: TCKind,
    (id, name): (&str, &str),
) -> Parsed<TypeCode> {
    Ok(match kind {
        TCKind::Struct => TypeCode::structure(id, name, pairs(&members(parser, object)?)),
        TCKind::Except => TypeCode::exception(id, name, pairs(&members(parser, object)?)),
        TCKind::Union => return union(parser, object, id, name),
        TCKind::Enum => {
            let members = required(parser, object, "members")?;
            let names: Vec<String> = parser.read("the names of enumerators", members)?;
            TypeCode::enumeration(id, name, names.iter().map(String::as_str))
        }
        TCKind::Alias => TypeCode::alias(id, name, content(parser, object)?),
        TCKind::Sequence => {
            let bound = number(parser, object, "bound")?.unwrap_or(0);
            TypeCode::sequence(content(parser, object)?, bound)
        }
        TCKind::Array => {
            let length = number(parser, object, "length")?;
            let length = length.ok_or_else(|| parser.error("the member `length` is missing"))?;
            TypeCode::array(content(parser, object)?, length)
        }
        TCKind::Value | TCKind::Event => {
            return value_type(parser, object, kind, (id, name));
        }
        TCKind::ValueBox => TypeCode::value_box(id, name, content(parser, object)?),
        TCKind::AbstractInterface => TypeCode::abstract_interface(id, name),
        _ => TypeCode::interface(id, name),
    })
}

fn named(parser: &Parser<'_>, text: &str) -> Parsed<TypeCode> {
    let name = parser.string("a type", text)?;
    if let Some(code) = spelling::parse(&name) {
        return Ok(code);
    }
    let known = parser
        .options
        .types
        .and_then(|types| types.type_with_id(&name));
    known.ok_or_else(|| {
        parser.error(format!(
            "`{name}` is no type of IDL, nor the repository id of a known one"
        ))
    })
}

fn required<'j>(parser: &Parser<'_>, object: &Object<'j>, key: &str) -> Parsed<&'j str> {
    let value = object.get(key).map(RawValue::get);
    value.ok_or_else(|| parser.error(format!("the member `{key}` is missing")))
}

fn number(parser: &Parser<'_>, object: &Object<'_>, key: &str) -> Parsed<Option<u32>> {
    let value = object.get(key);
    value
        .map(|it| parser.read("a number", it.get()))
        .transpose()
}

fn content(parser: &mut Parser<'_>, object: &Object<'_>) -> Parsed<TypeCode> {
    let text = required(parser, object, "type")?;
    parser.member("type", |parser| code(parser, text))
}

/// A member of a type: name, type, and further properties.
type Part<'j> = (String, TypeCode, Object<'j>);

fn members<'j>(parser: &mut Parser<'_>, object: &Object<'j>) -> Parsed<Vec<Part<'j>>> {
    let text = required(parser, object, "members")?;
    let members: Vec<&RawValue> = parser.read("the members of a type", text)?;
    let read = members.into_iter().map(|member| {
        let member = parser.object("a member", member.get())?;
        let name = parser.string("a name", required(parser, &member, "name")?)?;
        let code = parser.member(&name, |parser| content(parser, &member))?;
        Ok((name, code, member))
    });
    read.collect()
}

fn pairs<'p>(members: &'p [Part<'_>]) -> impl Iterator<Item = (&'p str, TypeCode)> {
    let pair = |(name, code, _): &'p Part<'_>| (name.as_str(), code.clone());
    members.iter().map(pair)
}

fn union(parser: &mut Parser<'_>, object: &Object<'_>, id: &str, name: &str) -> Parsed<TypeCode> {
    let text = required(parser, object, "discriminator")?;
    let discriminator = parser.member("discriminator", |parser| code(parser, text))?;
    let members = members(parser, object)?;
    let mut cases = Vec::new();
    for (name, code, member) in &members {
        let label = parser.string("a label", required(parser, member, "label")?)?;
        let label = match label.as_str() {
            "default" => None,
            number => {
                let number = number.parse();
                Some(number.map_err(|_| parser.mismatch("a label", &label))?)
            }
        };
        cases.push((label, name.as_str(), code.clone()));
    }
    let code = TypeCode::union(id, name, discriminator, cases);
    code.ok_or_else(|| parser.error("no union can have that discriminator"))
}

fn value_type(
    parser: &mut Parser<'_>,
    object: &Object<'_>,
    kind: TCKind,
    (id, name): (&str, &str),
) -> Parsed<TypeCode> {
    let word = text_of(parser, object, "modifier")?;
    let modifier = match MODIFIERS.iter().find(|(it, _)| *it == word) {
        Some((_, modifier)) => *modifier,
        None if word.is_empty() => 0,
        None => return Err(parser.mismatch("custom, abstract or truncatable", &word)),
    };
    let base = match object.get("base") {
        Some(base) => Some(parser.member("base", |parser| code(parser, base.get()))?),
        None => None,
    };
    let parts = members(parser, object)?;
    let is_public = |member: &Object<'_>| match member.get("private").map(RawValue::get) {
        Some("true") => Ok(false),
        Some("false") | None => Ok(true),
        Some(other) => Err(parser.mismatch("boolean", other)),
    };
    let mut visible = Vec::new();
    for (name, code, member) in &parts {
        visible.push((name.as_str(), code.clone(), is_public(member)?));
    }
    Ok(match kind {
        TCKind::Event => TypeCode::event(id, name, modifier, base, visible),
        _ => TypeCode::value(id, name, modifier, base, visible),
    })
}
