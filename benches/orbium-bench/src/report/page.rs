// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page on priority inversion: the text between two of its marks is replaced by the results.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::markdown::{self, Part};
use xtask::outcome::Outcome;
use xtask::shell;

/// The page, in the folder of its drawings and JSON.
fn page() -> PathBuf {
    shell::root().join("docs/priority-inversion.md")
}

/// See [`page`].
pub(crate) fn folder() -> PathBuf {
    shell::root().join("docs/experiments")
}

/// The drawing of fifty priorities: `threads.svg` becomes `threads-fifty.svg`.
pub(crate) fn drawing_of_fifty(svg: &Path) -> PathBuf {
    let stem = svg.file_stem().unwrap_or_default().to_string_lossy();
    svg.with_file_name(format!("{stem}-fifty.svg"))
}

/// Writes the tables of an experiment into the page, and its drawing and JSON next to it; `heading`
/// contains the machine and commit.
///
/// # Errors
/// The page has no such marks, or a file cannot be read or written.
pub(crate) fn publish(experiment: &str, from: &Path, found: &Value, heading: &str) -> Outcome<()> {
    put_tables(experiment, found, heading)?;
    let folder = folder();
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let to = folder.join(experiment);
    let (svg, json) = (to.with_extension("svg"), to.with_extension("json"));
    fs::copy(from.with_extension("svg"), &svg).map_err(|error| failed(&svg, &error))?;
    let drawn = drawing_of_fifty(from);
    if drawn.is_file() {
        let copy = drawing_of_fifty(&svg);
        fs::copy(drawn, &copy).map_err(|error| failed(&copy, &error))?;
    }
    fs::write(&json, format!("{}\n", rounded(found))).map_err(|error| failed(&json, &error))
}

/// Writes the tables of the measured parts of an experiment into the page.
///
/// # Errors
/// The page has no such marks, or cannot be read or written.
pub(crate) fn put_tables(experiment: &str, found: &Value, heading: &str) -> Outcome<()> {
    let page = page();
    let mut text = fs::read_to_string(&page).map_err(|error| failed(&page, &error))?;
    let parts = markdown::of(experiment, found).into_iter();
    for part in parts.filter(|part| part.is_measured) {
        text = replaced(&text, &part, heading)
            .ok_or_else(|| format!("{}: no marks of {}", page.display(), part.name))?;
    }
    fs::write(&page, text).map_err(|error| failed(&page, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// The text with another part between its marks.
fn replaced(text: &str, part: &Part, heading: &str) -> Option<String> {
    let (begin, end) = (
        format!("<!-- begin: {} -->\n", part.name),
        format!("<!-- end: {} -->", part.name),
    );
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    let own = part.text.trim_end();
    Some(format!("{before}{begin}{heading}\n\n{own}\n{end}{after}"))
}

/// The same with large numbers rounded to their precision.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(rounded).collect(),
        Value::Object(all) => all
            .iter()
            .map(|(name, value)| (name.clone(), rounded(value)))
            .collect(),
        Value::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation)] // Nanoseconds of minutes at most.
            Some(value) if number.is_f64() && value.abs() >= 100.0 && value.abs() < 1e15 => {
                Value::from(value.round() as i64)
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::figures::experiments::EXPERIMENTS;

    #[test]
    fn text_between_the_marks_is_replaced() {
        let part = Part {
            name: "locks",
            text: "| new |\n".to_owned(),
            is_measured: true,
        };
        let text = "a\n<!-- begin: locks -->\nold\n<!-- end: locks -->\nb\n";
        let expected =
            "a\n<!-- begin: locks -->\nwhere\n\n| new |\n<!-- end: locks -->\nb\n".to_owned();
        assert_eq!(replaced(text, &part, "where"), Some(expected));
        assert_eq!(replaced("no marks", &part, "where"), None);
    }

    #[test]
    fn the_page_has_marks_for_every_table() {
        let text = fs::read_to_string(page()).unwrap_or_default();
        let others = ["os", "profile"];
        for experiment in EXPERIMENTS.into_iter().chain(others) {
            for part in markdown::of(experiment, &Value::Null) {
                assert!(
                    replaced(&text, &part, "").is_some(),
                    "{} has no marks of {}",
                    page().display(),
                    part.name
                );
            }
        }
    }

    #[test]
    fn numbers_lose_what_is_below_a_nanosecond() {
        let found = json!({"ns": 136_205.250_1, "ratio": 0.755, "calls": 5, "none": null});
        let expected = json!({"ns": 136_205, "ratio": 0.755, "calls": 5, "none": null});
        assert_eq!(rounded(&found), expected);
    }
}
