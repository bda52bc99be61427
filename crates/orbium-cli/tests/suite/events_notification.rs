// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events tail|push|stat` on notification channels.

use std::process::Stdio;

use orbium::{ExceptionKind, Interface, Orb};
use orbium_notification::StructuredConsumer;
use orbium_notification::idl::cos_notify_channel_admin::EventChannel;
use orbium_notification::idl::cos_notify_comm::StructuredPushConsumer;
use orbium_notification::idl::orbium_notification::DurableConsumerAdmin;
use orbium_testkit::eventually;
use serde_json::{Value, json};

use crate::program::{Folder, Served, nats, orbium, run};

fn event(severity: i16) -> Value {
    json!({
        "header": {
            "fixed_header": {
                "event_type": { "domain_name": "Telecom", "type_name": "Alarm" },
                "event_name": "link 7",
            },
            "variable_header": [],
        },
        "filterable_data": [
            { "name": "severity", "value": { "$type": "short", "$value": severity } },
        ],
        "remainder_of_body": "down",
    })
}

/// Conformance: notification - `orbium events tail`, `push` and `stat` - structured events as JSON, `--filter`
#[test]
fn structured_events_are_pushed_filtered_printed_and_counted() {
    let (served, folder) = (Served::new("notify", []), Folder::new());
    let tail = [
        "events",
        "tail",
        served.reference(),
        "--filter",
        "$type_name == 'Alarm' and $severity > 3",
        "--count",
        "2",
    ];
    let tail = orbium(tail).stdout(Stdio::piped()).spawn().unwrap();
    eventually("the consumer", || served.consumers() == 1);
    for severity in [5, 2, 7] {
        let text = event(severity).to_string();
        run(["events", "push", served.reference(), "--json", &text]).assert_done();
    }
    run(["events", "push", served.reference(), "--text", "other"]).assert_done();
    let output = tail.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    let events = lines.lines().map(|it| serde_json::from_str(it).unwrap());
    let events: Vec<Value> = events.collect();
    assert_eq!(events.len(), 2, "{lines}");
    for (event, severity) in events.iter().zip([5, 7]) {
        assert_eq!(
            event["filterable_data"][0]["value"]["$value"], severity,
            "{lines}"
        );
        assert!(
            event["remainder_of_body"].to_string().contains("down"),
            "{lines}"
        );
        // What is printed can be pushed, out of a file too.
        let file = format!("@{}", folder.file("event.json", event.to_string()));
        run(["events", "push", served.reference(), "--json", &file]).assert_done();
    }
    eventually("the disconnection", || served.consumers() == 0);
    let stat = run(["events", "stat", served.reference()]);
    stat.assert_done();
    assert!(
        stat.stdout.starts_with("6 events received; 0 suppliers"),
        "{stat:?}"
    );
}

/// Conformance: notification - `orbium events serve --notification` - structured consumers are those of the served channel
#[test]
fn a_served_channel_is_notification_too() {
    let headers = ["--notification", "--event-type", "Telecom/Alarm=17:2"];
    let served = Served::new("events", headers);
    let notification = served.lines[1].as_str();
    let filtered = ["events", "tail", notification, "--filter", "$severity > 3"];
    let filtered = filtered.into_iter().chain(["--count", "1"]);
    let structured = orbium(filtered).stdout(Stdio::piped()).spawn().unwrap();
    let by_type = ["events", "tail", served.reference(), "--type", "17"];
    let by_type = by_type.into_iter().chain(["--count", "2"]);
    let real_time = orbium(by_type).stdout(Stdio::piped()).spawn().unwrap();
    eventually("the consumers", || served.consumers() == 2);
    for severity in [2, 5] {
        let text = event(severity).to_string();
        run(["events", "push", notification, "--json", &text]).assert_done();
    }
    let lines = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let (structured, real_time) = (lines(structured), lines(real_time));
    let shown: Value = serde_json::from_str(&structured).unwrap();
    assert_eq!(
        shown["filterable_data"][0]["value"]["$value"], 5,
        "{structured}"
    );
    let first = real_time.lines().next().unwrap();
    let first: Value = serde_json::from_str(first).unwrap();
    assert_eq!(
        (&first["type"], &first["source"]),
        (&17.into(), &2.into()),
        "{real_time}"
    );
    for wrong in ["--event-type", "--structured"] {
        let refused = run(["events", "serve", "--notification", "Key", wrong, "17:0"]);
        assert_eq!(refused.status, Some(2), "{refused:?}");
    }
}

