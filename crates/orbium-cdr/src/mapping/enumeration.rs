// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros of mapped enums and of types with a fixed TypeCode, for generated code.

/// Implements the common traits of mapped enums: the value in CDR, and the conversion from a
/// number. Every variant is named with its number, in declaration order.
///
/// ```
/// use orbium_cdr::{FixedSize, enumeration};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(u32)]
/// enum Colour { Red, Green }
/// enumeration!(Colour { Red: 0, Green: 1 });
/// assert_eq!(Colour::try_from(1), Ok(Colour::Green));
/// assert_eq!(Colour::try_from(2), Err(2));
/// ```
#[macro_export]
macro_rules! enumeration {
    ($name:ident { $first:ident: $zero:literal $(, $variant:ident: $value:literal)* $(,)? }) => {
        impl ::core::convert::TryFrom<u32> for $name {
            type Error = u32;
            /// The enumerator of that value; the value as the error if there is none.
            #[inline]
            fn try_from(value: u32) -> ::core::result::Result<Self, u32> {
                match value {
                    $zero => ::core::result::Result::Ok(Self::$first),
                    $($value => ::core::result::Result::Ok(Self::$variant),)*
                    _ => ::core::result::Result::Err(value),
                }
            }
        }
        impl $crate::FixedSize for $name {
            const LAYOUT: $crate::Layout<Self> = $crate::Layout::primitive(4, 4);
            #[inline]
            fn store<const SWAP: bool>(&self, out: &mut $crate::FixedOut<'_, SWAP>) {
                $crate::FixedSize::store(&(*self as u32), out);
            }
            #[inline]
            fn load<const SWAP: bool>(source: &mut $crate::FixedIn<'_, SWAP>) -> Self {
                let value = <u32 as $crate::FixedSize>::load(source);
                if let ::core::result::Result::Ok(value) =
                    <Self as ::core::convert::TryFrom<u32>>::try_from(value)
                {
                    return value;
                }
                source.flag_invalid();
                Self::$first
            }
        }
        $crate::encode_fixed!($name);
    };
}

/// Names the static that describes a type.
#[macro_export]
macro_rules! typed {
    ($name:ident, $described:ident $(,)?) => {
        impl $crate::Typed for $name {
            const TYPE: &'static $crate::Type = &$described;
        }
    };
}
