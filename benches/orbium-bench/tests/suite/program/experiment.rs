// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running an experiment to its end, with what it writes.

use serde_json::Value;

use crate::program::{Folder, Ran, run};

/// Runs one with a file for the drawing and one for JSON; gives both contents.
pub(crate) fn experiment(arguments: &[&str]) -> (Ran, Value, String) {
    let folder = Folder::new();
    let (svg, json) = (folder.path("figures.svg"), folder.path("all.json"));
    let files = ["--svg", &svg, "--json", &json];
    let ran = run(arguments.iter().copied().chain(files));
    ran.assert_done();
    let drawing = std::fs::read_to_string(&svg)
        .or_else(|_| std::fs::read_to_string(folder.path("figures-fifty.svg")))
        .unwrap_or_default();
    let found = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    (ran, found, drawing)
}
