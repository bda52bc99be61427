// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros of stub calls: to a collocated servant, or by a message. `$orb` is the crate of the
//! references.

/// Calls a servant of the same ORB with its arguments; `results` converts the outcome into the
/// result of the stub. With `@kept` the arguments are owned by an asynchronous call.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_serve {
    (
        @kept $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ),
        $outcome:ident => $results:expr
    ) => {
        |($($arg,)*), servant, call, mut copies| {
            $($crate::idl_lend_kept!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
            $crate::idl_upcall!(
                [servant call copies] $servant::$op(
                    $($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*
                ),
                $outcome => $results
            )
        }
    };
    (
        [$context:ident $served:ident] $servant:ident $op:ident $parameters:tt,
        $outcome:ident => $results:expr
    ) => {
        |servant, call, mut copies| {
            let lent = call.lent_context(&$context);
            let call = &call.in_context(&lent);
            $crate::idl_upcall!(
                [servant call copies] $servant::$served $parameters,
                $outcome => $results
            )
        }
    };
    ([] $servant:ident $op:ident $parameters:tt, $outcome:ident => $results:expr) => {
        |servant, call, mut copies| {
            $crate::idl_upcall!(
                [servant call copies] $servant::$op $parameters,
                $outcome => $results
            )
        }
    };
}

/// The body of the closure of `idl_serve`.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_upcall {
    (
        [$this:ident $call:ident $copies:ident] $servant:ident::$op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ),
        $outcome:ident => $results:expr
    ) => {{
        let _ = &mut $copies;
        $($crate::idl_pass!($copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
        let $outcome = $servant::$op(
            $this,
            $call,
            $($crate::idl_lent!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
        );
        $results
    }};
}

/// Calls, or sends a oneway: to a servant of the given trait, if there is one in the same ORB.
/// `$context` has the properties that are sent after the arguments, if any, and the name of the
/// operation without them.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_call {
    ($orb:tt [] $context:tt oneway $op:ident $parameters:tt $value:tt $outputs:tt, $this:expr, $operation:ident, $arguments:expr, $results:expr) => {
        $orb::ObjectRef::send($orb::Interface::as_object($this), &$operation, $arguments)
    };
    ($orb:tt [] $context:tt $kind:ident $op:ident $parameters:tt $value:tt $outputs:tt, $this:expr, $operation:ident, $arguments:expr, $results:expr) => {
        $orb::ObjectRef::call(
            $orb::Interface::as_object($this),
            &$operation,
            $arguments,
            $results,
        )
    };
    ($orb:tt [[] $($how:tt)+] $($call:tt)*) => {
        $crate::idl_call!($orb [] $($call)*)
    };
    // A oneway of a servant with a reply slot or a token.
    (
        $orb:tt [[$servant:ident] $($how:tt)+] $context:tt oneway $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $value:tt $outputs:tt,
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::send_or_answer::<dyn $servant>(
            $orb::Interface::as_object($this),
            &$operation,
            $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
            (
                $arguments,
                $crate::idl_copies!($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
            ),
            $crate::idl_serve_answer!(
                $context [$($how)+] $servant $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
            ),
        )
    };
    // With a reply slot or a token.
    (
        $orb:tt [[$servant:ident] $($how:tt)+] $context:tt $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $value:tt $outputs:tt,
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::call_or_answer::<dyn $servant, _, _>(
            $orb::Interface::as_object($this),
            &$operation,
            $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
            (
                $arguments,
                $crate::idl_copies!($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
            ),
            $results,
            $crate::idl_serve_answer!(
                $context [$($how)+] $servant $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*)
            ),
        )
    };
    (
        $orb:tt [$servant:ident] $context:tt oneway $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $value:tt $outputs:tt,
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::send_or_serve::<dyn $servant>(
            $orb::Interface::as_object($this),
            &$operation,
            $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
            (
                $arguments,
                $crate::idl_copies!($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
            ),
            $crate::idl_serve!(
                $context $servant $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
                outcome => outcome
            ),
        )
    };
    (
        $orb:tt [$servant:ident] $context:tt $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] {},
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::call_or_serve::<dyn $servant, $value, _>(
            $orb::Interface::as_object($this),
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
            $crate::idl_serve!(
                $context $servant $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
                outcome => outcome
            ),
        )
    };
    (
        $orb:tt [$servant:ident] $context:tt $kind:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [] { $results_type:ident ($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) $gives:tt },
        $this:expr, $operation:ident, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::call_or_serve::<dyn $servant, $results_type, _>(
            $orb::Interface::as_object($this),
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
            $crate::idl_serve!(
                $context $servant $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
                outcome => {
                    let value = outcome?;
                    $crate::idl_outputs!(value, $gives);
                    ::core::result::Result::Ok($results_type { $($out,)* })
                }
            ),
        )
    };
}

/// Calls asynchronously: a servant of the given trait, if there is one in the same ORB.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_call_async {
    (
        $orb:tt [[] $($how:tt)+] $($call:tt)*
    ) => {
        $crate::idl_call_async!($orb [] $($call)*)
    };
    // With a reply slot or a token.
    (
        $orb:tt [[$servant:ident] $($how:tt)+] $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) $value:tt $outputs:tt,
        $this:expr, $operation:ident, $kept:expr, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::call_async_or_answer::<dyn $servant, _, _, _>(
            $orb::Interface::as_object($this),
            &$operation,
            $kept,
            $arguments,
            $results,
            $orb::asynchronous::AnsweredInPlace {
                passing: $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
                copies: $crate::idl_kept_copies!(
                    $($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*
                ),
                answer: |($($arg,)*), servant, call, mut copies, reply| {
                    let _ = &mut copies;
                    $($crate::idl_lend_kept!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
                    $($crate::idl_pass_for_slot!(
                        copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?
                    );)*
                    $crate::idl_answer!(
                        [$($how)+] call reply, $servant::$op, servant,
                        $($crate::idl_lent_for_slot!(
                            $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?
                        )),*
                    )
                },
            },
        )
    };
    (
        $orb:tt [] $op:ident $parameters:tt $value:tt $outputs:tt,
        $this:expr, $operation:ident, $kept:expr, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::call_async(
            $orb::Interface::as_object($this),
            &$operation,
            $kept,
            $arguments,
            $results,
        )
    };
    (
        $orb:tt [$servant:ident] $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?] [],
        $this:expr, $operation:ident, $kept:expr, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::call_async_or_serve::<dyn $servant, _, $value, _>(
            $orb::Interface::as_object($this),
            &$operation,
            $kept,
            $arguments,
            $results,
            $orb::asynchronous::InPlace {
                passing: $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
                is_plain: $crate::idl_is_plain!($value $(as $value_codec)?),
                copies: $crate::idl_kept_copies!(
                    $($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*
                ),
                write: |value, writer| $crate::cdr::idl_encode!(writer, value $(, $value_codec)?),
                serve: $crate::idl_serve!(
                    @kept $servant $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
                    outcome => outcome
                ),
            },
        )
    };
    (
        $orb:tt [$servant:ident] $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        ) [$value:ty $(as $value_codec:ty)?]
        [($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) $gives:tt],
        $this:expr, $operation:ident, $kept:expr, $arguments:expr, $results:expr
    ) => {
        $orb::ObjectRef::call_async_or_serve::<dyn $servant, _, $value, _>(
            $orb::Interface::as_object($this),
            &$operation,
            $kept,
            $arguments,
            $results,
            $orb::asynchronous::InPlace {
                passing: $crate::idl_passing!($($(@$flag)? $type $(as $codec)? $(| $lent)?),*),
                is_plain: true $(&& $crate::idl_is_plain!($out_type $(as $out_codec)?))*,
                copies: $crate::idl_kept_copies!(
                    $($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*
                ),
                write: |outputs, writer| {
                    $crate::idl_open_outputs!(outputs, $value, $($out),*);
                    $($crate::cdr::idl_encode!(writer, $out $(, $out_codec)?);)*
                },
                serve: $crate::idl_serve!(
                    @kept $servant $op($($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),*),
                    outcome => {
                        let value = outcome?;
                        $crate::idl_outputs!(value, $gives);
                        ::core::result::Result::Ok($crate::idl_close_outputs!($value, $($out),*))
                    }
                ),
            },
        )
    };
}

/// As `idl_serve`, for a servant with a reply slot or a token.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_serve_answer {
    ([$context:ident $served:ident] $how:tt $servant:ident $op:ident $parameters:tt) => {
        |servant, call, mut copies, reply| {
            let lent = call.lent_context(&$context);
            let call = &call.in_context(&lent);
            $crate::idl_answer_upcall!(
                [servant call copies reply] $how $servant::$served $parameters
            )
        }
    };
    ([] $how:tt $servant:ident $op:ident $parameters:tt) => {
        |servant, call, mut copies, reply| {
            $crate::idl_answer_upcall!(
                [servant call copies reply] $how $servant::$op $parameters
            )
        }
    };
}

/// The body of the closure of `idl_serve_answer`.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_answer_upcall {
    (
        [$this:ident $call:ident $copies:ident $reply:ident] $how:tt $servant:ident::$op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),*
        )
    ) => {{
        let _ = &mut $copies;
        $($crate::idl_pass_for_slot!(
            $copies, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?
        );)*
        $crate::idl_answer!(
            $how $call $reply, $servant::$op, $this,
            $($crate::idl_lent_for_slot!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
        )
    }};
}

