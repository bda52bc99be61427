// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a value of an IDL type is written and read, where the codec of its Rust
//! type does not say it all: bounds, and wide text.
//!
//! For each such type a module gets two private functions, one level each:
//! `encode_string_32`, `decode_string_32_sequence_4`, …

use orbium_idl::model::{NameMap, NameSet, Type};

use crate::names;
use crate::plan::Plan;
use crate::text::Text;

/// The functions that a module needs, by name.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    /// Types by the stem of their functions' names.
    stems: NameMap<Type>,
    encode: Vec<String>,
    decode: Vec<String>,
    /// The names of the parameters where the next expressions stand.
    pub(crate) hidden_by: NameSet,
}

impl Functions {
    /// The expression that writes what `value` refers to.
    pub(crate) fn encode(
        &mut self,
        plan: &Plan<'_>,
        ty: &Type,
        value: &str,
        writer: &str,
    ) -> String {
        if plan.is_plain(ty) {
            return format!("orb::Encode::encode({value}, {writer})");
        }
        let ty = plan.model.resolve_alias(ty);
        if *ty == Type::WString(None) {
            return format!("{writer}.write_wstr({value})");
        }
        let stem = self.stem(plan, ty);
        let call = self.call("encode", &stem, &format!("{value}, {writer}"));
        if !self.encode.contains(&stem) {
            self.encode.push(stem);
        }
        call
    }

    /// The expression that reads a value, a `Result`.
    pub(crate) fn decode(&mut self, plan: &Plan<'_>, ty: &Type, reader: &str) -> String {
        if plan.is_plain(ty) {
            return format!("orb::Decode::decode({reader})");
        }
        let ty = plan.model.resolve_alias(ty);
        if *ty == Type::WString(None) {
            return format!("{reader}.read_wstring()");
        }
        let stem = self.stem(plan, ty);
        let call = self.call("decode", &stem, reader);
        if !self.decode.contains(&stem) {
            self.decode.push(stem);
        }
        call
    }

    /// The call of a function, which a parameter of its name does not hide.
    fn call(&self, verb: &str, stem: &str, arguments: &str) -> String {
        let name = format!("{verb}_{stem}");
        match self.hidden_by.contains(&name) {
            true => format!("self::{name}({arguments})"),
            false => format!("{name}({arguments})"),
        }
    }

    /// The function that reads a `wstring`, for where one must be named.
    pub(crate) fn decode_wide(&mut self) -> String {
        let stem = "wstring".to_owned();
        *self.stems.slot(&stem) = Some(Type::WString(None));
        if !self.decode.contains(&stem) {
            self.decode.push(stem);
        }
        match self.hidden_by.contains("decode_wstring") {
            true => "self::decode_wstring".to_owned(),
            false => "decode_wstring".to_owned(),
        }
    }

    /// A name for a type; another one if two types would share it.
    fn stem(&mut self, plan: &Plan<'_>, ty: &Type) -> String {
        let mut stem = describe(plan, ty);
        while self.stems.get(&stem).is_some_and(|known| known != ty) {
            stem.push('_');
        }
        *self.stems.slot(&stem) = Some(ty.clone());
        stem
    }

    /// Writes the functions asked for, and those that they ask for in turn.
    pub(crate) fn emit(&mut self, plan: &Plan<'_>, text: &mut Text, from: &[String]) {
        self.hidden_by = NameSet::default();
        // Each is asked for once; those asked for in turn come after the others.
        let mut done = 0;
        while let Some(stem) = self.encode.get(done).cloned() {
            text.blank();
            self.emit_encode(plan, text, from, &stem);
            done += 1;
        }
        done = 0;
        while let Some(stem) = self.decode.get(done).cloned() {
            text.blank();
            self.emit_decode(plan, text, from, &stem);
            done += 1;
        }
    }

    fn emit_encode(&mut self, plan: &Plan<'_>, text: &mut Text, from: &[String], stem: &str) {
        let Some(ty) = self.stems.get(stem).cloned() else {
            return;
        };
        let parameter = match &ty {
            Type::String(_) | Type::WString(_) => "&'a str".to_owned(),
            Type::Sequence { element, .. } => format!("&'a [{}]", plan.rust(element, from)),
            other => format!("&'a {}", plan.rust(other, from)),
        };
        // Wide text is converted at once: nothing of it is gathered.
        let (lifetime, parameter, writer) = match &ty {
            Type::WString(_) => ("", "&str".to_owned(), "&mut orb::CdrWriter<'_>"),
            _ => ("<'a>", parameter, "&mut orb::CdrWriter<'a>"),
        };
        let parameters = [format!("value: {parameter}"), format!("writer: {writer}")];
        text.signature(&format!("fn encode_{stem}{lifetime}"), &parameters, " {");
        if let Some(check) = exceeds(&ty, "value") {
            text.open(format!("if {check} {{"));
            text.line("writer.fail(orb::CdrErrorKind::BoundExceeded);");
            text.close("}");
        }
        match &ty {
            Type::String(_) => text.line("writer.write_str(value);"),
            Type::WString(_) => text.line("writer.write_wstr(value);"),
            Type::Sequence { element, .. } if plan.is_plain(element) => {
                text.line("orb::Encode::encode(value, writer);");
            }
            Type::Sequence { .. } | Type::Array { .. } => {
                if matches!(ty, Type::Sequence { .. }) {
                    text.line("writer.write_count(value.len());");
                }
                let (element, _) = inner(&ty);
                text.open("for item in value {");
                let call = self.encode(plan, &element, "item", "writer");
                text.line(format!("{call};"));
                text.close("}");
            }
            _ => {}
        }
        text.close("}");
    }

