// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors in constraints.

use std::fmt;

/// Error in a constraint, with its position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConstraintError {
    /// The kind of the error.
    pub kind: ConstraintErrorKind,
    /// The byte offset in the text at which it was detected.
    pub position: usize,
}

/// Kind of an error in a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConstraintErrorKind {
    /// A character that cannot begin a token.
    Character,
    /// A text without its closing apostrophe.
    Text,
    /// A number outside the range of 64 bits, or of doubles.
    Number,
    /// A token that is invalid at this position.
    Unexpected,
    /// The text, its nodes or their nesting exceed a limit.
    TooLarge,
}

impl fmt::Display for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ConstraintErrorKind::Character => "no word begins with this character",
            ConstraintErrorKind::Text => "a text without its closing apostrophe",
            ConstraintErrorKind::Number => "a number out of range",
            ConstraintErrorKind::Unexpected => "a word that cannot stand here",
            ConstraintErrorKind::TooLarge => "the constraint exceeds a limit",
        };
        write!(f, "{what}, at byte {}", self.position)
    }
}

impl fmt::Debug for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConstraintError {}
