// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of `interop/EXPECTED.md`.

use std::error::Error;
use std::path::Path;

/// What orbium cannot do yet: client, server, GIOP version, checks. Nothing here
/// is anybody else's fault.
const OWN_GAPS: &[(&str, &str, &str, &str)] = &[];

/// Patterns of the checks that fail in a run through no fault of orbium.
pub(crate) struct Expected(Vec<String>);

impl Expected {
    /// The rows for that client, server and GIOP version.
    pub(crate) fn read(client: &str, server: &str, giop: &str) -> Result<Self, Box<dyn Error>> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/EXPECTED.md");
        let text = std::fs::read_to_string(path)?;
        let mut patterns = Vec::new();
        for line in text.lines().filter(|line| line.starts_with('|')) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if let [_, for_client, for_server, for_giop, checks, ..] = cells.as_slice()
                && means(for_client, client)
                && means(for_server, server)
                && means(for_giop, giop)
            {
                patterns.extend(checks.split_whitespace().map(str::to_owned));
            }
        }
        for (for_client, for_server, for_giop, checks) in OWN_GAPS {
            if means(for_client, client) && means(for_server, server) && means(for_giop, giop) {
                patterns.extend(checks.split_whitespace().map(str::to_owned));
            }
        }
        Ok(Self(patterns))
    }

    /// Those of both.
    pub(crate) fn and(mut self, mut other: Self) -> Self {
        self.0.append(&mut other.0);
        self
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| means(pattern, name))
    }
}

/// `*` stands for anything, and at the end for the rest.
fn means(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}
