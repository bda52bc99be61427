// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes, which a layer above copies.

use core::any::Any;
use core::fmt;

use crate::{CdrError, CdrErrorKind, CdrReader, CdrWriter, TypeRef};

/// Copies values of valuetypes, of which this crate knows nothing but their TypeCodes.
pub trait ValueCopier: Any + Send + Sync {
    /// Copies a value, or what stands where an abstract interface is expected.
    ///
    /// # Errors
    /// What is wrong with the value, or that its type is not known.
    fn copy(
        &self,
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
        writer: &mut CdrWriter<'_>,
    ) -> Result<(), CdrError>;
}

/// An owner that knows types of values: with it values within anys are read.
pub struct OwnerWithValues {
    /// The owner of references.
    pub owner: Box<dyn Any + Send + Sync>,
    /// What knows the types of values.
    pub values: Box<dyn ValueCopier>,
}

impl fmt::Debug for OwnerWithValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerWithValues").finish_non_exhaustive()
    }
}

/// Copies a value of a valuetype: by the type itself where that is of this program, else by
/// the owner of the reader.
///
/// # Errors
/// [`CdrErrorKind::NotSupported`] without either; else as [`ValueCopier::copy`].
pub fn copy_graph(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    if let Some(copy) = code.copy_of_values() {
        return copy(reader, writer);
    }
    let owner = reader.owner();
    match owner.and_then(|owner| owner.downcast_ref::<OwnerWithValues>()) {
        Some(owner) => owner.values.copy(code, reader, writer),
        None => Err(reader.error(CdrErrorKind::NotSupported)),
    }
}
