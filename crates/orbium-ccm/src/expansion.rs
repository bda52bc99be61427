// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expansion of IDL tokens: the text, its tokens with their places, and notes on omissions.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A token of what was expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// As it is written.
    pub text: Cow<'a, str>,
    /// The place of the token that it stands for, or that it was made for.
    pub at: usize,
}

/// Something that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The place of its name.
    pub at: usize,
    /// What, and why.
    pub message: String,
}

/// Result of an expansion.
#[derive(Clone, Debug, Default)]
pub struct Expansion<'a> {
    /// The tokens, for the parser.
    pub tokens: Vec<Token<'a>>,
    /// What is left out.
    pub notes: Vec<Note>,
    /// The tokens given that were replaced, by which of the expansion, in order.
    pub replaced: Vec<(Range<usize>, Range<usize>)>,
}

impl Expansion<'_> {
    /// The place in the expansion of the token at that place, or of the first token that
    /// replaces it.
    ///
    /// Asked for places in order, this is best done with an iterator over
    /// [`replaced`](Self::replaced).
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
