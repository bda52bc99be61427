// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles on values and access to their state, for the macros of value types and boxes.

/// Access to the state of values of a type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_value_access {
    ($name:ident $state:ident) => {
        #[allow(clippy::all, clippy::pedantic, dead_code, unreachable_pub)]
        impl $name {
            /// A value with this state.
            #[must_use]
            pub fn new(state: $state) -> Self {
                let value =
                    $crate::ValueBase::with_state(<Self as $crate::ValueType>::class(), state);
                <Self as $crate::ValueType>::wrap(value)
            }

            /// Read access to the state.
            pub fn read(&self) -> $crate::Read<'_, $state> {
                $crate::ValueType::as_value(self).read_state()
            }

            /// Write access to the state.
            pub fn write(&self) -> $crate::Write<'_, $state> {
                $crate::ValueType::as_value(self).write_state()
            }
        }

        impl $crate::HasState for $name {
            type State = $state;
        }
    };
}

/// The handle on values of a type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_value_handle {
    (
        [$($meta:tt)*] $name:ident $type:ident $id:literal $kind:ident
        [$($base:path)?] [$($abstract:path),*] [$($derived:path),*]
    ) => {
        $($meta)*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name($crate::idl_base!($($base)?));

        impl $crate::ValueType for $name {
            fn class() -> &'static $crate::Class {
                static CLASS: $crate::Class = $crate::Class {
                    id: $id,
                    kind: $crate::Kind::$kind,
                    bases: &[
                        $(<$base as $crate::ValueType>::class,)?
                        $(<$abstract as $crate::ValueType>::class,)*
                    ],
                    derived: &[$(<$derived as $crate::ValueType>::class),*],
                    custom: $crate::idl_value_custom!($kind $name),
                    described: &$type,
                    make: $crate::idl_value_class!($kind make $name),
                    read: $crate::idl_value_class!($kind read $name),
                    read_new: $crate::idl_value_class!($kind read_new $name),
                };
                &CLASS
            }

            fn wrap(value: $crate::ValueBase) -> Self {
                Self(<$crate::idl_base!($($base)?) as $crate::ValueType>::wrap(value))
            }

            fn as_value(&self) -> &$crate::ValueBase {
                $crate::ValueType::as_value(&self.0)
            }
        }

        impl ::core::ops::Deref for $name {
            type Target = $crate::idl_base!($($base)?);
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl ::core::convert::From<$name> for $crate::ValueBase {
            fn from(value: $name) -> Self {
                $crate::ValueType::as_value(&value).clone()
            }
        }

        $(
            impl ::core::convert::From<$name> for $base {
                fn from(value: $name) -> Self {
                    value.0
                }
            }
        )?

        $(
            impl ::core::convert::From<$name> for $abstract {
                fn from(value: $name) -> Self {
                    let value = $crate::ValueType::as_value(&value).clone();
                    <$abstract as $crate::ValueType>::wrap(value)
                }
            }
        )*

        impl $crate::codegen::orbium_cdr::EncodeNillable for $name {
            fn encode_nillable<'a>(
                value: ::core::option::Option<&'a Self>,
                writer: &mut $crate::codegen::orbium_cdr::CdrWriter<'a>,
            ) {
                $crate::write_value(
                    value.map($crate::ValueType::as_value),
                    <Self as $crate::ValueType>::class(),
                    writer,
                );
            }
        }

        impl $crate::codegen::orbium_cdr::DecodeNillable for $name {
            const MIN_SIZE: usize = 4;
            fn decode_nillable(
                reader: &mut $crate::codegen::orbium_cdr::CdrReader<'_>,
            ) -> ::core::result::Result<
                ::core::option::Option<Self>,
                $crate::codegen::orbium_cdr::CdrError,
            > {
                let value = $crate::read_value(<Self as $crate::ValueType>::class(), reader)?;
                ::core::result::Result::Ok(value.map(<Self as $crate::ValueType>::wrap))
            }
        }
    };
}
