// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events serve --spool`: the channel is killed while its events wait for the NATS server.

use std::thread;

use orbium_event::new_event;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_testkit::eventually;

use crate::events_persistent::{Persistent, SHORT_ACK_SECONDS, Source, client};
use crate::program::{Folder, nats, run};

const EVENTS: u32 = 400;

fn numbered(number: u32) -> Event {
    let mut event = new_event(16, 1);
    event.data.payload = number.to_string().into_bytes();
    event
}

/// Conformance: events - persistence by a stream - spool on disk: the channel is killed while the server is down, no event is lost
#[test]
fn no_event_of_the_spool_is_lost_when_the_channel_is_killed() {
    let Some(nats) = nats() else { return };
    let folder = Folder::new();
    let spool = Some(folder.path("spool"));
    let ack_wait = (SHORT_ACK_SECONDS, spool);
    let mut served = Persistent::with_spool(&nats.url(), "killed spool", ack_wait);
    let (url, orb) = (served.url(), client());
    let stored = std::sync::atomic::AtomicU32::new(0);
    let count = || stored.load(std::sync::atomic::Ordering::Relaxed);
    nats.kill();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut source = Source::new(&orb, &url);
            for number in 0..EVENTS {
                source.store(&numbered(number));
                stored.store(number + 1, std::sync::atomic::Ordering::Relaxed);
            }
        });
        for part in 1..=3 {
            eventually("a part is stored", || count() >= EVENTS / 4 * part);
            served.kill_and_start();
        }
        eventually("all are stored", || count() == EVENTS);
    });
    nats.start_again();
    let events = EVENTS.to_string();
    let tail = ["events", "tail", &url, "--name", "display"];
    let printed = run(tail.into_iter().chain(["--count", &events]));
    printed.assert_done();
    let numbers = printed.stdout.lines().map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["payload"].as_str().unwrap().parse::<u32>().unwrap()
    });
    assert!(numbers.eq(0..EVENTS));
}
