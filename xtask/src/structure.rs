// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask structure`: cycles of files, lengths, branches and switches of the crates, with
//! their bounds and ceilings, and a drawing of the dependencies.

mod drawing;
mod folders;
mod functions;
mod imports;
mod layers;
mod measures;
mod module_tree;
mod out_of_line;
mod report;
mod resolve;
#[cfg(test)]
mod tests;
mod tokens;

use std::path::Path;
use std::{fs, io};

use measures::Measures;
use module_tree::Tree;

use crate::ceiling::Mode;
use crate::sources;
use xtask::outcome::Outcome;
use xtask::shell;

/// The generated code of the IDL compiler's test files.
const GOLDEN: &str = "crates/orbium-codegen/tests/golden";

/// Files that are not counted: they were added after the bound on the others.
const NOT_COUNTED: [&str; 2] = ["borrowed.rs", "views.rs"];

/// The lines of the generated files in a folder.
fn golden_lines(folder: &Path) -> Outcome<usize> {
    let in_folder = |error: io::Error| format!("{}: {error}", folder.display());
    let mut lines = 0;
    for entry in fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let is_late = NOT_COUNTED.iter().any(|late| path.ends_with(late));
        if is_rust && !is_late {
            lines += fs::read_to_string(&path)
                .map_err(in_folder)?
                .lines()
                .count();
        }
    }
    Ok(lines)
}

/// Prints the figures; with `--check` compares them with `xtask/structure.toml`, and the drawing
/// with the manifests; with `--drawing` only draws.
///
/// # Errors
/// A source cannot be read, a figure is above its ceiling, or the drawing is out of date.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let arguments: Vec<_> = arguments.collect();
    if arguments == ["--drawing"] {
        return drawing::write();
    }
    let mode = Mode::parse("structure", arguments.into_iter())?;
    let mut tree = Tree::default();
    for package in sources::packages()? {
        tree.read_crate(&package.name, &package.folder)?;
    }
    let mut measures = Measures::of(&tree);
    measures.golden_lines = golden_lines(&shell::root().join(GOLDEN))?;
    report::print(&measures);
    println!();
    let file = shell::root().join("xtask/structure.toml");
    mode.apply("structure", &measures.values(), &file)?;
    match mode {
        Mode::Check => drawing::check(),
        Mode::Print | Mode::Lower => Ok(()),
    }
}
