// SPDX-License-Identifier: MIT OR Apache-2.0
//! How stubs call: a servant of the same ORB, or by a message.

/// How the arguments of an operation reach a servant of the same ORB.
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

/// Writes those of the arguments that a servant of the same ORB may have to get as copies.
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

/// Calls, or sends what nothing comes back of: to a servant of the trait given, if there is
/// one in the same ORB.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_call {
    ([] oneway $op:ident $parameters:tt $value:tt $outputs:tt, $this:expr, $operation:ident, $arguments:expr, $results:expr) => {
        $crate::ObjectRef::send($crate::Interface::as_object($this), &$operation, $arguments)
    };
    ([] $kind:ident $op:ident $parameters:tt $value:tt $outputs:tt, $this:expr, $operation:ident, $arguments:expr, $results:expr) => {
        $crate::ObjectRef::call(
            $crate::Interface::as_object($this),
            &$operation,
            $arguments,
            $results,
        )
    };
    (
        [$servant:ident] oneway $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $value:tt $outputs:tt,
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $crate::ObjectRef::send_or_serve::<dyn $servant>(
            $crate::Interface::as_object($this),
            &$operation,
            $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
            (
                $arguments,
                $crate::idl_copies!($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
            ),
            |servant, call, mut copies| {
                let _ = &mut copies;
                $($crate::idl_pass!(copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                $servant::$op(
                    servant,
                    call,
                    $($crate::idl_lent!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
                )
            },
        )
    };
    (
        [$servant:ident] $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] {},
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $crate::ObjectRef::call_or_serve::<dyn $servant, $value, _>(
            $crate::Interface::as_object($this),
            &$operation,
            (
                $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
                $crate::idl_is_plain!($value $(as $value_codec)?),
            ),
            (
                $arguments,
                $crate::idl_copies!($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
            ),
            $results,
            |value, writer| $crate::cdr::idl_encode!(writer, value $(, $value_codec)?),
            |servant, call, mut copies| {
                let _ = &mut copies;
                $($crate::idl_pass!(copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                $servant::$op(
                    servant,
                    call,
                    $($crate::idl_lent!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
                )
            },
        )
    };
    (
        [$servant:ident] $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [] { $results_type:ident ($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) $gives:tt },
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $crate::ObjectRef::call_or_serve::<dyn $servant, $results_type, _>(
            $crate::Interface::as_object($this),
            &$operation,
            (
                $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
                true $(&& $crate::idl_is_plain!($out_type $(as $out_codec)?))*,
            ),
            (
                $arguments,
                $crate::idl_copies!($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
            ),
            $results,
            |outputs, writer| {
                $($crate::cdr::idl_encode!(writer, &outputs.$out $(, $out_codec)?);)*
            },
            |servant, call, mut copies| {
                let _ = &mut copies;
                $($crate::idl_pass!(copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                let value = $servant::$op(
                    servant,
                    call,
                    $($crate::idl_lent!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
                )?;
                $crate::idl_outputs!(value, $gives);
                ::core::result::Result::Ok($results_type { $($out,)* })
            },
        )
    };
}
