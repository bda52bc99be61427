// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of an any, read in place.

use std::borrow::Cow;

use orbium::cdr::{CdrError, CdrReader, Decode, Format, Group, Leaf, TypeRef, Visitor, walk_value};
use orbium::{Any, TypeCode, cdr::TCKind};

use super::operand::{Fail, Outcome, Value};

/// Maximum nesting of types that are traversed.
const MAX_DEPTH: u32 = 64;
/// Octets that are copied first where a value is read with a reader.
const FIRST_COPY: usize = 128;

/// A value within the octets of an any: native byte order, aligned from the first octet.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// Without aliases.
    code: TypeRef<'a>,
    octets: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn of(any: &'a Any) -> Self {
        Self {
            code: any.type_code().as_ref().unaliased(),
            octets: any.value_octets(),
            at: 0,
        }
    }

    pub(super) fn code(&self) -> TypeRef<'a> {
        self.code
    }

    pub(super) fn kind(&self) -> TCKind {
        self.code.kind()
    }

    /// The same position as a value of another type.
    fn of_type(self, code: TypeRef<'a>) -> Self {
        let code = code.unaliased();
        Self { code, ..self }
    }

    fn fixed<const N: usize>(&mut self) -> Outcome<[u8; N]> {
        self.at = self.at.checked_next_multiple_of(N).ok_or(Fail)?;
        let end = self.at.checked_add(N).ok_or(Fail)?;
        let octets = self.octets.get(self.at..end).ok_or(Fail)?;
        self.at = end;
        octets.try_into().map_err(|_| Fail)
    }

    fn length(&mut self) -> Outcome<usize> {
        usize::try_from(u32::from_ne_bytes(self.fixed()?)).map_err(|_| Fail)
    }

    fn take(&mut self, count: usize) -> Outcome<&'a [u8]> {
        let end = self.at.checked_add(count).ok_or(Fail)?;
        let octets = self.octets.get(self.at..end).ok_or(Fail)?;
        self.at = end;
        Ok(octets)
    }

    /// Reads with a reader, which needs a copy: for rare types. As the size of the value is not
    /// known, more and more of what is left is copied, so that a list of many is copied about once.
    fn read<T>(
        &mut self,
        mut read: impl FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Outcome<T> {
        let left = self.octets.get(self.at..).ok_or(Fail)?;
        let mut size = FIRST_COPY;
        loop {
            let mut copied = left[..size.min(left.len())].to_vec();
            let mut reader = CdrReader::at(&mut copied, self.at, Format::native());
            if let Ok(value) = read(&mut reader) {
                self.at = reader.position();
                return Ok(value);
            }
            if size >= left.len() {
                return Err(Fail);
            }
            size = size.saturating_mul(4);
        }
    }

    /// The any at this position.
    pub(super) fn any(mut self) -> Outcome<Any> {
        self.read(|reader| {
            let code = TypeCode::decode(reader)?;
            Any::read_value(code, reader)
        })
    }

    /// The value, if it is simple.
    // Paths to the methods would be for one lifetime only.
    #[allow(clippy::redundant_closure_for_method_calls)]
    pub(super) fn value(mut self) -> Outcome<Value<'a>> {
        Ok(match self.code.kind() {
            TCKind::Boolean => Value::Bool(self.fixed::<1>()? != [0]),
            TCKind::Octet => Value::Int(self.fixed::<1>()?[0].into()),
            TCKind::Short => Value::Int(i16::from_ne_bytes(self.fixed()?).into()),
            TCKind::UShort => Value::Int(u16::from_ne_bytes(self.fixed()?).into()),
            TCKind::Long => Value::Int(i32::from_ne_bytes(self.fixed()?).into()),
            TCKind::ULong => Value::Int(u32::from_ne_bytes(self.fixed()?).into()),
            TCKind::LongLong => Value::Int(i64::from_ne_bytes(self.fixed()?).into()),
            TCKind::ULongLong => Value::Int(u64::from_ne_bytes(self.fixed()?).into()),
            TCKind::Float => Value::Double(f32::from_ne_bytes(self.fixed()?).into()),
            TCKind::Double => Value::Double(f64::from_ne_bytes(self.fixed()?)),
            TCKind::Char => {
                let character = char::from(self.fixed::<1>()?[0]);
                Value::Text(Cow::Owned(character.to_string()))
            }
            TCKind::WChar => {
                let unit = self.read(|reader| reader.read_wchar())?.0;
                let text = char::from_u32(unit.into()).ok_or(Fail)?;
                Value::Text(Cow::Owned(text.to_string()))
            }
            TCKind::String => Value::Text(Cow::Borrowed(self.text()?)),
            TCKind::WString => Value::Text(Cow::Owned(self.read(|reader| reader.read_wstring())?)),
            TCKind::Enum => {
                let ordinal = u32::from_ne_bytes(self.fixed()?);
                Value::Enum(ordinal, self.code.to_type_code())
            }
            TCKind::Fixed => {
                let (code, mut number) = (self.code.to_type_code(), Number(None));
                self.read(|reader| walk_value(code.as_ref(), reader, &mut number))?;
                Value::Double(number.0.ok_or(Fail)?)
            }
            TCKind::Null | TCKind::Void => return Err(Fail),
            _ => Value::Other,
        })
    }

    fn text(&mut self) -> Outcome<&'a str> {
        let length = self.length()?;
        let octets = self.take(length)?;
        let (_, text) = octets.split_last().ok_or(Fail)?;
        std::str::from_utf8(text).map_err(|_| Fail)
    }

    /// The number of elements, or of octets of a string.
    pub(super) fn count(mut self) -> Outcome<usize> {
        match self.code.kind() {
            TCKind::Sequence => self.length(),
            TCKind::Array => usize::try_from(self.code.length()).map_err(|_| Fail),
            TCKind::String => Ok(self.text()?.len()),
            _ => Err(Fail),
        }
    }

    /// The first element of a sequence or array, and the number of elements.
    pub(super) fn elements(mut self) -> Outcome<(Self, usize)> {
        let element = self.code.content_type().ok_or(Fail)?;
        let count = match self.code.kind() {
            TCKind::Sequence => self.length()?,
            TCKind::Array => self.count()?,
            _ => return Err(Fail),
        };
        Ok((self.of_type(element), count))
    }

    pub(super) fn element(self, index: u32) -> Outcome<Self> {
        let index = usize::try_from(index).map_err(|_| Fail)?;
        let (mut element, count) = self.elements()?;
        if index >= count {
            return Err(Fail);
        }
        element.skip_all(index, MAX_DEPTH)?;
        Ok(element)
    }

    /// The value behind this one, of the same type.
    pub(super) fn next(mut self) -> Outcome<Self> {
        self.skip(MAX_DEPTH)?;
        Ok(self)
    }

    /// A member of a struct or an exception, by its position.
    pub(super) fn member(mut self, index: usize) -> Outcome<Self> {
        let code = self.code;
        if !matches!(code.kind(), TCKind::Struct | TCKind::Except) || index >= code.member_count() {
            return Err(Fail);
        }
        if code.kind() == TCKind::Except {
            let length = self.length()?;
            self.take(length)?;
        }
        for earlier in code.members().take(index) {
            self = self.of_type(earlier.type_code().ok_or(Fail)?);
            self.skip(MAX_DEPTH)?;
        }
        let member = code.member(index).ok_or(Fail)?;
        Ok(self.of_type(member.type_code().ok_or(Fail)?))
    }

    pub(super) fn member_named(self, name: &str) -> Outcome<Self> {
        let index = self.code.members().position(|it| it.name() == name);
        self.member(index.ok_or(Fail)?)
    }

    /// The discriminator of a union.
    pub(super) fn discriminator(self) -> Outcome<Self> {
        let code = self.code.discriminator_type().ok_or(Fail)?;
        Ok(self.of_type(code))
    }

    /// The active branch of a union: its position, and its value.
    pub(super) fn branch(self) -> Outcome<(usize, Self)> {
        let (label, behind) = self.label()?;
        let member = self.code.selected_member(label).ok_or(Fail)?;
        let code = member.type_code().ok_or(Fail)?;
        Ok((member.index(), behind.of_type(code)))
    }

    /// The value of the discriminator, and the position behind it.
    pub(super) fn label(self) -> Outcome<(i64, Self)> {
        let discriminator = self.discriminator()?;
        let label = match discriminator.value()? {
            Value::Bool(value) => value.into(),
            Value::Int(value) => i64::try_from(value)
                .or_else(|_| u64::try_from(value).map(u64::cast_signed))
                .map_err(|_| Fail)?,
            Value::Enum(value, _) => value.into(),
            Value::Text(text) => text.chars().next().map_or(0, |it| u32::from(it).into()),
            _ => return Err(Fail),
        };
        let behind = discriminator.next()?;
        Ok((label, behind))
    }

    fn skip_all(&mut self, count: usize, depth: u32) -> Outcome<()> {
        if let Some(size) = size(self.code.kind())
            && count > 0
        {
            self.at = self.at.checked_next_multiple_of(size).ok_or(Fail)?;
            self.take(size.checked_mul(count).ok_or(Fail)?)?;
            return Ok(());
        }
        for _ in 0..count {
            let before = self.at;
            self.skip(depth)?;
            if self.at == before {
                // Values without octets: so are all others of that type.
                break;
            }
        }
        Ok(())
    }

    /// Moves behind the value.
    fn skip(&mut self, depth: u32) -> Outcome<()> {
        let depth = depth.checked_sub(1).ok_or(Fail)?;
        let code = self.code;
        if let Some(size) = size(code.kind()) {
            self.at = self.at.checked_next_multiple_of(size).ok_or(Fail)?;
            return self.take(size).map(drop);
        }
        match code.kind() {
            TCKind::Null | TCKind::Void => {}
            TCKind::String => {
                let length = self.length()?;
                self.take(length)?;
            }
            TCKind::Struct => {
                for member in code.members() {
                    let mut part = self.of_type(member.type_code().ok_or(Fail)?);
                    part.skip(depth)?;
                    self.at = part.at;
                }
            }
            TCKind::Union => {
                let (label, mut behind) = self.label()?;
                if let Some(member) = code.selected_member(label) {
                    behind = behind.of_type(member.type_code().ok_or(Fail)?);
                    behind.skip(depth)?;
                }
                self.at = behind.at;
            }
            TCKind::Sequence | TCKind::Array => {
                let (mut elements, count) = self.elements()?;
                elements.skip_all(count, depth)?;
                self.at = elements.at;
            }
            _ => {
                let code = code.to_type_code();
                self.read(|reader| walk_value(code.as_ref(), reader, &mut Number(None)))?;
            }
        }
        Ok(())
    }
}

/// The size of types with a fixed number of octets, to which they are aligned.
fn size(kind: TCKind) -> Option<usize> {
    match kind {
        TCKind::Boolean | TCKind::Octet | TCKind::Char => Some(1),
        TCKind::Short | TCKind::UShort => Some(2),
        TCKind::Long | TCKind::ULong | TCKind::Float | TCKind::Enum => Some(4),
        TCKind::LongLong | TCKind::ULongLong | TCKind::Double => Some(8),
        _ => None,
    }
}

/// The number of a traversed `fixed`; other traversed values are ignored.
struct Number(Option<f64>);

impl Visitor for Number {
    type Error = CdrError;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), CdrError> {
        if let Leaf::Fixed {
            unscaled, scale, ..
        } = leaf
        {
            self.0 = Some(unscaled as f64 / 10f64.powi(scale.into()));
        }
        Ok(())
    }

    fn begin(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        Ok(())
    }

    fn member(&mut self, _: &str) -> Result<(), CdrError> {
        Ok(())
    }

    fn end(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        Ok(())
    }
}
