// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium ior`: everything that an object reference says.

mod json;
mod text;

use clap::Args;
use orbium::giop::component::{self, TaggedComponent};

use crate::failure::Failure;
use crate::{output, reference};

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

/// Octets as hexadecimal digits.
fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Octets as text: what ASCII can show, and a point for the rest.
fn printable(octets: &[u8]) -> String {
    octets
        .iter()
        .map(|octet| match octet {
            0x20..=0x7e => char::from(*octet),
            _ => '.',
        })
        .collect()
}

/// The name of a component's tag.
fn component_name(component: &TaggedComponent) -> &'static str {
    component::tag_name(component.tag).unwrap_or("unknown component")
}
