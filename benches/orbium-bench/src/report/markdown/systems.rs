// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of what depends on the operating system: fifty priorities under each scheduling class.

use serde_json::Value;

use super::cells::{Table, jitter, list, time};

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
