// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CORBA Interface Repository: IDL that clients read and change at run time.
//!
//! [`InterfaceRepository`] serves one, from memory or from a file. [`corba`] has the compiled
//! interfaces of CORBA's module, for clients of any repository.
//!
//! ```no_run
//! use orbium::{Config, Interface, Orb, config::Configure as _};
//! use orbium_ifr::corba::{InterfaceDef, Repository};
//!
//! // -ORBInitRef InterfaceRepository=corbaloc::types.example/InterfaceRepository
//! let mut args: Vec<String> = std::env::args().collect();
//! let orb = Orb::new(Config::from_args(&mut args)?)?;
//! let repository: Repository = orb.resolve("corbaloc:rir:/InterfaceRepository")?;
//! let found = repository.lookup_id("IDL:Greeter:1.0")?;
//! let greeter: InterfaceDef = found.ok_or("not there")?.as_object().narrow()?;
//! for operation in greeter.describe_interface()?.operations {
//!     println!("{} has {} parameters", operation.name, operation.parameters.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod code_base;
mod database;
mod edit;
mod entry;
mod error;
mod export;
mod fault;
mod literal;
mod load;
mod objects;
mod octets;
mod references;
mod repository;
mod servants;
mod signatures;
mod store;
mod type_codes;
mod view;

orbium::include_idl!("InterfaceRepository");

pub use code_base::known_code_bases::CodeBases;
pub use code_base::value_def::value_def;
pub use code_base::{OfferedCodeBase, code_base_in, code_base_of};
pub use error::{LoadError, RepositoryError};
pub use export::{ExportError, SoundIdl, idl_of, sound_idl_of, sound_idl_of_interface};
pub use repository::{INTERFACE_REPOSITORY, InterfaceRepository};
pub use signatures::signatures;
