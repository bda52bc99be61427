// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failures of commands.

/// Failure of a command, which ends it.
#[derive(Debug)]
pub enum Failure {
    /// One sentence, with its cause, for standard error.
    Because(String),
    /// Invalid arguments, with one sentence.
    WrongUsage(String),
    /// The reason is on standard error already.
    Shown,
    /// The command did its work and reported problems.
    ProblemsFound,
    /// The reader of standard output closed it, which is not an error.
    OutputClosed,
}

impl Failure {
    /// A failure with a sentence.
    pub fn because(sentence: impl Into<String>) -> Self {
        Self::Because(sentence.into())
    }

    /// A command line that is wrong, with a sentence.
    pub fn wrong_usage(sentence: impl Into<String>) -> Self {
        Self::WrongUsage(sentence.into())
    }

    /// The sentence, if there is one.
    pub fn sentence(&self) -> &str {
        match self {
            Self::Because(sentence) | Self::WrongUsage(sentence) => sentence,
            Self::Shown | Self::ProblemsFound | Self::OutputClosed => "",
        }
    }
}
