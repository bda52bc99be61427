// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros of interfaces: the code generated from their operations. `$orb` is the crate of the
//! servants.

/// The code for an interface's operations: stubs, the trait of servants, and their skeleton.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_operations {
    (
        $orb:tt $name:ident $id:literal [$($base:ty),*] [$($table:tt)*] $servant:ident [$($supertraits:tt)*]
        $declared:tt
        $(
            $(#[$op_meta:meta])*
            $kind:ident $op:ident($($parameters:tt)*)
                -> Result<$value:ty $(as $codec:ty)? $(, $error:ty)?> = $wire:literal $({ $($more:tt)* })?;
        )*
    ) => {
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs)]
        impl $name {
            $($crate::idl_stub! {
                $orb [$servant] $id [$(#[$op_meta])*] $kind $op($($parameters)*)
                [$value $(as $codec)?] [$($error)?] $wire { $($($more)*)? }
            })*
        }
        #[doc = concat!("The operations of a servant of [`", stringify!($name), "`].")]
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        pub trait $servant:
            $($supertraits)* ::core::marker::Send + ::core::marker::Sync + 'static
        {
            $($crate::idl_method! {
                $orb $declared [$(#[$op_meta])*] $servant $op($($parameters)*)
                [$value] [$($error)?] { $($($more)*)? }
            })*
        }
        impl<OrbiumServant: $servant + ?::core::marker::Sized> $servant for ::std::sync::Arc<OrbiumServant> {
            $($crate::idl_method! {
                $orb [forwarded] [] $servant $op($($parameters)*)
                [$value] [$($error)?] { $($($more)*)? }
            })*
        }
        $crate::idl_table! { $orb $name [$($base),*] [$($wire),*] $($table)* }
        impl<OrbiumServant: $servant> $orb::DispatchesTo<OrbiumServant> for $name {
            #[inline]
            fn dispatch(
                servant: &OrbiumServant,
                index: usize,
                call: &$orb::Call<'_>,
                arguments: &mut $orb::cdr::CdrReader<'_>,
                reply: &mut $orb::UntypedReply<'_>,
            ) -> ::core::result::Result<(), $orb::DispatchError> {
                $(
                    let count = <$base as $orb::Declares>::OPERATIONS.len();
                    if index < count {
                        return <$base as $orb::DispatchesTo<OrbiumServant>>::dispatch_own(
                            servant, index, call, arguments, reply,
                        );
                    }
                    let index = index - count;
                )*
                <$name as $orb::DispatchesTo<OrbiumServant>>::dispatch_own(
                    servant, index, call, arguments, reply,
                )
            }
            #[allow(clippy::all, clippy::pedantic, non_camel_case_types, unused_variables)]
            #[inline]
            fn dispatch_own(
                servant: &OrbiumServant,
                index: usize,
                call: &$orb::Call<'_>,
                arguments: &mut $orb::cdr::CdrReader<'_>,
                reply: &mut $orb::UntypedReply<'_>,
            ) -> ::core::result::Result<(), $orb::DispatchError> {
                enum OrbiumOperation { $($op),* }
                $(if index == OrbiumOperation::$op as usize {
                    return $crate::idl_arm!(
                        OrbiumServant servant call arguments reply $servant $op($($parameters)*)
                        [$value $(as $codec)?] [$($error)?] { $($($more)*)? }
                    );
                })*
                ::core::result::Result::Err($orb::unknown_operation())
            }
            fn view(
                servant: &OrbiumServant,
                interface: ::core::any::TypeId,
            ) -> ::core::option::Option<$orb::collocation::TypedServant<'_>> {
                $(
                    let seen = <$base as $orb::DispatchesTo<OrbiumServant>>::view_own(servant, interface);
                    if seen.is_some() {
                        return seen;
                    }
                )*
                <$name as $orb::DispatchesTo<OrbiumServant>>::view_own(servant, interface)
            }
            fn view_own(
                servant: &OrbiumServant,
                interface: ::core::any::TypeId,
            ) -> ::core::option::Option<$orb::collocation::TypedServant<'_>> {
                let is_it = interface == ::core::any::TypeId::of::<dyn $servant>();
                is_it.then(|| {
                    $orb::collocation::TypedServant::new(servant, const {
                        &$orb::collocation::View::<dyn $servant>::new(|servant| {
                            let servant = servant.downcast_ref::<OrbiumServant>()?;
                            ::core::option::Option::Some(servant as &dyn $servant)
                        })
                    })
                })
            }
        }
        impl<OrbiumServant: $servant> $orb::ServedBy<OrbiumServant> for $name {
            type Skeleton = $orb::Skeleton<Self, OrbiumServant>;
            fn skeleton(servant: OrbiumServant) -> Self::Skeleton {
                $orb::Skeleton::new(servant)
            }
        }
    };
}

/// The operations declared by an interface, and the table including inherited ones.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_table {
    ($orb:tt $name:ident [$($base:ty),*] [$($wire:literal),*]) => {
        impl $orb::Declares for $name {
            const OPERATIONS: &'static [&'static str] = &[$($wire),*];
            const TABLE: ::core::option::Option<&'static $orb::OperationTable> =
                ::core::option::Option::None;
            fn table() -> ::core::option::Option<&'static $orb::OperationTable> {
                ::core::option::Option::None
            }
        }
    };
    ($orb:tt $name:ident [$($base:ty),*] [$($wire:literal),*] $by:ident($($key:expr),*)) => {
        impl $orb::Declares for $name {
            const OPERATIONS: &'static [&'static str] = &[$($wire),*];
            const TABLE: ::core::option::Option<&'static $orb::OperationTable> = {
                const LISTS: &[&[&str]] = &[
                    $(<$base as $orb::Declares>::OPERATIONS,)*
                    <$name as $orb::Declares>::OPERATIONS,
                ];
                const NAMES: [&str; $orb::count_names(LISTS)] = $orb::concat_names(LISTS);
                const TABLE: $orb::OperationTable =
                    $orb::OperationTable::$by(&NAMES, $($key),*);
                ::core::option::Option::Some(&TABLE)
            };
            fn table() -> ::core::option::Option<&'static $orb::OperationTable> {
                static TABLE: ::core::option::Option<&$orb::OperationTable> =
                    <$name as $orb::Declares>::TABLE;
                TABLE
            }
        }
    };
}
