// SPDX-License-Identifier: MIT OR Apache-2.0
//! CDR to JSON, by the corresponding type.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orbium_cdr::{
    CdrError, CdrErrorKind, CdrReader, Group, Leaf, Reference, Run, TCKind, TypeCode, TypeRef,
    Visitor, WChar,
};
use orbium_giop::{Ior, TaggedProfile};

use super::float::{self, Text};
use super::graph::Graph;
use super::options::{JsonOptions, quoted};
use super::{numbers, types};

/// Maximum octets of names and types for each octet of a value: a sequence repeats the names of its
/// elements' members, and a peer chooses names of any length.
const NAMES_PER_OCTET: usize = 256;

/// Octets of names and types that are written for any value, however short.
const FREE_NAMES: usize = 1 << 20;

/// An open object, array or other group.
enum Frame {
    /// An object: whether it has a member yet.
    Object { begun: bool },
    /// An array: whether it has an element yet, and whether it is written on one line.
    Array { begun: bool, one_line: bool },
    /// Octets, written as one string: whether they were written.
    Octets { written: bool },
    /// An any: whether it is empty.
    Any { empty: bool },
}

/// Writes JSON while the interpreter walks a value.
pub(super) struct Printer<'t> {
    pub(super) out: String,
    options: &'t JsonOptions<'t>,
    open: Vec<Frame>,
    /// Octets of names and types that may still be written.
    names: usize,
    pub(super) graph: &'t Graph,
    /// By identity: the `$id` of values that are written or begun.
    pub(super) numbered: HashMap<usize, usize>,
}

