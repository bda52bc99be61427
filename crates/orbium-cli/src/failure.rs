// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a command ends that cannot do what it was asked for.

use std::process::ExitCode;

use crate::output;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// One sentence, with its cause, for standard error.
    Because(String),
    /// What was asked for makes no sense: one sentence as well.
    WrongUsage(String),
    /// The diagnostics have been printed already.
    Reported,
    /// Problems have been reported; the command itself did its work.
    ProblemsFound,
    /// The reader of our output has closed it, which is no failure.
    OutputClosed,
}

impl Failure {
    /// A failure with a sentence.
    pub(crate) fn because(sentence: impl Into<String>) -> Self {
        Self::Because(sentence.into())
    }

    /// A command line that is wrong, with a sentence.
    pub(crate) fn wrong_usage(sentence: impl Into<String>) -> Self {
        Self::WrongUsage(sentence.into())
    }

    /// The sentence, if there is one.
    pub(crate) fn sentence(&self) -> &str {
        match self {
            Self::Because(sentence) | Self::WrongUsage(sentence) => sentence,
            Self::Reported | Self::ProblemsFound | Self::OutputClosed => "",
        }
    }

    /// Prints the failure, and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Because(sentence) => {
                output::error(&sentence);
                ExitCode::FAILURE
            }
            Self::WrongUsage(sentence) => {
                output::error(&sentence);
                ExitCode::from(2)
            }
            Self::Reported => ExitCode::FAILURE,
            Self::ProblemsFound => ExitCode::from(3),
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }
}
