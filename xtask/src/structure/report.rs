// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures as tables.

use super::folders::{MAX_FILES, MAX_FOLDERS, short};
use super::measures::Measures;

/// The number of the longest functions and files that are shown.
const MAX_SHOWN: usize = 5;

/// A figure with its bound.
struct Bound {
    figure: &'static str,
    value: String,
    must: String,
    holds: bool,
}

/// Prints all tables.
pub(crate) fn print(measures: &Measures) {
    print_crates(measures);
    print_longest(measures);
    print_folders(measures);
    println!("\n{:52} {:>16} {:>16}", "figure", "today", "must");
    for bound in bounds(measures) {
        let verdict = if bound.holds { "pass" } else { "FAIL" };
        println!(
            "{:52} {:>16} {:>16}  {verdict}",
            bound.figure, bound.value, bound.must
        );
    }
}

fn print_crates(measures: &Measures) {
    println!(
        "{:18} {:>6} {:>7} {:>13} {:>6} {:>6} {:>13}  cycles (files)",
        "crate", "files", "lines", "cfg(feature)", "path", "allow", "inline(never)"
    );
    for it in &measures.crates {
        let sizes: Vec<_> = it.cycles.iter().map(|set| set.len().to_string()).collect();
        println!(
            "{:18} {:>6} {:>7} {:>13} {:>6} {:>6} {:>13}  {}",
            it.name,
            it.files,
            it.lines,
            it.features,
            it.paths,
            it.allows,
            it.out_of_line,
            sizes.join(" ")
        );
    }
    for (path, line) in measures.crates.iter().flat_map(|it| &it.unexplained) {
        println!(
            "\n{}:{line}: #[inline(never)] without a comment above",
            short(path)
        );
    }
    for set in &measures.cycles_of_crates {
        println!("\ncycle of crates: {}", set.join(" "));
    }
    for set in measures.crates.iter().flat_map(|it| &it.cycles) {
        let files: Vec<_> = set.iter().map(|path| short(path)).collect();
        println!("\ncycle of {} files:\n  {}", set.len(), files.join("\n  "));
    }
}

fn print_longest(measures: &Measures) {
    println!("\nlongest functions");
    for (path, function) in measures.functions.iter().take(MAX_SHOWN) {
        println!(
            "{:>5}  {}:{} {}",
            function.lines,
            short(path),
            function.line,
            function.name
        );
    }
    println!("\nlongest files");
    for (path, lines) in measures.files.iter().take(MAX_SHOWN) {
        println!("{lines:>5}  {}", short(path));
    }
}

fn print_folders(measures: &Measures) {
    for (folder, files) in measures.folders.crowded() {
        println!("{files:>5} files in {folder}");
    }
    for (name, folders) in measures.folders.ambiguous() {
        println!("{folders:>5} folders with a file {name}");
    }
}

/// The bounds on the structure.
fn bounds(measures: &Measures) -> Vec<Bound> {
    let at_most = |figure, value: usize, must: usize| Bound {
        figure,
        value: value.to_string(),
        must: format!("<= {must}"),
        holds: value <= must,
    };
    let largest = measures.largest_crate().map_or(0, |it| it.lines);
    let lines = [50, 90, 99, 100].map(|hundredth| measures.function_lines(hundredth));
    let complex = measures.complex_per_thousand();
    let joined = |values: &[usize]| {
        values
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" / ")
    };
    let must = [7, 24, 48, 83];
    vec![
        at_most("files of the largest cycle", measures.largest_cycle(), 3),
        at_most("cycles of crates", measures.cycles_of_crates.len(), 0),
        at_most("lines of the largest crate", largest, 12_000),
        at_most("cfg(feature …)", measures.sum(|it| it.features), 25),
        at_most("#[path]", measures.sum(|it| it.paths), 0),
        at_most("crate-wide allow", measures.sum(|it| it.allows), 0),
        at_most(
            "inline(never) without a comment above",
            measures.sum(|it| it.unexplained.len()),
            0,
        ),
        Bound {
            figure: "function lines: median, p90, p99, longest",
            value: joined(&lines),
            must: joined(&must),
            holds: lines.iter().zip(must).all(|(&it, must)| it <= must),
        },
        at_most(
            "files in the fullest folder",
            measures.folders.most_files(),
            MAX_FILES,
        ),
        at_most(
            "folders with a file of one name",
            measures.folders.most_folders(),
            MAX_FOLDERS,
        ),
        at_most("file lines, longest", measures.file_lines(100), 487),
        Bound {
            figure: "functions of complexity below 10",
            value: format!("{:.1} %", 100.0 - complex as f64 / 10.0),
            must: ">= 90 %".to_owned(),
            holds: complex <= 100,
        },
        at_most("complexity, median", measures.complexity(50), 5),
        at_most("golden lines", measures.golden_lines, 6_500),
    ]
}
