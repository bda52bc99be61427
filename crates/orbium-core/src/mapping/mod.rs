// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros of shape for interfaces: an operation is declared once, and its
//! stub, its method in the servant's trait and its arm in the skeleton are made of that.

mod outcome;
mod servants;
mod stubs;

pub use outcome::Result;
pub use servants::{Declares, DispatchesTo, Skeleton};

/// Declares a mapped interface: the typed reference with a stub for each operation, the
/// trait of its servants, and the skeleton that leads requests to one.
///
/// An operation is written as the servant's method, without `self` and the request; behind
/// it stands its name on the wire. `as` names the codec of a value with a
/// bound or of wide text.
///
/// ```
/// use orbium_core::{Call, Orb, SystemException, idl_interface};
///
/// idl_interface! {
///     /// What greets.
///     pub struct Greeter = "IDL:Hello/Greeter:1.0";
///     operations by_octet(0, 103, &[0]);
///     pub trait GreeterServant;
///
///     fn greet(name: &str) -> Result<String> = "greet";
/// }
///
/// struct Polite;
/// impl GreeterServant for Polite {
///     fn greet(&self, _: &Call, name: &str) -> Result<String, SystemException> {
///         Ok(format!("Hello, {name}!"))
///     }
/// }
///
/// let orb = Orb::builder().build()?;
/// let greeter: Greeter = orb.serve("Greeter", Polite)?;
/// assert_eq!(greeter.greet("Anna")?, "Hello, Anna!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! idl_interface {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))? $(: $first:ty)? = $id:literal;
        $(bases [$($base:ty),* $(,)?];)?
    ) => {
        $crate::idl_reference! {
            [$(#[$meta])*] $name [$crate::cdr::idl_name!($name $($idl)?)] $id [$($first)?] [$($($base),*)?]
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))? $(: $first:ty)? = $id:literal;
        $(bases [$($base:ty),* $(,)?];)?
        $(operations $by:ident($($key:expr),*);)?
        pub trait $servant:ident $(: $($supertrait:path),+)? $(= $bodies:ident)?;
        $($operations:tt)*
    ) => {
        $crate::idl_reference! {
            [$(#[$meta])*] $name [$crate::cdr::idl_name!($name $($idl)?)] $id [$($first)?] [$($($base),*)?]
        }
        $crate::idl_operations! {
            $name $id [$($($base),*)?] [$($by($($key),*))?] $servant [$($($supertrait +)+)?]
            [declared $($bodies)?]
            $($operations)*
        }
    };
}

/// What an interface's operations make: stubs, the trait of servants, and their skeleton.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_operations {
    (
        $name:ident $id:literal [$($base:ty),*] [$($table:tt)*] $servant:ident [$($supertraits:tt)*]
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
                $crate [$servant] $id [$(#[$op_meta])*] $kind $op($($parameters)*)
                [$value $(as $codec)?] [$($error)?] $wire { $($($more)*)? }
            })*
        }
        #[doc = concat!("What a servant of [`", stringify!($name), "`] does.")]
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        pub trait $servant:
            $($supertraits)* ::core::marker::Send + ::core::marker::Sync + 'static
        {
            $($crate::idl_method! {
                $crate $declared [$(#[$op_meta])*] $servant $op($($parameters)*)
                [$value] [$($error)?] { $($($more)*)? }
            })*
        }
        impl<OrbiumServant: $servant + ?::core::marker::Sized> $servant for ::std::sync::Arc<OrbiumServant> {
            $($crate::idl_method! {
                $crate [forwarded] [] $servant $op($($parameters)*)
                [$value] [$($error)?] { $($($more)*)? }
            })*
        }
        $crate::idl_table! { $name [$($base),*] [$($wire),*] $($table)* }
        impl<OrbiumServant: $servant> $crate::DispatchesTo<OrbiumServant> for $name {
            #[inline]
            fn dispatch(
                servant: &OrbiumServant,
                index: usize,
                call: &$crate::Call<'_>,
                arguments: &mut $crate::cdr::CdrReader<'_>,
                reply: &mut $crate::UntypedReply<'_>,
            ) -> ::core::result::Result<(), $crate::DispatchError> {
                $(
                    let count = <$base as $crate::Declares>::OPERATIONS.len();
                    if index < count {
                        return <$base as $crate::DispatchesTo<OrbiumServant>>::dispatch_own(
                            servant, index, call, arguments, reply,
                        );
                    }
                    let index = index - count;
                )*
                <$name as $crate::DispatchesTo<OrbiumServant>>::dispatch_own(
                    servant, index, call, arguments, reply,
                )
            }
            #[allow(clippy::all, clippy::pedantic, non_camel_case_types, unused_variables)]
            #[inline]
            fn dispatch_own(
                servant: &OrbiumServant,
                index: usize,
                call: &$crate::Call<'_>,
                arguments: &mut $crate::cdr::CdrReader<'_>,
                reply: &mut $crate::UntypedReply<'_>,
            ) -> ::core::result::Result<(), $crate::DispatchError> {
                enum OrbiumOperation { $($op),* }
                $(if index == OrbiumOperation::$op as usize {
                    return $crate::idl_arm!(
                        OrbiumServant servant call arguments reply $servant $op($($parameters)*)
                        [$value $(as $codec)?] [$($error)?] { $($($more)*)? }
                    );
                })*
                ::core::result::Result::Err($crate::unknown_operation())
            }
            fn view(
                servant: &OrbiumServant,
                interface: ::core::any::TypeId,
            ) -> ::core::option::Option<$crate::collocation::TypedServant<'_>> {
                $(
                    let seen = <$base as $crate::DispatchesTo<OrbiumServant>>::view_own(servant, interface);
                    if seen.is_some() {
                        return seen;
                    }
                )*
                <$name as $crate::DispatchesTo<OrbiumServant>>::view_own(servant, interface)
            }
            fn view_own(
                servant: &OrbiumServant,
                interface: ::core::any::TypeId,
            ) -> ::core::option::Option<$crate::collocation::TypedServant<'_>> {
                let is_it = interface == ::core::any::TypeId::of::<dyn $servant>();
                is_it.then(|| {
                    $crate::collocation::TypedServant::new(servant, const {
                        &$crate::collocation::View::<dyn $servant>::new(|servant| {
                            let servant = servant.downcast_ref::<OrbiumServant>()?;
                            ::core::option::Option::Some(servant as &dyn $servant)
                        })
                    })
                })
            }
        }
        impl<OrbiumServant: $servant> $crate::ServedBy<OrbiumServant> for $name {
            type Skeleton = $crate::Skeleton<Self, OrbiumServant>;
            fn skeleton(servant: OrbiumServant) -> Self::Skeleton {
                $crate::Skeleton::new(servant)
            }
        }
    };
}

