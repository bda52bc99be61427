// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one call of a naming context that the ORB makes itself: `resolve`, for `corbaname:`.

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, Decode, Encode};

use crate::names::{Name, NameError, NotFoundReason};
use crate::{ExceptionKind, ObjectRef, Operation, Raised, Raises, SystemException};

/// `CosNaming::NamingContext::resolve`. It changes nothing, hence may be sent again.
static RESOLVE: Operation = Operation::new("resolve").idempotent();

/// Resolves a name in a context; `None` is a name that is bound to nil.
pub(super) fn resolve(context: &ObjectRef, name: &Name) -> Result<Option<ObjectRef>, NameError> {
    let resolved: Result<_, Refusal> =
        context.call(&RESOLVE, |writer| name.encode(writer), Decode::decode);
    resolved.map_err(|refusal| refusal.0)
}

/// What `resolve` raises.
struct Refusal(NameError);

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

    /// Only servants raise: UNKNOWN, as for any exception that is not declared.
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
    let _context: Option<ObjectRef> = Decode::decode(reader)?;
    let rest = Name::decode(reader)?;
    Ok(NameError::CannotProceed { rest })
}
