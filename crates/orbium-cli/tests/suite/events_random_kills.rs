// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel that stores its events, the server that has its stream, and the consumer are killed at random while
//! sources push: each event arrives, stored once, in the order of its source.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orbium_event::new_event;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_testkit::{Chance, NatsServer, PATIENCE, Relay, eventually, with_patience};

use crate::events_arrived::Arrived;
use crate::events_persistent::{Persistent, SHORT_ACK_SECONDS, Source, client};
use crate::program::{nats, orbium};

const SOURCES: usize = 3;
/// Milliseconds between two kills, at most; a quarter of them at least.
const MAX_KILL_INTERVAL_MS: usize = 800;

/// What is asked of a run.
#[derive(Clone, Copy)]
struct Asked {
    time: Duration,
    seed: u64,
    /// Events of each source in a second.
    rate: u32,
    /// Milliseconds between two kills, at most.
    pause: usize,
    /// In the middle of the run nothing passes between channel and server for so long.
    partition: Duration,
}

/// Kills of each kind.
#[derive(Debug, Default)]
struct Kills {
    channel: u32,
    server: u32,
    consumer: u32,
}

/// Sources, a consumer, and what they have come to.
struct Run {
    asked: Asked,
    nats: NatsServer,
    /// Between channel and server, if there is to be a partition.
    relay: Option<Relay>,
    /// The reference of the channel.
    url: String,
    arrived: Mutex<Arrived>,
    /// Pushes that raised an exception.
    failed: AtomicU64,
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

fn event(source: usize, number: usize) -> Event {
    let mut event = new_event(16, i32::try_from(source).unwrap());
    event.data.payload = number.to_string().into_bytes();
    event
}

impl Run {
    /// Pushes events in order, each until it is stored; returns how many.
    fn push(&self, source: usize) -> usize {
        let (orb, started, mut number) = (client(), Instant::now(), 0);
        let mut supplier = Source::new(&orb, &self.url);
        while !self.is_over.load(Ordering::SeqCst) {
            let failed = supplier.store(&event(source, number as usize));
            self.failed.fetch_add(failed, Ordering::Relaxed);
            number += 1;
            // A source that was held up pushes what is due.
            let due = started + Duration::from_secs(number) / self.asked.rate;
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        number as usize
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
            let source = usize::try_from(event["source"].as_u64().unwrap()).unwrap();
            let number = event["payload"].as_str().unwrap().parse().unwrap();
            let place = event["sequence"].as_u64().unwrap();
            self.arrived.lock().unwrap().add((source, number), place);
        }
    }

    fn kill_consumer(&self) {
        if let Some(child) = &mut *self.tail.lock().unwrap() {
            child.kill().unwrap();
        }
    }

    fn kill_at_random(
        &self,
        (channel, kills): (&mut Persistent, &mut Kills),
        time: Duration,
        chance: &mut Chance,
    ) {
        let started = Instant::now();
        while started.elapsed() < time {
            let least = self.asked.pause / 4;
            let pause = least + chance.below(self.asked.pause - least);
            thread::sleep(Duration::from_millis(pause as u64));
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
    }

    /// Nothing passes between channel and server for a while.
    fn divide(&self) {
        let Some(relay) = &self.relay else { return };
        relay.cut();
        thread::sleep(self.asked.partition);
        relay.heal();
    }

    fn arrived(&self) -> usize {
        self.arrived.lock().unwrap().events()
    }

    /// How many events were pushed in that time, and how many of them have arrived.
    fn report(&self, time: Duration, pushed: &[usize]) {
        let events: usize = pushed.iter().sum();
        println!(
            "{pushed:?} events, {:.0} a second; {} pushes failed; {} events have still to arrive",
            events as f64 / time.as_secs_f64(),
            self.failed.load(Ordering::Relaxed),
            events - self.arrived(),
        );
    }

    fn wait_for(&self, events: usize) {
        let mut arrived = self.arrived();
        while arrived < events {
            eventually("more arrive", || self.arrived() > arrived);
            arrived = self.arrived();
        }
    }
}

fn run(asked: Asked) {
    let Some(nats) = nats() else { return };
    println!("{} s, seed {}", asked.time.as_secs(), asked.seed);
    let relay = (!asked.partition.is_zero()).then(|| Relay::new(&nats.url()));
    let url = relay.as_ref().map_or(nats.url(), |it| it.url().to_owned());
    let mut channel = Persistent::new(&url, "random kills", SHORT_ACK_SECONDS);
    let run = Run {
        asked,
        nats,
        relay,
        url: channel.url(),
        arrived: Mutex::new(Arrived::new(SOURCES)),
        failed: AtomicU64::new(0),
        tail: Mutex::default(),
        is_over: AtomicBool::new(false),
        is_done: AtomicBool::new(false),
    };
    let started = Instant::now();
    let (pushed, kills) = thread::scope(|scope| {
        let _ending = Ending(&run);
        let of_run = &run;
        let push =
            move |source| with_patience(PATIENCE + 2 * asked.partition, || of_run.push(source));
        let sources = (1..=SOURCES).map(|source| scope.spawn(move || push(source)));
        let sources: Vec<_> = sources.collect();
        scope.spawn(|| run.consume());
        let (mut chance, mut kills) = (Chance::seeded(asked.seed), Kills::default());
        let mut kill = || {
            let killed = (&mut channel, &mut kills);
            run.kill_at_random(killed, asked.time / 2, &mut chance);
        };
        kill();
        run.divide();
        kill();
        run.is_over.store(true, Ordering::SeqCst);
        let pushed: Vec<_> = sources.into_iter().map(|it| it.join().unwrap()).collect();
        run.report(started.elapsed(), &pushed);
        run.wait_for(pushed.iter().sum());
        (pushed, kills)
    });
    let arrived = run.arrived.lock().unwrap();
    println!("{kills:?}; {} deliveries", arrived.deliveries());
    arrived.assert_complete(&pushed);
}

/// Conformance: events - persistence by a stream - channel, server and consumer are killed at random: no event is lost
#[test]
fn no_event_is_lost_in_random_kills() {
    run(Asked {
        time: Duration::from_secs(5),
        seed: 20_261_125,
        rate: 1000,
        pause: MAX_KILL_INTERVAL_MS,
        partition: Duration::ZERO,
    });
}

/// What `cargo xtask soak events` runs.
#[test]
#[ignore = "takes as long as asked"]
fn random_kills_for_as_long_as_asked() {
    let asked = |name| env::var(name).ok().and_then(|it| it.parse().ok());
    let seconds = |name, default| Duration::from_secs(asked(name).unwrap_or(default));
    let number = |name, default| asked(name).unwrap_or(default);
    run(Asked {
        time: seconds("ORBIUM_SOAK_SECONDS", 600),
        seed: number("ORBIUM_SOAK_SEED", 1),
        rate: u32::try_from(number("ORBIUM_SOAK_RATE", 1000))
            .unwrap()
            .max(1),
        pause: usize::try_from(number("ORBIUM_SOAK_PAUSE", MAX_KILL_INTERVAL_MS as u64))
            .unwrap()
            .max(1),
        partition: seconds("ORBIUM_SOAK_PARTITION", 0),
    });
}
