// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events tail --replay`.

use crate::program::{Ran, Served, nats, run};

fn tail(served: &Served, replay: &str, count: &str) -> Ran {
    let tail = ["events", "tail", served.reference(), "--replay", replay];
    run(tail.into_iter().chain(["--count", count]))
}

/// Conformance: events - replay - `orbium events serve --retain`, `orbium events tail --replay last`
#[test]
fn the_last_events_of_a_channel_are_printed() {
    let served = Served::new("events", ["--retain", "8"]);
    for text in ["one", "two"] {
        served.push(text);
    }
    let printed = tail(&served, "last", "1");
    printed.assert_done();
    assert!(printed.stdout.contains("two"), "{printed:?}");
    assert_eq!(printed.stdout.lines().count(), 1);
    tail(&served, "from=1", "1").assert_failed_saying("NO_IMPLEMENT");
    assert_eq!(tail(&served, "from=x", "1").status, Some(2));
    let plain = Served::new("events", []);
    tail(&plain, "last", "1").assert_failed_saying("NO_IMPLEMENT");
}

/// Conformance: events - replay - `orbium events tail --replay` on a channel that stores its events
#[test]
fn events_of_a_stream_are_printed_from_a_place_or_time() {
    let Some(nats) = nats() else { return };
    let url = nats.url();
    let served = Served::new("events", ["--jetstream", &url, "--stream", "NAV"]);
    for text in ["one", "two", "three"] {
        served.push(text);
    }
    let cases = [
        ("last", vec!["three"]),
        ("from=2", vec!["two", "three"]),
        ("ago=3600", vec!["one", "two", "three"]),
    ];
    for (replay, expected) in cases {
        let printed = tail(&served, replay, &expected.len().to_string());
        printed.assert_done();
        let lines: Vec<_> = printed.stdout.lines().collect();
        assert_eq!(lines.len(), expected.len(), "{printed:?}");
        for (line, text) in lines.iter().zip(expected) {
            assert!(line.contains(text), "{line}");
            assert!(line.contains("\"replayed\":true"), "{line}");
        }
    }
}