#[test]
fn options_that_do_not_fit_a_notification_channel_are_refused() {
    let served = Served::new("notify", []);
    let reference = served.reference();
    for (arguments, why) in [
        (["tail", "--filter", "1 +"], "InvalidConstraint"),
        (["push", "--json", "{}"], "no structured event"),
        (["push", "--json", "@/nowhere.json"], "cannot read"),
    ] {
        let [command, option, value] = arguments;
        run(["events", command, reference, option, value]).assert_failed_saying(why);
    }
    for arguments in [
        ["tail", "--type", "16"],
        ["tail", "--rt-info", "1"],
        ["push", "--payload", "x"],
        ["push", "--source", "1"],
    ] {
        let [command, option, value] = arguments;
        let ran = run(["events", command, reference, option, value]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
    }
    let events = Served::new("events", []);
    for arguments in [["tail", "--filter", "1"], ["push", "--json", "{}"]] {
        let [command, option, value] = arguments;
        let ran = run(["events", command, events.reference(), option, value]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
    }
    for channel in [reference, events.reference()] {
        run(["events", "tail", channel, "--name", "display"])
            .assert_failed_saying("stores no events");
    }
}

/// Conformance: notification - persistence by a stream - `orbium notify serve --jetstream`
#[test]
fn structured_events_that_were_stored_are_printed_by_name() {
    let Some(nats) = nats() else { return };
    let url = nats.url();
    let served = Served::new("notify", ["--jetstream", &url, "--stream", "ALARMS"]);
    let reference = served.reference();
    for severity in [5, 7, 9] {
        let text = event(severity).to_string();
        run(["events", "push", reference, "--json", &text]).assert_done();
    }
    for (count, expected) in [("2", vec![5, 7]), ("1", vec![9])] {
        let tail = [
            "events", "tail", reference, "--name", "display", "--count", count,
        ];
        let printed = run(tail);
        printed.assert_done();
        let events = printed
            .stdout
            .lines()
            .map(|it| serde_json::from_str(it).unwrap());
        let events: Vec<Value> = events.collect();
        let values = events
            .iter()
            .map(|it| it["filterable_data"][0]["value"]["$value"].clone());
        assert_eq!(values.collect::<Vec<_>>(), expected, "{printed:?}");
        assert!(printed.stdout.contains("StreamSequence"), "{printed:?}");
    }
}

/// Conformance: notification - persistence by a stream - dead letters: `orbium notify serve --dead-letters`
#[test]
fn a_structured_event_that_is_refused_is_printed_from_the_dead_letters() {
    let Some(nats) = nats() else { return };
    let url = nats.url();
    let alarms = ["--jetstream", &url, "--stream", "ALARMS"];
    // It is not delivered again: once it was, until its last delivery.
    let dead_letters = ["--dead-letters", "REFUSED", "--max-deliveries", "1000000"];
    let alarms = alarms.into_iter().chain(dead_letters);
    let served = Served::new("notify", alarms);
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    let channel: EventChannel = orb.resolve(served.reference()).unwrap();
    let admin = channel.default_consumer_admin().unwrap().unwrap();
    let admin: DurableConsumerAdmin = admin.as_object().narrow().unwrap();
    let proxy = admin.obtain_durable_push_supplier("display").unwrap();
    let refusing = StructuredConsumer::new(|_| Err(ExceptionKind::BadParam.into()));
    let consumer: StructuredPushConsumer = orb.root_poa().activate(refusing).unwrap();
    let proxy = proxy.unwrap();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let text = event(5).to_string();
    run(["events", "push", served.reference(), "--json", &text]).assert_done();
    let refused = ["--jetstream", &url, "--stream", "REFUSED"];
    let letters = Served::new("notify", refused);
    let tail = ["events", "tail", letters.reference(), "--name", "operator"];
    let printed = run(tail.into_iter().chain(["--count", "1"]));
    printed.assert_done();
    let letter: Value = serde_json::from_str(printed.stdout.trim()).unwrap();
    let severity = &letter["filterable_data"][0]["value"]["$value"];
    assert_eq!(severity, 5, "{printed:?}");
    orb.shutdown(true).unwrap();
}
