// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client of the CORBA Naming Service: names are bound to objects in naming contexts of servers
//! such as omniNames.
//!
//! ```no_run
//! use orbium::{Config, Orb, config::Configure as _};
//! use orbium_naming::NamingContext;
//!
//! // -ORBInitRef NameService=corbaloc::names.example:2809/NameService
//! let mut args: Vec<String> = std::env::args().collect();
//! let orb = Orb::new(Config::from_args(&mut args)?)?;
//! let names = NamingContext::root(&orb)?;
//! let pump = orb.string_to_object("corbaloc::plant.example/Pump")?;
//! names.bind_new_context("plant")?;
//! names.rebind("plant/pump.v2", pump.as_ref())?;
//! for binding in names.resolve_context("plant")?.list()? {
//!     println!("{}", binding?.name);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program that only resolves names does not need this crate: the ORB itself understands
//! `corbaname::names.example#plant/pump.v2`, in `Orb::resolve`, in `-ORBInitRef` and in files.
//!
//! [`cos_naming`] is the compiled `CosNaming.idl`, with references and servants of every interface.
#![forbid(unsafe_code)]

mod as_name;
mod bindings;
mod context;
mod error;

orbium::include_idl!("CosNaming");

pub use as_name::AsName;
pub use bindings::{Binding, BindingKind, Bindings};
pub use context::NamingContext;
pub use error::NamingError;
pub use orbium::names::{
    Name, NameComponent, NameSyntaxError, NameSyntaxErrorKind, NotFoundReason,
};
