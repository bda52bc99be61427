// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask structure`: cycles of files, lengths, branches and switches of the crates,
//! with their bounds and ceilings, and a drawing of what depends on what.

mod drawing;
mod functions;
mod imports;
mod layers;
mod measures;
mod module_tree;
mod report;
mod resolve;
#[cfg(test)]
mod tests;
mod tokens;

use measures::Measures;
use module_tree::Tree;

use crate::ceiling::Mode;
use crate::sources;
use xtask::outcome::Outcome;
use xtask::shell;

/// Prints the figures; with `--check` holds them against `xtask/structure.toml`, and the
/// drawing against the manifests; with `--drawing` only draws.
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
    let measures = Measures::of(&tree);
    report::print(&measures);
    println!();
    let file = shell::root().join("xtask/structure.toml");
    mode.apply("structure", &measures.values(), &file)?;
    match mode {
        Mode::Check => drawing::check(),
        Mode::Print | Mode::Lower => Ok(()),
    }
}
