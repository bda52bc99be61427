// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 30 and 31: bars for client and server of every architecture, in the
//! program above, in the kernel below.

use super::found::{Found, PAPER, Side};
use crate::drawing::{Area, Bar, Drawing, Group, colour, draw_bars};

const WIDTH: f64 = 1400.0;
const HEADER: f64 = 90.0;
const TITLE: f64 = 36.0;
const BARS: f64 = 260.0;
const FOOT: f64 = 140.0;

/// Draws both figures for each number of client threads.
pub(super) fn draw(found: &[Found]) -> String {
    let panel = TITLE + BARS + FOOT;
    let mut threads: Vec<usize> = found.iter().map(|one| one.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let height = HEADER + panel * 2.0 * threads.len() as f64;
    let mut drawing = Drawing::new("Operations on locks per request", WIDTH, height);
    drawing.legend(52.0, WIDTH, [("client", colour(1)), ("server", colour(2))]);
    let mut top = HEADER;
    for threads in threads {
        for (level, value) in LEVELS {
            let title = format!("{level} level, {threads} client threads");
            drawing.text(20.0, top + 20.0, "font-weight=\"bold\"", &title);
            let area = Area {
                left: 190.0,
                right: WIDTH - 20.0,
                top: top + TITLE,
                bottom: top + TITLE + BARS,
            };
            let mut groups: Vec<_> = found
                .iter()
                .filter(|one| one.threads == threads)
                .map(|one| {
                    let name = one.architecture.name.as_str();
                    group(name, value(one.client), value(one.server))
                })
                .collect();
            if level == "User" {
                // The paper has no numbers for the kernel in its text.
                let paper =
                    PAPER.map(|(name, client, server)| group(name, Some(client), Some(server)));
                groups.extend(paper);
            }
            draw_bars(&mut drawing, area, &groups, &|value| format!("{value}"));
            top += panel;
        }
    }
    drawing.finish()
}

type Value = fn(Side) -> Option<f64>;

const LEVELS: [(&str, Value); 2] = [("User", |side| side.user), ("Kernel", |side| side.kernel)];

fn group(name: &str, client: Option<f64>, server: Option<f64>) -> Group {
    let bar = |side: &str, number: usize, value: Option<f64>| {
        let hint = |value: f64| format!("{name}, {side}: {value:.2}");
        value.map(|value| {
            let bar = Bar::single(value, colour(number), hint(value));
            bar.labelled(format!("{value:.1}"))
        })
    };
    Group {
        label: name.to_owned(),
        bars: vec![bar("client", 1, client), bar("server", 2, server)],
    }
}
