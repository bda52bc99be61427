// SPDX-License-Identifier: MIT OR Apache-2.0
//! Type-independent part of the JSON reader: paths, errors, and one level of JSON.

use orbium_cdr::{CdrWriter, Format, TCKind, TypeRef};
use orbium_value::ValueBase;
use serde_json::value::RawValue;

use super::error::{JsonError, shown};
use super::graph::Made;
use super::integer;
use super::object::Object;
use super::options::{JsonOptions, MAX_DEPTH};
use crate::member_tables::MemberTables;

/// A step from a value to a part of it.
#[derive(Clone)]
pub(super) enum Step {
    Member(String),
    Element(usize),
}

/// Writes the CDR of a value while it reads its JSON.
pub(super) struct Parser<'t> {
    pub(super) options: &'t JsonOptions<'t>,
    path: Vec<Step>,
    pub(super) writer: CdrWriter<'static>,
    /// The values of valuetypes: the written data contain their numbers.
    pub(super) values: Vec<Option<ValueBase>>,
    pub(super) made: Made,
    pub(super) tables: MemberTables,
}

pub(super) type Parsed<T = ()> = Result<T, JsonError>;

impl<'t> Parser<'t> {
    pub(super) fn new(options: &'t JsonOptions<'t>) -> Self {
        Self {
            options,
            path: Vec::new(),
            writer: CdrWriter::new(Format::native()),
            values: Vec::new(),
            made: Made::default(),
            tables: MemberTables::default(),
        }
    }

    pub(super) fn path(&self) -> String {
        let mut path = "$".to_owned();
        for step in &self.path {
            match step {
                Step::Member(name) => {
                    path.push('.');
                    path.push_str(name);
                }
                Step::Element(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    #[cold]
    pub(super) fn error(&self, reason: impl Into<String>) -> JsonError {
        JsonError::new(self.path(), reason.into())
    }

    #[cold]
    pub(super) fn mismatch(&self, wanted: &str, found: &str) -> JsonError {
        self.error(format!("expected {wanted}, found {}", shown(found)))
    }

    /// Does something for a member.
    pub(super) fn member<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        self.below(Step::Member(name.to_owned()), work)
    }

    pub(super) fn below<T>(
        &mut self,
        step: Step,
        work: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        if self.path.len() >= MAX_DEPTH {
            return Err(self.error("values are nested too deeply"));
        }
        self.path.push(step);
        let done = work(self)?;
        self.path.pop();
        Ok(done)
    }

    /// One level of JSON.
    pub(super) fn read<'j, T: serde::Deserialize<'j>>(
        &self,
        wanted: &str,
        text: &'j str,
    ) -> Parsed<T> {
        serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data if !text.starts_with('{') => {
                self.mismatch(wanted, text)
            }
            _ => self.error(error_alone(&error)),
        })
    }

    pub(super) fn object<'j>(&self, wanted: &str, text: &'j str) -> Parsed<Object<'j>> {
        if text.starts_with('{') {
            self.read(wanted, text)
        } else {
            Err(self.mismatch(wanted, text))
        }
    }

    pub(super) fn string(&self, wanted: &str, text: &str) -> Parsed<String> {
        self.read(wanted, text)
    }

    /// The only entry of an object `{"$key": …}`; `None` for any other text.
    pub(super) fn special<'j>(&self, text: &'j str) -> Parsed<Option<(String, &'j RawValue)>> {
        if !text.starts_with('{') {
            return Ok(None);
        }
        let mut object: Object<'_> = self.read("an object", text)?;
        let is_special = object.0.len() == 1 && object.0[0].0.starts_with('$');
        Ok(object.0.pop().filter(|_| is_special))
    }

    pub(super) fn unaliased<'c>(&self, code: TypeRef<'c>) -> Parsed<TypeRef<'c>> {
        let code = code.unaliased();
        match code.kind() {
            // The placeholder of a type that was never defined.
            TCKind::Alias => Err(self.error("the type is incomplete")),
            _ => Ok(code),
        }
    }

    /// The whole number that text is, as a JSON number or string.
    pub(super) fn whole(&self, kind: TCKind, text: &str) -> Parsed<i128> {
        let wanted = kind.keyword();
        let value = if text.starts_with('"') {
            integer::parse(&self.string(wanted, text)?)
        } else {
            integer::parse(text)
        };
        value.ok_or_else(|| self.mismatch(wanted, text))
    }

    pub(super) fn check_bound(&self, code: TypeRef<'_>, length: usize, unit: &str) -> Parsed {
        let bound = code.length() as usize;
        if bound > 0 && length > bound {
            return Err(self.error(format!("{length} {unit}, but the bound is {bound}")));
        }
        Ok(())
    }
}

/// The message of an error of `serde_json` without the position, which is relative to one value.
fn error_alone(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(place) => message[..place].to_owned(),
        None => message,
    }
}
