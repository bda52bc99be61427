// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask tidy`: words of the tidy list in comments, names and documents, and names
//! that hide their subject. Threads, callers and buffers are not persons, and the field has a
//! word for most things: what the list holds has a better one (docs/glossary.md). With them,
//! captions that ask, and the sleeps of tests.

mod captions;
mod names;
mod sleeps;
mod words;

use std::fmt::Display;
use std::path::Path;

use proc_macro2::LexError;

use crate::ceiling::{Mode, Values};
use crate::sources;
use xtask::outcome::Outcome;
use xtask::shell;

/// The bound on all words of the list in sources.
const MUST: usize = 50;

/// The counts of a package, as sections of `xtask/tidy.toml`.
const SECTIONS: [&str; 5] = ["sources", "tests", "names", "captions", "sleeps"];

/// Folders of Rust programs in addition to the packages.
const PROGRAMS: [&str; 5] = [
    "benches/events",
    "benches/scale",
    "benches/values",
    "examples",
    "fuzz",
];

/// Folders of pages; those of the root are read as well.
const PAGES: [&str; 7] = [
    "benches", "crates", "docs", "examples", "fuzz", "interop", "xtask",
];

/// Locations in a text, as found by a search.
type Found = Vec<(usize, String)>;

/// Prints the counts of each package and document; with `--check` compares them with
/// `xtask/tidy.toml`, with `--list` prints every location.
///
/// # Errors
/// A source cannot be read, or a count is above its ceiling.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let (list, others): (Vec<_>, Vec<_>) = arguments.partition(|it| it == "--list");
    let mode = Mode::parse("tidy", others.into_iter())?;
    let list = !list.is_empty();
    let mut values = Values::default();
    packages(list, &mut values)?;
    documents(list, &mut values)?;
    mode.apply("tidy", &values, &shell::root().join("xtask/tidy.toml"))
}

/// Counts the words, names and sleeps of the packages, a line each.
fn packages(list: bool, values: &mut Values) -> Outcome<()> {
    let mut total = [0; 5];
    println!(
        "{:24} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "package", "sources", "tests", "names", "captions", "sleeps"
    );
    for package in sources::packages()? {
        let count = |folders: &[&str], search: fn(&str) -> Result<Found, LexError>| {
            let folders = folders.iter();
            let counts = folders.map(|it| in_folder(&package.folder.join(it), search, list));
            counts.sum::<Outcome<usize>>()
        };
        let counts = [
            count(&["src"], words::listed)?,
            count(&["tests", "benches"], words::listed)?,
            count(&["src", "tests", "benches", "examples"], names::listed)?,
            count(&["src"], captions::listed)?,
            count(&["tests"], sleeps::listed)?,
        ];
        let [sources, tests, names, captions, sleeps] = counts;
        println!(
            "{:24} {sources:>8} {tests:>8} {names:>8} {captions:>8} {sleeps:>8}",
            package.name
        );
        for (section, count) in SECTIONS.into_iter().zip(counts) {
            values.set(section, &package.name, count);
        }
        for (total, count) in total.iter_mut().zip(counts) {
            *total += count;
        }
    }
    let [sources, tests, names, captions, sleeps] = total;
    let verdict = if sources <= MUST { "pass" } else { "FAIL" };
    println!(
        "{:24} {sources:>8} {tests:>8} {names:>8} {captions:>8} {sleeps:>8}  sources must: <= {MUST}  {verdict}\n",
        "all"
    );
    Ok(())
}

/// Counts the words of other programs and of the pages of the project, a line for each with any,
/// and the names of the programs.
fn documents(list: bool, values: &mut Values) -> Outcome<()> {
    let root = shell::root();
    for folder in PROGRAMS {
        let at = root.join(folder);
        values.set("sources", folder, in_folder(&at, words::listed, list)?);
        values.set("names", folder, in_folder(&at, names::listed, list)?);
    }
    let mut pages = sources::list(&root)?;
    pages.retain(|it| it.extension().is_some_and(|it| it == "md"));
    for folder in PAGES {
        pages.extend(sources::files(&root.join(folder), "md")?);
    }
    for page in pages {
        let count = in_file(&page, words::in_page, list)?;
        let name = page.strip_prefix(&root).unwrap_or(&page).display();
        if count > 0 {
            println!("{:46} {count:>4}", name.to_string());
        }
        values.set("pages", &name.to_string(), count);
    }
    println!();
    Ok(())
}

/// The number of findings of a search in the Rust files below a folder.
fn in_folder<E: Display>(
    folder: &Path,
    search: fn(&str) -> Result<Found, E>,
    list: bool,
) -> Outcome<usize> {
    let files = sources::files(folder, "rs")?;
    files.iter().map(|it| in_file(it, search, list)).sum()
}

/// The number of findings of a search in a file.
fn in_file<E: Display>(
    file: &Path,
    search: fn(&str) -> Result<Found, E>,
    list: bool,
) -> Outcome<usize> {
    let in_file = |error: &dyn Display| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| in_file(&error))?;
    let found = search(&text).map_err(|error| in_file(&error))?;
    for (line, word) in found.iter().filter(|_| list) {
        println!("{}:{line}: {word}", file.display());
    }
    Ok(found.len())
}
