// SPDX-License-Identifier: MIT OR Apache-2.0
//! Export of a repository, of any ORB's, as IDL text that compiles to the same repository ids.

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

/// Reads all of a repository by CORBA's own operations, and writes it as IDL.
///
/// Comments and annotations are not in a repository; modules with nothing in them are no IDL. What comes out compiles to the same
/// repository ids, in as many openings of modules as the order of definitions needs.
///
/// # Errors
/// [`ExportError`].
pub fn idl_of(repository: &Repository) -> Result<String, ExportError> {
    let found = Definitions::read(repository, false)?;
    text_of(&found).map_err(|fault| fault.error)
}

/// IDL of a repository in which definitions may be broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundIdl {
    /// The text.
    pub text: String,
    /// Why definitions were left out: those that are broken, and those that need them. Empty if
    /// all are in the text.
    pub left_out: Vec<ExportError>,
}

/// As [`idl_of`], without the definitions that make no IDL and those that need them: a client
/// can use all others. Of an interface, operations and attributes are left out by themselves.
///
/// # Errors
/// [`ExportError::System`] where the repository cannot be reached, [`ExportError::TooLarge`], and
/// whatever is wrong after 256 definitions were left out.
pub fn sound_idl_of(repository: &Repository) -> Result<SoundIdl, ExportError> {
    sound_text_of(Definitions::read(repository, true)?)
}

/// As [`sound_idl_of`], of an interface, its bases and the types that they name, and what those
/// name in turn: no more of the repository is read. Of other interfaces there are declarations.
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
