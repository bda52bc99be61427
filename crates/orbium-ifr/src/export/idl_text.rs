// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types, names and constants in IDL.

use orbium::cdr::TypeRef;
use orbium::{Any, Char, WChar, cdr::TCKind, reference::OBJECT_REPOSITORY_ID};
use orbium_dynamic::{JsonOptions, idl_identifier, to_json};

use super::definitions::Definitions;
use super::error::ExportError;
use super::needs::VALUE_BASE;
use crate::edit::check_name;

/// A path from the repository: its names were validated when they were read.
fn scoped(path: &[String]) -> String {
    let parts = path.iter().map(|it| format!("::{}", idl_identifier(it)));
    parts.collect()
}

/// A name of the repository in IDL. A name that is not an identifier could contain any text.
pub(super) fn identifier(name: &str) -> Result<String, ExportError> {
    let invalid = |_| ExportError::Invalid(name.to_owned());
    check_name(name).map_err(invalid)?;
    Ok(idl_identifier(name))
}

/// The type before a name, and the name with the dimensions of an array behind it.
pub(super) fn declarator<'t>(
    code: TypeRef<'t>,
    name: &str,
) -> Result<(TypeRef<'t>, String), ExportError> {
    let mut declarator = identifier(name)?;
    let mut code = code;
    while code.kind() == TCKind::Array {
        declarator.push_str(&format!("[{}]", code.length()));
        let invalid = || ExportError::Invalid("an array".to_owned());
        code = code.content_type().ok_or_else(invalid)?;
    }
    Ok((code, declarator))
}

/// A string literal.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped_text(text, false))
}

impl Definitions {
    /// The scoped name of the definition with an id.
    pub(super) fn name_of(&self, id: &str) -> Result<String, ExportError> {
        Ok(scoped(&self.definitions[self.with_id(id)?].path))
    }

    /// Scoped names, with a prefix if there are any.
    pub(super) fn names<'i>(
        &self,
        before: &str,
        ids: impl IntoIterator<Item = &'i String>,
    ) -> Result<String, ExportError> {
        let names = ids.into_iter().map(|id| self.name_of(id));
        let names: Vec<_> = names.collect::<Result<_, _>>()?;
        Ok(if names.is_empty() {
            String::new()
        } else {
            format!("{before}{}", names.join(", "))
        })
    }

    /// The use of a type. An array also has a declarator: see [`Definitions::declared`].
    pub(super) fn type_text(&self, code: TypeRef<'_>) -> Result<String, ExportError> {
        let bounded = |word: &str| match code.length() {
            0 => word.to_owned(),
            bound => format!("{word}<{bound}>"),
        };
        Ok(match code.kind() {
            TCKind::TypeCode => "::CORBA::TypeCode".to_owned(),
            TCKind::String => bounded("string"),
            TCKind::WString => bounded("wstring"),
            TCKind::Fixed => format!("fixed<{}, {}>", code.digits(), code.scale()),
            TCKind::Sequence => {
                let content = code.content_type();
                let invalid = || ExportError::Invalid("a sequence".to_owned());
                let content = self.type_text(content.ok_or_else(invalid)?)?;
                match code.length() {
                    0 => format!("sequence<{content}>"),
                    bound => format!("sequence<{content}, {bound}>"),
                }
            }
            TCKind::ObjRef if matches!(code.id(), OBJECT_REPOSITORY_ID | "") => "Object".to_owned(),
            TCKind::Value if code.id() == VALUE_BASE => "ValueBase".to_owned(),
            TCKind::Principal | TCKind::Null => {
                return Err(ExportError::Invalid(format!("a type: {code}")));
            }
            kind if kind.is_simple() => kind.keyword().to_owned(),
            kind if kind.has_id() => self.name_of(code.id())?,
            _ => return Err(ExportError::Invalid(format!("a type: {code}"))),
        })
    }

    /// A type and a name, the dimensions of an array behind it.
    pub(super) fn declared(&self, code: TypeRef<'_>, name: &str) -> Result<String, ExportError> {
        let (element, declarator) = declarator(code, name)?;
        Ok(format!("{} {declarator}", self.type_text(element)?))
    }

    /// An enumerator from the repository: it is in the scope of its enum.
    pub(super) fn enumerator(&self, code: TypeRef<'_>, index: i64) -> Result<String, ExportError> {
        let invalid = || ExportError::Invalid(code.id().to_owned());
        let index = usize::try_from(index).map_err(|_| invalid())?;
        let name = code.member(index).ok_or_else(invalid)?;
        let path = &self.definitions[self.with_id(code.id())?].path;
        let scope = &path[..path.len().saturating_sub(1)];
        Ok(format!("{}::{}", scoped(scope), identifier(name.name())?))
    }

    /// The value of a constant.
    pub(super) fn literal(&self, value: &Any, id: &str) -> Result<String, ExportError> {
        let invalid = || ExportError::Invalid(id.to_owned());
        let code = value.type_code().unaliased();
        let number = || to_json(value, &JsonOptions::default()).map_err(|_| invalid());
        let read = |error| {
            let _: orbium::cdr::CdrError = error;
            invalid()
        };
        Ok(match code.kind() {
            TCKind::Boolean => {
                let value: bool = value.decode_as().map_err(read)?;
                if value { "TRUE" } else { "FALSE" }.to_owned()
            }
            TCKind::Char => {
                let value: Char = value.decode_as().map_err(read)?;
                format!("'\\x{:02x}'", value.0)
            }
            TCKind::WChar => {
                let value: WChar = value.decode_as().map_err(read)?;
                format!("L'\\u{:04x}'", value.0)
            }
            TCKind::String => {
                let value: String = value.decode_as().map_err(read)?;
                quoted(&value)
            }
            TCKind::WString => {
                let value = value.extract_wstring().map_err(|_| invalid())?;
                format!("L\"{}\"", escaped_text(&value, true))
            }
            TCKind::Enum => {
                let index: u32 = value.decode_as().map_err(read)?;
                self.enumerator(code.as_ref(), i64::from(index))?
            }
            TCKind::Fixed => format!("{}d", number()?.trim_matches('"')),
            TCKind::Float | TCKind::Double | TCKind::LongDouble => {
                let mut text = number()?.trim_matches('"').to_owned();
                if !text.contains(['.', 'e', 'E']) {
                    text.push_str(".0");
                }
                text
            }
            _ => number()?.trim_matches('"').to_owned(),
        })
    }
}

/// The content of a string literal.
fn escaped_text(text: &str, wide: bool) -> String {
    let mut escaped = String::new();
    let mut units = [0; 2];
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            ' '..='~' => escaped.push(letter),
            _ if wide => {
                for unit in letter.encode_utf16(&mut units) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ if u32::from(letter) <= 0xff => {
                escaped.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}
