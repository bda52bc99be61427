// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers, suppliers and observers of omniORB at a channel that `orbium events serve` serves: the interfaces of TAO's real-time
//! event channel, spoken by another ORB. Without the program of `interop/build.sh omni` the tests say that they were skipped.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use orbium::Orb;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{Pattern, connect_consumer, connect_supplier, new_event};
use orbium_testkit::{PATIENCE, eventually};

use crate::program::{Served, peer, run};

/// A process of omniORB with one connection to a channel.
struct Peer {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Peer {
    /// Starts it; the first line says how connecting ended.
    fn new(program: &Path, role: &str, elements: &str, served: &Served) -> Self {
        let mut child = Command::new(program)
            .args([role, elements, served.reference()])
            // Otherwise it serves oneways of one connection by several threads, in any order.
            .args(["-ORBmaxServerThreadPerConnection", "1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take().unwrap(),
            child,
            lines,
        }
    }

    /// A consumer that is connected.
    fn consumer(program: &Path, elements: &str, served: &Served) -> Self {
        let consumer = Self::new(program, "consume", elements, served);
        consumer.assert_next("done");
        consumer
    }

    /// A supplier that is connected.
    fn supplier(program: &Path, elements: &str, served: &Served) -> Self {
        let supplier = Self::new(program, "supply", elements, served);
        supplier.assert_next("done");
        supplier
    }

    #[track_caller]
    fn next(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    #[track_caller]
    fn assert_next(&self, expected: &str) {
        assert_eq!(self.next(), expected);
    }

    /// The next events, of one push or several.
    #[track_caller]
    fn events(&self, count: usize) -> Vec<String> {
        let mut events = Vec::new();
        while events.len() < count {
            let line = self.next();
            let set = line.strip_prefix("events ").expect(&line);
            events.extend(set.split(' ').map(str::to_owned));
        }
        events
    }

    fn send(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
    }

    /// A command with nothing printed before its answer.
    #[track_caller]
    fn assert_done(&mut self, command: &str) {
        self.send(command);
        self.assert_next("done");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the channel has received so many events: pushes are oneways.
fn received(served: &Served, events: u64) {
    eventually("the events are received", || {
        let stat = run(["events", "stat", "--json", served.reference()]).json();
        stat["received"] == events
    });
}

/// Conformance: events - clients of another ORB - omniORB: events with types, sources, anys and payloads both ways, in order
#[test]
fn events_pass_between_omniorb_and_orbium() {
    let Some(program) = peer("omni-rtec") else {
        return;
    };
    for dispatching in ["per-consumer", "reactive"] {
        let served = Served::new("events", ["--dispatching", dispatching]);
        let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let orb = builder.build().unwrap();
        let channel: EventChannel = orb.resolve(served.reference()).unwrap();
        let (send, seen) = mpsc::channel();
        let on_events = move |events: &[Event]| {
            for event in events {
                let number: i32 = event.data.any_value.extract().unwrap();
                let payload = String::from_utf8(event.data.payload.clone()).unwrap();
                let _ = send.send((event.header.r#type, event.header.source, number, payload));
            }
        };
        let ours = connect_consumer(&orb, &channel, &Pattern::of(0, 2), on_events).unwrap();
        let theirs = Peer::consumer(&program, "16:1", &served);
        let mut supplier = Peer::supplier(&program, "16:1,16:2,17:1", &served);

        // Of the whole type or source, or of another one, or a set of several.
        supplier.assert_done("push 17:1:1:other 16:2:2:ours");
        supplier.assert_done("push 16:1:3:three 16:1:4:four");
        supplier.assert_done("push 16:1:5:");
        assert_eq!(theirs.events(3), ["16:1:3:three", "16:1:4:four", "16:1:5:"]);
        let expected = (16, 2, 2, "ours".to_owned());
        assert_eq!(seen.recv_timeout(PATIENCE).unwrap(), expected);

        let from_orbium = connect_supplier(&channel, &[(16, 1)]).unwrap();
        let mut event = new_event(16, 1);
        event.data.any_value = 6_i32.into();
        event.data.payload = b"six".to_vec();
        from_orbium.push(&[event]).unwrap();
        assert_eq!(theirs.events(1), ["16:1:6:six"]);
        ours.disconnect().unwrap();
        orb.shutdown(true).unwrap();
    }
}

/// Conformance: events - clients of another ORB - omniORB: sets of a conjunction arrive as one
#[test]
fn a_consumer_of_omniorb_gets_the_sets_of_a_conjunction() {
    let Some(program) = peer("omni-rtec") else {
        return;
    };
    let served = Served::new("events", []);
    let consumer = Peer::consumer(&program, "8:2,16:1,17:2", &served);
    let mut supplier = Peer::supplier(&program, "16:1,17:2", &served);
    supplier.assert_done("push 17:2:1:a");
    supplier.assert_done("push 16:1:2:b");
    consumer.assert_next("events 17:2:1:a 16:1:2:b");
    // Of each child the first event since then.
    for event in ["16:1:3:c", "16:1:4:d", "17:2:5:e"] {
        supplier.assert_done(&format!("push {event}"));
    }
    consumer.assert_next("events 16:1:3:c 17:2:5:e");
}

/// Conformance: events - clients of another ORB - omniORB: an interval timeout and events
#[test]
fn a_consumer_of_omniorb_gets_the_events_of_an_interval() {
    let Some(program) = peer("omni-rtec") else {
        return;
    };
    let served = Served::new("events", []);
    // Every 20 ms, and a type.
    let consumer = Peer::consumer(&program, "9:2,5:0:200000,16:1", &served);
    assert_eq!(consumer.events(3), ["5:0:-:"; 3]);
    let mut supplier = Peer::supplier(&program, "16:1", &served);
    supplier.assert_done("push 16:1:1:one");
    while consumer.events(1) != ["16:1:1:one"] {}
    assert_eq!(consumer.events(2), ["5:0:-:"; 2]);
}

/// Conformance: events - clients of another ORB - omniORB: suspended connections, disconnected ones, a destroyed channel
#[test]
fn peers_of_omniorb_suspend_resume_and_disconnect() {
    let Some(program) = peer("omni-rtec") else {
        return;
    };
    for (options, first) in [(&[][..], 2), (&["--suspension", "wait"], 1)] {
        let served = Served::new("events", options.iter().copied());
        let mut consumer = Peer::consumer(&program, "16:0", &served);
        let mut supplier = Peer::supplier(&program, "16:1", &served);
        let mut other = Peer::supplier(&program, "16:1", &served);
        consumer.assert_done("suspend");
        supplier.assert_done("push 16:1:1:");
        received(&served, 1);
        consumer.assert_done("resume");
        supplier.assert_done("push 16:1:2:");
        for number in first..=2 {
            consumer.assert_next(&format!("events 16:1:{number}:"));
        }
        supplier.assert_done("disconnect");
        supplier.send("disconnect");
        supplier.assert_next("exception OBJECT_NOT_EXIST");
        let mut last = Peer::consumer(&program, "16:0", &served);
        consumer.assert_done("disconnect");
        consumer.send("resume");
        consumer.assert_next("exception OBJECT_NOT_EXIST");
        assert_eq!(served.consumers(), 1);

        let orb = Orb::builder().build().unwrap();
        let channel: EventChannel = orb.resolve(served.reference()).unwrap();
        channel.destroy().unwrap();
        for peer in [&mut last, &mut other] {
            peer.assert_next("disconnected");
        }
        orb.shutdown(true).unwrap();
    }
}

/// Conformance: events - clients of another ORB - omniORB: second connections, malformed subscriptions, callbacks
#[test]
fn peers_of_omniorb_get_the_exceptions_of_the_interfaces() {
    let Some(program) = peer("omni-rtec") else {
        return;
    };
    let served = Served::new("events", []);
    // A conjunction without children.
    let malformed = Peer::new(&program, "consume", "8:0", &served);
    malformed.assert_next("exception TypeError");
    for (role, elements) in [("consume", "16:1"), ("supply", "16:1")] {
        let mut peer = Peer::new(&program, role, elements, &served);
        peer.assert_next("done");
        peer.send("connect 17:1");
        peer.assert_next("exception AlreadyConnected");
    }

    let options = ["--consumer-reconnect", "--supplier-reconnect"];
    let options = options.into_iter().chain(["--disconnect-callbacks"]);
    let served = Served::new("events", options);
    let mut consumer = Peer::consumer(&program, "16:1", &served);
    let mut supplier = Peer::supplier(&program, "16:1", &served);
    consumer.assert_done("connect 17:1");
    supplier.assert_done("connect 16:1,17:1");
    supplier.assert_done("push 16:1:1: 17:1:2:");
    consumer.assert_next("events 17:1:2:");
    for peer in [&mut consumer, &mut supplier] {
        peer.send("disconnect");
        // By two threads.
        let mut lines = [peer.next(), peer.next()];
        lines.sort_unstable();
        assert_eq!(lines, ["disconnected", "done"]);
    }
}

/// Conformance: events - clients of another ORB - omniORB: observers get the sums of subscriptions and publications
#[test]
fn an_observer_of_omniorb_gets_subscriptions_and_publications() {
    let Some(program) = peer("omni-rtec") else {
        return;
    };
    let served = Served::new("events", []);
    let mut observer = Peer::new(&program, "observe", "-", &served);
    let until = |observer: &Peer, line: &str| while observer.next() != line {};
    until(&observer, "done");
    let mut consumer = Peer::consumer(&program, "16:1", &served);
    // A disjunction of one.
    until(&observer, "consumers 9:1 16:1");
    let _supplier = Peer::supplier(&program, "17:2", &served);
    until(&observer, "suppliers 17:2");
    consumer.assert_done("disconnect");
    until(&observer, "consumers 9:0");
    observer.send("disconnect");
    until(&observer, "done");
}

/// Conformance: events - clients of another ORB - omniORB: a consumer that is killed is disconnected, others get every event
#[test]
fn a_consumer_of_omniorb_that_is_killed_is_disconnected() {
    let Some(program) = peer("omni-rtec") else {
        return;
    };
    let served = Served::new("events", ["--ping-period", "0.1", "--failures", "2"]);
    let mut killed = Peer::consumer(&program, "16:1", &served);
    let consumer = Peer::consumer(&program, "16:1", &served);
    let mut supplier = Peer::supplier(&program, "16:1", &served);
    killed.child.kill().unwrap();
    for number in 0..10 {
        supplier.assert_done(&format!("push 16:1:{number}:"));
    }
    let expected: Vec<_> = (0..10).map(|number| format!("16:1:{number}:")).collect();
    assert_eq!(consumer.events(10), expected);
    eventually("it is disconnected", || served.consumers() == 1);
}
