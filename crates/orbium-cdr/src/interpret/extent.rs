// SPDX-License-Identifier: MIT OR Apache-2.0
//! Format dependence of a type: the parts that exclude a verbatim copy.

use crate::{CharSet, Format, TCKind, TypeRef};

/// Maximum parts of a type that are examined; a type of more counts as opaque.
const MAX_PARTS: u32 = 64;

/// The format dependences of values of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Greatest alignment.
    align: usize,
    /// `char`s, which some code sets cannot carry.
    chars: bool,
    strings: bool,
    wide: bool,
    /// The extent depends on the value.
    opaque: bool,
}

impl Extent {
    /// Looks through a type, but not for long.
    pub(crate) fn of(code: TypeRef<'_>) -> Self {
        let mut extent = Self {
            align: 1,
            chars: false,
            strings: false,
            wide: false,
            opaque: false,
        };
        let mut parts = MAX_PARTS;
        extent.add(code, &mut parts);
        extent
    }

    fn add(&mut self, code: TypeRef<'_>, parts: &mut u32) {
        if self.opaque || *parts == 0 {
            self.opaque = true;
            return;
        }
        *parts -= 1;
        let kind = code.kind();
        self.align = self.align.max(alignment(kind));
        match kind {
            TCKind::Char => self.chars = true,
            TCKind::String => self.strings = true,
            TCKind::WChar | TCKind::WString => self.wide = true,
            TCKind::Any | TCKind::TypeCode => self.opaque = true,
            // Values of one message are one graph.
            TCKind::Value | TCKind::ValueBox | TCKind::Event | TCKind::AbstractInterface => {
                self.opaque = true;
            }
            TCKind::Enum => {}
            _ => {
                if let Some(content) = code.content() {
                    self.add(content, parts);
                }
                for member in code.members().filter_map(crate::MemberRef::type_code) {
                    self.add(member, parts);
                }
            }
        }
    }

    /// Whether values in native form, aligned from 0, have the same octets in `format` at
    /// `position`.
    pub(crate) fn is_verbatim(self, format: Format, position: usize) -> bool {
        let native = Format::native();
        !self.opaque
            && (self.align == 1 || format.order == native.order)
            && position.is_multiple_of(self.align)
            && (!self.chars || format.char_set != CharSet::Utf8)
            && (!self.strings || format.char_set.is_utf8())
            && (!self.wide || (format.minor >= 2 && format.wide_set == native.wide_set))
    }
}

fn alignment(kind: TCKind) -> usize {
    match kind {
        TCKind::Enum
        | TCKind::String
        | TCKind::WString
        | TCKind::Sequence
        | TCKind::ObjRef
        | TCKind::Component
        | TCKind::Home
        | TCKind::Except
        | TCKind::Principal => 4,
        _ => kind.primitive().map_or(1, |(_, align)| align),
    }
}
