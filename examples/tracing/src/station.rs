// SPDX-License-Identifier: MIT OR Apache-2.0
//! The servant, which has no part in traces.

use orbium::prelude::*;

use crate::relay::{Station, StationServant};

/// A station, and the one behind it.
#[derive(Debug)]
pub struct Stop {
    /// Its name.
    pub name: &'static str,
    /// Where texts go next.
    pub next: Option<Station>,
}

impl StationServant for Stop {
    fn pass(&self, _: &Call<'_>, text: &str) -> Result<String> {
        let text = format!("{text} {}", self.name);
        match &self.next {
            Some(next) => next.pass(&text),
            None => Ok(text),
        }
    }
}
