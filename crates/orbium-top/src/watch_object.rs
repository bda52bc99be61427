// SPDX-License-Identifier: MIT OR Apache-2.0
//! The watch object of an ORB.

use std::time::Duration;

use orbium::metrics::exposition::watch::idl::Watch;
use orbium::{Interface, Orb};

use crate::error::TopError;

/// The watch object of a URL, with a time-out for each reply.
pub(crate) fn at(url: &str, patience: Duration) -> Result<Watch, TopError> {
    let failed = |why: String| TopError::because(format!("`{url}`: {why}"));
    let built = Orb::builder().call_timeout(patience).build();
    let orb = built.map_err(|error| failed(error.to_string()))?;
    let object = orb.string_to_object(url);
    let object = object.map_err(|error| failed(error.to_string()))?;
    let object = object.ok_or_else(|| failed("the reference is nil".into()))?;
    Ok(Watch::from_object(object))
}

/// The name of the ORB; empty if it has none, as in a process of an earlier version.
pub(crate) fn orb_id(watch: &Watch) -> String {
    printable(&watch.orb_id().unwrap_or_default())
}

/// Text of a process, without control characters, which could steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(visible).collect()
}
