// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers of omniORB pull from a channel that stores its events, while channel, consumer and NATS server are killed. Without the
//! program of `interop/build.sh omni` the tests say that they were skipped.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use orbium::Orb;
use orbium_notification::idl::cos_notify_channel_admin::StructuredProxyPushConsumer;
use orbium_notification::{property, structured_event};
use orbium_testkit::{NatsServer, eventually};

use crate::events_connections::{Killed, client, supplier};
use crate::program::{Folder, nats, peer};

/// An event as omniORB prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Got {
    number: i32,
    place: u64,
    delivery: u64,
}

/// A process that pulls when it is asked to.
struct Puller {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Puller {
    fn new(program: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .arg("pull")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    fn ask(&mut self, what: &str) -> String {
        writeln!(self.input, "{what}").unwrap();
        self.output.next().unwrap().unwrap()
    }

    /// The next event; `None` while the channel cannot be reached.
    fn pull(&mut self) -> Option<Got> {
        let line = self.ask("pull");
        if let Some(exception) = line.strip_prefix("exception ") {
            let is_absent = exception.contains("TRANSIENT") || exception.contains("COMM_FAILURE");
            assert!(is_absent, "{exception}");
            return None;
        }
        let words: Vec<u64> = line.split(' ').map(|it| it.parse().unwrap()).collect();
        Some(Got {
            number: i32::try_from(words[0]).unwrap(),
            place: words[1],
            delivery: words[2],
        })
    }

    /// As `kill -9` does.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Puller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The deliveries of each event.
#[derive(Default)]
struct Log(BTreeMap<i32, Vec<Got>>);

impl Log {
    fn add(&mut self, got: Got) {
        self.0.entry(got.number).or_default().push(got);
    }

    fn has_all(&self, events: i32) -> bool {
        (0..events).all(|it| self.0.contains_key(&it))
    }

    /// A duplicate has the place of the event.
    fn assert_recognised_by_place(&self) {
        let mut places = Vec::new();
        for deliveries in self.0.values() {
            let place = deliveries[0].place;
            assert!(
                deliveries.iter().all(|it| it.place == place),
                "{deliveries:?}"
            );
            places.push(place);
        }
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), self.0.len());
    }
}

/// A channel with a stream, and a proxy of it.
struct Stage {
    program: PathBuf,
    form: &'static str,
    nats: NatsServer,
    _folder: Folder,
    killed: Killed,
    orb: Orb,
    proxy: String,
}

impl Stage {
    fn new(form: &'static str) -> Option<Self> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let program = peer("omni-pulls")?;
        let nats = nats()?;
        let (folder, url) = (Folder::new(), nats.url());
        let file = folder.path("connections");
        let arguments = ["--connections", &file, "--jetstream", &url];
        let more = ["--stream", "ALARMS", "--ack-wait", "1"];
        let unique = format!("pulled {}", LAST.fetch_add(1, Ordering::Relaxed));
        let killed = Killed::new("notify", &unique, &[arguments, more].concat());
        let channel = killed.reference().to_owned();
        let connect = Command::new(&program)
            .args(["connect", form, &channel])
            .output()
            .unwrap();
        assert!(connect.status.success(), "{connect:?}");
        let proxy = String::from_utf8(connect.stdout).unwrap();
        Some(Self {
            proxy: proxy.trim_end().to_owned(),
            program,
            form,
            nats,
            _folder: folder,
            killed,
            orb: client(),
        })
    }

    fn puller(&self) -> Puller {
        self.puller_with(&[])
    }

