// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results of the experiments as Markdown tables.

mod cells;
mod systems;

use std::fmt::Write;

use serde_json::Value;

use cells::{NOTHING, Table, cell, jitter, list, name, places, time};

/// The text between two marks of the page.
pub(crate) struct Part {
    /// The name in the marks.
    pub(crate) name: &'static str,
    pub(crate) text: String,
    /// Whether the experiment was run with this part.
    pub(crate) is_measured: bool,
}

/// The tables of an experiment.
pub(crate) fn of(experiment: &str, found: &Value) -> Vec<Part> {
    let all = |_: &str| true;
    match experiment {
        "inversion" => vec![part("inversion", inversion(found), found, all)],
        "locks" => vec![part("locks", locks(found), found, all)],
        "threads" => threads(found),
        "profile" => vec![part(
            "profile",
            systems::profile(&found["profile"]),
            found,
            all,
        )],
        "os" => vec![part("os", systems::os(&found["systems"]), found, all)],
        _ => Vec::new(),
    }
}

/// The prefix of notes on fifty priorities.
pub(crate) const FIFTY: &str = "Fifty priorities";

/// A table for each part of the experiment on threads. Other notes are below the table on
/// punctuality, if there is one.
fn threads(found: &Value) -> Vec<Part> {
    let is_besieged = !found["punctuality"].is_null();
    let is_of_fifty = |note: &str| note.starts_with(FIFTY);
    let none = |_: &str| false;
    let of = |name, table: fn(&Value) -> String, belongs: &dyn Fn(&str) -> bool| Part {
        is_measured: !found[name].is_null(),
        ..part(name, table(&found[name]), found, belongs)
    };
    vec![
        of("scaling", scaling, &none),
        of("priorities", priorities, &none),
        of("fifty", systems::fifty, &|note| {
            is_of_fifty(note) || !is_besieged
        }),
        of("punctuality", punctuality, &|note| !is_of_fifty(note)),
        of("crowd", crowd, &none),
    ]
}

/// A table with its notes below it.
fn part(
    name: &'static str,
    mut text: String,
    found: &Value,
    belongs: impl Fn(&str) -> bool,
) -> Part {
    let notes = list(&found["notes"]).iter().filter_map(Value::as_str);
    for note in notes.filter(|note| belongs(note)) {
        let _ = write!(text, "\n* {note}");
    }
    Part {
        name,
        text,
        is_measured: true,
    }
}

/// The points of a scenario with the fewest and with the most clients.
fn ends<'a>(architecture: &'a Value, scenario: &str) -> Option<(&'a Value, &'a Value)> {
    let points = list(&architecture["points"]).iter();
    let own = points.filter(|point| point["scenario"] == scenario);
    let by_clients = |point: &&Value| point["low_clients"].as_u64();
    Some((
        own.clone().min_by_key(by_clients)?,
        own.max_by_key(by_clients)?,
    ))
}

fn inversion(found: &Value) -> String {
    let all = list(&found["architectures"]);
    let ends_of_first = all.first().and_then(|one| ends(one, "paced"));
    let clients = |of: fn((&Value, &Value)) -> u64| ends_of_first.map_or(0, of);
    let least = clients(|ends| ends.0["low_clients"].as_u64().unwrap_or(0));
    let most = clients(|ends| ends.1["low_clients"].as_u64().unwrap_or(0));
    let heads = [
        "architecture".to_owned(),
        format!("high, {least} others"),
        format!("high, {most} others"),
        format!("low, {most}"),
        format!("saturated: high median, {least}"),
        format!("{most}"),
        "ratio".to_owned(),
    ];
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new(&heads);
    for one in all {
        let (Some(paced), Some(busy)) = (ends(one, "paced"), ends(one, "saturated")) else {
            continue;
        };
        let medians = [busy.0, busy.1].map(|point| &point["high"]["median_ns"]);
        let ratio = match medians.map(Value::as_f64) {
            [Some(least), Some(most)] if least > 0.0 => format!("{:.2}", most / least),
            _ => NOTHING.to_owned(),
        };
        let is_bold = one["lanes"] == true;
        table.line([
            name(one),
            jitter(&paced.0["high"]),
            jitter(&paced.1["high"]),
            jitter(&paced.1["low"]),
            time(medians[0]),
            time(medians[1]),
            if is_bold {
                format!("**{ratio}**")
            } else {
                ratio
            },
        ]);
    }
    table.0
}

fn locks(found: &Value) -> String {
    let mut table = Table::new(&[
        "architecture",
        "program, client / server",
        "kernel, client / server",
        "ten threads: program",
        "kernel",
    ]);
    let all = list(&found["architectures"]);
    let both = |of: Option<&Value>, level: &str| {
        let side = |side: &str| {
            of.map_or(NOTHING.to_owned(), |of| {
                cell(&of[side][level], |value| {
                    let rounded = (value * 10.0).round() / 10.0;
                    format!("{rounded}")
                })
            })
        };
        format!("{} / {}", side("client"), side("server"))
    };
    for alone in all.iter().filter(|one| one["threads"] == 1) {
        let ten = all.iter().find(|one| {
            one["architecture"] == alone["architecture"] && one["threads"] != alone["threads"]
        });
        table.line([
            name(alone),
            both(Some(alone), "user"),
            both(Some(alone), "kernel"),
            both(ten, "user"),
            both(ten, "kernel"),
        ]);
    }
    table.0
}

