// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON to CDR, by the expected type.

use orbium_cdr::{Any, CdrWriter, Char, Format, MemberRef, TCKind, Type, TypeCode, TypeRef};
use orbium_giop::{Ior, ObjectUrl};
use orbium_value::Linked;
use serde_json::value::RawValue;

use super::graph::Graph;
use super::object::Object;
use super::parser::{Parsed, Parser, Step};
use super::{integer, types};

impl Parser<'_> {
    /// An any of one value.
    pub(super) fn value_alone(mut self, code: &TypeCode, text: &str) -> Parsed<Any> {
        self.json(code.as_ref(), text)?;
        self.into_any(code)
    }

    /// Reads the members of a struct, each from a separate text.
    pub(super) fn members_alone(mut self, code: &TypeCode, texts: &[&str]) -> Parsed<Any> {
        let whole = code.unaliased();
        let (members, found) = (whole.members(), texts.len());
        let wanted = members.len();
        if found != wanted || !matches!(whole.kind(), TCKind::Struct | TCKind::Except) {
            return Err(self.error(format!("{found} values, where {wanted} are expected")));
        }
        for (member, text) in members.zip(texts) {
            let incomplete = || self.error("the type is incomplete");
            let code = member.type_code().ok_or_else(incomplete)?;
            self.member(member.name(), |this| this.json(code, text))?;
        }
        self.into_any(code)
    }

    /// Writes a value of a type from text that may not be JSON.
    fn json(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let read = serde_json::from_str::<&RawValue>(text);
        let value = read.map_err(|error| self.error(format!("bad JSON: {error}")))?;
        self.value(code, value.get())
    }

    fn into_any(mut self, code: &TypeCode) -> Parsed<Any> {
        let data = self.data(code.clone())?;
        let any = data.to_any().and_then(|any| {
            // The depth was checked for each state separately.
            if !self.made.all.0.is_empty() {
                drop(Graph::of(&Linked::new(&any)?));
            }
            Ok(any)
        });
        any.map_err(|error| self.error(error.to_string()))
    }

    /// The written data of a type.
    pub(super) fn data(&mut self, code: TypeCode) -> Parsed<Linked> {
        let writer = std::mem::replace(&mut self.writer, CdrWriter::new(Format::native()));
        let values = std::mem::take(&mut self.values);
        let data = writer
            .finish()
            .and_then(|mut octets| Linked::of_parts(code, &mut octets, values));
        data.map_err(|error| self.error(error.to_string()))
    }

    /// Writes a value of a type.
    pub(super) fn value(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let code = self.unaliased(code)?;
        match code.kind() {
            TCKind::Null | TCKind::Void => self.nothing(text),
            TCKind::Boolean => {
                let value = match text {
                    "true" => true,
                    "false" => false,
                    _ => return Err(self.mismatch("boolean", text)),
                };
                self.writer.write_bool(value);
                Ok(())
            }
            TCKind::Float | TCKind::Double | TCKind::LongDouble => self.float(code.kind(), text),
            TCKind::Fixed => self.fixed(code, text),
            TCKind::Char => {
                let value = self.char(text)?;
                self.writer.write_u8(value.0);
                Ok(())
            }
            TCKind::WChar => {
                let value = self.wchar(text)?;
                self.writer.write_wchar(value);
                Ok(())
            }
            TCKind::String => self.text(code, text),
            TCKind::WString => self.wide_text(code, text),
            TCKind::Enum => self.enumerator(code, text),
            TCKind::Struct => self.structure(code, text),
            TCKind::Except => {
                self.writer.write_name(code.id());
                self.structure(code, text)
            }
            TCKind::Union => self.union(code, text),
            TCKind::Sequence | TCKind::Array => self.elements(code, text),
            TCKind::Any => self.any(text),
            TCKind::TypeCode => {
                let value = types::parse(self, text)?;
                value.as_ref().write(&mut self.writer);
                Ok(())
            }
            TCKind::ObjRef | TCKind::Component | TCKind::Home => self.reference(text),
            TCKind::Value | TCKind::ValueBox | TCKind::Event => self.valuetype(code, text),
            TCKind::AbstractInterface => self.abstract_interface(code, text),
            TCKind::Principal => {
                let octets = self.octets(text)?;
                self.writer.write_octets(&octets);
                Ok(())
            }
            kind => match integer::range(kind) {
                Some(range) => self.integer(kind, range, text),
                None => Err(self.error(format!(
                    "values of the {} {} cannot be marshalled",
                    kind.keyword(),
                    code.name()
                ))),
            },
        }
    }

    fn structure(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        if text.starts_with('[') {
            return self.members_in_order(code, text);
        }
        let wanted = format!("{} {}", code.kind().keyword(), code.name());
        let object = self.object(&wanted, text)?;
        self.members_by_name(code, &wanted, &object, &["$exception"])
    }

    /// Writes the members of an object; it may also have the keys `besides`.
    pub(super) fn members_by_name(
        &mut self,
        code: TypeRef<'_>,
        wanted: &str,
        object: &Object<'_>,
        besides: &[&str],
    ) -> Parsed {
        let names: std::collections::HashSet<_> = code.members().map(MemberRef::name).collect();
        let is_unknown =
            |(name, _): &&(String, _)| !names.contains(&**name) && !besides.contains(&&**name);
        if let Some((name, _)) = object.0.iter().find(is_unknown) {
            return Err(self.error(format!("{wanted} has no member `{name}`")));
        }
        let mut values = object.lookup();
        for member in code.members() {
            match values.get(member.name()) {
                Some(value) => self.typed_member(member, value)?,
                None => {
                    return Err(self.error(format!("the member `{}` is missing", member.name())));
                }
            }
        }
        Ok(())
    }

    fn members_in_order(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let members = code.members();
        let values: Vec<&RawValue> = self.read("an array", text)?;
        if values.len() != members.len() {
            let (found, wanted) = (values.len(), members.len());
            return Err(self.error(format!(
                "{found} values, but {} has {wanted} members",
                code.name()
            )));
        }
        for (member, value) in members.zip(values) {
            self.typed_member(member, value)?;
        }
        Ok(())
    }

    pub(super) fn typed_member(&mut self, member: MemberRef<'_>, value: &RawValue) -> Parsed {
        let Some(code) = member.type_code() else {
            return Err(self.error("the type is incomplete"));
        };
        self.member(member.name(), |this| this.value(code, value.get()))
    }

    pub(super) fn elements(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let Some(element) = code.content_type() else {
            return Err(self.error("the type is incomplete"));
        };
        let element = self.unaliased(element)?;
        match element.kind() {
            TCKind::Octet if !text.starts_with('[') => return self.octet_elements(code, text),
            TCKind::Char if text.starts_with('"') => return self.char_elements(code, text),
            _ => {}
        }
        if !text.starts_with('[') {
            return Err(self.mismatch("an array", text));
        }
        let values: Vec<&RawValue> = self.read("an array", text)?;
        self.count(code, values.len())?;
        for (index, value) in values.into_iter().enumerate() {
            self.below(Step::Element(index), |this| {
                this.value(element, value.get())
            })?;
        }
        Ok(())
    }

    fn octet_elements(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let octets = self.octets(text)?;
        self.count(code, octets.len())?;
        self.writer.write_raw(&octets);
        Ok(())
    }

    fn char_elements(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let string = self.string("characters", text)?;
        self.count(code, string.chars().count())?;
        for c in string.chars() {
            let octet = Char::try_from(c);
            let octet = octet.map_err(|_| self.error(format!("{c:?} is not a char")))?;
            self.writer.write_u8(octet.0);
        }
        Ok(())
    }

    /// Checks the number of elements, and writes that of a sequence.
    pub(super) fn count(&mut self, code: TypeRef<'_>, count: usize) -> Parsed {
        if code.kind() == TCKind::Array {
            let length = code.length();
            return if count == length as usize {
                Ok(())
            } else {
                Err(self.error(format!("{count} elements, where {length} are expected")))
            };
        }
        self.check_bound(code, count, "elements")?;
        self.writer.write_count(count);
        Ok(())
    }

    pub(super) fn any(&mut self, text: &str) -> Parsed {
        if !text.starts_with('{') {
            return self.guessed(text);
        }
        let object = self.object("any", text)?;
        let Some(code) = object.get("$type") else {
            return Err(self.error("an any has a `$type`"));
        };
        if let Some((name, _)) = object
            .0
            .iter()
            .find(|(name, _)| name != "$type" && name != "$value")
        {
            return Err(self.error(format!("an any has no member `{name}`")));
        }
        let code = self.member("$type", |this| types::parse(this, code.get()))?;
        self.typed(&code, object.get("$value").map_or("null", RawValue::get))
    }

    /// Writes a type and a value of it.
    pub(super) fn typed(&mut self, code: &TypeCode, value: &str) -> Parsed {
        code.as_ref().write(&mut self.writer);
        self.member("$value", |this| this.value(code.as_ref(), value))
    }

    /// Writes an any from JSON without a type.
    pub(super) fn guessed(&mut self, text: &str) -> Parsed {
        if !self.options.guess_types {
            return Err(self.mismatch("any, an object with $type and $value", text));
        }
        let code = match text.as_bytes().first() {
            Some(b't' | b'f') => Type::BOOLEAN,
            Some(b'"') => Type::STRING,
            Some(b'-' | b'0'..=b'9') if integer::parse(text).is_some() => Type::LONGLONG,
            Some(b'-' | b'0'..=b'9') => Type::DOUBLE,
            _ => return Err(self.mismatch("any, an object with $type and $value", text)),
        };
        let code = TypeCode::from(code);
        code.as_ref().write(&mut self.writer);
        self.value(code.as_ref(), text)
    }

    pub(super) fn reference(&mut self, text: &str) -> Parsed {
        let ior = match text {
            "null" => Ior::NIL,
            _ => {
                let url = self.string("an object reference as text", text)?;
                let bad = |error| self.error(format!("bad object reference: {error}"));
                match ObjectUrl::parse(&url).map_err(bad)? {
                    ObjectUrl::Ior(ior) => ior,
                    ObjectUrl::Corbaloc(corbaloc) => corbaloc.to_ior().map_err(bad)?,
                    ObjectUrl::Corbaname(_) => {
                        return Err(
                            self.error("a corbaname: has to be resolved by a naming service first")
                        );
                    }
                }
            }
        };
        write(&ior, &mut self.writer);
        Ok(())
    }
}

/// Writes a value that does not outlive the writer, which keeps nothing by reference.
fn write(ior: &Ior, writer: &mut CdrWriter<'static>) {
    writer.write_name(&ior.type_id);
    writer.write_count(ior.profiles.len());
    for profile in &ior.profiles {
        writer.write_u32(profile.tag);
        writer.write_octets(&profile.data);
    }
}
