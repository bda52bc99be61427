// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use orbium_testkit::{dead_port, eventually};

use crate::program::{orbium, run};

/// A channel that the program serves, ended with the test.
struct Served {
    child: Child,
    reference: String,
}

impl Served {
    fn new<'a>(more: impl IntoIterator<Item = &'a str>) -> Self {
        let start = ["events", "serve", "--until-input-ends"];
        let mut child = orbium(start.into_iter().chain(more))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reference = lines.next().unwrap().unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "READY");
        Self { child, reference }
    }

    fn consumers(&self) -> usize {
        let stat = run(["events", "stat", "--json", &self.reference]);
        stat.json()["consumers"].as_array().unwrap().len()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Conformance: events - events through a channel on the wire, in order - `orbium events`
#[test]
fn what_is_pushed_is_printed_by_tail_and_counted() {
    for dispatching in ["per-consumer", "reactive"] {
        let served = Served::new(["--dispatching", dispatching]);
        let tail = [
            "events",
            "tail",
            &served.reference,
            "--type",
            "16",
            "--count",
            "2",
        ];
        let tail = orbium(tail).stdout(Stdio::piped()).spawn().unwrap();
        eventually("the consumer", || served.consumers() == 1);
        for (r#type, text) in [("16", "one"), ("17", "two"), ("16", "three")] {
            let push = [
                "events",
                "push",
                &served.reference,
                "--type",
                r#type,
                "--source",
                "3",
            ];
            run(push.into_iter().chain(["--text", text, "--payload", "raw"])).assert_done();
        }
        let output = tail.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).unwrap();
        let events = lines.lines().map(|it| serde_json::from_str(it).unwrap());
        let events: Vec<serde_json::Value> = events.collect();
        let texts: Vec<_> = events.iter().map(|it| &it["any"]).collect();
        assert!(texts[0].to_string().contains("one"), "{lines}");
        assert!(texts[1].to_string().contains("three"), "{lines}");
        assert_eq!(events[0]["source"], 3);
        assert_eq!(events[0]["payload"], "raw");
        eventually("the disconnection", || served.consumers() == 0);
        let stat = run(["events", "stat", &served.reference]);
        stat.assert_done();
        assert!(
            stat.stdout.starts_with("3 events received, 0 refused"),
            "{stat:?}"
        );
    }
}

#[test]
fn what_is_no_channel_is_refused() {
    let gone = format!("corbaloc::127.0.0.1:{}/EventService", dead_port());
    run(["events", "push", &gone]).assert_failed_saying("event channel");
    let served = Served::new(["--key", "Other"]);
    run(["events", "stat", "IOR:00"]).assert_failed_saying("");
    drop(served);
}
