// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of adapter operations, as the POA's exceptions.

use std::fmt;

use orbium_giop::{Completion, ExceptionKind, SystemException};

/// Error of an adapter operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PoaError {
    /// A child of that name exists.
    AdapterAlreadyExists,
    /// There is no child of that name.
    AdapterNonExistent,
    /// The adapter's manager was permanently deactivated.
    AdapterInactive,
    /// The policies are inconsistent: the type of the offending one minus that of the first (16),
    /// so 4 is ImplicitActivationPolicy.
    InvalidPolicy(u16),
    /// The name, or the nesting, exceeds the limit of an object key.
    NameTooLong,
    /// There is no default servant.
    NoServant,
    /// An object with that id is active.
    ObjectAlreadyActive,
    /// No object with that id is active.
    ObjectNotActive,
    /// The servant already incarnates an object, and may incarnate only one.
    ServantAlreadyActive,
    /// The servant is not active.
    ServantNotActive,
    /// The reference was not made by this adapter.
    WrongAdapter,
    /// The operation is not permitted by the adapter's policies.
    WrongPolicy,
    /// A system exception: destroyed, shut down, not able to listen.
    System(SystemException),
}

impl fmt::Display for PoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::AdapterAlreadyExists => "an adapter of that name exists already",
            Self::AdapterNonExistent => "there is no adapter of that name",
            Self::AdapterInactive => "the POA manager was deactivated",
            Self::InvalidPolicy(index) => {
                return write!(f, "policy {index} does not go with the others");
            }
            Self::NameTooLong => "adapter names are longer, or nested deeper, than a key can hold",
            Self::NoServant => "no default servant is set",
            Self::ObjectAlreadyActive => "an object with that id is active already",
            Self::ObjectNotActive => "no object with that id is active",
            Self::ServantAlreadyActive => "the servant is active already (UNIQUE_ID)",
            Self::ServantNotActive => "the servant is not active",
            Self::WrongAdapter => "the reference belongs to another adapter",
            Self::WrongPolicy => "the adapter's policies do not allow that",
            Self::System(exception) => return exception.fmt(f),
        };
        f.write_str(text)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for PoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PoaError {}

impl From<SystemException> for PoaError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// For a servant that activates objects: refusals of the adapter become OBJ_ADAPTER, not completed.
impl From<PoaError> for SystemException {
    fn from(error: PoaError) -> Self {
        match error {
            PoaError::System(exception) => exception,
            _ => Self::new(ExceptionKind::ObjAdapter, 0, Completion::No),
        }
    }
}
