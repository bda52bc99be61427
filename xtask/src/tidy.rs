// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask tidy`: words of the tidy list in comments and names. Threads, callers and
//! buffers are not persons, and the field has a word for most things: what the list holds
//! has a better one (docs/glossary.md).

mod words;

use std::path::Path;

use crate::ceiling::{Mode, Values};
use crate::sources;
use xtask::outcome::Outcome;
use xtask::shell;

/// All words of the list together: as many are let pass in sources.
const MUST: usize = 50;

/// Prints the counts of each package; with `--check` holds them against `xtask/tidy.toml`,
/// with `--list` prints every place.
///
/// # Errors
/// A source cannot be read, or a count is above its ceiling.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let (list, others): (Vec<_>, Vec<_>) = arguments.partition(|it| it == "--list");
    let mode = Mode::parse("tidy", others.into_iter())?;
    let mut values = Values::default();
    let mut total = [0, 0];
    println!("{:18} {:>8} {:>8}", "package", "sources", "tests");
    for package in sources::packages()? {
        let counts = [["src"].as_slice(), &["tests", "benches"]].map(|folders| {
            let counts = folders
                .iter()
                .map(|it| count(&package.folder.join(it), !list.is_empty()));
            counts.sum::<Outcome<usize>>()
        });
        let [in_sources, in_tests] = counts;
        let counts = [in_sources?, in_tests?];
        println!("{:18} {:>8} {:>8}", package.name, counts[0], counts[1]);
        values.set("sources", &package.name, counts[0]);
        values.set("tests", &package.name, counts[1]);
        total = [total[0] + counts[0], total[1] + counts[1]];
    }
    let verdict = if total[0] <= MUST { "pass" } else { "FAIL" };
    println!(
        "{:18} {:>8} {:>8}  sources must: <= {MUST}  {verdict}\n",
        "all", total[0], total[1]
    );
    mode.apply("tidy", &values, &shell::root().join("xtask/tidy.toml"))
}

/// Words of the list in the Rust files below a folder.
fn count(folder: &Path, list: bool) -> Outcome<usize> {
    let mut found = 0;
    for file in sources::rust_files(folder)? {
        let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(&file).map_err(|error| in_file(&error))?;
        let words = words::listed(&text).map_err(|error| in_file(&error))?;
        found += words.len();
        for (line, word) in words.iter().filter(|_| list) {
            println!("{}:{line}: {word}", file.display());
        }
    }
    Ok(found)
}
