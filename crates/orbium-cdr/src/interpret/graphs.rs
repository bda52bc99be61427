// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes, which a layer above copies.

use core::any::Any;
use core::fmt;

use crate::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Owner, TypeRef};

/// Copies values of valuetypes, for which this crate has only their TypeCodes.
pub trait ValueCopier: Any + Send + Sync {
    /// Copies a value, or the value of an abstract interface.
    ///
    /// # Errors
    /// The error in the value, or that its type is unknown.
    fn copy(
        &self,
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
        writer: &mut CdrWriter<'_>,
    ) -> Result<(), CdrError>;
}

/// An owner with the types of values, by which values within anys are read.
pub struct OwnerWithValues {
    /// The owner of references.
    pub owner: Box<dyn Any + Send + Sync>,
    /// The copier of values; `None` if the program was built without value types.
    pub values: Option<Box<dyn ValueCopier>>,
}

impl OwnerWithValues {
    /// The owner of references within an owner of this kind.
    #[must_use]
    pub fn owner_of<T: Any>(owner: &Owner) -> Option<&T> {
        let owner = &*owner.downcast_ref::<Self>()?.owner;
        match owner.downcast_ref::<Option<Owner>>() {
            // That of an any of values.
            Some(noted) => Self::owner_of(noted.as_ref()?),
            None => owner.downcast_ref(),
        }
    }
}

impl fmt::Debug for OwnerWithValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerWithValues").finish_non_exhaustive()
    }
}

/// Copies a value of a valuetype: by the type itself if it is one of this program, otherwise by the
/// owner of the reader.
///
/// # Errors
/// [`CdrErrorKind::ValuesLeftOut`] if the owner has no value types; [`CdrErrorKind::NotSupported`]
/// without either; otherwise as [`ValueCopier::copy`].
pub fn copy_graph(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    if let Some(copy) = code.copy_of_values() {
        return copy(reader, writer);
    }
    let owner = reader.owner();
    let kind = match owner.and_then(|owner| owner.downcast_ref::<OwnerWithValues>()) {
        Some(OwnerWithValues { values, .. }) => match values {
            Some(values) => return values.copy(code, reader, writer),
            None => CdrErrorKind::ValuesLeftOut,
        },
        None => CdrErrorKind::NotSupported,
    };
    Err(reader.error(kind))
}
