// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros of typed references. `$orb` is the crate of the references.

/// Declares a typed reference.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_reference {
    ($orb:tt [$(#[$meta:meta])*] $name:ident [$idl:expr] $id:literal [$($first:ty)?] [$($base:ty),*]) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone)]
        pub struct $name($crate::idl_first_base!($orb $($first)?));
        $crate::idl_interface_impls! {
            $orb $name [$idl] $id [$(<$base as $orb::Interface>::REPOSITORY_ID),*]
        }
        $(
            impl ::core::ops::Deref for $name {
                type Target = $first;
                /// The reference to the first base, which has its operations.
                #[inline]
                fn deref(&self) -> &$first {
                    &self.0
                }
            }
        )?
        $(
            impl ::core::convert::From<$name> for $base {
                #[inline]
                fn from(derived: $name) -> Self {
                    $orb::Interface::from_object(::core::convert::From::from(derived))
                }
            }
        )*
    };
}

/// The content of a typed reference: that of the first base, or an untyped one.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_first_base {
    ($orb:tt) => {
        $orb::ObjectRef
    };
    ($orb:tt $first:ty) => {
        $first
    };
}

/// The trait implementations of a typed reference.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_interface_impls {
    ($orb:tt $name:ident [$idl:expr] $id:literal [$($base:expr),*]) => {
        impl $orb::Interface for $name {
            const REPOSITORY_ID: &'static str = $id;
            const BASES: &'static [&'static str] = &[$($base),*];
            #[inline]
            fn from_object(object: $orb::ObjectRef) -> Self {
                Self($orb::Interface::from_object(object))
            }
            #[inline]
            fn as_object(&self) -> &$orb::ObjectRef {
                $orb::Interface::as_object(&self.0)
            }
        }
        impl ::core::convert::From<$name> for $orb::ObjectRef {
            #[inline]
            fn from(reference: $name) -> Self {
                ::core::convert::From::from(reference.0)
            }
        }
        impl ::core::fmt::Debug for $name {
            #[inline]
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.0, f)
            }
        }
        impl ::core::cmp::PartialEq for $name {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }
        impl $orb::cdr::Encode for $name {
            #[inline]
            fn encode<'a>(&'a self, writer: &mut $orb::cdr::CdrWriter<'a>) {
                $orb::cdr::Encode::encode(&self.0, writer);
            }
        }
        impl $orb::cdr::EncodeNillable for $name {
            #[inline]
            fn encode_nillable<'a>(
                value: ::core::option::Option<&'a Self>,
                writer: &mut $orb::cdr::CdrWriter<'a>,
            ) {
                <$orb::ObjectRef as $orb::cdr::EncodeNillable>::encode_nillable(
                    value.map($orb::Interface::as_object),
                    writer,
                );
            }
        }
        impl $orb::cdr::DecodeNillable for $name {
            const MIN_SIZE: usize = 12;
            #[inline]
            fn decode_nillable(
                reader: &mut $orb::cdr::CdrReader<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, $orb::cdr::CdrError> {
                let object = <$orb::ObjectRef as $orb::cdr::DecodeNillable>::decode_nillable(reader)?;
                ::core::result::Result::Ok(object.map($orb::Interface::from_object))
            }
        }
        impl $orb::cdr::Typed for $name {
            const TYPE: &'static $orb::cdr::Type =
                &$orb::cdr::Type::interface($id, $idl);
        }
    };
}
