// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expansion of IDL tokens: the text, its tokens with their positions, and notes on omissions.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A token of the expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// The index of the token that it copies, or for which it was generated.
    pub at: usize,
}

/// An omission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The index of its name.
    pub at: usize,
    /// The omitted construct, with the reason.
    pub message: String,
}

/// Result of an expansion.
#[derive(Clone, Debug, Default)]
pub struct Expansion<'a> {
    /// The tokens, for the parser.
    pub tokens: Vec<Token<'a>>,
    /// Notes on omissions.
    pub notes: Vec<Note>,
    /// The replaced ranges of the input tokens, with the ranges of the expansion that replace them,
    /// in order.
    pub replaced: Vec<(Range<usize>, Range<usize>)>,
}

impl Expansion<'_> {
    /// The index in the expansion of the token at that index, or of the first token that replaces
    /// it.
    ///
    /// For indices in order, an iterator over [`replaced`](Self::replaced) is more efficient.
    #[must_use]
    pub fn place(&self, given: usize) -> usize {
        let after = self
            .replaced
            .partition_point(|(from, _)| from.start < given);
        match after.checked_sub(1).map(|last| &self.replaced[last]) {
            None => given,
            Some((from, to)) if given < from.end => to.end,
            Some((from, to)) => to.end + (given - from.end),
        }
    }
}

impl fmt::Display for Expansion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, token) in self.tokens.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            write!(f, "{space}{}", token.text)?;
        }
        Ok(())
    }
}
