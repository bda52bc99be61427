// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of a tree, with their bounds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::folders::Folders;
use super::functions::{Function, functions};
use super::imports::{Imports, imports};
use super::module_tree::{FileId, Tree};
use super::tokens;
use crate::ceiling::Values;

/// The least complexity that counts as complex.
pub(crate) const COMPLEX: usize = 10;

/// The measurements.
pub(crate) struct Measures {
    pub(crate) crates: Vec<OfCrate>,
    /// Crates of which each uses the others, by their names.
    pub(crate) cycles_of_crates: Vec<Vec<String>>,
    /// All hand-written functions, with their files, the longest first.
    pub(crate) functions: Vec<(PathBuf, Function)>,
    /// All hand-written files, with their lines, the longest first.
    pub(crate) files: Vec<(PathBuf, usize)>,
    pub(crate) folders: Folders,
    /// Lines of the code that the IDL compiler generates for its test files.
    pub(crate) golden_lines: usize,
}

/// The figures of one crate.
#[derive(Default)]
pub(crate) struct OfCrate {
    pub(crate) name: String,
    pub(crate) files: usize,
    pub(crate) lines: usize,
    /// Sets of two files and more of which each uses the others, the largest first.
    pub(crate) cycles: Vec<Vec<PathBuf>>,
    pub(crate) features: usize,
    pub(crate) paths: usize,
    pub(crate) allows: usize,
    /// Functions with `#[inline(never)]`.
    pub(crate) out_of_line: usize,
    /// Locations of those without an explaining comment.
    pub(crate) unexplained: Vec<(PathBuf, usize)>,
}

impl OfCrate {
    /// The number of files of its largest cycle.
    pub(crate) fn largest_cycle(&self) -> usize {
        self.cycles.first().map_or(0, Vec::len)
    }
}

impl Measures {
    /// Measures all read files.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut crates: Vec<OfCrate> = tree.crates.iter().map(|it| of_crate(&it.name)).collect();
        let mut all_functions = Vec::new();
        let mut files = Vec::new();
        let mut folders = Folders::default();
        for file in &tree.files {
            let of_crate = &mut crates[file.krate];
            let switches = tokens::switches(file.tokens.clone());
            of_crate.files += 1;
            folders.add(&file.path);
            of_crate.lines += file.lines;
            of_crate.features += switches.features;
            of_crate.paths += switches.paths;
            of_crate.out_of_line += file.out_of_line.functions;
            let unexplained = file.out_of_line.unexplained.iter();
            of_crate
                .unexplained
                .extend(unexplained.map(|&line| (file.path.clone(), line)));
            if tree.crates[file.krate].roots.contains(&file.module) {
                of_crate.allows += tokens::allows(&file.syntax.attrs);
            }
            if file.generated {
                continue;
            }
            files.push((file.path.clone(), file.lines));
            let of_file = functions(&file.syntax).into_iter();
            all_functions.extend(of_file.map(|it| (file.path.clone(), it)));
        }
        let imports = imports(tree);
        for (krate, set) in cycles_of_files(tree, &imports) {
            crates[krate].cycles.push(set);
        }
        for it in &mut crates {
            it.cycles.sort_by_key(|set| std::cmp::Reverse(set.len()));
        }
        all_functions.sort_by_key(|(_, it)| std::cmp::Reverse(it.lines));
        files.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        Self {
            cycles_of_crates: cycles_of_crates(tree, &imports),
            crates,
            functions: all_functions,
            files,
            folders,
            golden_lines: 0,
        }
    }

    /// A percentile of the functions' lines: 50 is the median.
    pub(crate) fn function_lines(&self, hundredth: usize) -> usize {
        // They are sorted from the longest.
        let lines = self.functions.iter().rev().map(|(_, it)| it.lines);
        percentile(&lines.collect::<Vec<_>>(), hundredth)
    }

    /// As [`Self::function_lines`], for the complexity.
    pub(crate) fn complexity(&self, hundredth: usize) -> usize {
        let mut all: Vec<_> = self.functions.iter().map(|(_, it)| it.complexity).collect();
        all.sort_unstable();
        percentile(&all, hundredth)
    }

    /// As [`Self::function_lines`], for the lines of files.
    pub(crate) fn file_lines(&self, hundredth: usize) -> usize {
        let lines = self.files.iter().rev().map(|&(_, lines)| lines);
        percentile(&lines.collect::<Vec<_>>(), hundredth)
    }

    /// The number of complex functions per thousand.
    pub(crate) fn complex_per_thousand(&self) -> usize {
        let complex = self
            .functions
            .iter()
            .filter(|(_, it)| it.complexity >= COMPLEX);
        (complex.count() * 1000).div_ceil(self.functions.len().max(1))
    }

    /// The number of files of the largest cycle.
    pub(crate) fn largest_cycle(&self) -> usize {
        self.crates
            .iter()
            .map(OfCrate::largest_cycle)
            .max()
            .unwrap_or(0)
    }

    /// The crate with the most lines.
    pub(crate) fn largest_crate(&self) -> Option<&OfCrate> {
        self.crates.iter().max_by_key(|it| it.lines)
    }

    /// The sum of a figure over all crates.
    pub(crate) fn sum(&self, figure: impl Fn(&OfCrate) -> usize) -> usize {
        self.crates.iter().map(figure).sum()
    }

    /// The figures that may only fall.
    pub(crate) fn values(&self) -> Values {
        let mut values = Values::default();
        for it in &self.crates {
            let in_cycles = it.cycles.iter().map(Vec::len).sum();
            values.set("files in cycles", &it.name, in_cycles);
            values.set("largest cycle", &it.name, it.largest_cycle());
            values.set("cfg(feature)", &it.name, it.features);
            values.set("inline(never)", &it.name, it.out_of_line);
            values.set(
                "inline(never) without a comment above",
                &it.name,
                it.unexplained.len(),
            );
        }
        self.folders.set(&mut values);
        let mut set = |name: &str, value| values.set("workspace", name, value);
        set("cycles of crates", self.cycles_of_crates.len());
        set("golden lines", self.golden_lines);
        set(
            "lines of the largest crate",
            self.largest_crate().map_or(0, |it| it.lines),
        );
        set("path attributes", self.sum(|it| it.paths));
        set("crate-wide allows", self.sum(|it| it.allows));
        set("function lines, median", self.function_lines(50));
        set("function lines, p90", self.function_lines(90));
        set("function lines, p99", self.function_lines(99));
        set("function lines, longest", self.function_lines(100));
        set("file lines, longest", self.file_lines(100));
        set(
            "functions of complexity 10 and more, per 1000",
            self.complex_per_thousand(),
        );
        values
    }
}

