// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types known at compile time, as data in statics.

use super::kind::TCKind;
use crate::{CdrError, CdrReader, CdrWriter};

/// The value of `number` for a union without a default member.
pub(super) const NO_DEFAULT: u32 = u32::MAX;

/// A type described in a `static`, without allocation or initialisation.
///
/// Statics may refer to one another and to themselves, so a recursive type is written directly:
///
/// ```
/// use orbium_cdr::{Member, Type, TypeCode};
///
/// static NODE: Type = Type::structure("IDL:Tree/Node:1.0", "Node", &[
///     Member::new("value", Type::LONG),
///     Member::new("children", &Type::sequence(&NODE, 0)),
/// ]);
/// let code = TypeCode::from(&NODE);
/// assert_eq!(code.to_string(), "struct Node { long value; sequence<Node> children; }");
/// ```
///
/// Programs use [`TypeCode`](crate::TypeCode) for types of both kinds, such statics and received
/// ones.
#[derive(Debug)]
pub struct Type {
    pub(super) kind: TCKind,
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// Bound, length, digits, value modifier, or index of the default member.
    pub(super) number: u32,
    pub(super) scale: i16,
    /// Element, original type, discriminator, boxed type or concrete base.
    pub(super) content: Option<&'static Type>,
    pub(super) members: &'static [Member],
    pub(super) copy: Option<CopyValue>,
}

/// Copies a value of one valuetype from message to message.
pub type CopyValue = fn(&mut CdrReader<'_>, &mut CdrWriter<'_>) -> Result<(), CdrError>;

/// A member of a struct, exception, union or value, or an enumerator.
#[derive(Debug)]
pub struct Member {
    pub(super) name: &'static str,
    pub(super) content: Option<&'static Type>,
    pub(super) label: i64,
    pub(super) is_default: bool,
    pub(super) visibility: i16,
}

impl Member {
    const fn with(name: &'static str, content: Option<&'static Type>) -> Self {
        Self {
            name,
            content,
            label: 0,
            is_default: false,
            visibility: 0,
        }
    }

    /// A member of a struct or an exception.
    #[must_use]
    pub const fn new(name: &'static str, content: &'static Type) -> Self {
        Self::with(name, Some(content))
    }

    /// The members of some lists, `N` of them.
    #[doc(hidden)]
    #[must_use]
    pub const fn concat<const N: usize>(lists: &[&[Self]]) -> [Self; N] {
        let mut all = [const { Self::enumerator("") }; N];
        let (mut count, mut list) = (0, 0);
        while list < lists.len() {
            let mut at = 0;
            while at < lists[list].len() {
                all[count] = Self { ..lists[list][at] };
                count += 1;
                at += 1;
            }
            list += 1;
        }
        all
    }

    /// An enumerator.
    #[must_use]
    pub const fn enumerator(name: &'static str) -> Self {
        Self::with(name, None)
    }

    /// A union member under one label: the number of the enumerator, the code
    /// of the character, 0 or 1 for a boolean; an `unsigned long long` as the
    /// `i64` of the same bits. A member with several labels is given once for
    /// each.
    #[must_use]
    pub const fn case(label: i64, name: &'static str, content: &'static Type) -> Self {
        Self {
            label,
            ..Self::with(name, Some(content))
        }
    }

    /// The union member under `default:`.
    #[must_use]
    pub const fn otherwise(name: &'static str, content: &'static Type) -> Self {
        Self {
            is_default: true,
            ..Self::with(name, Some(content))
        }
    }

    /// A state member of a value type.
    #[must_use]
    pub const fn state(name: &'static str, content: &'static Type, public: bool) -> Self {
        Self {
            visibility: public as i16,
            ..Self::with(name, Some(content))
        }
    }
}

