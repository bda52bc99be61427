// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macro of the stubs with a reply handler. It is defined without the features that it needs, too,
//! unlike `messaging`; its expansion does not compile then.

/// Declares the stubs of an interface with a reply handler (CORBA Messaging, `sendc_…`), with the
/// features `ami` and `values`.
///
/// Used by generated code: an operation stands as `sendc_f(parameters) by f_async = "f" { … }`; the
/// braces contain the arguments of the handler. With `in context` before `by`, the context of the
/// call stands before the parameters.
#[macro_export]
macro_rules! idl_sendc {
    (
        $name:ident to $handler:ty;
        $(
            $send:ident(
                $($(@$flag:ident)? $arg:ident: $type:ty $(as $codec:ty)? $(| $lent:ty)?),* $(,)?
            ) $(in $context:ident)? by $async:ident = $wire:literal {
                $results:pat => $reply:ident($($result:expr),* $(,)?), $exception:ident
            }
        )*
    ) => {
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs)]
        impl $name {
            $(
                #[doc = concat!(
                    "Begins a call of the IDL operation `", $wire, "`; its reply goes to the handler, ",
                    "and is discarded without one."
                )]
                pub fn $send(
                    &self,
                    ami_handler: ::core::option::Option<&$handler>,
                    $($context: &$crate::Context,)?
                    $($arg: $crate::codegen::idl_async_type!($(@$flag)? $type $(as $codec)? $(| $lent)?)),*
                ) {
                    $crate::messaging::send(
                        self.$async($($context,)? $($arg),*),
                        $wire,
                        ami_handler,
                        |handler, $results| handler.$reply($($result),*),
                        |handler, holder| handler.$exception(::core::option::Option::Some(holder)),
                    )
                }
            )*
        }
    };
}
