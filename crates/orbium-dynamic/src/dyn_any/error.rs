// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of DynAny operations.

use std::fmt;

use orbium_cdr::CdrError;

/// Error of a [`DynAny`](super::DynAny) operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DynAnyError {
    /// The operation is for another type than that of the value, or of its current component.
    TypeMismatch,
    /// The type is correct, but the value is not: out of range, of the wrong length, or there is no
    /// current component.
    InvalidValue,
    /// There is no DynAny for values of the type.
    InconsistentTypeCode,
    /// The value has more components than a DynAny supports ([`DynAny::MAX_COMPONENTS`]), or a
    /// default value of the type is larger.
    ///
    /// [`DynAny::MAX_COMPONENTS`]: super::DynAny::MAX_COMPONENTS
    TooLarge,
    /// The value cannot be marshalled.
    Marshal(CdrError),
}

impl fmt::Display for DynAnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TypeMismatch => {
                f.write_str("the value or its current component is of another type")
            }
            Self::InvalidValue => {
                f.write_str("no valid value of the type, or no current component")
            }
            Self::InconsistentTypeCode => f.write_str("there is no DynAny for values of this type"),
            Self::TooLarge => f.write_str("the value has more components than a DynAny holds"),
            Self::Marshal(error) => write!(f, "the value cannot be marshalled: {error}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for DynAnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for DynAnyError {}

impl From<CdrError> for DynAnyError {
    fn from(error: CdrError) -> Self {
        Self::Marshal(error)
    }
}
