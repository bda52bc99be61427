// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stubs of inherited operations, and the types of a stub's parameters.

/// Stubs of operations that a typed reference does not inherit by its first base.
#[macro_export]
macro_rules! idl_stubs {
    (
        $name:ident: $id:literal;
        $(
            $(#[$op_meta:meta])*
            $kind:ident $op:ident($($parameters:tt)*)
                -> Result<$value:ty $(as $codec:ty)? $(, $error:ty)?> = $wire:literal $({ $($more:tt)* })?;
        )*
    ) => {
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs)]
        impl $name {
            $($crate::idl_stub! {
                $crate [] $id [$(#[$op_meta])*] $kind $op($($parameters)*)
                [$value $(as $codec)?] [$($error)?] $wire { $($($more)*)? }
            })*
        }
    };
}

/// The type of a stub's parameter. If servants get a view, a caller may pass one, too.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_type {
    ($type:ty $(as $codec:ty)?) => {
        $type
    };
    (@object $type:ty) => {
        impl $crate::AnyReference
    };
    (@inout $type:ty $(as $codec:ty)? | $lent:ty) => {
        &mut $type
    };
    (@view $type:ty | $view:ty) => {
        &(impl $crate::cdr::AsArgument<$type> + ?::core::marker::Sized)
    };
    (@view $type:ty as $codec:ty | $view:ty) => {
        &$type
    };
}

/// The type of a parameter of an asynchronous stub.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_async_type {
    (@inout $type:ty $(as $codec:ty)? | $lent:ty) => {
        $lent
    };
    ($($parameter:tt)*) => {
        $crate::idl_stub_type!($($parameter)*)
    };
}

/// Extracts the untyped reference from one of any type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_take {
    (@object $arg:ident) => {
        let $arg = $crate::AnyReference::untyped(&$arg);
    };
    ($(@$flag:ident)? $arg:ident) => {};
}
