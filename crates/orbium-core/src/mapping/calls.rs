// SPDX-License-Identifier: MIT OR Apache-2.0
//! How stubs call: a servant of the same ORB, or by a message.

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

/// Calls without waiting: a servant of the trait given, if there is one in the same ORB.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_call_async {
    (
        [] $op:ident $parameters:tt $value:tt $outputs:tt,
        $this:expr, $operation:ident, $kept:expr, $arguments:expr, $results:expr
    ) => {
        $crate::ObjectRef::call_async(
            $crate::Interface::as_object($this),
            &$operation,
            $kept,
            $arguments,
            $results,
        )
    };
    (
        [$servant:ident] $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [],
        $this:expr, $operation:ident, $kept:expr, $arguments:expr, $results:expr
    ) => {
        $crate::ObjectRef::call_async_or_serve::<dyn $servant, _, $value, _>(
            $crate::Interface::as_object($this),
            &$operation,
            $kept,
            $arguments,
            $results,
            $crate::asynchronous::InPlace {
                passing: $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
                is_plain: $crate::idl_is_plain!($value $(as $value_codec)?),
                copies: $crate::idl_kept_copies!(
                    $($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*
                ),
                write: |value, writer| $crate::cdr::idl_encode!(writer, value $(, $value_codec)?),
                serve: |($($arg,)*), servant, call, mut copies| {
                    let _ = &mut copies;
                    $($crate::idl_lend_kept!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                    $($crate::idl_pass!(copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                    $servant::$op(
                        servant,
                        call,
                        $($crate::idl_lent!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
                    )
                },
            },
        )
    };
    (
        [$servant:ident] $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?]
        [($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) $gives:tt],
        $this:expr, $operation:ident, $kept:expr, $arguments:expr, $results:expr
    ) => {
        $crate::ObjectRef::call_async_or_serve::<dyn $servant, _, $value, _>(
            $crate::Interface::as_object($this),
            &$operation,
            $kept,
            $arguments,
            $results,
            $crate::asynchronous::InPlace {
                passing: $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
                is_plain: true $(&& $crate::idl_is_plain!($out_type $(as $out_codec)?))*,
                copies: $crate::idl_kept_copies!(
                    $($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*
                ),
                write: |outputs, writer| {
                    $crate::idl_open_outputs!(outputs, $value, $($out),*);
                    $($crate::cdr::idl_encode!(writer, $out $(, $out_codec)?);)*
                },
                serve: |($($arg,)*), servant, call, mut copies| {
                    let _ = &mut copies;
                    $($crate::idl_lend_kept!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                    $($crate::idl_pass!(copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                    let value = $servant::$op(
                        servant,
                        call,
                        $($crate::idl_lent!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
                    )?;
                    $crate::idl_outputs!(value, $gives);
                    ::core::result::Result::Ok($crate::idl_close_outputs!($value, $($out),*))
                },
            },
        )
    };
}