fn scaling(found: &Value) -> String {
    let all = list(found);
    let counts = all.first().map_or(&[][..], |one| list(&one["rates"]));
    let mut heads = vec!["client threads".to_owned()];
    heads.extend(counts.iter().map(|rates| rates["threads"].to_string()));
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new(&heads);
    for one in all {
        let is_raw = one["name"] == "raw sockets";
        let rates = list(&one["rates"]).iter().map(|rates| {
            if is_raw {
                return cell(&rates["calls_per_second"], |rate| {
                    format!("{:.0},000 calls/s", rate / 1e3)
                });
            }
            places(&rates["fraction_of_raw"], 2)
        });
        table.line(std::iter::once(name(one)).chain(rates));
    }
    table.0
}

fn priorities(found: &Value) -> String {
    let mut table = Table::new(&[
        "sixteen priorities at once",
        "completed under overload",
        "out of order",
        "served",
        "at a wrong priority",
    ]);
    let (mut served, mut wrong) = (0, 0);
    for one in list(found) {
        let completed = one["completed"].as_array();
        let late = completed.map(|all| {
            let pairs = all.windows(2);
            pairs
                .filter(|pair| pair[1].as_i64() > pair[0].as_i64())
                .count()
        });
        let shown = |count: Option<usize>| count.map_or(NOTHING.into(), |count| count.to_string());
        served += one["served"].as_u64().unwrap_or(0);
        wrong += one["wrong"].as_u64().unwrap_or(0);
        table.line([
            name(one),
            shown(completed.map(Vec::len)),
            shown(late),
            one["served"].to_string(),
            one["wrong"].to_string(),
        ]);
    }
    let nothing = String::new;
    table.line([
        "all".into(),
        nothing(),
        nothing(),
        format!("**{served}**"),
        format!("**{wrong}**"),
    ]);
    table.0
}

fn punctuality(found: &Value) -> String {
    let mut table = Table::new(&[
        "a lane, sixteen others saturated",
        "alone: median, worst",
        "besieged: median, p99, worst",
        "cyclictest's worst",
        "own threads' worst",
        "calls over 5 ms",
        "the host's",
    ]);
    for one in list(found) {
        let of = |when: &str, value: &str| time(&one[when][value]);
        table.line([
            name(one),
            format!(
                "{}, {}",
                of("alone", "median_ns"),
                of("alone", "greatest_ns")
            ),
            format!(
                "{}, {}, {}",
                of("besieged", "median_ns"),
                of("besieged", "p99_ns"),
                of("besieged", "greatest_ns")
            ),
            time(&one["cyclictest_worst_ns"]),
            time(&one["wakeups_worst_ns"]),
            format!(
                "{} of {}",
                places(&one["late"], 0),
                places(&one["besieged"]["calls"], 0)
            ),
            places(&one["late_by_the_host"], 0),
        ]);
    }
    table.0
}

fn crowd(found: &Value) -> String {
    let mut table = Table::new(&[
        "one call a second each",
        "connections",
        "octets of memory each",
        "median",
        "p99",
        "worst",
    ]);
    for one in list(found) {
        let of = |value: &str| time(&one["latency"][value]);
        table.line([
            name(one),
            one["connections"].to_string(),
            places(&one["octets_each"], 0),
            of("median_ns"),
            of("p99_ns"),
            of("greatest_ns"),
        ]);
    }
    table.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inversion_compares_the_fewest_with_the_most_clients() {
        let point = |scenario, clients, nanoseconds: f64| {
            let summary = |calls: u32| {
                json!({"calls": calls, "mean_ns": nanoseconds, "deviation_ns": 5e3,
                       "median_ns": nanoseconds})
            };
            json!({"scenario": scenario, "low_clients": clients,
                   "high": summary(9), "low": summary(clients)})
        };
        let found = json!({"notes": ["n"], "architectures": [
            {"architecture": "a", "lanes": true, "points": [
                point("paced", 0, 1e5), point("saturated", 0, 1e6),
                point("paced", 5, 2e5), point("saturated", 5, 1e9),
                point("paced", 50, 3e5), point("saturated", 50, 1.1e6)]},
            {"architecture": "lost", "lanes": false, "points": []},
        ]});
        let parts = of("inversion", &found);
        let text = &parts[0].text;
        let expected = "| a | 100 µs ± 5 µs | 300 µs ± 5 µs | 300 µs ± 5 µs | 1.0 ms | 1.1 ms | **1.10** |\n\n* n";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.starts_with("| architecture | high, 0 others | high, 50 others |"));
    }

    #[test]
    fn missing_figures_are_dashes_and_never_a_panic() {
        for experiment in ["inversion", "locks", "threads", "os", "profile"] {
            for part in of(experiment, &Value::Null) {
                assert!(part.text.starts_with("| "), "{}", part.text);
            }
        }
        let found = json!({"architectures": [
            {"architecture": "a", "threads": 1, "client": {"user": 3.96}, "server": {"user": null}}]});
        let text = &of("locks", &found)[0].text;
        assert!(
            text.contains("| a | 4 / – | – / – | – / – | – / – |"),
            "{text}"
        );
    }

    #[test]
    fn calls_of_all_strategies_are_summed() {
        let one = |wrong| {
            json!({"architecture": "a", "completed": [3, 2, 2, 1, 2],
                                 "served": 250_000, "wrong": wrong})
        };
        let text = priorities(&json!([one(0), one(1)]));
        assert!(text.contains("| a | 5 | 1 | 250000 | 0 |\n"), "{text}");
        assert!(text.ends_with("| **500000** | **1** |\n"), "{text}");
    }
}
