// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types at their uses: in members, parameters, results and aliases.

use crate::DefId;

/// The type of a member, a parameter, a result or the right-hand side of a typedef.
///
/// Struct, union, enum, interface, value type, alias and native are all [`Type::Named`]; the
/// definition in the model determines which. The IDL 4 names `int16` to `uint64` are represented as
/// the CORBA types, and `uint8` as `octet`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`: only the result of an operation.
    Void,
    /// `boolean`
    Boolean,
    /// `char`
    Char,
    /// `wchar`
    WChar,
    /// `octet`, and `uint8` of IDL 4
    Octet,
    /// `int8` of IDL 4: marshalled as an octet.
    Int8,
    /// `short`
    Short,
    /// `unsigned short`
    UShort,
    /// `long`
    Long,
    /// `unsigned long`
    ULong,
    /// `long long`
    LongLong,
    /// `unsigned long long`
    ULongLong,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `long double`
    LongDouble,
    /// `any`
    Any,
    /// `CORBA::TypeCode`
    TypeCode,
    /// `Object`
    Object,
    /// `ValueBase`
    ValueBase,
    /// `string` with its bound, if any. The bound is at least 1.
    String(Option<u32>),
    /// `wstring` with its bound, if any. The bound is at least 1.
    WString(Option<u32>),
    /// `fixed<digits, scale>` with 1 ≤ digits ≤ 31 and scale ≤ digits.
    Fixed {
        /// Number of significant decimal digits.
        digits: u8,
        /// Digits after the decimal point.
        scale: u8,
    },
    /// `sequence<element, bound>`
    Sequence {
        /// The element type.
        element: Box<Type>,
        /// The largest number of elements, at least 1, or none.
        bound: Option<u32>,
    },
    /// An array: `element name[2][3]` has dimensions `[2, 3]`, outermost first.
    Array {
        /// The element type; never itself an array, but possibly an alias of one.
        element: Box<Type>,
        /// At least one dimension, each at least 1.
        dimensions: Vec<u32>,
    },
    /// A type with a definition: struct, union, enum, alias, interface, value type, value box,
    /// native, or a construct that is not mapped.
    Named(DefId),
}

impl Type {
    /// Whether this is one of the integer types (`octet` and `int8` are not).
    pub fn is_integer(&self) -> bool {
        self.integer_range().is_some() && !matches!(self, Type::Octet | Type::Int8)
    }

    /// The smallest and largest value of an integer type or of `octet` and `int8`.
    pub fn integer_range(&self) -> Option<(i128, i128)> {
        Some(match self {
            Type::Octet => (0, 0xff),
            Type::Int8 => (-0x80, 0x7f),
            Type::Short => (i128::from(i16::MIN), i128::from(i16::MAX)),
            Type::UShort => (0, i128::from(u16::MAX)),
            Type::Long => (i128::from(i32::MIN), i128::from(i32::MAX)),
            Type::ULong => (0, i128::from(u32::MAX)),
            Type::LongLong => (i128::from(i64::MIN), i128::from(i64::MAX)),
            Type::ULongLong => (0, i128::from(u64::MAX)),
            _ => return None,
        })
    }

    /// Whether this is `float`, `double` or `long double`.
    pub fn is_floating(&self) -> bool {
        matches!(self, Type::Float | Type::Double | Type::LongDouble)
    }

    /// The IDL spelling of a type without definition and without parts, such as `long long`.
    pub fn keyword(&self) -> Option<&'static str> {
        Some(match self {
            Type::Void => "void",
            Type::Boolean => "boolean",
            Type::Char => "char",
            Type::WChar => "wchar",
            Type::Octet => "octet",
            Type::Int8 => "int8",
            Type::Short => "short",
            Type::UShort => "unsigned short",
            Type::Long => "long",
            Type::ULong => "unsigned long",
            Type::LongLong => "long long",
            Type::ULongLong => "unsigned long long",
            Type::Float => "float",
            Type::Double => "double",
            Type::LongDouble => "long double",
            Type::Any => "any",
            Type::TypeCode => "CORBA::TypeCode",
            Type::Object => "Object",
            Type::ValueBase => "ValueBase",
            _ => return None,
        })
    }
}
