// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rust types that know their IDL type.

use std::borrow::Cow;

use super::{Type, TypeCode};
use crate::{Char, LongDouble, WChar};

/// A Rust type that maps one IDL type.
///
/// A recursive type must describe itself in a `static` that does not name `TYPE` in the cycle: see
/// [`Type`].
pub trait Typed {
    /// The IDL type.
    const TYPE: &'static Type;

    /// The IDL type, as programs pass it around.
    #[must_use]
    fn type_code() -> TypeCode {
        TypeCode::from(Self::TYPE)
    }
}

macro_rules! typed {
    ($($type:ty = $constant:ident;)*) => { $(
        impl Typed for $type {
            const TYPE: &'static Type = Type::$constant;
        }
    )* };
}

typed! {
    () = VOID;
    bool = BOOLEAN;
    u8 = OCTET;
    // TypeCodes have no int8; it is encoded as the octet with the same bits.
    i8 = OCTET;
    i16 = SHORT;
    u16 = USHORT;
    i32 = LONG;
    u32 = ULONG;
    i64 = LONGLONG;
    u64 = ULONGLONG;
    f32 = FLOAT;
    f64 = DOUBLE;
    LongDouble = LONGDOUBLE;
    Char = CHAR;
    WChar = WCHAR;
    str = STRING;
    String = STRING;
    TypeCode = TYPE_CODE;
}

impl<T: Typed> Typed for [T] {
    const TYPE: &'static Type = &Type::sequence(T::TYPE, 0);
}

impl<T: Typed> Typed for Vec<T> {
    const TYPE: &'static Type = <[T]>::TYPE;
}

impl<T: Typed, const N: usize> Typed for [T; N] {
    const TYPE: &'static Type = &Type::array(T::TYPE, N as u32);
}

/// An optional value has the type of the value.
impl<T: Typed> Typed for Option<T> {
    const TYPE: &'static Type = T::TYPE;
}

impl<T: Typed + ?Sized> Typed for &T {
    const TYPE: &'static Type = T::TYPE;
}

impl<T: Typed + ?Sized> Typed for Box<T> {
    const TYPE: &'static Type = T::TYPE;
}

impl<T: Typed + ToOwned + ?Sized> Typed for Cow<'_, T> {
    const TYPE: &'static Type = T::TYPE;
}
