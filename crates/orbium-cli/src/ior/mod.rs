// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium ior`: prints the contents of an object reference.

mod in_force;
mod json;
mod octets;
mod text;

use clap::Args;

use crate::failure::Failure;
use crate::object::reference;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct IorArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    reference: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &IorArgs) -> Result<(), Failure> {
    let url = reference::url(&args.reference)?;
    if args.json {
        output::print_json(&json::describe(&url))
    } else {
        output::print(&text::describe(&url))
    }
}
