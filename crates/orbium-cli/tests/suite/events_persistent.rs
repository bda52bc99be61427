// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events` on channels that store their events: processes are killed while events pass.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use orbium::{ExceptionKind, Orb};
use orbium_event::persistent::{
    Delivery, PersistentConsumer, PersistentSupplier, connect_consumer, connect_supplier,
};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{Pattern, RemoteError, new_event};
use orbium_testkit::transport_suite::loopback;
use orbium_testkit::{PATIENCE, eventually};

use crate::program::{Served, nats, orbium, run};

const EVENTS: u32 = 2000;
/// Seconds until what was not acknowledged is delivered again, where something is killed.
pub(crate) const SHORT_ACK_SECONDS: &str = "1";
/// Where nothing is: a push may take longer than a second on a loaded machine.
const NEVER: &str = "60";

/// The sequence numbers of deliveries, by the number of the event.
type Log = Arc<Mutex<BTreeMap<u32, Vec<u64>>>>;

/// A channel at an address that stays free when it is killed.
pub(crate) struct Persistent {
    served: Served,
    endpoint: String,
    nats: String,
    spool: Option<String>,
}

impl Persistent {
    /// With a stream of the server at that URL.
    pub(crate) fn new(nats: &str, unique: &str, ack_wait: &str) -> Self {
        Self::with_spool(nats, unique, (ack_wait, None))
    }

    /// With a spool in that file.
    pub(crate) fn with_spool(
        nats: &str,
        unique: &str,
        (ack_wait, spool): (&str, Option<String>),
    ) -> Self {
        let host = loopback(&format!("{unique} {}", std::process::id()));
        let (endpoint, nats) = (format!("iiop://{host}:20101"), nats.to_owned());
        Self {
            served: Self::start((&endpoint, &nats), ack_wait, spool.as_deref()),
            endpoint,
            nats,
            spool,
        }
    }

    fn start((endpoint, nats): (&str, &str), ack_wait: &str, spool: Option<&str>) -> Served {
        let stream = [
            "--jetstream",
            nats,
            "--stream",
            "NAV",
            "--ack-wait",
            ack_wait,
        ];
        let endpoint = ["--endpoint", endpoint];
        let spool = spool.into_iter().flat_map(|it| ["--spool", it]);
        Served::new("events", endpoint.into_iter().chain(stream).chain(spool))
    }

    pub(crate) fn kill_and_start(&mut self) {
        self.served.kill();
        let place = (self.endpoint.as_str(), self.nats.as_str());
        self.served = Self::start(place, SHORT_ACK_SECONDS, self.spool.as_deref());
    }

    pub(crate) fn url(&self) -> String {
        let address = &self.endpoint["iiop://".len()..];
        format!("corbaloc::{address}/EventService")
    }
}

pub(crate) fn client() -> Orb {
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    builder.call_timeout(PATIENCE).build().unwrap()
}

fn numbered(number: u32) -> Event {
    let mut event = new_event(16, 1);
    event.data.payload = number.to_string().into_bytes();
    event
}

fn supplier(orb: &Orb, url: &str) -> Result<PersistentSupplier, RemoteError> {
    let channel: Result<EventChannel, _> = orb.resolve(url);
    connect_supplier(&channel.map_err(|_| RemoteError::Nil)?)
}

/// A supplier that connects again when its channel is gone.
pub(crate) struct Source<'a> {
    orb: &'a Orb,
    url: &'a str,
    connected: Option<PersistentSupplier>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(orb: &'a Orb, url: &'a str) -> Self {
        let connected = None;
        Self {
            orb,
            url,
            connected,
        }
    }

    /// Pushes an event until it is stored, whatever becomes of the channel; returns how many pushes have failed.
    pub(crate) fn store(&mut self, event: &Event) -> u64 {
        let mut failed = 0;
        eventually("the event is stored", || {
            if self.connected.is_none() {
                self.connected = supplier(self.orb, self.url).ok();
            }
            let pushed = self
                .connected
                .as_ref()
                .map(|it| it.push(std::slice::from_ref(event)));
            let is_stored = matches!(pushed, Some(Ok(())));
            if !is_stored {
                self.connected = None;
                failed += u64::from(pushed.is_some());
            }
            is_stored
        });
        failed
    }
}

