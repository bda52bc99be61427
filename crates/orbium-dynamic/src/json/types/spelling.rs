// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL syntax of types without names.

use orbium_cdr::{TCKind, Type, TypeCode, TypeRef};

/// Maximum nesting of sequences in the spelling.
const MAX_DEPTH: usize = 32;

/// Every kind that consists of a keyword only.
const SIMPLE: &[&Type] = &[
    Type::NULL,
    Type::VOID,
    Type::SHORT,
    Type::LONG,
    Type::USHORT,
    Type::ULONG,
    Type::FLOAT,
    Type::DOUBLE,
    Type::BOOLEAN,
    Type::CHAR,
    Type::OCTET,
    Type::ANY,
    Type::TYPE_CODE,
    Type::PRINCIPAL,
    Type::LONGLONG,
    Type::ULONGLONG,
    Type::LONGDOUBLE,
    Type::WCHAR,
    Type::STRING,
    Type::WSTRING,
];

/// The IDL syntax of a type; `None` for one with a name, or with a named part.
pub(super) fn of(code: TypeRef<'_>) -> Option<String> {
    spelled(code, MAX_DEPTH)
}

fn spelled(code: TypeRef<'_>, depth: usize) -> Option<String> {
    let kind = code.kind();
    let keyword = kind.keyword();
    Some(match kind {
        TCKind::String | TCKind::WString if code.length() > 0 => {
            format!("{keyword}<{}>", code.length())
        }
        TCKind::Fixed => format!("fixed<{},{}>", code.digits(), code.scale()),
        TCKind::Sequence => {
            let element = spelled(code.content_type()?, depth.checked_sub(1)?)?;
            match code.length() {
                0 => format!("sequence<{element}>"),
                bound => format!("sequence<{element},{bound}>"),
            }
        }
        TCKind::ObjRef if code.equal(TypeCode::from(Type::OBJECT).as_ref()) => "Object".to_owned(),
        TCKind::String | TCKind::WString => keyword.to_owned(),
        _ if kind.is_simple() => keyword.to_owned(),
        _ => return None,
    })
}

/// The type of a spelling; additional spaces between words are ignored.
pub(super) fn parse(text: &str) -> Option<TypeCode> {
    parsed(text, MAX_DEPTH)
}

fn parsed(text: &str, depth: usize) -> Option<TypeCode> {
    let depth = depth.checked_sub(1)?;
    let text = text.trim();
    let Some((word, parameters)) = text.split_once('<') else {
        return simple(text);
    };
    let parameters = parameters.strip_suffix('>')?.trim();
    match word.trim() {
        "string" => bound(parameters).map(TypeCode::string),
        "wstring" => bound(parameters).map(TypeCode::wstring),
        "fixed" => fixed(parameters),
        "sequence" => sequence(parameters, depth),
        _ => None,
    }
}

fn fixed(parameters: &str) -> Option<TypeCode> {
    let (digits, scale) = parameters.split_once(',')?;
    let digits: u16 = digits.trim().parse().ok()?;
    let scale: i16 = scale.trim().parse().ok()?;
    let fits = (1..=31).contains(&digits);
    fits.then(|| TypeCode::fixed(digits, scale))
}

fn sequence(parameters: &str, depth: usize) -> Option<TypeCode> {
    // A bound follows the last comma, unless that is one of the element.
    if let Some((element, last)) = parameters.rsplit_once(',')
        && let Some(bound) = bound(last.trim())
    {
        return Some(TypeCode::sequence(parsed(element, depth)?, bound));
    }
    Some(TypeCode::sequence(parsed(parameters, depth)?, 0))
}

fn bound(text: &str) -> Option<u32> {
    text.parse().ok().filter(|bound| *bound > 0)
}

fn simple(text: &str) -> Option<TypeCode> {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    if text == "Object" {
        return Some(Type::OBJECT.into());
    }
    let mut all = SIMPLE.iter().map(|it| TypeCode::from(*it));
    all.find(|code| code.kind().keyword() == text)
}
