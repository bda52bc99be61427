// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros that declare interfaces: an operation is declared once, and its stub, its method in the
//! servant's trait and its arm in the skeleton are generated from it.

mod servants;
mod stubs;

pub use servants::{Declares, DispatchesTo, Skeleton};

/// Declares a mapped interface: the typed reference with a stub for each operation, the trait of
/// its servants, and the skeleton that dispatches requests to a servant.
///
/// An operation is written as the servant's method, without `self` and the request, followed by its
/// name on the wire. `as` selects the codec of a bounded value or of wide text.
///
/// ```
/// use orbium_core::{Call, Orb, SystemException, idl_interface};
///
/// idl_interface! {
///     /// A greeter.
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
            $crate [$(#[$meta])*] $name [$crate::cdr::idl_name!($name $($idl)?)] $id [$($first)?] [$($($base),*)?]
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
            $crate [$(#[$meta])*] $name [$crate::cdr::idl_name!($name $($idl)?)] $id [$($first)?] [$($($base),*)?]
        }
        $crate::idl_operations! {
            $crate $name $id [$($($base),*)?] [$($by($($key),*))?] $servant [$($($supertrait +)+)?]
            [declared $($bodies)?]
            $($operations)*
        }
    };
}