    fn emit_decode(&mut self, plan: &Plan<'_>, text: &mut Text, from: &[String], stem: &str) {
        let Some(ty) = self.stems.get(stem).cloned() else {
            return;
        };
        let rust = plan.rust(&ty, from);
        let parameters = ["reader: &mut orb::CdrReader<'_>".to_owned()];
        let tail = format!(" -> $Result<{rust}, orb::CdrError> {{");
        text.signature(&format!("fn decode_{stem}"), &parameters, &tail);
        match &ty {
            Type::String(_) => text.line("let value: $String = orb::Decode::decode(reader)?;"),
            Type::WString(None) => {
                text.line("reader.read_wstring()");
                return text.close("}");
            }
            Type::WString(_) => text.line("let value = reader.read_wstring()?;"),
            Type::Sequence { element, .. } if plan.is_plain(element) => {
                text.assign(
                    &format!("let value: {rust}"),
                    "orb::Decode::decode(reader)?",
                );
            }
            Type::Sequence { element, .. } => {
                let least = plan.min_size(element);
                text.line(format!(
                    "let count = reader.read_count({})?;",
                    number(least)
                ));
                self.emit_items(plan, text, &ty, "0..count");
            }
            Type::Array { .. } => {
                let (_, count) = inner(&ty);
                self.emit_items(plan, text, &ty, &format!("0..{}", number(u64::from(count))));
                text.line("let truncated = reader.error(orb::CdrErrorKind::Truncated);");
                text.line("$TryFrom::try_from(value).map_err(|_| truncated)");
                text.close("}");
                return;
            }
            _ => {}
        }
        if let Some(check) = exceeds(&ty, "value") {
            text.open(format!("if {check} {{"));
            text.line("return $Err(reader.error(orb::CdrErrorKind::BoundExceeded));");
            text.close("}");
        }
        text.line("$Ok(value)");
        text.close("}");
    }

    fn emit_items(&mut self, plan: &Plan<'_>, text: &mut Text, ty: &Type, range: &str) {
        let (element, _) = inner(ty);
        text.line("let mut value = $Vec::new();");
        text.open(format!("for _ in {range} {{"));
        let call = self.decode(plan, &element, "reader");
        text.line(format!("value.push({call}?);"));
        text.close("}");
    }
}

/// The condition under which a value is longer than its bound.
pub(crate) fn exceeds(ty: &Type, value: &str) -> Option<String> {
    match ty {
        Type::String(Some(bound)) => Some(format!(
            "{value}.chars().count() > {}",
            number(u64::from(*bound))
        )),
        Type::WString(Some(bound)) => Some(format!(
            "{value}.encode_utf16().count() > {}",
            number(u64::from(*bound))
        )),
        Type::Sequence {
            bound: Some(bound), ..
        } => Some(format!("{value}.len() > {}", number(u64::from(*bound)))),
        _ => None,
    }
}

/// Element and count of a sequence or of the outermost dimension of an array.
fn inner(ty: &Type) -> (Type, u32) {
    match ty {
        Type::Sequence { element, .. } => (element.as_ref().clone(), 0),
        Type::Array {
            element,
            dimensions,
        } => match dimensions.split_first() {
            Some((first, [])) => (element.as_ref().clone(), *first),
            Some((first, rest)) => {
                let inner = Type::Array {
                    element: element.clone(),
                    dimensions: rest.to_vec(),
                };
                (inner, *first)
            }
            None => (element.as_ref().clone(), 0),
        },
        other => (other.clone(), 0),
    }
}

/// A name for a type, of words that say what it is.
fn describe(plan: &Plan<'_>, ty: &Type) -> String {
    let bounded = |word: &str, bound: &Option<u32>| match bound {
        Some(bound) => format!("{word}_{bound}"),
        None => word.to_owned(),
    };
    match ty {
        Type::String(bound) => bounded("string", bound),
        Type::WString(bound) => bounded("wstring", bound),
        Type::Sequence { element, bound } => {
            bounded(&format!("{}_sequence", describe(plan, element)), bound)
        }
        Type::Array {
            element,
            dimensions,
        } => {
            let dimensions = dimensions
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join("_");
            format!("{}_array_{dimensions}", describe(plan, element))
        }
        Type::Named(id) => match plan.model.resolve_alias(ty) {
            Type::Named(_) => names::snake(&plan.model[*id].name),
            resolved => describe(plan, resolved),
        },
        simple => {
            let mut word = String::new();
            for letter in plan.model.type_name(simple).chars() {
                word.push(match letter {
                    ' ' | ':' | '<' | ',' | '>' => '_',
                    letter => letter,
                });
            }
            names::snake(&word)
        }
    }
}

/// A number with its digits grouped.
pub(crate) fn number(value: u64) -> String {
    grouped(&value.to_string())
}

/// A number with its sign and its digits grouped.
pub(crate) fn integer(value: i128) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&value.unsigned_abs().to_string()))
}

/// Digits in groups of three from the right.
pub(crate) fn grouped(digits: &str) -> String {
    if digits.len() < 6 {
        return digits.to_owned();
    }
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}