/// The operations that an interface declares, and the table of all that it has.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_table {
    ($name:ident [$($base:ty),*] [$($wire:literal),*]) => {
        impl $crate::Declares for $name {
            const OPERATIONS: &'static [&'static str] = &[$($wire),*];
            const TABLE: ::core::option::Option<&'static $crate::OperationTable> =
                ::core::option::Option::None;
            fn table() -> ::core::option::Option<&'static $crate::OperationTable> {
                ::core::option::Option::None
            }
        }
    };
    ($name:ident [$($base:ty),*] [$($wire:literal),*] $by:ident($($key:expr),*)) => {
        impl $crate::Declares for $name {
            const OPERATIONS: &'static [&'static str] = &[$($wire),*];
            const TABLE: ::core::option::Option<&'static $crate::OperationTable> = {
                const LISTS: &[&[&str]] = &[
                    $(<$base as $crate::Declares>::OPERATIONS,)*
                    <$name as $crate::Declares>::OPERATIONS,
                ];
                const NAMES: [&str; $crate::count_names(LISTS)] = $crate::concat_names(LISTS);
                const TABLE: $crate::OperationTable =
                    $crate::OperationTable::$by(&NAMES, $($key),*);
                ::core::option::Option::Some(&TABLE)
            };
            fn table() -> ::core::option::Option<&'static $crate::OperationTable> {
                static TABLE: ::core::option::Option<&$crate::OperationTable> =
                    <$name as $crate::Declares>::TABLE;
                TABLE
            }
        }
    };
}

/// What every typed reference has.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_reference {
    ([$(#[$meta:meta])*] $name:ident [$idl:expr] $id:literal [$($first:ty)?] [$($base:ty),*]) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone)]
        pub struct $name($crate::idl_first_base!($($first)?));
        $crate::interface!(
            $name = $idl, $id, [$(<$base as $crate::Interface>::REPOSITORY_ID),*]
        );
        $(
            impl ::core::ops::Deref for $name {
                type Target = $first;
                /// The reference to the first base: its operations are there.
                #[inline]
                fn deref(&self) -> &$first {
                    &self.0
                }
            }
        )?
        $(
            impl ::core::convert::From<$name> for $base {
                #[inline]
                fn from(derived: $name) -> Self {
                    $crate::Interface::from_object(::core::convert::From::from(derived))
                }
            }
        )*
    };
}

/// What a typed reference holds: that of the first base, or one without a type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_first_base {
    () => {
        $crate::ObjectRef
    };
    ($first:ty) => {
        $first
    };
}
