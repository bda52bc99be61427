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
                $id [$(#[$op_meta])*] $kind $op($($parameters)*)
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
    (
        $id:literal $meta:tt $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            $(slot $slot:ty,)?
            $(context $strings:literal,)?
            $(out $out:tt gives $gives:tt,)?
        }
    ) => {
        $crate::idl_stub_call! {
            $id $meta $kind $op $parameters $value $error $wire [$($strings)?] [$($out $gives)?]
        }
        $crate::idl_stub_into! {
            $id $kind $op $parameters $value $error $wire [$($strings)?] [$($into)?]
        }
        $crate::idl_stub_async! {
            $id $kind $op $parameters $value $error $wire [$($strings)?]
            [$($async $(-> $async_value $(as $async_codec)?)?)?]
        }
    };
}

/// The stub that waits.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_call {
    // One value comes back, or a struct of several; nothing is `inout`.
    (
        $id:literal [$(#[$meta:meta])*] $kind:ident $op:ident(
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
                $kind,
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
        $id:literal [$(#[$meta:meta])*] $kind:ident $op:ident(
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
            let outcome: $crate::Result<OrbiumOutputs $(, $error)?> = $crate::ObjectRef::call(
                $crate::Interface::as_object(self),
                &OP,
                |writer| {
                    let _ = &writer;
                    $($crate::idl_send!(writer, $(@$flag)? $arg $(as $codec)?);)*
                    $(writer.write_count($strings);)?
                },
                |reader| {
                    ::core::result::Result::Ok(OrbiumOutputs {
                        $($out: $crate::cdr::idl_decode!(reader, $out_type $(as $out_codec)?)?,)*
                    })
                },
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
    ($id:literal $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal $strings:tt []) => {};
    (
        $id:literal $kind:ident $op:ident $parameters:tt [$($value:tt)*] $error:tt $wire:literal
        $strings:tt [$async:ident]
    ) => {
        $crate::idl_stub_async! {
            $id $kind $op $parameters [$($value)*] $error $wire $strings [$async -> $($value)*]
        }
    };
    (
        $id:literal $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $sync:tt [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [$async:ident -> $value:ty $(as $value_codec:ty)?]
    ) => {
        #[doc = concat!("Like `", stringify!($op), "`, without waiting for the answer.")]
        /// New values of `inout` parameters are in the answer.
        pub fn $async(
            &self,
            $($arg: $crate::idl_async_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $crate::Asynchronous<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $($crate::idl_take!($(@$flag)? $arg);)*
            $crate::ObjectRef::call_async(
                $crate::Interface::as_object(self),
                &OP,
                ($($crate::idl_keep!($(@$flag)? $arg, $type $(as $codec)? $(| $lent)?),)*),
                |($($arg,)*), writer| {
                    let _ = &writer;
                    $($crate::cdr::idl_encode!(writer, $arg $(, $codec)?);)*
                    $(writer.write_count($strings);)?
                },
                |reader| $crate::cdr::idl_decode!(reader, $value $(as $value_codec)?),
            )
        }
    };
}

/// The operation that a stub calls.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_operation {
    (fn $id:literal, $wire:literal) => {
        $crate::Operation::of($id, $wire)
    };
    (idempotent $id:literal, $wire:literal) => {
        $crate::Operation::of($id, $wire).idempotent()
    };
    (oneway $id:literal, $wire:literal) => {
        $crate::Operation::oneway_of($id, $wire)
    };
}

/// Calls, or sends what nothing comes back of.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_call {
    (oneway, $this:expr, $operation:ident, $arguments:expr, $results:expr) => {
        $crate::ObjectRef::send($crate::Interface::as_object($this), &$operation, $arguments)
    };
    ($kind:ident, $this:expr, $operation:ident, $arguments:expr, $results:expr) => {
        $crate::ObjectRef::call(
            $crate::Interface::as_object($this),
            &$operation,
            $arguments,
            $results,
        )
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

/// Writes an argument.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_send {
    ($writer:ident, $(@object)? $arg:ident) => {
        $crate::cdr::Encode::encode(&$arg, $writer)
    };
    ($writer:ident, $arg:ident as $codec:ty) => {
        <$codec as $crate::cdr::Codec>::encode($arg, $writer)
    };
    ($writer:ident, @inout $arg:ident $(as $codec:ty)?) => {
        $crate::cdr::idl_encode!($writer, &*$arg $(, $codec)?)
    };
    ($writer:ident, @view $arg:ident) => {
        $crate::cdr::AsArgument::write($arg, $writer)
    };
    ($writer:ident, @view $arg:ident as $codec:ty) => {
        <$codec as $crate::cdr::Codec>::encode($arg, $writer)
    };
}

/// Copies an argument for a request that outlives the call of its stub.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_keep {
    ($arg:ident, $type:ty $(as $codec:ty)?) => {
        <$type as $crate::cdr::Parameter<'_>>::keep($arg)
    };
    (@object $arg:ident, $type:ty) => {
        $arg.cloned()
    };
    (@inout $arg:ident, $type:ty $(as $codec:ty)? | $lent:ty) => {
        <$lent as $crate::cdr::Parameter<'_>>::keep($arg)
    };
    (@view $arg:ident, $type:ty | $view:ty) => {
        $crate::cdr::AsArgument::keep($arg)
    };
    (@view $arg:ident, $type:ty as $codec:ty | $view:ty) => {
        ::std::borrow::ToOwned::to_owned($arg)
    };
}

/// Reads into a value that is there.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_decode_out {
    ($reader:ident, $out:ident) => {
        $crate::cdr::Decode::decode_into($out, $reader)?
    };
    ($reader:ident, $out:ident, $codec:ty) => {
        *$out = <$codec as $crate::cdr::Codec>::decode($reader)?
    };
}

/// Writes the new value of an `inout` parameter back.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_put_back {
    (@inout $arg:ident, $outputs:ident) => {
        *$arg = $outputs.$arg
    };
    ($(@$flag:ident)? $arg:ident, $outputs:ident) => {};
}

/// What a stub returns of what came back.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_gives {
    ($outputs:ident, ()) => {
        ()
    };
    ($outputs:ident, $result:ident) => {
        $outputs.$result
    };
    ($outputs:ident, ($results:path { $($result:ident),* })) => {
        {
            type OrbiumResults = $results;
            OrbiumResults { $($result: $outputs.$result),* }
        }
    };
}