impl<'t> Printer<'t> {
    /// For a value of that many octets.
    pub(super) fn new(options: &'t JsonOptions<'t>, graph: &'t Graph, octets: usize) -> Self {
        Self {
            out: String::new(),
            options,
            open: Vec::new(),
            names: FREE_NAMES.saturating_add(octets.saturating_mul(NAMES_PER_OCTET)),
            graph,
            numbered: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Counts the octets of a name or a type.
    fn spend(&mut self, octets: usize) -> Result<(), CdrError> {
        let left = self.names.checked_sub(octets);
        self.names = left.ok_or_else(|| CdrError::new(CdrErrorKind::NoMemory, 0))?;
        Ok(())
    }

    /// Begins a new line, if the output is indented.
    fn line(&mut self, levels: usize) {
        if let Some(width) = self.options.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', width * levels));
        }
    }

    /// Writes the separator before a value, unless it follows a key.
    pub(super) fn before_value(&mut self) {
        let levels = self.levels();
        if let Some(Frame::Array { begun, one_line }) = self.open.last_mut() {
            let first = !std::mem::replace(begun, true);
            let one_line = *one_line;
            if !first {
                self.out.push(',');
            }
            match (one_line, self.options.indent) {
                (false, _) => self.line(levels),
                (true, Some(_)) if !first => self.out.push(' '),
                (true, _) => {}
            }
        }
    }

    /// Objects and arrays that are open.
    pub(super) fn levels(&self) -> usize {
        let counted = |it: &&Frame| matches!(it, Frame::Object { .. } | Frame::Array { .. });
        self.open.iter().filter(counted).count()
    }

    pub(super) fn key(&mut self, name: &str) {
        let levels = self.levels();
        if let Some(Frame::Object { begun }) = self.open.last_mut() {
            if std::mem::replace(begun, true) {
                self.out.push(',');
            }
            self.line(levels);
        }
        self.out.push_str(&quoted(name));
        self.out.push(':');
        if self.options.indent.is_some() {
            self.out.push(' ');
        }
    }

    /// Ends an object or array.
    fn close(&mut self, bracket: char, begun: bool, one_line: bool) {
        if begun && !one_line {
            let levels = self.levels();
            self.line(levels);
        }
        self.out.push(bracket);
    }

    pub(super) fn begin_object(&mut self) {
        self.before_value();
        self.out.push('{');
        self.open.push(Frame::Object { begun: false });
    }

    /// Ends the innermost open object or array.
    pub(super) fn end_innermost(&mut self) {
        match self.open.pop() {
            Some(Frame::Object { begun }) => self.close('}', begun, false),
            Some(Frame::Array { begun, one_line }) => self.close(']', begun, one_line),
            Some(Frame::Octets { written: false }) => self.out.push_str("\"\""),
            Some(Frame::Octets { written: true } | Frame::Any { .. }) | None => {}
        }
    }

    fn begin_elements(&mut self, code: TypeRef<'_>) {
        self.before_value();
        let element = code.content_type().map(|it| it.unaliased().kind());
        if element == Some(TCKind::Octet) {
            return self.open.push(Frame::Octets { written: false });
        }
        self.out.push('[');
        self.open.push(Frame::Array {
            begun: false,
            one_line: element.is_some_and(is_short),
        });
    }

    fn type_code(&mut self, code: TypeRef<'_>) -> Result<(), CdrError> {
        let text = types::printed(code, self.options.types, self.names);
        let text = text.ok_or_else(|| CdrError::new(CdrErrorKind::TooDeep, 0))?;
        self.out.push_str(&text);
        self.spend(text.len())
    }

    fn text(&mut self, text: &Text, number_as_string: bool) {
        match text {
            Text::Number(number) if number_as_string => self.out.push_str(&quoted(number)),
            Text::Number(number) => self.out.push_str(number),
            Text::Special(name) => self.out.push_str(&quoted(name)),
            Text::Bits(bits) => {
                self.out.push_str("{\"$bits\":");
                self.out.push_str(&quoted(bits));
                self.out.push('}');
            }
        }
    }

    fn wide_integer(&mut self, digits: &str) {
        if self.options.wide_integers_as_numbers {
            self.out.push_str(digits);
        } else {
            self.out.push_str(&quoted(digits));
        }
    }

    fn wchar(&mut self, unit: WChar) {
        match char::try_from(unit) {
            Ok(c) => self.out.push_str(&quoted(c.encode_utf8(&mut [0; 4]))),
            Err(WChar(unit)) => self.out.push_str(&format!("{{\"$utf16\":[{unit}]}}")),
        }
    }

    fn plain(&mut self, leaf: Leaf<'_>) -> Result<(), CdrError> {
        if let Leaf::Enum { name, .. } = leaf {
            self.spend(name.len())?;
        }
        let out = &mut self.out;
        match leaf {
            Leaf::Nothing => out.push_str("null"),
            Leaf::Boolean(value) => out.push_str(if value { "true" } else { "false" }),
            Leaf::Octet(value) => out.push_str(&value.to_string()),
            Leaf::Char(value) => {
                out.push_str(&quoted(char::from(value).encode_utf8(&mut [0; 4])));
            }
            Leaf::WChar(value) => self.wchar(value),
            Leaf::Short(value) => out.push_str(&value.to_string()),
            Leaf::UShort(value) => out.push_str(&value.to_string()),
            Leaf::Long(value) => out.push_str(&value.to_string()),
            Leaf::ULong(value) => out.push_str(&value.to_string()),
            Leaf::LongLong(value) => self.wide_integer(&value.to_string()),
            Leaf::ULongLong(value) => self.wide_integer(&value.to_string()),
            Leaf::Float(value) => self.text(&float::float(value), false),
            Leaf::Double(value) => self.text(&float::double(value), false),
            Leaf::LongDouble(value) => self.text(&float::long_double(value), true),
            Leaf::Fixed {
                unscaled, scale, ..
            } => {
                let text = numbers::decimal(unscaled, scale);
                let text = text.ok_or_else(|| CdrError::new(CdrErrorKind::BadFixed, 0))?;
                out.push_str(&quoted(&text));
            }
            Leaf::String(text) | Leaf::WString(text) => out.push_str(&quoted(text)),
            Leaf::Enum { ordinal, name: "" } => out.push_str(&ordinal.to_string()),
            Leaf::Enum { name, .. } => out.push_str(&quoted(name)),
            Leaf::TypeCode(code) => self.type_code(TypeCode::as_ref(code))?,
            Leaf::Reference(Reference {
                type_id: "",
                profiles: [],
            }) => out.push_str("null"),
            Leaf::Reference(reference) => {
                let profiles = reference.profiles.iter();
                let ior = Ior {
                    type_id: reference.type_id.to_owned(),
                    profiles: profiles
                        .map(|profile| TaggedProfile {
                            tag: profile.tag,
                            data: profile.data.to_vec(),
                        })
                        .collect(),
                };
                out.push_str(&quoted(&ior.to_string()));
            }
            Leaf::Principal(octets) => out.push_str(&quoted(&STANDARD.encode(octets))),
        }
        Ok(())
    }
}

/// Whether values of a kind are short enough for several on a line.
fn is_short(kind: TCKind) -> bool {
    matches!(
        kind,
        TCKind::Short
            | TCKind::UShort
            | TCKind::Long
            | TCKind::ULong
            | TCKind::LongLong
            | TCKind::ULongLong
            | TCKind::Float
            | TCKind::Double
            | TCKind::Boolean
            | TCKind::Char
            | TCKind::WChar
            | TCKind::Enum
            | TCKind::Fixed
    )
}

impl Visitor for Printer<'_> {
    type Error = CdrError;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), CdrError> {
        if let (Leaf::Nothing, Some(Frame::Any { empty: true })) = (leaf, self.open.last()) {
            return Ok(());
        }
        self.before_value();
        self.plain(leaf)
    }

    fn begin(&mut self, group: Group<'_>) -> Result<(), CdrError> {
        match group {
            Group::Struct(_) | Group::Exception(_) => self.begin_object(),
            Group::Union(_, discriminator) => {
                self.begin_object();
                self.key("$d");
                self.plain(discriminator)?;
            }
            Group::Sequence(code, _) | Group::Array(code, _) => self.begin_elements(code),
            Group::Any(code) => {
                self.begin_object();
                self.key("$type");
                self.type_code(code)?;
                let empty = code.unaliased().kind() == TCKind::Null;
                if !empty {
                    self.key("$value");
                }
                self.open.push(Frame::Any { empty });
            }
        }
        Ok(())
    }

    fn member(&mut self, name: &str) -> Result<(), CdrError> {
        self.spend(name.len())?;
        self.key(name);
        Ok(())
    }

    fn end(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        if let Some(Frame::Any { .. }) = self.open.last() {
            self.open.pop();
        }
        self.end_innermost();
        Ok(())
    }

    fn value(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        self.valuetype(code, reader)
    }

    fn run(&mut self, run: Run<'_>) -> Result<(), CdrError> {
        if let Some(Frame::Octets { written }) = self.open.last_mut() {
            *written = true;
            self.out.push('"');
            STANDARD.encode_string(run.octets(), &mut self.out);
            self.out.push('"');
            return Ok(());
        }
        run.leaves().try_for_each(|leaf| self.leaf(leaf))
    }
}