    /// With options of its ORB.
    fn puller_with(&self, options: &[&str]) -> Puller {
        let arguments = [self.form, &self.proxy];
        Puller::new(&self.program, &[&arguments, options].concat())
    }
}

/// Pushes an event until it is stored, once.
fn push(supplier: &StructuredProxyPushConsumer, number: i32) {
    let mut event = structured_event("Telecom", "Alarm", "link 7");
    event.filterable_data.push(property("number", number));
    let id = property("EventId", format!("link-{number}"));
    event.header.variable_header.push(id);
    eventually("the event is stored", || {
        supplier.push_structured_event(&event).is_ok()
    });
}

/// An event is got, its consumer or the channel is killed before the next pull, and it comes again.
fn pulled_events_come_again(form: &'static str) {
    let Some(mut stage) = Stage::new(form) else {
        return;
    };
    let supplier = supplier(&stage.killed.channel(&stage.orb));
    for number in 0..4 {
        push(&supplier, number);
    }
    let mut puller = stage.puller();
    let first = puller.pull().unwrap();
    let second = puller.pull().unwrap();
    assert_eq!((first.number, first.delivery), (0, 1));
    assert_eq!((second.number, second.delivery), (1, 1));
    puller.kill();
    let mut puller = stage.puller();
    let mut got = Vec::new();
    while !got.contains(&1) {
        let next = puller.pull().unwrap();
        if next.number == 1 {
            assert_eq!(next.place, second.place);
            assert!(next.delivery > 1, "{next:?}");
        }
        got.push(next.number);
    }
    push(&supplier, 4);
    // What was got last is not acknowledged.
    let last = puller.pull().unwrap();
    stage.killed.kill_and_start();
    let mut again = None;
    eventually("the last event comes again", || {
        again = puller.pull();
        again.is_some_and(|it| it.number == last.number)
    });
    let again = again.unwrap();
    assert_eq!(again.place, last.place);
    assert!(again.delivery > last.delivery, "{again:?}");
    let mut tried = String::new();
    eventually("there is no other", || {
        tried = puller.ask("try");
        tried == "nothing"
    });
}

/// Conformance: notification - consumers that pull from a stream - omniORB: channel and consumer are killed between a pull and the next
#[test]
fn structured_events_that_were_not_acknowledged_come_again() {
    pulled_events_come_again("structured");
}

/// Conformance: notification - consumers that pull from a stream - omniORB: channel and consumer are killed between a pull and the next
#[test]
fn anys_that_were_not_acknowledged_come_again() {
    pulled_events_come_again("any");
}

/// Conformance: notification - consumers that pull from a stream - omniORB: nothing is lost, whatever is killed
#[test]
fn nothing_is_lost_to_a_pulling_consumer_whatever_is_killed() {
    const EVENTS: i32 = 300;
    let Some(mut stage) = Stage::new("structured") else {
        return;
    };
    let supplier = supplier(&stage.killed.channel(&stage.orb));
    let (mut log, mut puller) = (Log::default(), stage.puller());
    std::thread::scope(|scope| {
        let pushing = scope.spawn(|| {
            for number in 0..EVENTS {
                push(&supplier, number);
            }
        });
        let mut deliveries = 0;
        eventually("all events", || {
            let Some(got) = puller.pull() else {
                return false;
            };
            log.add(got);
            deliveries += 1;
            match deliveries % 60 {
                15 => stage.killed.kill_and_start(),
                30 => {
                    puller.kill();
                    puller = stage.puller();
                }
                45 => {
                    stage.nats.kill();
                    stage.nats.start_again();
                }
                _ => {}
            }
            log.has_all(EVENTS)
        });
        pushing.join().unwrap();
    });
    log.assert_recognised_by_place();
}

/// Conformance: notification - consumers that pull from a stream - omniORB: a pull that it has given up takes no event
#[test]
fn a_pull_that_has_timed_out_takes_no_event() {
    let Some(stage) = Stage::new("structured") else {
        return;
    };
    let mut puller = stage.puller_with(&["-ORBclientCallTimeOutPeriod", "300"]);
    let exception = puller.ask("pull");
    assert!(exception.contains("exception"), "{exception}");
    push(&supplier(&stage.killed.channel(&stage.orb)), 0);
    let mut got = None;
    eventually("the event", || {
        got = puller.ask("pull").split(' ').next().unwrap().parse().ok();
        got.is_some()
    });
    assert_eq!(got, Some(0));
}
