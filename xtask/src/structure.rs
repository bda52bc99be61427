// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask structure`: cycles of files, lengths, branches and switches of the crates,
//! with their bounds and ceilings.

mod functions;
mod imports;
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

/// Prints the figures; with `--check` holds them against `xtask/structure.toml`.
///
/// # Errors
/// A source cannot be read, or a figure is above its ceiling.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let mode = Mode::parse("structure", arguments)?;
    let mut tree = Tree::default();
    for package in sources::packages()? {
        tree.read_crate(&package.name, &package.folder)?;
    }
    let measures = Measures::of(&tree);
    report::print(&measures);
    println!();
    let file = shell::root().join("xtask/structure.toml");
    mode.apply("structure", &measures.values(), &file)
}