macro_rules! simple {
    ($($(#[$doc:meta])* $constant:ident = $kind:ident;)*) => {
        /// The types described by their kind alone.
        impl Type {
            $($(#[$doc])* pub const $constant: &'static Self = &Self::of(TCKind::$kind);)*

            pub(super) const fn simple(kind: TCKind) -> Option<&'static Self> {
                match kind {
                    $(TCKind::$kind => Some(Self::$constant),)*
                    _ => None,
                }
            }
        }
    };
}

simple! {
    /// No type at all.
    NULL = Null;
    /// `void`.
    VOID = Void;
    /// `short`.
    SHORT = Short;
    /// `long`.
    LONG = Long;
    /// `unsigned short`.
    USHORT = UShort;
    /// `unsigned long`.
    ULONG = ULong;
    /// `float`.
    FLOAT = Float;
    /// `double`.
    DOUBLE = Double;
    /// `boolean`.
    BOOLEAN = Boolean;
    /// `char`.
    CHAR = Char;
    /// `octet`.
    OCTET = Octet;
    /// `any`.
    ANY = Any;
    /// `TypeCode`.
    TYPE_CODE = TypeCode;
    /// `Principal`.
    PRINCIPAL = Principal;
    /// `long long`.
    LONGLONG = LongLong;
    /// `unsigned long long`.
    ULONGLONG = ULongLong;
    /// `long double`.
    LONGDOUBLE = LongDouble;
    /// `wchar`.
    WCHAR = WChar;
    /// Unbounded `string`.
    STRING = String;
    /// Unbounded `wstring`.
    WSTRING = WString;
}

impl Type {
    /// The type of all object references.
    pub const OBJECT: &'static Self = &Self::interface("IDL:omg.org/CORBA/Object:1.0", "Object");

    const fn of(kind: TCKind) -> Self {
        Self {
            kind,
            id: "",
            name: "",
            number: 0,
            scale: 0,
            content: None,
            members: &[],
            copy: None,
        }
    }

    const fn named(kind: TCKind, id: &'static str, name: &'static str) -> Self {
        Self {
            id,
            name,
            ..Self::of(kind)
        }
    }

    /// `string<bound>`; 0 means unbounded.
    #[must_use]
    pub const fn string(bound: u32) -> Self {
        Self {
            number: bound,
            ..Self::of(TCKind::String)
        }
    }

    /// `wstring<bound>`; 0 means unbounded.
    #[must_use]
    pub const fn wstring(bound: u32) -> Self {
        Self {
            number: bound,
            ..Self::of(TCKind::WString)
        }
    }

    /// `fixed<digits, scale>`.
    #[must_use]
    pub const fn fixed(digits: u16, scale: i16) -> Self {
        Self {
            number: digits as u32,
            scale,
            ..Self::of(TCKind::Fixed)
        }
    }

    /// `sequence<element, bound>`; 0 means unbounded.
    #[must_use]
    pub const fn sequence(element: &'static Self, bound: u32) -> Self {
        Self {
            number: bound,
            content: Some(element),
            ..Self::of(TCKind::Sequence)
        }
    }

    /// One dimension of an array; `long a[2][3]` is an array of two arrays of
    /// three.
    #[must_use]
    pub const fn array(element: &'static Self, length: u32) -> Self {
        Self {
            number: length,
            content: Some(element),
            ..Self::of(TCKind::Array)
        }
    }

    /// `struct`.
    #[must_use]
    pub const fn structure(
        id: &'static str,
        name: &'static str,
        members: &'static [Member],
    ) -> Self {
        Self {
            members,
            ..Self::named(TCKind::Struct, id, name)
        }
    }

    /// `exception`.
    #[must_use]
    pub const fn exception(
        id: &'static str,
        name: &'static str,
        members: &'static [Member],
    ) -> Self {
        Self {
            members,
            ..Self::named(TCKind::Except, id, name)
        }
    }

    /// `enum`, of [`Member::enumerator`]s.
    #[must_use]
    pub const fn enumeration(
        id: &'static str,
        name: &'static str,
        enumerators: &'static [Member],
    ) -> Self {
        Self {
            members: enumerators,
            ..Self::named(TCKind::Enum, id, name)
        }
    }

    /// `union`, of [`Member::case`]s and at most one [`Member::otherwise`].
    #[must_use]
    pub const fn union(
        id: &'static str,
        name: &'static str,
        discriminator: &'static Self,
        members: &'static [Member],
    ) -> Self {
        let mut default = NO_DEFAULT;
        let mut i = 0;
        while i < members.len() {
            if members[i].is_default {
                default = i as u32;
            }
            i += 1;
        }
        Self {
            number: default,
            content: Some(discriminator),
            members,
            ..Self::named(TCKind::Union, id, name)
        }
    }

    /// `typedef`.
    #[must_use]
    pub const fn alias(id: &'static str, name: &'static str, original: &'static Self) -> Self {
        Self {
            content: Some(original),
            ..Self::named(TCKind::Alias, id, name)
        }
    }

    /// `interface`.
    #[must_use]
    pub const fn interface(id: &'static str, name: &'static str) -> Self {
        Self::named(TCKind::ObjRef, id, name)
    }

    /// `abstract interface`.
    #[must_use]
    pub const fn abstract_interface(id: &'static str, name: &'static str) -> Self {
        Self::named(TCKind::AbstractInterface, id, name)
    }

    /// `local interface`.
    #[must_use]
    pub const fn local_interface(id: &'static str, name: &'static str) -> Self {
        Self::named(TCKind::LocalInterface, id, name)
    }

    /// `native`.
    #[must_use]
    pub const fn native(id: &'static str, name: &'static str) -> Self {
        Self::named(TCKind::Native, id, name)
    }

    /// `component`.
    #[must_use]
    pub const fn component(id: &'static str, name: &'static str) -> Self {
        Self::named(TCKind::Component, id, name)
    }

    /// `home`.
    #[must_use]
    pub const fn home(id: &'static str, name: &'static str) -> Self {
        Self::named(TCKind::Home, id, name)
    }

    /// `valuetype`, of [`Member::state`]s. The modifier is 0 for none, 1 for
    /// custom, 2 for abstract, 3 for truncatable.
    #[must_use]
    pub const fn value(
        id: &'static str,
        name: &'static str,
        modifier: i16,
        concrete_base: Option<&'static Self>,
        members: &'static [Member],
    ) -> Self {
        Self {
            scale: modifier,
            content: concrete_base,
            members,
            ..Self::named(TCKind::Value, id, name)
        }
    }

    /// `eventtype`; as [`Type::value`].
    #[must_use]
    pub const fn event(
        id: &'static str,
        name: &'static str,
        modifier: i16,
        concrete_base: Option<&'static Self>,
        members: &'static [Member],
    ) -> Self {
        Self {
            kind: TCKind::Event,
            ..Self::value(id, name, modifier, concrete_base, members)
        }
    }

    /// The same type with a function that copies its values within anys.
    #[doc(hidden)]
    #[must_use]
    pub const fn copied_by(self, copy: CopyValue) -> Self {
        Self {
            copy: Some(copy),
            ..self
        }
    }

    /// The abstract interface that has the id and name of this type.
    #[doc(hidden)]
    #[must_use]
    pub const fn as_abstract(&'static self) -> Self {
        Self::abstract_interface(self.id, self.name)
    }

    /// A boxed value.
    #[must_use]
    pub const fn value_box(id: &'static str, name: &'static str, boxed: &'static Self) -> Self {
        Self {
            content: Some(boxed),
            ..Self::named(TCKind::ValueBox, id, name)
        }
    }
}
