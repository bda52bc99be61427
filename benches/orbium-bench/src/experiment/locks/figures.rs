// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 30 and 31: bars for client and server of every architecture, user level above, kernel
//! level below.

use orbium_cli::Failure;

use super::results::{Findings, PAPER, Side};
use orbium_bench_chart::bars::{Bar, Group};
use orbium_bench_chart::canvas::colour;
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

/// The colours of client and server.
const CLIENT: usize = 1;
const SERVER: usize = 2;

/// Draws both figures for each number of client threads.
pub(super) fn draw(found: &[Findings]) -> Result<String, Failure> {
    let mut threads: Vec<usize> = found.iter().map(|one| one.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let rows = threads
        .iter()
        .flat_map(|threads| LEVELS.map(|level| row(found, *threads, level)));
    let chart = Chart {
        title: "Operations on locks per request",
        width: 1400,
        legend: vec![
            Entry::bar("client", colour(CLIENT)),
            Entry::bar("server", colour(SERVER)),
        ],
        rows: rows.collect(),
    };
    chart.to_svg().map_err(Failure::because)
}

fn row(found: &[Findings], threads: usize, (level, value): (&str, Value)) -> Row {
    let own = found.iter().filter(|one| one.threads == threads);
    let own = own.map(|one| {
        let name = one.architecture.name.as_str();
        group(name, value(one.client), value(one.server))
    });
    let mut groups: Vec<_> = own.collect();
    // The text of the paper has no numbers for the kernel.
    if level == "User" {
        let paper = PAPER.map(|(name, client, server)| group(name, Some(client), Some(server)));
        groups.extend(paper);
    }
    let panel = Panel {
        title: format!("{level} level, {threads} client threads"),
        content: Content::Bars(groups),
        label: |value| format!("{value}"),
    };
    Row {
        height: 560,
        panels: vec![panel],
    }
}

type Value = fn(Side) -> Option<f64>;

const LEVELS: [(&str, Value); 2] = [("User", |side| side.user), ("Kernel", |side| side.kernel)];

fn group(name: &str, client: Option<f64>, server: Option<f64>) -> Group {
    let bar = |number: usize, value: Option<f64>| {
        value.map(|value| Bar::single(value, colour(number), format!("{value:.1}")))
    };
    Group {
        label: name.to_owned(),
        bars: vec![bar(CLIENT, client), bar(SERVER, server)],
    }
}
