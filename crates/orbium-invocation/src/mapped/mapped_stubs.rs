// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros of stubs: the methods of typed references. `$orb` is the crate of the references.
//!
//! Stubs are `#[inline]` so that each is compiled by the crates that call it: a program calls only
//! a few of a service's IDL.

/// The stubs of one operation: the synchronous one, the one that reads into an existing value, and
/// the asynchronous one.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub {
    // Results through a reply slot are marshalled.
    (
        $orb:tt $typed:tt $id:literal $meta:tt $kind:ident $op:ident $parameters:tt $value:tt $error:tt
        $wire:literal {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            slot $slot:ty,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_stub_forms! {
            $orb [$typed slot] $id $meta $kind $op $parameters $value $error $wire {
                $(into $into,)?
                $(async $async $(-> $async_value $(as $async_codec)?)?,)?
                $($rest)*
            }
        }
    };
    // So are deferred results.
    (
        $orb:tt $typed:tt $id:literal $meta:tt $kind:ident $op:ident $parameters:tt $value:tt $error:tt
        $wire:literal {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            deferred $deferred:ty $(as $deferred_codec:ty)?,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_stub_forms! {
            $orb [$typed deferred $deferred $(as $deferred_codec)?]
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
        $orb:tt $typed:tt $id:literal $meta:tt $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            $(context $strings:literal $in_context:ident($context:ident) $names:tt
                $(async $async_in_context:ident)?,)?
            $(out $out:tt gives $gives:tt,)?
        }
    ) => {
        $crate::idl_stub_call! {
            $orb $typed $id $meta $kind $op $parameters $value $error $wire
            [$($strings)?] [] [$($out $gives)?]
        }
        $crate::idl_stub_in_context! {
            $orb $typed [$($in_context $context $names)?]
            $id $kind $op $parameters $value $error $wire [$($out $gives)?]
        }
        $crate::idl_stub_into! {
            $orb $typed $id $kind $op $parameters $value $error $wire [$($strings)?] [$($into)?]
        }
        $crate::idl_stub_async! {
            $orb $typed $id $kind $op $parameters $value $error $wire [$($strings)?]
            [$($async $(-> $async_value $(as $async_codec)?)?)?] [$($out $gives)?]
        }
        $crate::idl_stub_async_in_context! {
            $orb $id $kind $op $parameters $value $error $wire
            [$($async $(-> $async_value $(as $async_codec)?)?)?]
            [$($($async_in_context $context $names)?)?]
        }
    };
}

/// The stub that sends the properties named by the `context` clause.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_in_context {
    ($orb:tt $typed:tt [] $($stub:tt)*) => {};
    (
        $orb:tt $typed:tt [$in_context:ident $context:ident $names:tt]
        $id:literal $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal $outputs:tt
    ) => {
        $crate::idl_stub_call! {
            $orb $typed
            $id
            [
                #[doc = concat!("As `", stringify!($op), "`, with the properties of a context that")]
                #[doc = concat!("the clause of the operation names: `", stringify!($names), "`.")]
                #[doc = ""]
            ]
            $kind $in_context $parameters $value $error $wire [] [$context $names $op] $outputs
        }
    };
}