/// Has a servant answer a collocated call, through a slot or by a token.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_answer {
    ([slot] $call:ident $reply:ident, $op:path, $servant:ident, $($argument:expr),*) => {{
        let outcome = $op($servant, $call, $($argument,)* $reply.slot());
        $reply.sent(outcome)
    }};
    (
        [deferred $deferred:ty $(as $deferred_codec:ty)?]
        $call:ident $reply:ident, $op:path, $servant:ident, $($argument:expr),*
    ) => {{
        let token = $call.defer::<$deferred, _>($reply, |value, writer| {
            $crate::cdr::idl_encode!(writer, value $(, $deferred_codec)?)
        })?;
        $op($servant, $call, $($argument,)* token);
        ::core::result::Result::Ok(())
    }};
}

/// As `idl_pass`, for a servant that borrows `inout` parameters like `in` ones.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_pass_for_slot {
    ($copies:ident, @inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        let $arg = match $copies.as_deref_mut() {
            ::core::option::Option::Some(arguments) if !$crate::idl_is_plain!($type $(as $codec)?) => {
                $crate::idl_passed!($crate::cdr::idl_decode!(arguments, $type $(as $codec)?))
            }
            _ => ::core::clone::Clone::clone(&*$arg),
        };
    };
    ($($argument:tt)*) => {
        $crate::idl_pass!($($argument)*);
    };
}

/// As `idl_lent`, for a servant that borrows `inout` parameters like `in` ones.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_lent_for_slot {
    (@inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        <$lent as $crate::cdr::Parameter<'_>>::lend_owned(&$arg)
    };
    ($($argument:tt)*) => {
        $crate::idl_lent!($($argument)*)
    };
}
