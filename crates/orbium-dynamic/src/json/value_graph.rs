// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes: null, shared, cyclic, of derived types.

use orbium_cdr::{
    CdrError, CdrErrorKind, CdrReader, CdrWriter, Format, MemberRef, TCKind, Type, TypeCode,
    TypeRef, Visitor as _, walk_value,
};
use orbium_value::{ValueBase, read_described};
use serde_json::value::RawValue;

use super::object::Object;
use super::options::{MAX_DEPTH, quoted};
use super::parser::{Parsed, Parser};
use super::print::Printer;

/// Keys of the object that a value is.
const TYPE: &str = "$type";
const ID: &str = "$id";
const REF: &str = "$ref";
const VALUE: &str = "$value";

impl Printer<'_> {
    /// Writes a value of a valuetype or an abstract interface.
    pub(super) fn valuetype(
        &mut self,
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
    ) -> Result<(), CdrError> {
        if self.levels() > MAX_DEPTH {
            return Err(reader.error(CdrErrorKind::TooDeep));
        }
        if code.kind() == TCKind::AbstractInterface && reader.read_bool()? {
            return walk_value(TypeCode::from(Type::OBJECT).as_ref(), reader, self);
        }
        let Some(value) = read_described(code, reader)? else {
            self.before_value();
            self.out.push_str("null");
            return Ok(());
        };
        self.begin_object();
        if let Some(number) = self.numbered.get(&value.identity()).copied() {
            self.key(REF);
            self.out.push_str(&number.to_string());
        } else {
            self.whole(&value)?;
        }
        self.end_innermost();
        Ok(())
    }

    /// Writes the type and the state of a value.
    fn whole(&mut self, value: &ValueBase) -> Result<(), CdrError> {
        self.key(TYPE);
        self.out.push_str(&quoted(value.repository_id()));
        if self.graph.shared.contains(&value.identity()) {
            let number = self.numbered.len() + 1;
            self.numbered.insert(value.identity(), number);
            self.key(ID);
            self.out.push_str(&number.to_string());
        }
        let is_box = value.type_code().kind() == TCKind::ValueBox;
        let unset = || CdrError::new(CdrErrorKind::BadValue, 0);
        let state = value.state().ok_or_else(unset)?;
        state.read_with(|reader| {
            for member in state.type_code().members() {
                self.member(if is_box { VALUE } else { member.name() })?;
                let code = member.type_code().ok_or_else(unset)?;
                walk_value(code, reader, self)?;
            }
            Ok(())
        })
    }
}