fn of_crate(name: &str) -> OfCrate {
    OfCrate {
        name: name.replace('_', "-"),
        ..OfCrate::default()
    }
}

/// A percentile of sorted values.
fn percentile(values: &[usize], hundredth: usize) -> usize {
    let last = values.len().saturating_sub(1);
    values
        .get((values.len() * hundredth / 100).min(last))
        .copied()
        .unwrap_or(0)
}

/// Sets of files with their crate: dependencies of crates have no cycles, so that no set spans two
/// crates, or else it is among the cycles of crates.
fn cycles_of_files(tree: &Tree, imports: &Imports) -> Vec<(usize, Vec<PathBuf>)> {
    let graph: DiGraphMap<FileId, ()> = imports.iter().map(|&(from, to)| (from, to, ())).collect();
    let sets = tarjan_scc(&graph).into_iter().filter(|set| set.len() > 1);
    let named = sets.map(|mut set| {
        set.sort_unstable();
        let paths = set.iter().map(|&file| tree.files[file].path.clone());
        (tree.files[set[0]].krate, paths.collect())
    });
    named.collect()
}

fn cycles_of_crates(tree: &Tree, imports: &Imports) -> Vec<Vec<String>> {
    let of = |file: FileId| tree.files[file].krate;
    let between: BTreeMap<(usize, usize), ()> = imports
        .iter()
        .map(|&(from, to)| ((of(from), of(to)), ()))
        .filter(|((from, to), ())| from != to)
        .collect();
    let graph: DiGraphMap<usize, ()> = between.keys().map(|&(from, to)| (from, to, ())).collect();
    let sets = tarjan_scc(&graph).into_iter().filter(|set| set.len() > 1);
    sets.map(|set| set.iter().map(|&it| tree.crates[it].name.clone()).collect())
        .collect()
}
