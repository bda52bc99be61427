// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of names: wrong syntax, and names that cannot be resolved.

use std::fmt;

use orbium_giop::{Completion, ExceptionKind, SystemException};

use super::name::Name;

/// Kind of an error in a name in the form of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameSyntaxErrorKind {
    /// A component with nothing in it, or no component at all.
    EmptyComponent,
    /// A dot without a kind behind it.
    EmptyKind,
    /// A second dot in a component.
    SecondDot,
    /// A backslash before anything but `.`, `/` and `\`.
    BadEscape,
}

impl NameSyntaxErrorKind {
    pub(super) const fn at(self, offset: usize) -> NameSyntaxError {
        NameSyntaxError { kind: self, offset }
    }
}

/// Error in a name in the form of text, with its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NameSyntaxError {
    /// What is wrong.
    pub kind: NameSyntaxErrorKind,
    /// Offset in bytes into the text.
    pub offset: usize,
}

impl fmt::Display for NameSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.kind {
            NameSyntaxErrorKind::EmptyComponent => {
                "a component is empty (`.` stands for one without id and kind)"
            }
            NameSyntaxErrorKind::EmptyKind => "no kind follows the dot (`\\.` is a dot in an id)",
            NameSyntaxErrorKind::SecondDot => "a component has two dots (`\\.` is a dot in a kind)",
            NameSyntaxErrorKind::BadEscape => "a backslash must precede `.`, `/` or `\\`",
        };
        write!(f, "not a name: {text} (at offset {})", self.offset)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for NameSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NameSyntaxError {}

/// Reason for which a naming context does not find a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFoundReason {
    /// The first component of the rest is not bound.
    MissingNode,
    /// It is bound to an object, where a context was needed.
    NotContext,
    /// It is bound to a context, where an object was needed.
    NotObject,
}

impl fmt::Display for NotFoundReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MissingNode => "is not bound",
            Self::NotContext => "is not bound as a naming context",
            Self::NotObject => "is bound as a naming context",
        })
    }
}

/// Error of a naming context that gives no reference for a name.
#[derive(Clone, PartialEq, Eq)]
pub enum NameError {
    /// The text is no name. Nothing was sent.
    Syntax(NameSyntaxError),
    /// NotFound.
    NotFound {
        /// What is wrong with the first component of the rest.
        why: NotFoundReason,
        /// What of the name is left.
        rest: Name,
    },
    /// CannotProceed: a context on the way could not be asked by the one before it.
    CannotProceed {
        /// What of the name is left.
        rest: Name,
    },
    /// InvalidName.
    InvalidName,
    /// The context could not be asked.
    System(SystemException),
}

impl NameError {
    /// The exception that `string_to_object` raises: BAD_PARAM 10, or what the call of the
    /// context raised.
    #[must_use]
    pub fn exception(&self) -> SystemException {
        match self {
            Self::System(exception) => *exception,
            _ => SystemException::omg(ExceptionKind::BadParam, 10, Completion::No),
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::NotFound { why, rest } => match rest.components() {
                [first, _, ..] => write!(f, "`{first}`, of the rest `{rest}`, {why}"),
                _ => write!(f, "`{rest}` {why}"),
            },
            Self::CannotProceed { rest } => {
                write!(f, "the naming service cannot proceed at `{rest}`")
            }
            Self::InvalidName => f.write_str("the naming service calls the name invalid"),
            Self::System(exception) => write!(f, "the naming context: {exception}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NameError {}

impl From<NameSyntaxError> for NameError {
    fn from(error: NameSyntaxError) -> Self {
        Self::Syntax(error)
    }
}

impl From<SystemException> for NameError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}
