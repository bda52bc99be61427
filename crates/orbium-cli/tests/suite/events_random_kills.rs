// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel that stores its events, the server that has its stream, and the consumer are killed at random while
//! sources push: each event arrives, stored once, in the order of its source.

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orbium_event::new_event;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_testkit::{Chance, NatsServer, eventually};

use crate::events_persistent::{Persistent, SOON, Source, client, nats};
use crate::program::orbium;

const SOURCES: i32 = 3;
/// Between two events of a source.
const PERIOD: Duration = Duration::from_millis(1);
/// Milliseconds between two kills: at least, and how many more at most.
const PAUSE: (u64, usize) = (200, 600);

/// Kills of each kind.
#[derive(Debug, Default)]
struct Kills {
    channel: u32,
    server: u32,
    consumer: u32,
}

/// Sources, a consumer, and what they have come to.
struct Run {
    nats: NatsServer,
    /// The reference of the channel.
    url: String,
    /// Places in the stream of all deliveries, by source and number of the event.
    log: Mutex<BTreeMap<(i32, u32), Vec<u64>>>,
    tail: Mutex<Option<Child>>,
    /// Sources are to end.
    is_over: AtomicBool,
    /// The consumer is to end.
    is_done: AtomicBool,
}

/// Ends the threads of a run, of one that failed too.
struct Ending<'r>(&'r Run);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
        self.0.is_done.store(true, Ordering::SeqCst);
        self.0.kill_consumer();
    }
}

fn event(source: i32, number: u32) -> Event {
    let mut event = new_event(16, source);
    event.data.payload = number.to_string().into_bytes();
    event
}

impl Run {
    fn new(nats: NatsServer, url: String) -> Self {
        Self {
            nats,
            url,
            log: Mutex::default(),
            tail: Mutex::default(),
            is_over: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
        }
    }

    /// Pushes events in order, each until it is stored; returns how many.
    fn push(&self, source: i32) -> u32 {
        let (orb, mut number) = (client(), 0);
        let mut supplier = Source::new(&orb, &self.url);
        while !self.is_over.load(Ordering::SeqCst) {
            supplier.store(&event(source, number));
            number += 1;
            thread::sleep(PERIOD);
        }
        number
    }

    /// Runs consumers one after the other, and reads what they print.
    fn consume(&self) {
        while !self.is_done.load(Ordering::SeqCst) {
            let tail = ["events", "tail", &self.url, "--name", "display"];
            let mut child = orbium(tail)
                .args(["--type", "16"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let printed = child.stdout.take().unwrap();
            *self.tail.lock().unwrap() = Some(child);
            if self.is_done.load(Ordering::SeqCst) {
                self.kill_consumer();
            }
            self.read(printed);
            let ended = self.tail.lock().unwrap().take();
            ended.unwrap().wait().unwrap();
        }
    }

    fn read(&self, printed: ChildStdout) {
        for line in BufReader::new(printed).lines().map_while(Result::ok) {
            // The last line of one that was killed may be cut.
            let Ok(event) = serde_json::from_str::<serde_json::Value>(&line) else {
                continue;
            };
            let source = i32::try_from(event["source"].as_i64().unwrap()).unwrap();
            let number = event["payload"].as_str().unwrap().parse().unwrap();
            let place = event["sequence"].as_u64().unwrap();
            let mut log = self.log.lock().unwrap();
            log.entry((source, number)).or_default().push(place);
        }
    }

    fn kill_consumer(&self) {
        if let Some(child) = &mut *self.tail.lock().unwrap() {
            child.kill().unwrap();
        }
    }

    fn kill_at_random(
        &self,
        channel: &mut Persistent,
        time: Duration,
        chance: &mut Chance,
    ) -> Kills {
        let (started, mut kills) = (Instant::now(), Kills::default());
        while started.elapsed() < time {
            let pause = PAUSE.0 + chance.below(PAUSE.1) as u64;
            thread::sleep(Duration::from_millis(pause));
            match chance.below(3) {
                0 => {
                    kills.channel += 1;
                    channel.kill_and_start();
                    // It does not know that its channel is gone.
                    self.kill_consumer();
                }
                1 => {
                    kills.server += 1;
                    self.nats.kill();
                    self.nats.start_again();
                }
                _ => {
                    kills.consumer += 1;
                    self.kill_consumer();
                }
            }
        }
        kills
    }

    fn arrived(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    fn wait_for(&self, events: usize) {
        let mut arrived = self.arrived();
        while arrived < events {
            eventually("more arrive", || self.arrived() > arrived);
            arrived = self.arrived();
        }
    }

    /// Each event has one place in the stream, and those of a source stand in their order.
    fn assert_complete(&self, pushed: &[u32]) {
        let log = self.log.lock().unwrap();
        for (source, pushed) in (1..).zip(pushed) {
            let of_source = log.range((source, 0)..=(source, u32::MAX));
            let numbers: Vec<_> = of_source.clone().map(|((_, number), _)| *number).collect();
            assert!(numbers.into_iter().eq(0..*pushed), "source {source}");
            let places: Vec<_> = of_source
                .map(|(event, places)| {
                    assert!(
                        places.iter().all(|it| *it == places[0]),
                        "{event:?}: {places:?}"
                    );
                    places[0]
                })
                .collect();
            assert!(
                places.is_sorted_by(|one, next| one < next),
                "source {source}"
            );
        }
    }
}

fn run(time: Duration, seed: u64) {
    let Some(nats) = nats() else { return };
    println!("{} s, seed {seed}", time.as_secs());
    let mut channel = Persistent::new(&nats, "random kills", SOON);
    let run = Run::new(nats, channel.url());
    let (pushed, kills) = thread::scope(|scope| {
        let _ending = Ending(&run);
        let of_run = &run;
        let sources = (1..=SOURCES).map(|source| scope.spawn(move || of_run.push(source)));
        let sources: Vec<_> = sources.collect();
        scope.spawn(|| run.consume());
        let kills = run.kill_at_random(&mut channel, time, &mut Chance::seeded(seed));
        run.is_over.store(true, Ordering::SeqCst);
        let pushed: Vec<_> = sources.into_iter().map(|it| it.join().unwrap()).collect();
        run.wait_for(pushed.iter().sum::<u32>() as usize);
        (pushed, kills)
    });
    run.assert_complete(&pushed);
    let deliveries: usize = run.log.lock().unwrap().values().map(Vec::len).sum();
    println!("{kills:?}: {pushed:?} events, {deliveries} deliveries");
}

/// Conformance: events - persistence by a stream - channel, server and consumer are killed at random: no event is lost
#[test]
fn no_event_is_lost_in_random_kills() {
    run(Duration::from_secs(5), 20_261_125);
}

/// What `cargo xtask soak events` runs.
#[test]
#[ignore = "takes as long as asked"]
fn random_kills_for_as_long_as_asked() {
    let asked = |name| env::var(name).ok().and_then(|it| it.parse().ok());
    let seconds = asked("ORBIUM_SOAK_SECONDS").unwrap_or(600);
    run(
        Duration::from_secs(seconds),
        asked("ORBIUM_SOAK_SEED").unwrap_or(1),
    );
}
