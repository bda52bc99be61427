// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages of the screen as tables of text.

use std::cmp::Ordering;
use std::fmt::Write;
use std::time::Duration;

use crate::keys::{Choice, Page};
use crate::view::View;
use orbium::metrics::exposition::watch::idl;

/// Maximum characters of a cell: a longer one is cut. The widest one sets the width of its column.
const MAX_CELL_CHARACTERS: usize = 256;

/// A cell: its text, and its sort key.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) text: String,
    order: Order,
}

#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Order {
    Number(f64),
    Text(String),
}

/// One line of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Whether a value is unhealthy.
    pub(crate) bad: bool,
}

/// A page: the first column takes the remaining width.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) columns: &'static [&'static str],
    pub(crate) rows: Vec<Row>,
    /// The reason why there are no rows.
    pub(crate) empty: String,
}

fn text(text: impl AsRef<str>) -> Cell {
    let text: String = text.as_ref().chars().take(MAX_CELL_CHARACTERS).collect();
    Cell {
        order: Order::Text(text.clone()),
        text,
    }
}

fn number(shown: String, number: f64) -> Cell {
    Cell {
        text: shown,
        order: Order::Number(number),
    }
}

fn count(number_: u64) -> Cell {
    number(number_.to_string(), number_ as f64)
}

fn rate(per_second: f64) -> Cell {
    let shown = match per_second {
        0.0 => "0".to_owned(),
        small if small < 10.0 => format!("{small:.1}"),
        other => format!("{other:.0}"),
    };
    number(shown, per_second)
}

fn octets(per_second: f64) -> Cell {
    // An empty sum is -0.
    let (mut amount, mut unit) = (per_second + 0.0, "B");
    for larger in ["KiB", "MiB", "GiB"] {
        if amount < 1024.0 {
            break;
        }
        (amount, unit) = (amount / 1024.0, larger);
    }
    let shown = match unit {
        "B" => format!("{amount:.0} {unit}"),
        _ => format!("{amount:.1} {unit}"),
    };
    number(shown, per_second)
}

/// A duration in three digits.
fn span(span: Duration) -> Cell {
    if span.is_zero() {
        return number("-".into(), 0.0);
    }
    let nanos = span.as_nanos() as f64;
    let (amount, unit) = match nanos {
        it if it < 1e3 => (it, "ns"),
        it if it < 1e6 => (it / 1e3, "µs"),
        it if it < 1e9 => (it / 1e6, "ms"),
        it => (it / 1e9, "s"),
    };
    let digits = match amount {
        it if it < 10.0 => 2,
        it if it < 100.0 => 1,
        _ => 0,
    };
    number(format!("{amount:.digits$} {unit}"), nanos)
}

fn age(millis: u64) -> Cell {
    let seconds = millis / 1000;
    let shown = match seconds {
        it if it < 60 => format!("{it} s"),
        it if it < 3600 => format!("{}:{:02} min", it / 60, it % 60),
        it if it < 86_400 => format!("{}:{:02} h", it / 3600, it % 3600 / 60),
        it => format!("{} d", it / 86_400),
    };
    number(shown, millis as f64)
}

const NOT_MEASURING: &str =
    "Metrics are off: orb.enable_metrics(), metrics = true or -ORBmetrics true turns them on.";

fn operations(view: &View) -> Table {
    let rows = view.operations.iter().map(|it| Row {
        cells: vec![
            text(&it.name),
            text(if it.called { "calls" } else { &it.lane }),
            rate(it.rate),
            span(it.p50),
            span(it.p99),
            span(it.max),
            rate(it.errors),
            count(it.in_flight),
            count(it.total),
        ],
        bad: it.errors > 0.0,
    });
    Table {
        columns: &[
            "OPERATION",
            "LANE",
            "RATE/s",
            "P50",
            "P99",
            "MAX",
            "ERR/s",
            "NOW",
            "TOTAL",
        ],
        rows: rows.collect(),
        empty: if view.snapshot.measuring {
            "Nothing was called or served yet.".into()
        } else {
            NOT_MEASURING.into()
        },
    }
}

