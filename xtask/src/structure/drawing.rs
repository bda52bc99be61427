// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/crates.svg`: the crates, each above its dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::layers::{Dependencies, Layers};
use crate::sources;
use xtask::outcome::Outcome;
use xtask::shell;

/// The test kit depends on any crate, and none depends on it.
const LEFT_OUT: &str = "orbium-testkit";

const WIDTH: usize = 2040;
const ROW: usize = 74;
const BOX: (usize, usize) = (136, 34);
/// The width of a bend in a row.
const BEND: usize = 30;

const BEGIN: &str = r##"<style>
rect { fill: #f8fafc; stroke: #475569; } text { text-anchor: middle; fill: #0f172a; }
path { fill: none; stroke: #94a3b8; stroke-width: 1.4; }
</style>
"##;

/// Writes the drawing.
///
/// # Errors
/// A manifest cannot be read, or the drawing cannot be written.
pub(super) fn write() -> Outcome<()> {
    let path = path();
    fs::write(&path, drawing()?).map_err(|error| format!("{}: {error}", path.display()))
}

/// Compares the drawing with the manifests.
///
/// # Errors
/// It is out of date.
pub(super) fn check() -> Outcome<()> {
    let written = fs::read_to_string(path()).unwrap_or_default();
    if drawing()? == written {
        Ok(())
    } else {
        Err("docs/crates.svg is out of date: cargo xtask structure --drawing".to_owned())
    }
}

fn path() -> PathBuf {
    shell::root().join("docs/crates.svg")
}

fn drawing() -> Outcome<String> {
    Ok(svg(&Layers::new(&dependencies(
        &shell::root().join("crates"),
    )?)))
}

/// The crates of a folder with their dependencies among them, optional or not.
fn dependencies(crates: &Path) -> Outcome<Dependencies> {
    let mut found = BTreeMap::new();
    for folder in sources::list(crates)? {
        let path = folder.join("Cargo.toml");
        let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| in_file(&error))?;
        let manifest: toml::Table = text.parse().map_err(|error| in_file(&error))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        found.insert(name.into_owned(), dependencies_of(&manifest));
    }
    found.remove(LEFT_OUT);
    let names: BTreeSet<_> = found.keys().cloned().collect();
    for below in found.values_mut() {
        below.retain(|name| names.contains(name));
    }
    Ok(found)
}

/// The dependencies of a manifest, on any target; those of tests and build scripts do not count.
fn dependencies_of(manifest: &toml::Table) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let targets = targets.into_iter().flatten().map(|(_, target)| target);
    let tables = targets.filter_map(|target| target.get("dependencies"));
    let all = manifest.get("dependencies").into_iter().chain(tables);
    let tables = all.filter_map(toml::Value::as_table);
    tables.flat_map(toml::Table::keys).cloned().collect()
}

fn svg(layers: &Layers) -> String {
    let places = places(layers);
    let height = ROW * layers.rows.len() + 20;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>The crates, each above what it depends on</title>\n{BEGIN}\
         <rect width=\"{WIDTH}\" height=\"{height}\" style=\"fill: white; stroke: none\"/>\n"
    );
    for &(from, to) in &layers.edges {
        let half = |node: usize| layers.nodes[node].name.as_ref().map_or(0, |_| BOX.1 / 2);
        let (x, y) = (places[from].0, places[from].1 + half(from));
        let (below_x, below_y) = (places[to].0, places[to].1 - half(to));
        let middle = usize::midpoint(y, below_y);
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {y}C{x} {middle} {below_x} {middle} {below_x} {below_y}\"/>"
        );
    }
    for (node, (x, y)) in layers.nodes.iter().zip(places) {
        if let Some(name) = &node.name {
            let (left, top, text) = (x - BOX.0 / 2, y - BOX.1 / 2, y + 5);
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"5\"/>\
                 <text x=\"{x}\" y=\"{text}\">{name}</text>",
                BOX.0, BOX.1
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The centre of every node: rows fill the width, the lowest at the bottom.
fn places(layers: &Layers) -> Vec<(usize, usize)> {
    let mut places = vec![(0, 0); layers.nodes.len()];
    for (level, row) in layers.rows.iter().enumerate() {
        let width = |&node: &usize| layers.nodes[node].name.as_ref().map_or(BEND, |_| BOX.0);
        let taken: usize = row.iter().map(width).sum();
        let gap = WIDTH.saturating_sub(taken) / (row.len() + 1);
        let mut left = gap;
        for node in row {
            let y = ROW * (layers.rows.len() - 1 - level) + ROW / 2 + 10;
            places[*node] = (left + width(node) / 2, y);
            left += width(node) + gap;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_is_that_of_the_manifests() {
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn dependencies_of_targets_count_and_those_of_tests_do_not() {
        let manifest = "[dependencies]\na = \"1\"\n[dev-dependencies]\nb = \"1\"\n\
                        [target.'cfg(unix)'.dependencies]\nc = { path = \"c\", optional = true }\n";
        let found = dependencies_of(&manifest.parse().unwrap());
        assert_eq!(found, ["a", "c"].map(str::to_owned).into());
    }

    #[test]
    fn every_crate_has_a_box_in_the_drawing_and_none_lies_beyond_its_edge() {
        let crates = dependencies(&shell::root().join("crates")).unwrap();
        let layers = Layers::new(&crates);
        let svg = svg(&layers);
        for name in crates.keys() {
            assert!(svg.contains(&format!(">{name}</text>")), "{name}");
        }
        let inside = |&(x, _): &(usize, usize)| x + BOX.0 / 2 <= WIDTH;
        assert!(places(&layers).iter().all(inside));
    }
}
