// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptions of naming contexts, decoded from their replies.

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, Decode};
use orbium_giop::{ExceptionKind, Ior, SystemException};

use super::{Name, NameError, NotFoundReason};
use crate::{Raised, Raises};

/// The exceptions of `CosNaming::NamingContext::resolve`.
#[derive(Debug)]
pub struct Refusal(pub NameError);

impl From<SystemException> for Refusal {
    fn from(exception: SystemException) -> Self {
        Self(exception.into())
    }
}

impl Raises for Refusal {
    fn decode_raised(id: &str, reader: &mut CdrReader<'_>) -> Option<Result<Self, CdrError>> {
        let error = match id {
            "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => not_found(reader),
            "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => cannot_proceed(reader),
            "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => Ok(NameError::InvalidName),
            _ => return None,
        };
        Some(error.map(Self))
    }

    /// Raised by servants only: UNKNOWN, as for any undeclared exception.
    fn raised(&self) -> Raised<'_> {
        match &self.0 {
            NameError::System(exception) => Raised::System(*exception),
            _ => Raised::System(ExceptionKind::Unknown.into()),
        }
    }
}

fn not_found(reader: &mut CdrReader<'_>) -> Result<NameError, CdrError> {
    let why = match reader.read_u32()? {
        0 => NotFoundReason::MissingNode,
        1 => NotFoundReason::NotContext,
        2 => NotFoundReason::NotObject,
        _ => return Err(reader.error(CdrErrorKind::BadEnumerator)),
    };
    let rest = Name::decode(reader)?;
    Ok(NameError::NotFound { why, rest })
}

fn cannot_proceed(reader: &mut CdrReader<'_>) -> Result<NameError, CdrError> {
    let _context = Ior::decode(reader)?;
    let rest = Name::decode(reader)?;
    Ok(NameError::CannotProceed { rest })
}
