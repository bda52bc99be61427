// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a command ends that cannot do what it was asked for.

use std::process::ExitCode;

use crate::output;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// One sentence, with its cause, for standard error.
    Because(String),
    /// The user has been told already.
    Told,
    /// Nobody reads our output any more, which is nobody's fault.
    OutputClosed,
}

impl Failure {
    /// A failure with a sentence.
    pub(crate) fn because(sentence: impl Into<String>) -> Self {
        Self::Because(sentence.into())
    }

    /// The sentence, if there is one.
    pub(crate) fn sentence(&self) -> &str {
        match self {
            Self::Because(sentence) => sentence,
            Self::Told | Self::OutputClosed => "",
        }
    }

    /// Tells the user, and gives the exit status.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Because(sentence) => {
                output::error(&sentence);
                ExitCode::FAILURE
            }
            Self::Told => ExitCode::FAILURE,
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }
}