fn lanes(view: &View) -> Table {
    let rows = view.lanes.iter().map(|it| {
        let lane = &it.lane;
        let is_full = lane.queue > 0 && lane.waiting * 2 > lane.queue;
        Row {
            cells: vec![
                text(&lane.name),
                match lane.priority {
                    -1 => number("-".into(), -1.0),
                    priority => number(priority.to_string(), f64::from(priority)),
                },
                text(&lane.strategy),
                text(&lane.host),
                count(lane.connections.into()),
                number(
                    format!("{}/{}", lane.busy, lane.threads),
                    f64::from(lane.busy),
                ),
                number(
                    format!("{}/{}", lane.waiting, lane.queue),
                    f64::from(lane.waiting),
                ),
                span(it.waited_p99),
                count(lane.deadlines_missed),
                count(lane.refused),
                count(lane.budget_exhaustions),
            ],
            bad: it.missed > 0 || it.refused > 0 || it.exhausted > 0 || is_full,
        }
    });
    Table {
        columns: &[
            "LANE",
            "PRIORITY",
            "STRATEGY",
            "HOST",
            "CONN",
            "BUSY",
            "QUEUE",
            "WAIT P99",
            "MISSED",
            "REFUSED",
            "EXHAUSTED",
        ],
        rows: rows.collect(),
        empty: "The ORB does not listen, so it has no lanes.".into(),
    }
}

/// The quality that the connection's requests ask for, and the properties of the connection.
fn in_force(connection: &idl::Connection) -> String {
    let said = [connection.quality.as_str(), connection.in_force.as_str()];
    let said: Vec<_> = said.into_iter().filter(|it| !it.is_empty()).collect();
    said.join("; ")
}

fn connections(view: &View) -> Table {
    let rows = view.connections.iter().map(|it| {
        let connection = &it.connection;
        Row {
            cells: vec![
                text(&connection.peer),
                text(if connection.client {
                    "client"
                } else {
                    "server"
                }),
                text(&connection.transport),
                text(&connection.lane),
                text(in_force(connection)),
                rate(it.requests),
                octets(it.received),
                octets(it.sent),
                count(connection.in_flight.into()),
                age(connection.age_ms),
            ],
            bad: connection.held_up,
        }
    });
    Table {
        columns: &[
            "PEER", "ROLE", "OVER", "LANE", "QOS", "REQ/s", "IN/s", "OUT/s", "WAIT", "AGE",
        ],
        rows: rows.collect(),
        empty: "No connection is open.".into(),
    }
}

fn adapters(view: &View) -> Table {
    let rows = view.snapshot.adapters.iter().map(|it| Row {
        cells: vec![
            text(&it.path),
            text(&it.state),
            count(it.objects.into()),
            count(it.in_flight.into()),
            count(it.held.into()),
        ],
        bad: it.held > 0,
    });
    Table {
        columns: &["ADAPTER", "STATE", "OBJECTS", "NOW", "HELD"],
        rows: rows.collect(),
        empty: String::new(),
    }
}

fn bindings(view: &View) -> Table {
    let rows = view.bindings.iter().map(|it| Row {
        cells: vec![
            text(&it.peer),
            text(&it.transport),
            text(it.in_force.join("; ")),
            count(it.connections),
            count(it.busy),
            rate(it.requests),
            octets(it.received),
            octets(it.sent),
            count(it.in_flight),
            age(it.age_ms),
        ],
        bad: false,
    });
    Table {
        columns: &[
            "SERVER", "OVER", "QOS", "CONN", "BUSY", "REQ/s", "IN/s", "OUT/s", "WAIT", "AGE",
        ],
        rows: rows.collect(),
        empty: "This process has no connection to a server.".into(),
    }
}

fn budgets(view: &View) -> Table {
    let rows = view.budgets.iter().map(|it| {
        let budget = &it.budget;
        Row {
            cells: vec![
                text(&budget.operation),
                span(Duration::from_nanos(budget.time_ns)),
                span(Duration::from_nanos(budget.longest_ns)),
                count(budget.requests),
                count(budget.overruns),
            ],
            bad: it.overran > 0,
        }
    });
    Table {
        columns: &["OPERATION", "BUDGET", "LONGEST", "REQUESTS", "OVERRUNS"],
        rows: rows.collect(),
        empty: "No interceptor watches budgets of requests.".into(),
    }
}

fn log(view: &View) -> Table {
    let rows = view.snapshot.events.iter().map(|it| Row {
        cells: vec![
            text(&it.text),
            text(&it.level),
            count(it.times),
            // The newest is the largest.
            number(age(it.age_ms).text, -(it.age_ms as f64)),
        ],
        bad: it.level == "error",
    });
    Table {
        columns: &["EVENT", "LEVEL", "TIMES", "AGO"],
        rows: rows.collect(),
        empty: "No warnings and no errors since the process shows itself.".into(),
    }
}

