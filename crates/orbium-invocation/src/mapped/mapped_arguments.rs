// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros for arguments and results: marshalling and copies in stubs, unmarshalling and passing in
//! skeletons.

/// The operation of a stub.
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

/// Marshals an argument.
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

/// The passing of an operation's arguments to a collocated servant.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_passing {
    ($($(@$flag:ident)? $type:ty $(as $codec:ty)? $(| $lent:ty)?),*) => {
        $crate::collocation::Passing::new(
            true $(&& $crate::idl_is_plain_argument!($(@$flag)? $type $(as $codec)? $(| $lent)?))*,
            false $(|| $crate::idl_is_view!($(@$flag)? $type $(as $codec)? $(| $lent)?))*,
        )
    };
}

/// Marshals the arguments that a collocated servant may have to get as copies.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_copies {
    ($($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*) => {
        |writer| {
            let _ = &writer;
            $(if !$crate::idl_is_plain_argument!($(@$flag)? $type $(as $codec)? $(| $lent)?) {
                $crate::idl_send!(writer, $(@$flag)? $arg $(as $codec)?);
            })*
        }
    };
}

/// As `idl_copies`, for the copies of an asynchronous stub.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_kept_copies {
    ($($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*) => {
        |($($arg,)*), writer| {
            let _ = &writer;
            $(
                if !$crate::idl_is_plain_argument!($(@$flag)? $type $(as $codec)? $(| $lent)?) {
                    $crate::cdr::idl_encode!(writer, $arg $(, $codec)?);
                }
            )*
        }
    };
}

/// The results of an asynchronous stub as separate values: one, or the members of a struct.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_open_outputs {
    ($outputs:ident, $value:ty, $out:ident) => {
        let $out = $outputs;
    };
    ($outputs:ident, $value:ty, $($out:ident),+) => {
        type OrbiumOutputs = $value;
        let OrbiumOutputs { $($out),+ } = $outputs;
    };
}

/// The results of an asynchronous stub from separate values.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_close_outputs {
    ($value:ty, $out:ident) => {
        $out
    };
    ($value:ty, $($out:ident),+) => {{
        type OrbiumOutputs = $value;
        OrbiumOutputs { $($out),+ }
    }};
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

/// A copied argument in the type of the stub's parameter, if a servant may borrow it.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_lend_kept {
    ($(@object)? $arg:ident: $type:ty $(as $codec:ty)?) => {
        let $arg = <$type as $crate::cdr::Parameter<'_>>::lend_owned($arg);
    };
    // Decoded from the copies.
    (@$flag:ident $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        let _ = &$arg;
    };
}

/// Unmarshals into an existing value.
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

/// Assigns the new value of an `inout` parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_put_back {
    (@inout $arg:ident, $outputs:ident) => {
        *$arg = $outputs.$arg
    };
    ($(@$flag:ident)? $arg:ident, $outputs:ident) => {};
}

/// The return value of a stub from its results.
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

/// The type of a servant's parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_servant_type {
    ($(@object)? $type:ty) => {
        $type
    };
    (@inout $type:ty | $lent:ty) => {
        &mut $type
    };
    (@view $type:ty | $view:ty) => {
        $view
    };
}

/// The type of a parameter of a servant with a reply slot: the slot receives new values.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_slot_type {
    ($(@object)? $type:ty) => {
        $type
    };
    (@inout $type:ty | $lent:ty) => {
        $lent
    };
    (@view $type:ty | $view:ty) => {
        $view
    };
}

/// An argument as stored by the skeleton.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_hold {
    ($arguments:ident, $(@object)? $arg:ident: $type:ty) => {
        let $arg = <$type as $crate::cdr::Parameter<'_>>::hold($arguments)?;
    };
    ($arguments:ident, $arg:ident: $type:ty as $codec:ty) => {
        let $arg = <$codec as $crate::cdr::Codec>::hold($arguments)?;
    };
    ($arguments:ident, @inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        let mut $arg = $crate::cdr::idl_decode!($arguments, $type $(as $codec)?)?;
    };
    ($arguments:ident, @view $arg:ident: $type:ty $(as $codec:ty)? | $view:ty) => {
        let arena = $crate::cdr::Arena::new($arguments);
        let $arg = $crate::cdr::idl_view_member!($arguments, &arena, $view $(as $codec)?)?;
    };
}

/// An argument as stored by the skeleton of a servant with a reply slot.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_hold_for_slot {
    ($arguments:ident, @inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        $crate::idl_hold!($arguments, $arg: $lent $(as $codec)?);
    };
    ($arguments:ident, $($parameter:tt)*) => {
        $crate::idl_hold!($arguments, $($parameter)*);
    };
}

/// An argument as passed to the servant.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_lend {
    ($(@object)? $arg:ident: $type:ty) => {
        <$type as $crate::cdr::Parameter<'_>>::lend(&$arg)
    };
    ($arg:ident: $type:ty as $codec:ty) => {
        ::core::borrow::Borrow::<<$codec as $crate::cdr::Codec>::Borrowed>::borrow(&$arg)
    };
    (@inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        &mut $arg
    };
    (@view $arg:ident: $type:ty $(as $codec:ty)? | $view:ty) => {
        $arg
    };
}

/// An argument as passed to a servant with a reply slot.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_lend_with_slot {
    (@inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        $crate::idl_lend!($arg: $lent $(as $codec)?)
    };
    ($($parameter:tt)*) => {
        $crate::idl_lend!($($parameter)*)
    };
}

/// Names for the results of a servant other than the values of `inout` parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_outputs {
    ($value:ident, ()) => {
        let () = $value;
    };
    ($value:ident, $result:ident) => {
        let $result = $value;
    };
    ($value:ident, ($results:path { $($result:ident),* })) => {
        type OrbiumResults = $results;
        let OrbiumResults { $($result),* } = $value;
    };
}
