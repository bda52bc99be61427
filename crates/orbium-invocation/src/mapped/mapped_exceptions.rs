// SPDX-License-Identifier: MIT OR Apache-2.0
//! User exceptions, error enums, and structs of several results.

/// Declares a user exception: a struct of its members. One without members is displayed by the name
/// after `shown`.
///
/// ```
/// use orbium_core::{UserException, idl_exception};
///
/// idl_exception! {
///     /// There is no room left.
///     #[derive(Clone, Debug, Default, PartialEq)]
///     pub struct Full: FULL_TYPE = "IDL:Store/Full:1.0" { pub most: i32 }
/// }
/// assert_eq!(Full::REPOSITORY_ID, "IDL:Store/Full:1.0");
/// assert_eq!(Full { most: 3 }.to_string(), "Full { most: 3 }");
/// ```
#[macro_export]
macro_rules! idl_exception {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))? : $type:ident = $id:literal $(, shown $shown:literal)? {
            $($(#[$member_meta:meta])* pub $member:ident $(($member_idl:literal))?
                : $rust:ty $(as $codec:ty)? $(= $described:expr)?),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        pub struct $name {
            $($(#[$member_meta])* pub $member: $rust,)*
        }
        $crate::exception!($name, $id $(, $shown)?);
        $crate::cdr::idl_members! {
            exception $name [$crate::cdr::idl_name!($name $($idl)?)] $type $id []
            { $($member [$crate::cdr::idl_name!($member $($member_idl)?)] [$rust $(, $codec)?]
                [$rust $(as $codec)?] [$($codec)?] [$($described)?])* }
        }
    };
}

/// Declares an error enum: a variant for each exception of a `raises` clause, and `System`
/// for the system exceptions that any operation may raise.
#[macro_export]
macro_rules! idl_errors {
    ($(#[$meta:meta])* pub enum $name:ident { $($variant:ident($exception:ty)),* $(,)? }) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone, PartialEq)]
        pub enum $name {
            $(
                #[doc = concat!("The exception [`", stringify!($exception), "`].")]
                $variant($exception),
            )*
            /// Any operation may raise a system exception.
            System($crate::SystemException),
        }
        $crate::error_enum!($name { $($variant: $exception),* });
    };
}

/// Implements the conversion by `?` from an error enum to one with all of its exceptions and more.
#[macro_export]
macro_rules! idl_widens {
    ($narrower:ident to $wider:ident { $($variant:ident),* $(,)? }) => {
        impl ::core::convert::From<$narrower> for $wider {
            fn from(error: $narrower) -> Self {
                match error {
                    $($narrower::$variant(exception) => ::core::convert::From::from(exception),)*
                    $narrower::System(exception) => Self::System(exception),
                }
            }
        }
    };
}

/// Declares the struct of several results of an operation, in the order of the wire.
#[macro_export]
macro_rules! idl_results {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $(pub $member:ident: $rust:ty $(as $codec:ty)?),* $(,)? }
    ) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(pub $member: $rust,)*
        }
        impl $crate::cdr::Encode for $name {
            fn encode<'a>(&'a self, writer: &mut $crate::cdr::CdrWriter<'a>) {
                $($crate::cdr::idl_encode!(writer, &self.$member $(, $codec)?);)*
            }
        }
        impl $crate::cdr::Decode for $name {
            const MIN_SIZE: usize = 0 $(+ $crate::cdr::idl_least!($rust $(as $codec)?))*;
            const IS_PLAIN: bool = true $(&& $crate::idl_is_plain!($rust $(as $codec)?))*;
            fn decode(
                reader: &mut $crate::cdr::CdrReader<'_>,
            ) -> ::core::result::Result<Self, $crate::cdr::CdrError> {
                ::core::result::Result::Ok(Self {
                    $($member: $crate::cdr::idl_decode!(reader, $rust $(as $codec)?)?,)*
                })
            }
        }
    };
}