impl Parser<'_> {
    /// Writes an object or a value.
    pub(super) fn abstract_interface(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let is_object = text.starts_with('"');
        self.writer.write_bool(is_object);
        if is_object {
            self.reference(text)
        } else {
            self.valuetype(code, text)
        }
    }

    /// Creates a value, and writes its number.
    pub(super) fn valuetype(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let value = self.graph_value(code, text)?;
        self.writer.write_count(self.values.len());
        self.values.push(value);
        Ok(())
    }

    fn graph_value(&mut self, formal: TypeRef<'_>, text: &str) -> Parsed<Option<ValueBase>> {
        if text == "null" {
            return Ok(None);
        }
        let is_box = formal.kind() == TCKind::ValueBox;
        if !text.starts_with('{') && is_box {
            return self.boxed(formal, formal, None, text).map(Some);
        }
        let wanted = format!("{} {}", formal.kind().keyword(), formal.name());
        let object = self.object(&wanted, text)?;
        if let Some(reference) = object.get(REF) {
            return self.referred(formal, &object, reference).map(Some);
        }
        let code = match object.get(TYPE) {
            Some(id) => self.member(TYPE, |this| this.type_with_id(formal, id.get()))?,
            None => formal.to_type_code(),
        };
        match code.kind() {
            TCKind::ValueBox => self.boxed(code.as_ref(), formal, Some(&object), text),
            _ => self.plain_value(code.as_ref(), formal, &object),
        }
        .map(Some)
    }

    /// The value that was given an id before.
    fn referred(
        &mut self,
        formal: TypeRef<'_>,
        object: &Object<'_>,
        reference: &RawValue,
    ) -> Parsed<ValueBase> {
        if object.0.len() > 1 {
            return Err(self.error("a `$ref` has no members"));
        }
        let Some(value) = self.made.by_id.get(reference.get()) else {
            let id = reference.get();
            return Err(self.error(format!("no value before this one has the `$id` {id}")));
        };
        if value.fits(formal) {
            Ok(value.clone())
        } else {
            let (id, formal) = (value.repository_id(), formal.id());
            Err(self.error(format!("{id} does not inherit {formal}")))
        }
    }

    /// The type that a value names as its own.
    fn type_with_id(&mut self, formal: TypeRef<'_>, id: &str) -> Parsed<TypeCode> {
        let id = self.string("a repository id", id)?;
        if id == formal.id() {
            return Ok(formal.to_type_code());
        }
        let known = self.options.types.and_then(|types| types.type_with_id(&id));
        known.ok_or_else(|| self.error(format!("`{id}` is not the repository id of a known type")))
    }

    /// Creates a value without a state. Others refer to it while its state is read.
    fn begin_value(
        &mut self,
        code: TypeRef<'_>,
        formal: TypeRef<'_>,
        object: Option<&Object<'_>>,
    ) -> Parsed<ValueBase> {
        let value = ValueBase::described(code).map_err(|error| match error.kind {
            CdrErrorKind::BadValue => self.error(format!(
                "the type {} has no values of its own: `$type` names one that inherits it",
                code.id()
            )),
            CdrErrorKind::UnknownValue => self.error(format!(
                "the state of the custom value type {} cannot be interpreted",
                code.id()
            )),
            _ => self.error(error.to_string()),
        })?;
        if !value.fits(formal) {
            let (id, formal) = (code.id(), formal.id());
            return Err(self.error(format!("{id} does not inherit {formal}")));
        }
        self.made.all.0.push(value.clone());
        if let Some(id) = object.and_then(|object| object.get(ID)) {
            let id = id.get();
            if !id.starts_with(|c: char| c == '"' || c.is_ascii_digit()) {
                return Err(self.mismatch("a number or a string as `$id`", id));
            }
            if self
                .made
                .by_id
                .insert(id.to_owned(), value.clone())
                .is_some()
            {
                return Err(self.error(format!("two values have the `$id` {id}")));
            }
        }
        Ok(value)
    }

    fn plain_value(
        &mut self,
        code: TypeRef<'_>,
        formal: TypeRef<'_>,
        object: &Object<'_>,
    ) -> Parsed<ValueBase> {
        let value = self.begin_value(code, formal, Some(object))?;
        let wanted = format!("{} {}", code.kind().keyword(), code.name());
        self.state(value, |this, state| {
            this.members_by_name(state, &wanted, object, &[TYPE, ID])
        })
    }

    /// A boxed value: only the content, or as `$value`.
    fn boxed(
        &mut self,
        code: TypeRef<'_>,
        formal: TypeRef<'_>,
        object: Option<&Object<'_>>,
        text: &str,
    ) -> Parsed<ValueBase> {
        let object = object.filter(|it| [TYPE, ID, VALUE].iter().any(|key| it.get(key).is_some()));
        let content = match object {
            None => text,
            Some(object) => match object.get(VALUE) {
                Some(content) => content.get(),
                None => return Err(self.error("a boxed value has a `$value`")),
            },
        };
        let unknown = |(name, _): &&(String, _)| ![TYPE, ID, VALUE].contains(&&**name);
        if let Some((name, _)) = object.and_then(|object| object.0.iter().find(unknown)) {
            return Err(self.error(format!("a boxed value has no member `{name}`")));
        }
        let value = self.begin_value(code, formal, object)?;
        self.state(value, |this, state| {
            let content_type = state.member(0).and_then(MemberRef::type_code);
            let content_type = content_type.ok_or_else(|| this.error("the type is incomplete"))?;
            match object {
                Some(_) => this.member(VALUE, |this| this.value(content_type, content)),
                None => this.value(content_type, content),
            }
        })
    }

    /// Reads the state of a value, in which numbers represent other values.
    fn state(
        &mut self,
        value: ValueBase,
        read: impl FnOnce(&mut Self, TypeRef<'_>) -> Parsed,
    ) -> Parsed<ValueBase> {
        let Some(code) = value.state_type() else {
            return Err(self.error("the type is incomplete"));
        };
        let writer = std::mem::replace(&mut self.writer, CdrWriter::new(Format::native()));
        let values = std::mem::take(&mut self.values);
        read(self, code.as_ref())?;
        let state = self.data(code)?;
        self.writer = writer;
        self.values = values;
        let set = value.set_state(state);
        set.map_err(|error| self.error(error.to_string()))?;
        Ok(value)
    }
}
