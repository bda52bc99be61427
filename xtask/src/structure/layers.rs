// SPDX-License-Identifier: MIT OR Apache-2.0
//! Crates in layers, each above its dependencies, with few crossings.

use std::collections::{BTreeMap, BTreeSet};

/// Crates by name, each with its dependencies.
pub(super) type Dependencies = BTreeMap<String, BTreeSet<String>>;

/// The number of times that the rows are reordered.
const SWEEPS: usize = 12;

/// A crate, or the bend of an edge in a row that it passes.
pub(super) struct Node {
    pub(super) name: Option<String>,
    level: usize,
}

/// Nodes in rows. Edges connect a row with the next one below.
pub(super) struct Layers {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<(usize, usize)>,
    /// The lowest row first.
    pub(super) rows: Vec<Vec<usize>>,
}

impl Layers {
    /// # Panics
    /// If the dependencies of crates are cyclic, which Cargo refuses.
    pub(super) fn new(dependencies: &Dependencies) -> Self {
        let mut layers = Self {
            nodes: Vec::new(),
            edges: Vec::new(),
            rows: Vec::new(),
        };
        let mut found = BTreeMap::new();
        for name in dependencies.keys() {
            let level = level(name, dependencies);
            found.insert(name.as_str(), layers.add(Some(name.clone()), level));
        }
        for (from, to) in direct(dependencies) {
            layers.connect(found[from], found[to]);
        }
        for _ in 0..SWEEPS {
            layers.sweep();
        }
        layers
    }

    fn add(&mut self, name: Option<String>, level: usize) -> usize {
        let number = self.nodes.len();
        self.nodes.push(Node { name, level });
        if self.rows.len() <= level {
            self.rows.resize(level + 1, Vec::new());
        }
        self.rows[level].push(number);
        number
    }

    /// An edge, with a bend in each row between.
    fn connect(&mut self, from: usize, to: usize) {
        let mut above = from;
        for level in (self.nodes[to].level + 1..self.nodes[from].level).rev() {
            let bend = self.add(None, level);
            self.edges.push((above, bend));
            above = bend;
        }
        self.edges.push((above, to));
    }

    /// Orders each row by the mean position of its neighbours: those below, then those above.
    fn sweep(&mut self) {
        for level in 0..self.rows.len() {
            self.order(level, |(from, to), node| (from == node).then_some(to));
        }
        for level in (0..self.rows.len()).rev() {
            self.order(level, |(from, to), node| (to == node).then_some(from));
        }
    }

    fn order(&mut self, level: usize, neighbour: fn((usize, usize), usize) -> Option<usize>) {
        let mut row: Vec<_> = self.rows[level].clone();
        row.sort_by_cached_key(|&node| {
            let neighbours = self.edges.iter().filter_map(|&edge| neighbour(edge, node));
            let places: Vec<_> = neighbours.map(|other| self.place(other)).collect();
            match places.len() {
                0 => self.place(node),
                count => places.iter().sum::<usize>() / count,
            }
        });
        self.rows[level] = row;
    }

    /// The position of a node in its row, in thousandths of its width.
    fn place(&self, node: usize) -> usize {
        let row = &self.rows[self.nodes[node].level];
        let index = row.iter().position(|&it| it == node).unwrap_or(0);
        (2 * index + 1) * 500 / row.len()
    }
}

/// The row of a crate: directly above the highest of its dependencies.
fn level(name: &str, dependencies: &Dependencies) -> usize {
    let below = dependencies.get(name).into_iter().flatten();
    below
        .map(|it| level(it, dependencies) + 1)
        .max()
        .unwrap_or(0)
}

/// Dependencies that are not implied by others.
fn direct(dependencies: &Dependencies) -> Vec<(&str, &str)> {
    let mut direct = Vec::new();
    for (name, below) in dependencies {
        let follows = |it: &String| below.iter().any(|other| reaches(other, it, dependencies));
        let kept = below.iter().filter(|it| !follows(it));
        direct.extend(kept.map(|it| (name.as_str(), it.as_str())));
    }
    direct
}

fn reaches(from: &str, to: &str, dependencies: &Dependencies) -> bool {
    let mut below = dependencies.get(from).into_iter().flatten();
    below.any(|it| it == to || reaches(it, to, dependencies))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crates(all: &[(&str, &[&str])]) -> Dependencies {
        let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        let named = all
            .iter()
            .map(|(name, below)| ((*name).to_owned(), owned(below)));
        named.collect()
    }

    #[test]
    fn a_crate_stands_right_above_the_highest_that_it_depends_on() {
        let all = crates(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[]), ("d", &["c"])]);
        assert_eq!(level("c", &all), 0);
        assert_eq!(level("b", &all), 1);
        assert_eq!(level("d", &all), 1);
        assert_eq!(level("a", &all), 2);
        assert_eq!(direct(&all), [("a", "b"), ("b", "c"), ("d", "c")]);
    }

    #[test]
    fn an_edge_over_several_rows_bends_in_each_between() {
        let all = crates(&[("a", &["b", "d"]), ("b", &["c"]), ("c", &[]), ("d", &[])]);
        let layers = Layers::new(&all);
        let bends = layers.nodes.iter().filter(|node| node.name.is_none());
        assert_eq!(bends.map(|bend| bend.level).collect::<Vec<_>>(), [1]);
        let level = |node: usize| layers.nodes[node].level;
        assert_eq!(layers.edges.len(), 4);
        assert!(
            layers
                .edges
                .iter()
                .all(|&(from, to)| level(from) == level(to) + 1)
        );
    }

    #[test]
    fn rows_are_ordered_so_that_edges_need_not_cross() {
        let all = crates(&[("a", &["z"]), ("b", &["y"]), ("y", &[]), ("z", &[])]);
        let layers = Layers::new(&all);
        let (low, high) = (&layers.rows[0], &layers.rows[1]);
        for (index, node) in high.iter().enumerate() {
            assert!(layers.edges.contains(&(*node, low[index])));
        }
    }
}
