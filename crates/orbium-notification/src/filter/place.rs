// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of an event, and navigation to them.

use std::borrow::Cow;
use std::time::SystemTime;

use orbium::giop::time::UtcTime;
use orbium::{Any, cdr::TCKind};

use super::cursor::Cursor;
use super::operand::{Fail, Outcome, Value};
use super::syntax::{Label, Step};
use crate::idl::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};

/// Subject of a constraint's evaluation.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A structured event.
    Structured(&'a StructuredEvent),
    /// An event of any type.
    Any(&'a Any),
    /// Names and values, as of an operation of typed channels.
    Properties(&'a [Property]),
}

/// A part of an event.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Event(&'a StructuredEvent),
    Header(&'a EventHeader),
    Fixed(&'a FixedEventHeader),
    Type(&'a EventType),
    List(&'a [Property]),
    Property(&'a Property),
    Text(&'a str),
    Part(Cursor<'a>),
    /// The present time, as a `TimeBase::UtcT`.
    Now,
    /// A member of the present time, or another number.
    Number(i128),
}

/// The requested fact about the place to which steps lead.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'v> {
    Value,
    /// Whether there is such a place.
    Existence,
    /// Whether the default branch of the union there is active.
    DefaultBranch,
    /// Whether a value is an element of the sequence there.
    Element(&'v Value<'v>),
}

impl<'a> Place<'a> {
    pub(super) fn of(subject: Subject<'a>) -> Self {
        match subject {
            Subject::Structured(event) => Self::Event(event),
            Subject::Any(any) => Self::Part(Cursor::of(any)),
            Subject::Properties(properties) => Self::List(properties),
        }
    }

    /// Follows steps, and returns the requested fact. Anys within an any are copied.
    pub(super) fn follow(self, steps: &[Step], wanted: Wanted<'_>) -> Outcome<Value<'a>> {
        let mut place = self;
        let mut steps = steps;
        loop {
            if let Self::Part(cursor) = place
                && cursor.kind() == TCKind::Any
            {
                let any = cursor.any()?;
                let value = Place::Part(Cursor::of(&any)).follow(steps, wanted)?;
                return Ok(value.into_owned());
            }
            let Some((step, further)) = steps.split_first() else {
                return place.take(wanted);
            };
            if let Some(value) = place.special(step)? {
                return match (further, wanted) {
                    ([], Wanted::Value) => Ok(value),
                    ([], Wanted::Existence) => Ok(Value::Bool(true)),
                    _ => Err(Fail),
                };
            }
            place = place.step(step)?;
            steps = further;
        }
    }

    fn take(self, wanted: Wanted<'_>) -> Outcome<Value<'a>> {
        match wanted {
            Wanted::Value => self.value(),
            Wanted::Existence => Ok(Value::Bool(true)),
            Wanted::DefaultBranch => match self {
                Self::Part(cursor) => {
                    let (index, _) = cursor.branch()?;
                    Ok(Value::Bool(cursor.code().default_index() == Some(index)))
                }
                _ => Err(Fail),
            },
            Wanted::Element(value) => match self {
                Self::Part(cursor) => Ok(Value::Bool(contains(cursor, value)?)),
                _ => Err(Fail),
            },
        }
    }

    fn value(self) -> Outcome<Value<'a>> {
        match self {
            Self::Text(text) => Ok(Value::Text(Cow::Borrowed(text))),
            Self::Part(cursor) => cursor.value(),
            Self::Number(number) => Ok(Value::Int(number)),
            _ => Ok(Value::Other),
        }
    }

    /// Steps to values that are not parts: a length, a discriminator, the name of a type.
    fn special(self, step: &Step) -> Outcome<Option<Value<'a>>> {
        let value = match (step, self) {
            (Step::Length, Self::Part(cursor)) => Value::int(cursor.count()? as i128)?,
            (Step::Length, Self::List(list)) => Value::int(list.len() as i128)?,
            (Step::Length, Self::Text(text)) => Value::int(text.len() as i128)?,
            (Step::Discriminator, Self::Part(cursor)) => cursor.discriminator()?.value()?,
            (Step::TypeId, _) => Value::Text(Cow::Borrowed(self.type_names()?.0)),
            (Step::RepositoryId, _) => Value::Text(Cow::Borrowed(self.type_names()?.1)),
            (Step::Length | Step::Discriminator, _) => return Err(Fail),
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// The unscoped name and the repository id of the type.
    fn type_names(self) -> Outcome<(&'a str, &'a str)> {
        let names = match self {
            Self::Event(_) => (
                "StructuredEvent",
                "IDL:omg.org/CosNotification/StructuredEvent:1.0",
            ),
            Self::Header(_) => ("EventHeader", "IDL:omg.org/CosNotification/EventHeader:1.0"),
            Self::Fixed(_) => (
                "FixedEventHeader",
                "IDL:omg.org/CosNotification/FixedEventHeader:1.0",
            ),
            Self::Type(_) => ("EventType", "IDL:omg.org/CosNotification/EventType:1.0"),
            Self::Property(_) => ("Property", "IDL:omg.org/CosNotification/Property:1.0"),
            Self::Part(cursor) => (cursor.code().name(), cursor.code().id()),
            _ => return Err(Fail),
        };
        if names.0.is_empty() {
            Err(Fail)
        } else {
            Ok(names)
        }
    }

    fn step(self, step: &Step) -> Outcome<Self> {
        match (self, step) {
            (_, Step::Entry(name)) => self.entry(name),
            (Self::Part(cursor), _) => in_part(cursor, step),
            (Self::List(list), Step::Index(index)) => {
                let entry = list.get(usize::try_from(*index).map_err(|_| Fail)?);
                Ok(Self::Property(entry.ok_or(Fail)?))
            }
            (_, Step::Member(name)) => self.member(name),
            (_, Step::Position(position)) => self.member(self.name_at(*position)?),
            _ => Err(Fail),
        }
    }

    /// The value of the first entry with that name in a list of names and values.
    pub(super) fn entry(self, name: &str) -> Outcome<Self> {
        match self {
            Self::List(list) => {
                let entry = list.iter().find(|it| it.name == name).ok_or(Fail)?;
                Ok(Self::Part(Cursor::of(&entry.value)))
            }
            Self::Part(cursor) => Ok(Self::Part(entry(cursor, name)?)),
            _ => Err(Fail),
        }
    }

    /// A member of a struct, or an entry of a list of names and values.
    pub(super) fn field(self, name: &str) -> Outcome<Self> {
        match self {
            Self::Part(cursor) => match cursor.member_named(name) {
                Ok(member) => Ok(Self::Part(member)),
                Err(Fail) => self.entry(name),
            },
            _ => self.entry(name),
        }
    }

    /// The names of the members of this struct in their order.
    fn name_at(self, position: u32) -> Outcome<&'static str> {
        let names: &[&str] = match self {
            Self::Event(_) => &["header", "filterable_data", "remainder_of_body"],
            Self::Header(_) => &["fixed_header", "variable_header"],
            Self::Fixed(_) => &["event_type", "event_name"],
            Self::Type(_) => &["domain_name", "type_name"],
            Self::Property(_) => &["name", "value"],
            Self::Now => &["time", "inacclo", "inacchi", "tdf"],
            _ => return Err(Fail),
        };
        let position = usize::try_from(position).map_err(|_| Fail)?;
        names.get(position).copied().ok_or(Fail)
    }

    fn member(self, name: &str) -> Outcome<Self> {
        Ok(match (self, name) {
            (Self::Event(event), "header") => Self::Header(&event.header),
            (Self::Event(event), "filterable_data") => Self::List(&event.filterable_data),
            (Self::Event(event), "remainder_of_body") => {
                Self::Part(Cursor::of(&event.remainder_of_body))
            }
            (Self::Header(header), "fixed_header") => Self::Fixed(&header.fixed_header),
            (Self::Header(header), "variable_header") => Self::List(&header.variable_header),
            (Self::Fixed(header), "event_type") => Self::Type(&header.event_type),
            (Self::Fixed(header), "event_name") => Self::Text(&header.event_name),
            (Self::Type(event_type), "domain_name") => Self::Text(&event_type.domain_name),
            (Self::Type(event_type), "type_name") => Self::Text(&event_type.type_name),
            (Self::Property(property), "name") => Self::Text(&property.name),
            (Self::Property(property), "value") => Self::Part(Cursor::of(&property.value)),
            (Self::Now, "time") => Self::Number(UtcTime::from(SystemTime::now()).0.into()),
            (Self::Now, "inacclo" | "inacchi" | "tdf") => Self::Number(0),
            _ => return Err(Fail),
        })
    }
}

/// A step within an any.
fn in_part<'a>(cursor: Cursor<'a>, step: &Step) -> Outcome<Place<'a>> {
    let part = match step {
        Step::Member(name) => cursor.member_named(name)?,
        Step::Position(position) => cursor.member(usize::try_from(*position).map_err(|_| Fail)?)?,
        Step::Index(index) => cursor.element(*index)?,
        Step::Branch(label) => branch(cursor, label)?,
        _ => return Err(Fail),
    };
    Ok(Place::Part(part))
}

/// The value of the first entry of a sequence of names and values.
fn entry<'a>(cursor: Cursor<'a>, name: &str) -> Outcome<Cursor<'a>> {
    let (mut element, count) = cursor.elements()?;
    for _ in 0..count {
        if let Value::Text(text) = element.member(0)?.value()?
            && text == name
        {
            return element.member(1);
        }
        element = element.next()?;
    }
    Err(Fail)
}

/// The branch of a union, if that label is active.
fn branch<'a>(cursor: Cursor<'a>, label: &Label) -> Outcome<Cursor<'a>> {
    let code = cursor.code();
    let discriminator = code.discriminator_type().ok_or(Fail)?.unaliased();
    let (index, value) = cursor.branch()?;
    let is_active = match label {
        Label::Default => code.default_index() == Some(index),
        Label::Number(number) => code
            .selected_member(*number)
            .is_some_and(|it| it.index() == index),
        Label::Text(text) => {
            let number = match discriminator.kind() {
                TCKind::Enum => discriminator.members().position(|it| it.name() == &**text),
                _ => text.chars().next().map(|it| it as usize),
            };
            let number = i64::try_from(number.ok_or(Fail)?).map_err(|_| Fail)?;
            code.selected_member(number)
                .is_some_and(|it| it.index() == index)
        }
    };
    if is_active { Ok(value) } else { Err(Fail) }
}

/// Whether a value is an element of a sequence or an array of a simple type.
fn contains(cursor: Cursor<'_>, wanted: &Value<'_>) -> Outcome<bool> {
    let (mut element, count) = cursor.elements()?;
    if matches!(
        element.kind(),
        TCKind::Struct | TCKind::Union | TCKind::Any | TCKind::Sequence
    ) {
        return Err(Fail);
    }
    for _ in 0..count {
        if wanted.compared(super::syntax::Comparison::Equal, &element.value()?)? {
            return Ok(true);
        }
        element = element.next()?;
    }
    Ok(false)
}
