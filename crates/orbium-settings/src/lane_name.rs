// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of lanes.

use crate::value_syntax::Read;
use orbium_core::LaneConfig;

/// The prefix of the name of a lane and its key.
pub(crate) const LANE: &str = "lane.";

/// A name of a lane.
///
/// # Errors
/// It is reserved, has other characters than letters, digits, - and _, or is too long.
pub(crate) fn name(text: &str) -> Read<String> {
    if LaneConfig::RESERVED.contains(&text) {
        return Err(format!(
            "`{text}` is the ORB's own lane or its dedicated threads: write another name"
        ));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.len() <= 64 && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is no name of a lane: write up to 64 letters, digits, - and _"
        ))
    }
}