fn push_all(orb: &Orb, url: &str) {
    let mut source = Source::new(orb, url);
    for number in 0..EVENTS {
        source.store(&numbered(number));
    }
}

fn consumer(orb: &Orb, url: &str, log: &Log) -> Option<PersistentConsumer> {
    let channel: EventChannel = orb.resolve(url).ok()?;
    let log = Arc::clone(log);
    let pattern = Pattern::of(16, 0);
    let consumer = connect_consumer(orb, &channel, ("display", &pattern), move |event| {
        let number = String::from_utf8(event.data.payload.clone()).unwrap();
        let sequence = Delivery::of(event).id.sequence;
        let mut log = log.lock().unwrap();
        log.entry(number.parse().unwrap())
            .or_default()
            .push(sequence);
        Ok(())
    });
    consumer.ok()
}

fn assert_complete(log: &Log) {
    let log = log.lock().unwrap();
    assert_eq!(log.len(), EVENTS as usize);
    let mut sequences = BTreeMap::new();
    for (number, deliveries) in &*log {
        assert!(
            deliveries.iter().all(|it| *it == deliveries[0]),
            "{number}: {deliveries:?}"
        );
        assert_eq!(sequences.insert(deliveries[0], *number), None);
    }
}

/// Conformance: events - persistence by a stream - the channel is killed: no event is lost
#[test]
fn no_event_is_lost_when_the_channel_is_killed() {
    let Some(nats) = nats() else { return };
    let mut served = Persistent::new(&nats.url(), "killed channel", SHORT_ACK_SECONDS);
    let (url, orb, log) = (served.url(), client(), Log::default());
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| push_all(&orb, &url));
        // The consumer connects again when its channel is gone.
        scope.spawn(|| {
            let mut connected = None;
            eventually("the consumer ends", || {
                let is_connected = |it: &PersistentConsumer| it.is_connected().unwrap_or(false);
                if !connected.as_ref().is_some_and(is_connected) {
                    connected = consumer(&orb, &url, &log);
                }
                is_done.load(Ordering::Relaxed)
            });
        });
        for part in 1..=3 {
            eventually("a part arrives", || {
                log.lock().unwrap().len() >= (EVENTS / 4 * part) as usize
            });
            served.kill_and_start();
        }
        eventually("all arrive", || {
            log.lock().unwrap().len() == EVENTS as usize
        });
        is_done.store(true, Ordering::Relaxed);
    });
    assert_complete(&log);
}

/// What a killed or ended `tail` has printed.
fn read(child: &mut Child, log: &Log, enough: usize) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        // The last line of one that was killed may be cut.
        let Ok(event) = serde_json::from_str::<serde_json::Value>(&line) else {
            continue;
        };
        let number = event["payload"].as_str().unwrap().parse().unwrap();
        let sequence = event["sequence"].as_u64().unwrap();
        let mut log = log.lock().unwrap();
        log.entry(number).or_default().push(sequence);
        if log.len() >= enough {
            // Once; what is in the pipe still counts.
            let _ = child.kill();
        }
    }
    child.wait().unwrap();
}

/// Conformance: events - persistence by a stream - the consumer is killed: no event is lost
#[test]
fn no_event_is_lost_when_the_consumer_is_killed() {
    let Some(nats) = nats() else { return };
    let served = Persistent::new(&nats.url(), "killed consumer", SHORT_ACK_SECONDS);
    let (url, orb, log) = (served.url(), client(), Log::default());
    thread::scope(|scope| {
        scope.spawn(|| push_all(&orb, &url));
        for part in 1..=4 {
            let tail = ["events", "tail", &url, "--name", "display", "--type", "16"];
            let mut child = orbium(tail).stdout(Stdio::piped()).spawn().unwrap();
            read(&mut child, &log, (EVENTS / 4 * part) as usize);
        }
    });
    assert_complete(&log);
}

