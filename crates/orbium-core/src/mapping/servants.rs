// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants' traits, and the skeletons that lead requests to them.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

use orbium_cdr::CdrReader;
use orbium_invocation::collocation::TypedServant;

use crate::unknown_operation;
use crate::{Call, DispatchError, Interface, OperationTable, Servant, UntypedReply};

/// The operations that an interface itself declares, and the table of all that it has.
#[doc(hidden)]
pub trait Declares: Interface {
    /// As they are named on the wire, in the order of their indices.
    const OPERATIONS: &'static [&'static str];

    /// Those of the bases, and its own; nothing where there is no operation. A constant,
    /// so that looking an operation up is compiled for this table.
    const TABLE: Option<&'static OperationTable>;

    /// The same at one address, by which metrics know it.
    fn table() -> Option<&'static OperationTable>;
}

/// Leads requests to a servant of type `S`.
#[doc(hidden)]
pub trait DispatchesTo<S>: Declares {
    /// Runs the operation of that index in the table.
    ///
    /// # Errors
    /// As [`Servant::dispatch`].
    fn dispatch(
        servant: &S,
        index: usize,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError>;

    /// Runs the operation of that index among those that the interface itself declares.
    ///
    /// # Errors
    /// As [`Servant::dispatch`].
    fn dispatch_own(
        servant: &S,
        index: usize,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError>;

    /// The servant as one of an interface, its own or a base, by the `TypeId` of its trait
    /// object.
    fn view(servant: &S, interface: TypeId) -> Option<TypedServant<'_>>;

    /// The same of its own interface alone.
    fn view_own(servant: &S, interface: TypeId) -> Option<TypedServant<'_>>;
}

/// The skeleton of interface `I` around a servant.
#[doc(hidden)]
pub struct Skeleton<I, S>(S, PhantomData<fn() -> I>);

impl<I, S> Skeleton<I, S> {
    /// Wraps a servant.
    pub const fn new(servant: S) -> Self {
        Self(servant, PhantomData)
    }
}

impl<I, S> fmt::Debug for Skeleton<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Skeleton")
    }
}

impl<I: DispatchesTo<S>, S: Send + Sync + 'static> Servant for Skeleton<I, S> {
    fn repository_id(&self) -> &'static str {
        I::REPOSITORY_ID
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == I::REPOSITORY_ID || I::BASES.contains(&repository_id)
    }

    fn operations(&self) -> Option<&'static OperationTable> {
        I::table()
    }

    fn typed(&self, interface: TypeId) -> Option<TypedServant<'_>> {
        I::view(&self.0, interface)
    }

    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let Some(index) = I::TABLE.and_then(|table| table.find(call.operation())) else {
            return Err(unknown_operation());
        };
        I::dispatch(&self.0, index, call, arguments, reply)
    }
}

/// A method of a servant's trait: declared, perhaps with a body that raises NO_IMPLEMENT,
/// or forwarded to what a pointer holds.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_method {
    (
        $form:tt [$(#[$meta:meta])*] $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            slot $slot:ty,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_method! {
            @ $form [$(#[$meta])*] $servant $op
            ($($arg: $crate::idl_slot_type!($(@$flag)? $type $(| $lent)?),)* reply: $slot)
            [$crate::Result<$crate::Sent $(, $error)?>]
        }
    };
    (
        $form:tt [$(#[$meta:meta])*] $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident $(-> $async_value:ty $(as $async_codec:ty)?)?,)?
            deferred $deferred:ty $(as $deferred_codec:ty)?,
            $($rest:tt)*
        }
    ) => {
        $crate::idl_method! {
            @ $form [$(#[$meta])*] $servant $op
            (
                $($arg: $crate::idl_slot_type!($(@$flag)? $type $(| $lent)?),)*
                reply: $crate::DeferredReply<$deferred $(, $error)?>
            )
            [()]
        }
    };
    (
        $form:tt [$(#[$meta:meta])*] $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty] [$($error:ty)?] { $($rest:tt)* }
    ) => {
        $crate::idl_method! {
            @ $form [$(#[$meta])*] $servant $op
            ($($arg: $crate::idl_servant_type!($(@$flag)? $type $(| $lent)?)),*)
            [$crate::Result<$value $(, $error)?>]
        }
    };
    (@ [declared] [$(#[$meta:meta])*] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [$result:ty]) => {
        $(#[$meta])*
        fn $op(&self, call: &$crate::Call<'_>, $($arg: $type),*) -> $result;
    };
    (@ [declared $bodies:ident] [$(#[$meta:meta])*] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [()]) => {
        $(#[$meta])*
        fn $op(&self, call: &$crate::Call<'_>, $($arg: $type),*) {
            let _ = call;
            // The last argument is the token.
            $crate::idl_refuse!($bodies $($arg)*);
        }
    };
    (@ [declared $bodies:ident] [$(#[$meta:meta])*] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [$result:ty]) => {
        $(#[$meta])*
        fn $op(&self, call: &$crate::Call<'_>, $($arg: $type),*) -> $result {
            let _ = call;
            $(let _ = $arg;)*
            ::core::result::Result::Err(::core::convert::From::from($crate::$bodies()))
        }
    };
    (@ [forwarded] [] $servant:ident $op:ident ($($arg:ident: $type:ty),*) [$result:ty]) => {
        fn $op(&self, call: &$crate::Call<'_>, $($arg: $type),*) -> $result {
            $servant::$op(&**self, call, $($arg),*)
        }
    };
}

/// Answers through the token, which is the last argument, as an operation without a body.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_refuse {
    ($bodies:ident $reply:ident) => {
        let _ = $reply.raise($crate::$bodies());
    };
    ($bodies:ident $arg:ident $($args:ident)+) => {
        let _ = $arg;
        $crate::idl_refuse!($bodies $($args)+);
    };
}

/// What a skeleton does for one operation: everything is decoded before the servant is
/// called.
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
            $($rest:tt)*
        }
    ) => {{
        $($crate::idl_hold_for_slot!(
            $arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?
        );)*
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
            $($rest:tt)*
        }
    ) => {{
        $($crate::idl_hold_for_slot!(
            $arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?
        );)*
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
    // Nothing is `inout`.
    (
        $implementation:ident $this:ident $call:ident $arguments:ident $reply:ident $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] {
            $(into $into:ident,)?
            $(async $async:ident,)?
            $(context $strings:literal,)?
        }
    ) => {{
        $($crate::idl_hold!($arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
        let outcome = <$implementation as $servant>::$op(
            $this,
            $call,
            $($crate::idl_lend!($(@$flag)? $arg: $type $(as $codec)? $(| $lent)?)),*
        );
        let value = $crate::idl_value!($reply, outcome, $($error)?);
        $reply.result(|writer| $crate::cdr::idl_encode!(writer, &value $(, $value_codec)?))
    }};
    // New values of `inout` parameters go back with the others.
    (
        $implementation:ident $this:ident $call:ident $arguments:ident $reply:ident $servant:ident $op:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) [$value:ty $(as $value_codec:ty)?] [$($error:ty)?] {
            $(async $async:ident -> $async_value:ty $(as $async_codec:ty)?,)?
            $(context $strings:literal,)?
            out($($out:ident: $out_type:ty $(as $out_codec:ty)?),*) gives $gives:tt,
        }
    ) => {{
        $($crate::idl_hold!($arguments, $(@$flag)? $arg: $type $(as $codec)? $(| $lent)?);)*
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

/// The value that a servant returned, or else its exception as the answer.
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
