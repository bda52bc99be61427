// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros of servants' traits and of the skeletons that dispatch requests to them. `$orb` is the
//! crate of the servants.

/// A method of a servant's trait: declared, optionally with a body that raises NO_IMPLEMENT, or
/// forwarded to the value behind a pointer.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_method {
    (
        $orb:tt $form:tt [$(#[$meta:meta])*] $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            slot $slot:ty,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_method! {
            $orb @ $form [$(#[$meta])*] $servant $op
            ($($arg: $crate::idl_slot_type!($(@$flag)? $type $(| $lent)?),)* reply: $slot)
            [$orb::Result<$orb::Sent $(, $error)?>]
        }
    };
    (
        $orb:tt $form:tt [$(#[$meta:meta])*] $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            deferred $deferred:ty $(as $deferred_codec:ty)?,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_method! {
            $orb @ $form [$(#[$meta])*] $servant $op
            (
                $($arg: $crate::idl_slot_type!($(@$flag)? $type $(| $lent)?),)*
                reply: $orb::DeferredReply<$deferred $(, $error)?>
            )
            [()]
        }
    };
    (
        $orb:tt $form:tt [$(#[$meta:meta])*] $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty] [$($error:ty)?] { $($rest:tt)* }
    ) => {
        $crate::idl_method! {
            $orb @ $form [$(#[$meta])*] $servant $op
            ($($arg: $crate::idl_servant_type!($(@$flag)? $type $(| $lent)?)),*)
            [$orb::Result<$value $(, $error)?>]
        }
    };
    ($orb:tt @ [declared] [$(#[$meta:meta])*] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [$result:ty]) => {
        $(#[$meta])*
        fn $op(&self, call: &$orb::Call<'_>, $($arg: $type),*) -> $result;
    };
    ($orb:tt @ [declared $bodies:ident] [$(#[$meta:meta])*] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [()]) => {
        $(#[$meta])*
        fn $op(&self, call: &$orb::Call<'_>, $($arg: $type),*) {
            let _ = call;
            // The last argument is the token.
            $crate::idl_refuse!($orb $bodies $($arg)*);
        }
    };
    ($orb:tt @ [declared $bodies:ident] [$(#[$meta:meta])*] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [$result:ty]) => {
        $(#[$meta])*
        fn $op(&self, call: &$orb::Call<'_>, $($arg: $type),*) -> $result {
            let _ = call;
            $(let _ = $arg;)*
            ::core::result::Result::Err(::core::convert::From::from($orb::$bodies()))
        }
    };
    ($orb:tt @ [forwarded] [] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [$result:ty]) => {
        fn $op(&self, call: &$orb::Call<'_>, $($arg: $type),*) -> $result {
            $servant::$op(&**self, call, $($arg),*)
        }
    };
}

/// Answers through the token, the last argument, as an operation without a body.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_refuse {
    ($orb:tt $bodies:ident $reply:ident) => {
        let _ = $reply.raise($orb::$bodies());
    };
    ($orb:tt $bodies:ident $arg:ident $($args:ident)+) => {
        let _ = $arg;
        $crate::idl_refuse!($orb $bodies $($args)+);
    };
}

/// The skeleton's code for one operation: everything is unmarshalled before the servant is called.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_arm {
    // The servant gets a reply slot.
    (
        $implementation:ident $this:ident $call:ident $arguments:ident $reply:ident $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            slot $slot:ty,
            $(context $strings:literal $in_context:ident($context:ident) $names:tt
                $(async $async_in_context:ident)?,)?
            $(out $out:tt gives $gives:tt,)?
        }
    ) => {{
        $($crate::idl_hold_for_slot!(
            $arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?
        );)*
        $(
            let $context = $call.received_context($arguments)?;
            let $call = &$call.in_context(&$context);
        )?
        let outcome = <$implementation as $servant>::$op(
            $this,
            $call,
            $($crate::idl_lend_with_slot!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),)*
            $reply.slot(),
        );
        $reply.sent(outcome)
    }};
    // The servant gets a token.
    (
        $implementation:ident $this:ident $call:ident $arguments:ident $reply:ident $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            deferred $deferred:ty $(as $deferred_codec:ty)?,
            $(context $strings:literal $in_context:ident($context:ident) $names:tt
                $(async $async_in_context:ident)?,)?
            $(out $out:tt gives $gives:tt,)?
        }
    ) => {{
        $($crate::idl_hold_for_slot!(
            $arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?
        );)*
        $(
            let $context = $call.received_context($arguments)?;
            let $call = &$call.in_context(&$context);
        )?
        let token = $call.defer::<$deferred, _>($reply, |value, writer| {
            $crate::cdr::idl_encode!(writer, value $(, $deferred_codec)?)
        })?;
        <$implementation as $servant>::$op(
            $this,
            $call,
            $($crate::idl_lend_with_slot!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?),)*
            token,
        );
        ::core::result::Result::Ok(())
    }};
    // Without `inout` parameters.
    (
        $implementation:ident $this:ident $call:ident $arguments:ident $reply:ident $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident,)?
            $(context $strings:literal $in_context:ident($context:ident) $names:tt
                $(async $async_in_context:ident)?,)?
        }
    ) => {{
        $($crate::idl_hold!($arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
        $(
            let $context = $call.received_context($arguments)?;
            let $call = &$call.in_context(&$context);
        )?
        let outcome = <$implementation as $servant>::$op(
            $this,
            $call,
            $($crate::idl_lend!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
        );
        let value = $crate::idl_value!($reply, outcome, $($error)?);
        $reply.result(|writer| $crate::cdr::idl_encode!(writer, &value $(, $value_codec)?))
    }};
    // New values of `inout` parameters are returned with the others.
    (
        $implementation:ident $this:ident $call:ident $arguments:ident $reply:ident $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] {
            $(async $async:ident -> $async_value:ty $(as $async_codec:ty)?,)?
            $(context $strings:literal $in_context:ident($context:ident) $names:tt
                $(async $async_in_context:ident)?,)?
            out($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) gives $gives:tt,
        }
    ) => {{
        $($crate::idl_hold!($arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
        $(
            let $context = $call.received_context($arguments)?;
            let $call = &$call.in_context(&$context);
        )?
        let outcome = <$implementation as $servant>::$op(
            $this,
            $call,
            $($crate::idl_lend!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
        );
        let value = $crate::idl_value!($reply, outcome, $($error)?);
        $crate::idl_outputs!(value, $gives);
        $reply.result(|writer| {
            $($crate::cdr::idl_encode!(writer, &$out $(, $out_codec)?);)*
        })
    }};
}

/// The result of a servant, or else its exception as the reply.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_value {
    ($reply:ident, $outcome:ident,) => {
        $outcome?
    };
    ($reply:ident, $outcome:ident, $error:ty) => {
        match $outcome {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => return $reply.raise(&error),
        }
    };
}