/// The table of a page, sorted and filtered as chosen.
pub(crate) fn table(view: &View, choice: &Choice) -> Table {
    let mut table = match choice.page {
        Page::Operations => operations(view),
        Page::Lanes => lanes(view),
        Page::Connections => connections(view),
        Page::Adapters => adapters(view),
        Page::Bindings => bindings(view),
        Page::Budgets => budgets(view),
        Page::Log => log(view),
    };
    if !choice.filter.is_empty() {
        let found = |row: &Row| row.cells.iter().any(|it| it.text.contains(&choice.filter));
        table.rows.retain(found);
        table.empty = format!("Nothing has `{}` in it.", choice.filter);
    }
    let column = choice.sort.min(table.columns.len() - 1);
    table.rows.sort_by(|one, other| {
        let order = one.cells[column]
            .order
            .partial_cmp(&other.cells[column].order);
        let order = order.unwrap_or(Ordering::Equal);
        // Numbers are sorted in descending order at first.
        let falls = matches!(one.cells[column].order, Order::Number(_)) != choice.reversed;
        if falls { order.reverse() } else { order }
    });
    table
}

/// The process, and the number and name of its ORB: `4711`, `4711-2`, `4711-2 flight`.
fn process(view: &View) -> String {
    let number = view.identity.number.map(|it| format!("-{it}"));
    let (pid, orb_id) = (view.snapshot.pid, &view.identity.orb_id);
    let text = format!("{pid}{} {orb_id}", number.unwrap_or_default());
    text.trim_end().to_owned()
}

/// The lines above every page.
pub(crate) fn header(view: &View) -> [String; 2] {
    let snapshot = &view.snapshot;
    let sum = |of: fn(&crate::view::OperationRow) -> f64, called| -> f64 {
        let own = view.operations.iter().filter(|it| it.called == called);
        own.map(of).sum()
    };
    let received: f64 = view.connections.iter().map(|it| it.received).sum();
    let sent: f64 = view.connections.iter().map(|it| it.sent).sum();
    let more = if snapshot.more_connections { "+" } else { "" };
    [
        format!(
            "{} {}   orbium {}   watched for {}",
            snapshot.program,
            process(view),
            snapshot.version,
            age(snapshot.up_ms).text,
        ),
        format!(
            "served {}/s   called {}/s   errors {}/s   connections {}{more}   in {}/s   out {}/s",
            rate(sum(|it| it.rate, false)).text,
            rate(sum(|it| it.rate, true)).text,
            rate(sum(|it| it.errors, false) + sum(|it| it.errors, true)).text,
            view.connections.len(),
            octets(received).text,
            octets(sent).text,
        ),
    ]
}

/// The width of each column but the first.
pub(crate) fn widths(table: &Table) -> Vec<usize> {
    let all = table.columns.iter().enumerate().map(|(column, title)| {
        let cells = table.rows.iter().map(|row| &row.cells[column].text);
        let widest = cells.map(|text| text.chars().count()).max();
        widest.unwrap_or(0).max(title.len())
    });
    all.collect()
}

/// All pages as text.
pub fn text_of(view: &View, columns: u16) -> String {
    let mut out = String::new();
    for line in header(view) {
        let _ = writeln!(out, "{line}");
    }
    for page in Page::ALL {
        let table = table(view, &Choice::at(page));
        let mut widths = widths(&table);
        let others: usize = widths[1..].iter().map(|width| width + 2).sum();
        widths[0] = usize::from(columns).saturating_sub(others).max(widths[0]);
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            for (column, text) in cells.enumerate() {
                let width = widths[column];
                let _ = match column {
                    0 => write!(out, "{text:width$}"),
                    _ => write!(out, "  {text:>width$}"),
                };
            }
            out.push('\n');
        };
        line(&mut [""].into_iter());
        line(&mut table.columns.iter().copied());
        for row in &table.rows {
            line(&mut row.cells.iter().map(|it| it.text.as_str()));
        }
        if table.rows.is_empty() {
            line(&mut [table.empty.as_str()].into_iter());
        }
    }
    let lines: Vec<_> = out.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