/// The synchronous stub.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_call {
    // The result is one value, or a struct of several; without `inout` parameters.
    (
        $orb:tt $typed:tt $id:literal [$(#[$meta:meta])*] $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [$($context:ident $names:tt $served:ident)?] []
    ) => {
        $(#[$meta])*
        #[doc = concat!("IDL operation `", $wire, "`.")]
        #[inline]
        pub fn $op(
            &self,
            $($context: &$crate::Context,)?
            $($arg: $orb::idl_stub_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $orb::Result<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $(let $context = $context.properties($names)?;)?
            $($orb::idl_take!($(@$flag)? $arg);)*
            $crate::idl_call!(
                $orb $typed [$($context $served)?] $kind $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
                [$value $(as $value_codec)?] {},
                self,
                OP,
                |writer| {
                    let _ = &writer;
                    $($crate::idl_send!(writer, $(@$flag)? $arg $(as $codec)?);)*
                    $(writer.write_count($strings);)?
                    $($crate::write_properties(&$context, writer);)?
                },
                |reader| $crate::cdr::idl_decode!(reader, $value $(as $value_codec)?)
            )
        }
    };
    // The values of `inout` parameters are written back once the call is over: until then
    // the closure of the arguments borrows them.
    (
        $orb:tt $typed:tt $id:literal [$(#[$meta:meta])*] $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [$($context:ident $names:tt $served:ident)?] [($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) $gives:tt]
    ) => {
        $(#[$meta])*
        #[doc = concat!("IDL operation `", $wire, "`.")]
        #[inline]
        pub fn $op(
            &self,
            $($context: &$crate::Context,)?
            $($arg: $orb::idl_stub_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $orb::Result<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            struct OrbiumOutputs {
                $($out: $out_type,)*
            }
            $(let $context = $context.properties($names)?;)?
            $($orb::idl_take!($(@$flag)? $arg);)*
            let outcome: $orb::Result<OrbiumOutputs $(, $error)?> = $crate::idl_call!(
                $orb $typed [$($context $served)?] $kind $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
                [] { OrbiumOutputs ($($out: $out_type $(as $out_codec)?),*) $gives },
                self,
                OP,
                |writer| {
                    let _ = &writer;
                    $($crate::idl_send!(writer, $(@$flag)? $arg $(as $codec)?);)*
                    $(writer.write_count($strings);)?
                    $($crate::write_properties(&$context, writer);)?
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

/// The stub that reads into an existing value.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_into {
    ($orb:tt $typed:tt $id:literal $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal $strings:tt []) => {};
    (
        $orb:tt $typed:tt $id:literal $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [$into:ident]
    ) => {
        #[doc = concat!("Like `", stringify!($op), "`, reading the result into a value that is there already.")]
        /// After an error that value is unspecified.
        #[inline]
        pub fn $into(
            &self,
            $($arg: $orb::idl_stub_type!($(@$flag)? $type $(as $codec)? $(| $lent)?),)*
            out: &mut $value,
        ) -> $orb::Result<() $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $crate::idl_move_into!($orb $typed self $op($($arg),*) out);
            $($orb::idl_take!($(@$flag)? $arg);)*
            $orb::ObjectRef::call(
                $orb::Interface::as_object(self),
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

/// Moves the result of a servant of the same ORB into an existing value, and returns.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_move_into {
    ($orb:tt [] $($call:tt)*) => {};
    ($orb:tt [[] $($how:tt)+] $($call:tt)*) => {};
    ($orb:tt $typed:tt $this:ident $op:ident($($arg:ident),*) $out:ident) => {
        if $orb::ObjectRef::may_be_collocated($orb::Interface::as_object($this)) {
            *$out = $this.$op($($arg),*)?;
            return ::core::result::Result::Ok(());
        }
    };
}

/// The asynchronous stub. Its arguments are copied: the request may be retried after the stub has
/// returned.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_async {
    (
        $orb:tt $typed:tt $id:literal $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal
        $strings:tt [] $outputs:tt
    ) => {};
    (
        $orb:tt $typed:tt $id:literal $kind:ident $op:ident $parameters:tt [$($value:tt)*] $error:tt
        $wire:literal $strings:tt [$async:ident] $outputs:tt
    ) => {
        $crate::idl_stub_async! {
            $orb $typed $id $kind $op $parameters [$($value)*] $error $wire $strings
            [$async -> $($value)*] $outputs
        }
    };
    (
        $orb:tt $typed:tt $id:literal $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $sync:tt [$($error:ty)?] $wire:literal [$($strings:literal)?]
        [$async:ident -> $value:ty $(as $value_codec:ty)?] $outputs:tt
    ) => {
        #[doc = concat!("Like `", stringify!($op), "`, without waiting for the answer.")]
        /// New values of `inout` parameters are in the answer.
        #[inline]
        pub fn $async(
            &self,
            $($arg: $orb::idl_async_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $orb::asynchronous::Asynchronous<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $($orb::idl_take!($(@$flag)? $arg);)*
            $crate::idl_call_async!(
                $orb $typed $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
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

/// The asynchronous stub with the properties named by a `context` clause: always by a message.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_stub_async_in_context {
    (
        $orb:tt $id:literal $kind:ident $op:ident $parameters:tt $value:tt $error:tt $wire:literal
        $async:tt []
    ) => {};
    (
        $orb:tt $id:literal $kind:ident $op:ident $parameters:tt [$($value:tt)*] $error:tt
        $wire:literal [$async:ident] $context:tt
    ) => {
        $crate::idl_stub_async_in_context! {
            $orb $id $kind $op $parameters [$($value)*] $error $wire
            [$async -> $($value)*] $context
        }
    };
    (
        $orb:tt $id:literal $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $sync:tt [$($error:ty)?] $wire:literal
        [$async:ident -> $value:ty $(as $value_codec:ty)?]
        [$async_in_context:ident $context:ident $names:tt]
    ) => {
        #[doc = concat!("Like `", stringify!($async), "`, with the properties of a context that")]
        #[doc = concat!("the clause of the operation names: `", stringify!($names), "`.")]
        #[inline]
        pub fn $async_in_context(
            &self,
            $context: &$crate::Context,
            $($arg: $orb::idl_async_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $orb::asynchronous::Asynchronous<$value $(, $error)?> {
            static OP: $crate::Operation = $crate::idl_operation!($kind $id, $wire);
            $($orb::idl_take!($(@$flag)? $arg);)*
            $orb::ObjectRef::call_async_in_context(
                $orb::Interface::as_object(self),
                &OP,
                ($($crate::idl_keep!($(@$flag)? $arg, $type $(as $codec)? $(| $lent)?),)*),
                |($($arg,)*), writer| {
                    let _ = &writer;
                    $($crate::cdr::idl_encode!(writer, $arg $(, $codec)?);)*
                },
                $context.properties($names),
                |reader| $crate::cdr::idl_decode!(reader, $value $(as $value_codec)?),
            )
        }
    };
}
