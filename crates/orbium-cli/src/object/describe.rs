// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium describe`: prints the IDL of an object.

use std::time::Duration;

use clap::Args;

use crate::failure::Failure;
use crate::idl::definitions::DefinitionArgs;
use crate::object::{ping, reference};
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    reference: String,
    #[command(flatten)]
    definitions: DefinitionArgs,
    /// Seconds for the object to return its interface, if its reference does not have it
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = ping::seconds)]
    timeout: Duration,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
}

pub(crate) fn run(args: &DescribeArgs) -> Result<(), Failure> {
    let object = reference::object(&args.reference, &args.protocols, Some(args.timeout))?;
    let loaded = args.definitions.load_interface(&object)?;
    output::print(&loaded.definitions.idl_of(loaded.interface))
}
