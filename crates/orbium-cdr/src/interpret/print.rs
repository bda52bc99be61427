// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values for people.

use core::fmt::{self, Write as _};

use super::graphs::copy_graph;
use super::visitor::{Group, Leaf, Run, Visitor};
use super::walk_value;
use crate::mapping::decimal::write_decimal;
use crate::typecode::write_type_name;
use crate::{CdrError, CdrReader, CdrWriter, Format, TypeRef};

/// Maximum number of elements of a run of primitives that are shown.
const MAX_SHOWN_ELEMENTS: usize = 64;

/// Maximum octets of text shown for a value. A peer chooses the names of members, which are shown
/// for each element of a sequence, so that the text may far exceed the octets sent.
const MAX_SHOWN_OCTETS: usize = 1 << 20;

/// A formatter with a limit of text.
struct Bounded<'f, 'g> {
    out: &'f mut fmt::Formatter<'g>,
    left: usize,
    is_full: bool,
}

impl fmt::Write for Bounded<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = self.left.checked_sub(text.len());
        self.is_full = left.is_none();
        self.left = left.ok_or(fmt::Error)?;
        self.out.write_str(text)
    }
}

/// A type as it is referred to.
struct TypeName<'t>(TypeRef<'t>);

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type_name(self.0, f)
    }
}

/// A value being shown.
pub(crate) struct Printed<'f, 'g> {
    out: Bounded<'f, 'g>,
    /// For each group open, outermost first, whether a part was shown.
    open: Vec<bool>,
    /// Whether the name of the next part was shown.
    named: bool,
}

/// The reason why showing a value ended early.
pub(crate) enum Stop {
    Value(CdrError),
    Output(fmt::Error),
}

impl From<CdrError> for Stop {
    #[inline]
    fn from(error: CdrError) -> Self {
        Self::Value(error)
    }
}

impl From<fmt::Error> for Stop {
    #[inline]
    fn from(error: fmt::Error) -> Self {
        Self::Output(error)
    }
}

impl<'f, 'g> Printed<'f, 'g> {
    /// Shows one value; errors are shown in place.
    pub(crate) fn show(
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
        out: &'f mut fmt::Formatter<'g>,
    ) -> fmt::Result {
        let mut printed = Self {
            out: Bounded {
                out,
                left: MAX_SHOWN_OCTETS,
                is_full: false,
            },
            open: Vec::new(),
            named: true,
        };
        match walk_value(code, reader, &mut printed) {
            Ok(()) => Ok(()),
            Err(_) if printed.out.is_full => printed.out.out.write_str("…"),
            Err(Stop::Output(error)) => Err(error),
            Err(Stop::Value(error)) => write!(printed.out.out, "<{error}>"),
        }
    }

    /// Separates a part from the one before it.
    fn separate(&mut self) -> fmt::Result {
        if core::mem::take(&mut self.named) {
            return Ok(());
        }
        match self.open.last_mut() {
            Some(shown) if *shown => self.out.write_str(", "),
            Some(shown) => {
                *shown = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn write_leaf(&mut self, leaf: Leaf<'_>) -> fmt::Result {
        let shown: &dyn fmt::Debug = match &leaf {
            Leaf::Nothing => &(),
            Leaf::Boolean(value) => value,
            Leaf::Octet(value) => value,
            Leaf::Char(value) => value,
            Leaf::WChar(value) => value,
            Leaf::Short(value) => value,
            Leaf::UShort(value) => value,
            Leaf::Long(value) => value,
            Leaf::ULong(value) => value,
            Leaf::LongLong(value) => value,
            Leaf::ULongLong(value) => value,
            Leaf::Float(value) => value,
            Leaf::Double(value) => value,
            Leaf::LongDouble(value) => value,
            Leaf::String(text) | Leaf::WString(text) => text,
            Leaf::TypeCode(code) => code,
            Leaf::Fixed {
                unscaled, scale, ..
            } => {
                self.out.write_str(if *unscaled < 0 { "-" } else { "" })?;
                return write_decimal(unscaled.unsigned_abs(), *scale, &mut self.out);
            }
            Leaf::Enum { ordinal, name: "" } => return write!(self.out, "#{ordinal}"),
            Leaf::Enum { name, .. } => return self.out.write_str(name),
            Leaf::Principal(octets) => return write!(self.out, "Principal({octets:?})"),
            Leaf::Reference(nil) if nil.profiles.is_empty() => return self.out.write_str("nil"),
            Leaf::Reference(reference) => {
                let (id, count) = (reference.type_id, reference.profiles.len());
                return write!(self.out, "Reference({id:?}, {count} profiles)");
            }
        };
        write!(self.out, "{shown:?}")
    }
}

impl Visitor for Printed<'_, '_> {
    type Error = Stop;

    #[inline]
    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Stop> {
        self.separate()?;
        Ok(self.write_leaf(leaf)?)
    }

    fn begin(&mut self, group: Group<'_>) -> Result<(), Stop> {
        self.separate()?;
        match group {
            Group::Struct(_) | Group::Exception(_) => self.out.write_str("{ ")?,
            Group::Union(_, discriminator) => {
                self.write_leaf(discriminator)?;
                self.out.write_str(" => { ")?;
            }
            Group::Sequence(..) | Group::Array(..) => self.out.write_str("[")?,
            Group::Any(code) => {
                write!(self.out, "Any({}: ", TypeName(code))?;
            }
        }
        self.open.push(false);
        Ok(())
    }

    fn member(&mut self, name: &str) -> Result<(), Stop> {
        self.separate()?;
        if !name.is_empty() {
            write!(self.out, "{name}: ")?;
        }
        self.named = true;
        Ok(())
    }

    fn end(&mut self, group: Group<'_>) -> Result<(), Stop> {
        let parts = self.open.pop().unwrap_or(false);
        self.named = false;
        Ok(self.out.write_str(match group {
            Group::Struct(_) | Group::Exception(_) | Group::Union(..) if parts => " }",
            Group::Struct(_) | Group::Exception(_) | Group::Union(..) => "}",
            Group::Sequence(..) | Group::Array(..) => "]",
            Group::Any(_) => ")",
        })?)
    }

    fn run(&mut self, run: Run<'_>) -> Result<(), Stop> {
        let count = run.leaves().len();
        for leaf in run.leaves().take(MAX_SHOWN_ELEMENTS) {
            self.leaf(leaf)?;
        }
        if count > MAX_SHOWN_ELEMENTS {
            write!(self.out, ", … {} more", count - MAX_SHOWN_ELEMENTS)?;
        }
        Ok(())
    }

    fn value(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), Stop> {
        self.separate()?;
        copy_graph(code, reader, &mut CdrWriter::new(Format::native()))?;
        Ok(write!(self.out, "value of {}", TypeName(code))?)
    }
}
