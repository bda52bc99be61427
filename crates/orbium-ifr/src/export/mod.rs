// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a repository has, any ORB's, as IDL text that compiles to the same repository ids.

mod declare;
mod error;
mod found;
mod order;
mod text;

use crate::corba::Repository;
pub use error::ExportError;
use found::Found;

/// Reads all of a repository by CORBA's own operations, and writes it as IDL.
///
/// Comments and annotations are not in a repository; modules with nothing in them are no IDL. What comes out compiles to the same
/// repository ids, in as many openings of modules as the order of definitions needs.
///
/// # Errors
/// [`ExportError`].
pub fn idl_of(repository: &Repository) -> Result<String, ExportError> {
    let found = Found::read(repository)?;
    let order = order::Order::of(&found)?;
    declare::Writer::new(&found).write(&order)
}
