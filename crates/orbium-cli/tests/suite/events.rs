// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events`.

use std::process::Stdio;

use orbium::Orb;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::{Pattern, connect_consumer, connect_supplier, new_event};
use orbium_testkit::{dead_port, eventually};

use crate::program::{Folder, Served, orbium, run};

#[test]
fn suppliers_wait_for_a_consumer_if_serve_says_so() {
    let blocks = ["--queue", "1", "--discard", "block", "--block", "1"];
    let served = Served::new("events", blocks);
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = builder.build().unwrap();
    let channel: EventChannel = orb.resolve(served.reference()).unwrap();
    let consumer = connect_consumer(&orb, &channel, &Pattern::Null, |_| {}).unwrap();
    consumer.suspend().unwrap();
    let supplier = connect_supplier(&channel, &[(16, 1)]).unwrap();
    supplier.push(&[new_event(16, 1)]).unwrap();
    supplier.flush().unwrap();
    consumer.resume().unwrap();
    let stat = run(["events", "stat", served.reference(), "--json"]).json();
    assert_eq!(stat["received"], 1, "{stat:#}");
    let refused = run(["events", "serve", "--discard", "block", "--block", "soon"]);
    assert_eq!(refused.status, Some(2));
}

/// Conformance: events - events through a channel on the wire, in order - `orbium events`
#[test]
fn pushed_events_are_printed_by_tail_and_counted() {
    for dispatching in ["per-consumer", "reactive"] {
        let served = Served::new("events", ["--dispatching", dispatching]);
        let tail = [
            "events",
            "tail",
            served.reference(),
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
                served.reference(),
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
        let stat = run(["events", "stat", served.reference()]);
        stat.assert_done();
        assert!(
            stat.stdout.starts_with("3 events received, 0 refused"),
            "{stat:?}"
        );
    }
}

#[test]
fn objects_that_are_no_channel_are_refused() {
    let gone = format!("corbaloc::127.0.0.1:{}/EventService", dead_port());
    run(["events", "push", &gone]).assert_failed_saying("event channel");
    let served = Served::new("events", ["--key", "Other"]);
    run(["events", "stat", "IOR:00"]).assert_failed_saying("");
    drop(served);
}

const TABLE: &str = "operation \"Sensor::update\" period=\"50 ms\" wcet=\"1 ms\"\n\
                     operation \"Display::show\" wcet=\"2 ms\"\n\
                     consumes \"Display::show\" operation=\"Sensor::update\"\n";

/// Conformance: events - dispatching by the schedule of a table - `orbium events`
#[test]
fn a_channel_dispatches_by_the_schedule_of_a_table() {
    let folder = Folder::new();
    let table = folder.file("table.txt", TABLE);
    let scheduled = ["--dispatching", "scheduled", "--schedule", &table, "--soft"];
    let scheduled = scheduled.into_iter().chain(["--release-guard"]);
    let served = Served::new("events", scheduled);
    let tail = |rt_info| {
        let tail = [
            "events",
            "tail",
            served.reference(),
            "--count",
            "1",
            "--rt-info",
            rt_info,
        ];
        orbium(tail).stdout(Stdio::piped()).spawn().unwrap()
    };
    let consumers = ["2", "0"].map(tail);
    eventually("the consumers", || served.consumers() == 2);
    served.push("one");
    for consumer in consumers {
        let output = consumer.wait_with_output().unwrap();
        assert!(output.status.success());
        let line = String::from_utf8(output.stdout).unwrap();
        assert!(line.contains("one"), "{line}");
    }
    run(["events", "tail", served.reference(), "--rt-info", "3"])
        .assert_failed_saying("the channel refuses the subscription");
}

/// No host has a native priority of 200.
///
/// Conformance: RT 6 - soft mode says which queues run without their native priority - `orbium events stat`
#[test]
fn stat_says_which_queues_run_without_their_native_priority() {
    let folder = Folder::new();
    let table = folder.file("table.txt", TABLE);
    let scheduled = ["--dispatching", "scheduled", "--schedule", &table, "--soft"];
    let beyond = ["--min-priority", "150", "--max-priority", "200"];
    let served = Served::new("events", scheduled.into_iter().chain(beyond));
    let tail = ["events", "tail", served.reference(), "--count", "1"];
    let tail = tail.into_iter().chain(["--rt-info", "2"]);
    let tail = orbium(tail).stdout(Stdio::null()).spawn().unwrap();
    eventually("the consumer", || served.consumers() == 1);
    let stat = run(["events", "stat", served.reference()]);
    stat.assert_done();
    let line = "queues without their native priority, which the host refused: 1\n";
    assert!(stat.stdout.contains(line), "{stat:?}");
    let stat = run(["events", "stat", served.reference(), "--json"]);
    let state: serde_json::Value = serde_json::from_str(&stat.stdout).unwrap();
    assert_eq!(state["refused_priorities"], 1, "{stat:?}");
    served.push("one");
    assert!(tail.wait_with_output().unwrap().status.success());
}

/// Conformance: events - dispatching by the threads and the policy of a scheduler context - `orbium events`
#[test]
fn a_channel_dispatches_on_a_scheduler_context() {
    let folder = Folder::new();
    let table = folder.file("table.txt", TABLE);
    let contexts = ["--dispatching", "contexts"];
    let by_deadline = ["--schedule", &table, "--policy", "edf", "--threads", "2"];
    for (more, threads) in [(&[][..], 1), (&by_deadline, 2)] {
        let more = contexts.iter().chain(more).copied();
        let served = Served::new("events", more);
        let tail = |rt_info| {
            let tail = ["events", "tail", served.reference(), "--count", "2"];
            let tail = tail.into_iter().chain(["--rt-info", rt_info]);
            orbium(tail).stdout(Stdio::piped()).spawn().unwrap()
        };
        // Of three consumers none has a thread of its own.
        let consumers = ["2", "1", "0"].map(tail);
        eventually("the consumers", || served.consumers() == 3);
        assert_eq!(served.threads("events"), threads);
        for text in ["one", "two"] {
            run(["events", "push", served.reference(), "--text", text]).assert_done();
        }
        for consumer in consumers {
            let output = consumer.wait_with_output().unwrap();
            assert!(output.status.success());
            let lines = String::from_utf8(output.stdout).unwrap();
            let (one, two) = (lines.find("one"), lines.find("two"));
            assert!(one.is_some() && one < two, "{lines}");
        }
    }
}

#[test]
fn options_of_scheduler_contexts_are_for_them() {
    let folder = Folder::new();
    let table = folder.file("table.txt", TABLE);
    let serve = ["events", "serve", "--until-input-ends", "--dispatching"];
    for more in [
        &["reactive", "--threads", "2"][..],
        &["scheduled", "--schedule", &table, "--policy", "edf"],
        &["contexts", "--policy", "edf"],
        &["contexts", "--schedule", &table, "--policy", "best"],
        &["contexts", "--threads", "0"],
        &["contexts", "--schedule", &table, "--release-guard"],
        &["scheduled", "--release-guard"],
    ] {
        let ran = run(serve.into_iter().chain(more.iter().copied()));
        assert_eq!(ran.status, Some(2), "{more:?}: {ran:?}");
    }
}

#[test]
fn tables_that_cannot_be_scheduled_serve_no_channel() {
    let folder = Folder::new();
    let missing = format!("{}.missing", folder.file("empty.txt", ""));
    let wrong = folder.file("wrong.txt", "operation\n");
    let overload = TABLE.replace("1 ms", "60 ms");
    let overload = folder.file("overload.txt", &overload);
    let serve = ["events", "serve", "--until-input-ends", "--dispatching"];
    for (table, why) in [
        (&missing, "cannot read"),
        (&wrong, "wrong.txt:1"),
        (&overload, "Sensor::update"),
    ] {
        let scheduled = ["scheduled", "--schedule", table];
        let ran = run(serve.into_iter().chain(scheduled));
        assert_eq!(ran.status, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why) && ran.stdout.is_empty(), "{ran:?}");
    }
    let ran = run(serve.into_iter().chain(["reactive", "--schedule", &wrong]));
    assert_ne!(ran.status, Some(0));
    let ran = run(serve.into_iter().chain(["scheduled"]));
    assert_ne!(ran.status, Some(0));
}
