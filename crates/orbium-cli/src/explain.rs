// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium explain`: what an exception or a minor code means, and what to do.

use clap::Args;
use orbium::giop::minor::Question;

use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An exception, a minor code, or both: TRANSIENT, TRANSIENT:32, OMG:2, 0x4F524020
    #[arg(value_name = "CODE", required = true)]
    code: Question,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    match args.code.answer() {
        Some(page) => output::print(&format!("{page}\n")),
        None => Err(Failure::because(
            "nothing is known of that minor code; `orbium explain` with the exception alone \
             lists those that are known, others are in the documentation of their vendor",
        )),
    }
}
