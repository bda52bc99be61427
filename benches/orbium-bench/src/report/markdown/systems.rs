// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of figures that depend on the operating system: scheduling classes, and transports
//! between client and server.

use serde_json::Value;

use super::cells::{Table, jitter, list, name, places, time};
use crate::statistics::category::Category;

/// A line for each scheduling class and number of clients.
pub(super) fn fifty(found: &Value) -> String {
    let mut table = Table::new(&[
        "fifty priorities",
        "clients",
        "most urgent: median",
        "mean ± jitter",
        "worst",
        "others: median",
        "mean ± jitter",
        "since due: median",
    ]);
    for class in list(found) {
        for point in list(&class["points"]) {
            let of = |clients: &str, value: &str| match point[clients]["calls"].as_u64() {
                Some(0) => time(&Value::Null),
                _ => time(&point[clients][value]),
            };
            table.line([
                class["class"].as_str().unwrap_or_default().to_owned(),
                point["clients"].to_string(),
                of("highest", "median_ns"),
                jitter(&point["highest"]),
                of("highest", "greatest_ns"),
                of("others", "median_ns"),
                jitter(&point["others"]),
                match point["others"]["calls"].as_u64() {
                    Some(0) => time(&Value::Null),
                    _ => time(&point["others_since_due_ns"]),
                },
            ]);
        }
    }
    table.0
}

/// A line for each place and scheduling class: the fewest and the most low-priority clients.
pub(super) fn os(found: &Value) -> String {
    let all = list(found);
    let clients = |index: fn(&[Value]) -> Option<&Value>| {
        let point = all.first().and_then(|one| index(list(&one["points"])));
        point.map_or(0, |point| point["low_clients"].as_u64().unwrap_or(0))
    };
    let (least, most) = (clients(<[Value]>::first), clients(<[Value]>::last));
    let heads = [
        "client and server".to_owned(),
        "class".to_owned(),
        format!("high median, {least} others"),
        format!("{most} others"),
        "growth".to_owned(),
        format!("high mean ± jitter, {least}"),
        format!("{most}"),
        format!("low mean ± jitter, {most}"),
    ];
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new(&heads);
    for one in all {
        let points = list(&one["points"]);
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            continue;
        };
        let medians = [first, last].map(|point| &point["high"]["median_ns"]);
        let growth = match medians.map(Value::as_f64) {
            [Some(least), Some(most)] => format!("{:+.0} µs", (most - least) / 1e3),
            _ => time(&Value::Null),
        };
        let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
        table.line([
            text("place"),
            text("class"),
            time(medians[0]),
            time(medians[1]),
            growth,
            jitter(&first["high"]),
            jitter(&last["high"]),
            jitter(&last["low"]),
        ]);
    }
    table.0
}

/// A line for each architecture: percent of the client's and the server's processor time by category.
pub(super) fn profile(found: &Value) -> String {
    let categories = Category::ALL.map(Category::name);
    let mut heads = vec!["ten clients, client / server", "µs of a call"];
    heads.extend(categories);
    let mut table = Table::new(&heads);
    for one in list(found) {
        let both = |figure: &dyn Fn(&Value) -> String| {
            format!("{} / {}", figure(&one["client"]), figure(&one["server"]))
        };
        let time = both(&|side| places(&side["microseconds_per_call"], 1));
        let shares = categories.map(|it| both(&|side| places(&side["percent"][it], 1)));
        table.line([name(one), time].into_iter().chain(shares));
    }
    table.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn growth_is_from_the_first_to_the_last_point() {
        let point = |clients: u32, nanoseconds: f64| {
            let summary = |calls: u32| {
                json!({"calls": calls, "mean_ns": nanoseconds, "deviation_ns": 1e3,
                       "median_ns": nanoseconds})
            };
            json!({"low_clients": clients, "high": summary(9), "low": summary(clients)})
        };
        let found = json!([
            {"place": "remote, TCP", "class": "SCHED_FIFO",
             "points": [point(0, 1e5), point(3, 2e5), point(5, 9e4)]},
            {"place": "lost", "class": "SCHED_OTHER", "points": []}]);
        let text = os(&found);
        let expected = "| remote, TCP | SCHED_FIFO | 100 µs | 90 µs | -10 µs | 100 µs ± 1 µs | 90 µs ± 1 µs | 90 µs ± 1 µs |\n";
        assert!(text.ends_with(expected), "{text}");
        assert!(
            text.contains("| high median, 0 others | 5 others |"),
            "{text}"
        );
    }

    #[test]
    fn a_line_of_an_architecture_has_both_sides() {
        let side = json!({"microseconds_per_call": 12.34,
                          "percent": {"synchronisation": 1.25, "rest": 98.75}});
        let found = json!([{"architecture": "a", "client": side, "server": {}}]);
        let text = profile(&found);
        let expected = "| a | 12.3 / – | 1.2 / – | – / – | – / – | – / – | – / – | 98.8 / – |\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn one_client_has_no_others() {
        let summary = |calls: u32, nanoseconds: f64| {
            json!({"calls": calls, "mean_ns": nanoseconds, "deviation_ns": 1e3,
                   "median_ns": nanoseconds, "greatest_ns": nanoseconds})
        };
        let found = json!([{"class": "SCHED_FIFO", "points": [
            {"clients": 1, "highest": summary(9, 1e5), "others": summary(0, 0.0),
             "others_since_due_ns": 0.0},
            {"clients": 50, "highest": summary(9, 1e5), "others": summary(9, 2e6),
             "others_since_due_ns": 3e6}]}]);
        let text = fifty(&found);
        assert!(
            text.contains("| SCHED_FIFO | 1 | 100 µs | 100 µs ± 1 µs | 100 µs | – | – | – |\n"),
            "{text}"
        );
        assert!(
            text.ends_with("| 100 µs | 2.0 ms | 2.0 ms ± 1 µs | 3.0 ms |\n"),
            "{text}"
        );
    }
}
