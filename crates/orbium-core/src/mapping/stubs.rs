// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stubs: the methods of typed references.

/// Stubs of operations that a typed reference inherits by another way than its first base.
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
                [] $id [$(#[$op_meta])*] $kind $op($($parameters)*)
                [$value $(as $codec)?] [$($error)?] $wire { $($($more)*)? }
            })*
        }
    };
}

/// The stubs of one operation: the one that waits, the one that reads into a value that is
/// there, and the asynchronous one.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub {
    // Results that go through a reply slot are marshalled.
    (
        $typed:tt $id:literal $meta:tt $kind:ident $op:ident $parameters:tt $value:tt $error:tt
        $wire:literal {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            slot $slot:ty,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_stub_forms! {
            [$typed slot] $id $meta $kind $op $parameters $value $error $wire {
                $(into $into,)?
                $(async $async $(-> $async_value $(as $async_codec)?)?,)?
                $($rest)*
            }
        }
    };
    // So are those of servants that answer later.
    (
        $typed:tt $id:literal $meta:tt $kind:ident $op:ident $parameters:tt $value:tt $error:tt
        $wire:literal {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            deferred $deferred:ty $(as $deferred_codec:ty)?,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_stub_forms! {
            [$typed deferred $deferred $(as $deferred_codec)?]
            $id $meta $kind $op $parameters $value $error $wire {
                $(into $into,)?
                $(async $async $(-> $async_value $(as $async_codec)?)?,)?
                $($rest)*
            }
        }
    };
    ($($stub:tt)*) => {
        $crate::idl_stub_forms! { $($stub)* }
    };
}

/// The forms of one stub; `typed` is the trait of the servants that it may call.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_forms {
    (
        $typed:tt $id:literal $meta:tt $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            $(context $strings:literal,)?
            $(out $out:tt gives $gives:tt,)?
        }
    ) => {
        $crate::idl_stub_call! {
            $typed $id $meta $kind $op $parameters $value $error $wire [$($strings)?] [$($out $gives)?]
        }
        $crate::idl_stub_into! {
            $id $kind $op $parameters $value $error $wire [$($strings)?] [$($into)?]
        }
        $crate::idl_stub_async! {
            $typed $id $kind $op $parameters $value $error $wire [$($strings)?]
            [$($async $(-> $async_value $(as $async_codec)?)?)?] [$($out $gives)?]
        }
    };
}

