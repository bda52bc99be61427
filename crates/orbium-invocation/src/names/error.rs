// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of names: invalid syntax, and names that cannot be resolved.

use std::fmt;

use orbium_giop::{Completion, ExceptionKind, SystemException};

use super::name::Name;

/// Kind of an error in the text form of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameSyntaxErrorKind {
    /// An empty component, or no component at all.
    EmptyComponent,
    /// A dot that no kind follows.
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

/// Error in the text form of a name, with its position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NameSyntaxError {
    /// The kind of the error.
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

/// Reason for which a name is not bound in a naming context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFoundReason {
    /// The first component of the rest is not bound.
    MissingNode,
    /// It is bound to an object instead of a context.
    NotContext,
    /// It is bound to a context instead of an object.
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

/// Error of resolving a name.
#[derive(Clone, PartialEq, Eq)]
pub enum NameError {
    /// The text is not a name. Nothing was sent.
    Syntax(NameSyntaxError),
    /// NotFound.
    NotFound {
        /// The error of the first component of the rest.
        why: NotFoundReason,
        /// The unresolved rest of the name.
        rest: Name,
    },
    /// CannotProceed: a context on the path could not be called by the previous one.
    CannotProceed {
        /// The unresolved rest of the name.
        rest: Name,
    },
    /// InvalidName.
    InvalidName,
    /// The context could not be called.
    System(SystemException),
}

impl NameError {
    /// The exception specified for `string_to_object`: BAD_PARAM 10, or the exception of the call
    /// of the context.
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
