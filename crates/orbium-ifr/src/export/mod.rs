// SPDX-License-Identifier: MIT OR Apache-2.0
//! Export of a repository, of any ORB, as IDL text that compiles to the same repository ids.

mod declare;
mod definitions;
mod error;
mod idl_text;
mod left_out;
mod needs;
mod of_interface;
mod order;

use crate::corba::{InterfaceDef, Repository};
use definitions::Definitions;
pub use error::ExportError;
use error::Fault;

/// Reads a whole repository by CORBA's operations, and writes it as IDL.
///
/// Comments and annotations are not in a repository; empty modules are not valid IDL. The output
/// compiles to the same repository ids, with as many reopened modules as the order of definitions
/// needs.
///
/// # Errors
/// [`ExportError`].
pub fn idl_of(repository: &Repository) -> Result<String, ExportError> {
    let found = Definitions::read(repository, false)?;
    text_of(&found).map_err(|fault| fault.error)
}

/// IDL of a repository that may contain invalid definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundIdl {
    /// The text.
    pub text: String,
    /// The reasons for which definitions were left out: invalid ones, and those that depend on
    /// them. Empty if all are in the text.
    pub left_out: Vec<ExportError>,
}

/// As [`idl_of`], without the invalid definitions and those that depend on them: a client can use
/// all others. Operations and attributes of an interface are left out individually.
///
/// # Errors
/// [`ExportError::System`] if the repository is unreachable, [`ExportError::TooLarge`], and the
/// next error after 256 definitions were left out.
pub fn sound_idl_of(repository: &Repository) -> Result<SoundIdl, ExportError> {
    sound_text_of(Definitions::read(repository, true)?)
}

/// As [`sound_idl_of`], for an interface, its bases and the types that they name, and transitively
/// the types of these: the rest of the repository is not read. Other interfaces are only declared.
///
/// # Errors
/// As [`sound_idl_of`].
pub fn sound_idl_of_interface(interface: &InterfaceDef) -> Result<SoundIdl, ExportError> {
    sound_text_of(Definitions::read_interface(interface)?)
}

fn sound_text_of(mut found: Definitions) -> Result<SoundIdl, ExportError> {
    loop {
        match text_of(&found) {
            Ok(text) => {
                let left_out = found.left_out;
                return Ok(SoundIdl { text, left_out });
            }
            Err(fault) => found.leave_out(fault)?,
        }
    }
}

fn text_of(found: &Definitions) -> Result<String, Fault> {
    let order = order::Order::of(found)?;
    declare::Writer::new(found).write(&order)
}
