// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarative macros: generated code declares an IDL type once, and a macro expands to the Rust
//! type, its marshalling and its TypeCode.
//!
//! Types and names in a declaration are tokens of the generated code, so that errors of the
//! compiler point there, or at the program that uses them, and not into this crate.

pub(crate) mod char;
pub(crate) mod codec;
mod coded_text;
pub(crate) mod decimal;
mod enumeration;
pub(crate) mod nillable;
pub(crate) mod parameter;
mod structs;
mod unions;
pub(crate) mod value;
mod views;

/// Declares a mapped enum: the enum, its marshalling and its static type description.
///
/// ```
/// use orbium_cdr::{Typed, idl_enum};
///
/// idl_enum! {
///     /// What a light shows.
///     pub enum Colour: COLOUR_TYPE = "IDL:Lights/Colour:1.0" { Red("red") = 0, Green("green") = 1 }
/// }
/// assert_eq!(Colour::try_from(1), Ok(Colour::Green));
/// assert_eq!(Colour::type_code().to_string(), "enum Colour { red, green }");
/// ```
#[macro_export]
macro_rules! idl_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(($idl:literal))? : $type:ident = $id:literal {
            $(#[$first_meta:meta])*
            $first:ident($first_idl:literal) = $zero:literal
            $(, $(#[$variant_meta:meta])* $variant:ident($variant_idl:literal) = $value:literal)*
            $(,)?
        }
    ) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $name {
            $(#[$first_meta])*
            #[default]
            $first = $zero,
            $($(#[$variant_meta])* $variant = $value,)*
        }
        $crate::enumeration!($name { $first: $zero $(, $variant: $value)* });
        $crate::by_value!($name);
        $crate::idl_type! {
            $name $type = $crate::Type::enumeration(
                $id,
                $crate::idl_name!($name $($idl)?),
                &[
                    $crate::Member::enumerator($first_idl),
                    $($crate::Member::enumerator($variant_idl),)*
                ],
            )
        }
    };
}

/// Declares a typedef: the alias, and its static type description.
///
/// ```
/// use orbium_cdr::{Type, TypeCode, idl_typedef};
///
/// idl_typedef! {
///     pub type Row: ROW_TYPE = "IDL:Row:1.0", Vec<i32>, &Type::sequence(Type::LONG, 0);
/// }
/// let row: Row = vec![1];
/// assert_eq!(row.len(), 1);
/// assert_eq!(TypeCode::from(&ROW_TYPE).to_string(), "typedef sequence<long> Row");
/// ```
#[macro_export]
macro_rules! idl_typedef {
    (
        $(#[$meta:meta])*
        pub type $name:ident $(($idl:literal))? : $type:ident = $id:literal, $rust:ty, $original:expr;
    ) => {
        $(#[$meta])*
        #[allow(dead_code, missing_docs, unnameable_types, unreachable_pub)]
        pub type $name = $rust;
        #[doc = concat!("The type of `", stringify!($name), "`.")]
        #[allow(dead_code, unreachable_pub)]
        pub static $type: $crate::Type =
            $crate::Type::alias($id, $crate::idl_name!($name $($idl)?), $original);
    };
}

/// The IDL name of a Rust name.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_name {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $idl:literal) => {
        $idl
    };
}

/// The static description of a type, and the access to it from the Rust type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_type {
    ($name:ident $type:ident = $described:expr) => {
        #[doc = concat!("The type of `", stringify!($name), "`.")]
        #[allow(dead_code, unreachable_pub)]
        pub static $type: $crate::Type = $described;
        $crate::typed!($name, $type);
    };
}

/// The type of a member: the given one, or that of its codec or of its Rust type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_member_type {
    ([$($_:ty)+] $given:expr) => {
        $given
    };
    ([$type:ty]) => {
        <$type as $crate::Typed>::TYPE
    };
    ([$type:ty, $codec:ty]) => {
        <$codec as $crate::Codec>::TYPE
    };
    ([$type:ty, $codec:ty] $given:expr) => {
        $given
    };
}

/// Fewest octets of a value.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_least {
    ($type:ty) => {
        <$type as $crate::Decode>::MIN_SIZE
    };
    ($type:ty as $codec:ty) => {
        <$codec as $crate::Codec>::MIN_SIZE
    };
}

/// Writes a value.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_encode {
    ($writer:expr, $value:expr) => {
        $crate::Encode::encode($value, $writer)
    };
    ($writer:expr, $value:expr, $codec:ty) => {
        <$codec as $crate::Codec>::encode($value, $writer)
    };
}

/// Reads a value.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_decode {
    ($reader:expr, $type:ty) => {
        <$type as $crate::Decode>::decode($reader)
    };
    ($reader:expr, $type:ty as $codec:ty) => {
        <$codec as $crate::Codec>::decode($reader)
    };
}

/// Reads a recursive type with a bounded depth.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_nested {
    ([] $reader:ident $body:expr) => {
        $body
    };
    ([recursive] $reader:ident $body:expr) => {
        $reader.nested(|$reader| $body)
    };
}
