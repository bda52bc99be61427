// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask conformance`: generates `docs/conformance.md` from the marks of the tests.
//!
//! `xtask/conformance/frame.md` has the chapters and the text between their tables,
//! `xtask/conformance/not-yet.toml` the behaviours without tests, with the reasons.

mod frame;
mod marks;
mod remarks;
mod render;
mod rows;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use frame::Frame;
use marks::Mark;
use remarks::Remark;
use rows::Rows;

use crate::sources;
use xtask::outcome::Outcome;
use xtask::shell;

/// Folders with tests that may have marks.
const SOURCES: [&str; 5] = [
    "benches/orbium-bench",
    "crates",
    "examples",
    "fuzz/targets",
    "xtask",
];

/// Prints the page; with `--write` writes the file, with `--check` compares it.
///
/// # Errors
/// A mark or a remark is malformed, or the page is out of date.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let arguments: Vec<_> = arguments.collect();
    let act: fn(&str) -> Outcome<()> = match arguments.as_slice() {
        [] => print,
        [only] if only == "--write" => write,
        [only] if only == "--check" => check,
        _ => return Err("usage: cargo xtask conformance [--check | --write]".to_owned()),
    };
    act(&page()?)
}

#[expect(clippy::unnecessary_wraps, reason = "one of three that may fail")]
fn print(page: &str) -> Outcome<()> {
    print!("{page}");
    Ok(())
}

fn write(page: &str) -> Outcome<()> {
    let path = path();
    fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}

fn check(page: &str) -> Outcome<()> {
    let written = fs::read_to_string(path()).unwrap_or_default();
    match first_difference(&written, page) {
        None => Ok(()),
        Some(difference) => Err(format!(
            "docs/conformance.md is out of date: cargo xtask conformance --write\n{difference}"
        )),
    }
}

/// The first line in which the page in the repository differs from the generated one.
fn first_difference(written: &str, page: &str) -> Option<String> {
    if written == page {
        return None;
    }
    let mut lines = written.lines().zip(page.lines()).enumerate();
    let first = lines.find(|(_, (before, after))| before != after);
    Some(match first {
        Some((index, (before, after))) => {
            format!("line {}:\n- {before}\n+ {after}", index + 1)
        }
        None => "one is longer".to_owned(),
    })
}

fn path() -> PathBuf {
    shell::root().join("docs/conformance.md")
}

fn page() -> Outcome<String> {
    let folder = shell::root().join("xtask/conformance");
    let frame = Frame::read(&read(&folder.join("frame.md"))?)?;
    let remarks = remarks::read(&read(&folder.join("not-yet.toml"))?)?;
    made(&frame, all_marks(&shell::root(), &frame)?, remarks)
}

/// The page, or all errors at once.
fn made(frame: &Frame, marks: Vec<Mark>, remarks: Vec<Remark>) -> Outcome<String> {
    let rows = Rows::of(frame, marks, remarks).map_err(|faults| faults.join("\n"))?;
    Ok(render::page(frame, &rows))
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The marks of all tests, in the order of files and lines.
fn all_marks(root: &Path, frame: &Frame) -> Outcome<Vec<Mark>> {
    let mut files = Vec::new();
    for folder in SOURCES {
        files.extend(sources::rust_files(&root.join(folder))?);
    }
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for path in files {
        let text = read(&path)?;
        if !text.contains(marks::BEGIN) {
            continue;
        }
        let file = path.strip_prefix(root).unwrap_or(&path);
        match marks::of(&file.to_string_lossy(), &text, frame) {
            Ok(marks) => found.extend(marks),
            Err(wrong) => faults.extend(wrong),
        }
    }
    if faults.is_empty() {
        Ok(found)
    } else {
        Err(faults.join("\n"))
    }
}
