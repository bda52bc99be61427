// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pollers: the `sendp_…` stubs of typed references, and the pollers that they return.

/// Declares the typed poller of an interface (CORBA Messaging, `AMI_…Poller`), with the feature
/// `ami`: for each operation the stub that begins the call (it calls the asynchronous stub), and
/// the method that returns the results.
///
/// Used by generated code: an operation stands as `sendp_f(parameters) by f_async = "f" { … }`; the
/// braces contain the method of the poller and, optionally, the stub that begins the call in a
/// context.
#[macro_export]
macro_rules! idl_poller {
    (
        $(#[$meta:meta])*
        pub struct $poller:ident of $name:ident;
        $(
            $send:ident $parameters:tt by $async:ident = $wire:literal {
                $op:ident -> Result<$value:ty $(, $error:ty)?>
                $(, in $send_in:ident($context:ident) by $async_in:ident)?
            }
        )*
    ) => {
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs)]
        impl $name {
            $(
                $crate::idl_sendp! { $poller [] $send $parameters by $async = $wire }
                $($crate::idl_sendp! { $poller [$context] $send_in $parameters by $async_in = $wire })?
            )*
        }

        $(#[$meta])*
        #[derive(Debug)]
        #[must_use = "a call that is dropped is cancelled"]
        pub struct $poller($crate::asynchronous::Poller<$name>);

        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs)]
        impl $poller {
            $(
                #[doc = concat!("The results of the IDL operation `", $wire, "`, awaited up to a time.")]
                pub fn $op(
                    &mut self,
                    timeout: ::core::option::Option<::core::time::Duration>,
                ) -> $crate::Result<$value $(, $error)?> {
                    self.0.response($wire, timeout)
                }
            )*

            /// Registers a handler for the reply; it is called with a poller that is ready.
            pub fn set_associated_handler(
                &mut self,
                handler: impl ::core::ops::FnOnce(Self) + ::core::marker::Send + 'static,
            ) -> $crate::Result<()> {
                self.0.set_associated_handler(move |ready| handler(Self(ready)))
            }
        }

        impl ::core::ops::Deref for $poller {
            type Target = $crate::asynchronous::Poller<$name>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl ::core::ops::DerefMut for $poller {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }

        impl $crate::asynchronous::Pollable for $poller {
            fn wake_when_ready(&self, waker: &::core::task::Waker) -> bool {
                $crate::asynchronous::Pollable::wake_when_ready(&self.0, waker)
            }
        }
    };
}

/// A stub that begins a call and returns its poller.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_sendp {
    (
        $poller:ident [$($context:ident)?] $send:ident(
            $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
        ) by $async:ident = $wire:literal
    ) => {
        #[doc = concat!("Begins a call of the IDL operation `", $wire, "`, for which is polled.")]
        pub fn $send(
            &self,
            $($context: &$crate::Context,)?
            $($arg: $crate::codegen::idl_async_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
        ) -> $poller {
            $poller($crate::asynchronous::Poller::new(
                ::core::clone::Clone::clone(self),
                $wire,
                self.$async($($context,)? $($arg),*),
            ))
        }
    };
}
