// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the operations of a naming context.

use std::fmt;

use orbium::names::NameError;
use orbium::{Interface, ObjectRef, SystemException, policy::TimePolicies, reference::NarrowError};

use crate::as_name::from_idl;
use crate::cos_naming::naming_context as raised;
use crate::cos_naming::{NamingContextBindError, NamingContextRebindError, NotEmptyError};
use crate::{Name, NameSyntaxError, NotFoundReason};

/// Error of a naming context.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum NamingError {
    /// The text is not a valid name. No request was sent.
    Syntax(NameSyntaxError),
    /// NotFound: the name cannot be resolved.
    NotFound {
        /// The reason at the first component of the rest.
        why: NotFoundReason,
        /// The unresolved rest of the name.
        rest: Name,
    },
    /// CannotProceed: a context within the name could not be called by the previous one, mostly
    /// because it is in another server.
    CannotProceed {
        /// The naming context to continue at, with the time policies of the called one; `None` for
        /// nil. `NamingContext::from_object` converts it into a context.
        context: Option<ObjectRef>,
        /// The unresolved rest of the name.
        rest: Name,
    },
    /// InvalidName: for example, one without components.
    InvalidName,
    /// AlreadyBound: `rebind` replaces the bound object.
    AlreadyBound,
    /// NotEmpty: a context to be destroyed has bindings.
    NotEmpty,
    /// The bound object is nil, or is not known to have the interface.
    Narrow(NarrowError),
    /// The context could not be called.
    System(SystemException),
}

impl fmt::Display for NamingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self {
            Self::Syntax(error) => return error.fmt(f),
            Self::NotFound { why, rest } => NameError::NotFound {
                why: *why,
                rest: rest.clone(),
            },
            Self::CannotProceed { rest, .. } => NameError::CannotProceed { rest: rest.clone() },
            Self::InvalidName => NameError::InvalidName,
            Self::AlreadyBound => return f.write_str("the name is bound already"),
            Self::NotEmpty => return f.write_str("the naming context has bindings"),
            Self::Narrow(error) => return error.fmt(f),
            Self::System(exception) => NameError::System(*exception),
        };
        error.fmt(f)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for NamingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NamingError {}

impl From<NameSyntaxError> for NamingError {
    fn from(error: NameSyntaxError) -> Self {
        Self::Syntax(error)
    }
}

impl From<SystemException> for NamingError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<NarrowError> for NamingError {
    fn from(error: NarrowError) -> Self {
        Self::Narrow(error)
    }
}

impl From<raised::NotFound> for NamingError {
    fn from(raised::NotFound { why, rest_of_name }: raised::NotFound) -> Self {
        Self::NotFound {
            why: match why {
                raised::NotFoundReason::MissingNode => NotFoundReason::MissingNode,
                raised::NotFoundReason::NotContext => NotFoundReason::NotContext,
                raised::NotFoundReason::NotObject => NotFoundReason::NotObject,
            },
            rest: from_idl(rest_of_name),
        }
    }
}

impl NamingError {
    /// The error, with time policies for the context in it.
    pub(crate) fn with_times(mut self, times: TimePolicies) -> Self {
        if let Self::CannotProceed {
            context: Some(context),
            ..
        } = &mut self
        {
            *context = context.with_time_policies(times);
        }
        self
    }
}

fn cannot_proceed(raised: raised::CannotProceed) -> NamingError {
    let raised::CannotProceed { cxt, rest_of_name } = raised;
    NamingError::CannotProceed {
        context: cxt.map(|it| it.as_object().clone()),
        rest: from_idl(rest_of_name),
    }
}

impl From<NamingContextBindError> for NamingError {
    fn from(error: NamingContextBindError) -> Self {
        match error {
            NamingContextBindError::NotFound(it) => it.into(),
            NamingContextBindError::CannotProceed(it) => cannot_proceed(it),
            NamingContextBindError::InvalidName(_) => Self::InvalidName,
            NamingContextBindError::AlreadyBound(_) => Self::AlreadyBound,
            NamingContextBindError::System(exception) => exception.into(),
        }
    }
}

impl From<NamingContextRebindError> for NamingError {
    fn from(error: NamingContextRebindError) -> Self {
        NamingContextBindError::from(error).into()
    }
}

impl From<NotEmptyError> for NamingError {
    fn from(error: NotEmptyError) -> Self {
        match error {
            NotEmptyError::NotEmpty(_) => Self::NotEmpty,
            NotEmptyError::System(exception) => exception.into(),
        }
    }
}