/// Conformance: events - persistence by a stream - `orbium events serve --jetstream`
#[test]
fn events_pushed_before_the_consumer_are_printed_once() {
    let Some(nats) = nats() else { return };
    let served = Persistent::new(&nats.url(), "stored", NEVER);
    let url = served.url();
    for text in ["one", "two", "three"] {
        let push = ["events", "push", &url, "--type", "16", "--text", text];
        run(push).assert_done();
    }
    for (count, expected) in [("2", vec!["one", "two"]), ("1", vec!["three"])] {
        let tail = [
            "events", "tail", &url, "--name", "display", "--count", count,
        ];
        let printed = run(tail);
        printed.assert_done();
        let lines: Vec<_> = printed.stdout.lines().collect();
        assert_eq!(lines.len(), expected.len(), "{printed:?}");
        for (line, text) in lines.iter().zip(expected) {
            assert!(line.contains(text), "{line}");
            assert!(line.contains("\"delivery\":"), "{line}");
        }
    }
    let stat = run(["events", "stat", &url]);
    stat.assert_done();
    assert!(stat.stdout.starts_with("3 events received"), "{stat:?}");
    run(["events", "tail", &url, "--name", "a.b"]).assert_failed_saying("the name");
}

/// Conformance: events - persistence by a stream - dead letters: `orbium events serve --dead-letters`
#[test]
fn an_event_that_is_refused_is_printed_from_the_dead_letters() {
    let Some(nats) = nats() else { return };
    let url = nats.url();
    let nav = ["--jetstream", &url, "--stream", "NAV"];
    let nav = nav.into_iter().chain(["--dead-letters", "OTHER"]);
    let (served, orb) = (Served::new("events", nav), client());
    let channel: EventChannel = orb.resolve(served.reference()).unwrap();
    let display = ("display", &Pattern::of(16, 0));
    let refuse = |_: &Event| Err(ExceptionKind::BadParam.into());
    let consumer = connect_consumer(&orb, &channel, display, refuse).unwrap();
    served.push("one");
    let letters_channel = Served::new("events", ["--jetstream", &url, "--stream", "OTHER"]);
    let tail = [
        "events",
        "tail",
        letters_channel.reference(),
        "--name",
        "operator",
    ];
    let printed = run(tail.into_iter().chain(["--count", "1"]));
    printed.assert_done();
    assert!(printed.stdout.contains("one"), "{printed:?}");
    eventually("the event is counted", || {
        let stat = run(["events", "stat", "--json", served.reference()]);
        stat.json()["consumers"][0]["discarded"] == 1
    });
    consumer.disconnect().unwrap();
}

#[test]
fn streams_that_cannot_be_used_serve_no_channel() {
    let gone = format!("nats://127.0.0.1:{}", orbium_testkit::dead_port());
    let serve = ["events", "serve", "--jetstream", &gone, "--stream"];
    if cfg!(feature = "jetstream") {
        let nav = run(serve.into_iter().chain(["NAV"]));
        nav.assert_failed_saying("cannot connect to the NATS server");
        run(serve.into_iter().chain(["a.b"])).assert_failed_saying("is no name");
        let same = serve.into_iter().chain(["NAV", "--dead-letters", "NAV"]);
        run(same).assert_failed_saying("a stream of their own");
    }
    let half = run(["events", "serve", "--jetstream", &gone]);
    assert_ne!(half.status, Some(0));
    for more in [
        &["NAV", "--max-deliveries", "2"][..],
        &["NAV", "--dead-letters", "OTHER", "--max-deliveries", "0"],
    ] {
        let ran = run(serve.into_iter().chain(more.iter().copied()));
        assert_eq!(ran.status, Some(2), "{ran:?}");
    }
    let both = serve.into_iter().chain(["NAV", "--queue", "7"]);
    assert_ne!(run(both).status, Some(0));
}

/// A program without the client of NATS says so, and serves no channel in memory in place of the one that was asked for.
#[test]
fn a_program_without_jetstream_names_the_feature() {
    for command in ["events", "notify"] {
        let gone = format!("nats://127.0.0.1:{}", orbium_testkit::dead_port());
        let serve = [command, "serve", "--jetstream", &gone, "--stream", "NAV"];
        let reason = if cfg!(feature = "jetstream") {
            "cannot connect to the NATS server"
        } else {
            "this program was built without the feature `jetstream` of orbium-cli"
        };
        run(serve).assert_failed_saying(reason);
    }
}