/// The stub that waits.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_call {
    // One value comes back, or a struct of several; nothing is `inout`.
    (
        $typed:tt $id:literal [$(#[$meta:meta])*] $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] $wire:literal [$($strings:literal)?] []
    ) => {
        $(#[$meta])*
        #[doc = concat!("IDL operation `", $wire, "`.")]
        pub fn $op(
            &self,
            $($arg: $crate::idl_stub_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $crate::Result<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $($crate::idl_take!($(@$flag)? $arg);)*
            $crate::idl_call!(
                $crate $typed $kind $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
                [$value $(as $value_codec)?] {},
                self,
                OP,
                |writer| {
                    let _ = &writer;
                    $($crate::idl_send!(writer, $(@$flag)? $arg $(as $codec)?);)*
                    $(writer.write_count($strings);)?
                },
                |reader| $crate::cdr::idl_decode!(reader, $value $(as $value_codec)?)
            )
        }
    };
    // The values of `inout` parameters are written back once the call is over: until then
    // the closure of the arguments borrows them.
    (
        $typed:tt $id:literal [$(#[$meta:meta])*] $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) $gives:tt]
    ) => {
        $(#[$meta])*
        #[doc = concat!("IDL operation `", $wire, "`.")]
        pub fn $op(
            &self,
            $($arg: $crate::idl_stub_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $crate::Result<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            struct OrbiumOutputs {
                $($out: $out_type,)*
            }
            $($crate::idl_take!($(@$flag)? $arg);)*
            let outcome: $crate::Result<OrbiumOutputs $(, $error)?> = $crate::idl_call!(
                $crate $typed $kind $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
                [] { OrbiumOutputs ($($out: $out_type $(as $out_codec)?),*) $gives },
                self,
                OP,
                |writer| {
                    let _ = &writer;
                    $($crate::idl_send!(writer, $(@$flag)? $arg $(as $codec)?);)*
                    $(writer.write_count($strings);)?
                },
                |reader| {
                    ::core::result::Result::Ok(OrbiumOutputs {
                        $($out: $crate::cdr::idl_decode!(reader, $out_type $(as $out_codec)?)?,)*
                    })
                }
            );
            let outputs = outcome?;
            $($crate::idl_put_back!($(@$flag)? $arg, outputs);)*
            ::core::result::Result::Ok($crate::idl_gives!(outputs, $gives))
        }
    };
}

/// The stub that reads into a value that is there.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_into {
    ($id:literal $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal $strings:tt []) => {};
    (
        $id:literal $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [$into:ident]
    ) => {
        #[doc = concat!("Like `", stringify!($op), "`, reading the result into a value that is there already.")]
        /// After an error that value is unspecified.
        #[inline]
        pub fn $into(
            &self,
            $($arg: $crate::idl_stub_type!($(@$flag)? $type $(as $codec)? $(| $lent)?),)*
            out: &mut $value,
        ) -> $crate::Result<() $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $($crate::idl_take!($(@$flag)? $arg);)*
            $crate::ObjectRef::call(
                $crate::Interface::as_object(self),
                &OP,
                |writer| {
                    let _ = &writer;
                    $($crate::idl_send!(writer, $(@$flag)? $arg $(as $codec)?);)*
                    $(writer.write_count($strings);)?
                },
                |reader| {
                    $crate::idl_decode_out!(reader, out $(, $value_codec)?);
                    ::core::result::Result::Ok(())
                },
            )
        }
    };
}

/// The stub that does not wait. What is sent is copied: the request may be sent again after
/// the caller has gone on.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_async {
    (
        $typed:tt $id:literal $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal
        $strings:tt [] $outputs:tt
    ) => {};
    (
        $typed:tt $id:literal $kind:ident $op:ident $parameters:tt [$($value:tt)*] $error:tt
        $wire:literal $strings:tt [$async:ident] $outputs:tt
    ) => {
        $crate::idl_stub_async! {
            $typed $id $kind $op $parameters [$($value)*] $error $wire $strings
            [$async -> $($value)*] $outputs
        }
    };
    (
        $typed:tt $id:literal $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $sync:tt [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [$async:ident -> $value:ty $(as $value_codec:ty)?] $outputs:tt
    ) => {
        #[doc = concat!("Like `", stringify!($op), "`, without waiting for the answer.")]
        /// New values of `inout` parameters are in the answer.
        pub fn $async(
            &self,
            $($arg: $crate::idl_async_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $crate::asynchronous::Asynchronous<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $($crate::idl_take!($(@$flag)? $arg);)*
            $crate::idl_call_async!(
                $crate $typed $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
                [$value $(as $value_codec)?] $outputs,
                self,
                OP,
                ($($crate::idl_keep!($(@$flag)? $arg, $type $(as $codec)? $(| $lent)?),)*),
                |($($arg,)*), writer| {
                    let _ = &writer;
                    $($crate::cdr::idl_encode!(writer, $arg $(, $codec)?);)*
                    $(writer.write_count($strings);)?
                },
                |reader| $crate::cdr::idl_decode!(reader, $value $(as $value_codec)?)
            )
        }
    };
}

/// The type of a stub's parameter. Where servants get a view, a caller may pass one too.
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

/// Takes the untyped reference out of one of any type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_take {
    (@object $arg:ident) => {
        let $arg = $crate::AnyReference::untyped(&$arg);
    };
    ($(@$flag:ident)? $arg:ident) => {};
}
