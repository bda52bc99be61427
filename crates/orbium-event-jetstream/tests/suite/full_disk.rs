// SPDX-License-Identifier: MIT OR Apache-2.0
//! The disk of the NATS server is full.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use orbium::ExceptionKind;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event_jetstream::{JetStreamConfig, connect_supplier};
use orbium_testkit::{NatsServer, eventually, skipped};

use crate::stage::{Log, Served, client, config, numbered};

/// A file system in memory, of 24 MiB.
struct Disk(PathBuf);

impl Disk {
    /// `None`, and a line that says so, where none may be mounted.
    fn mount() -> Option<Self> {
        let name = format!("disk-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]);
        let mounted = mount.arg(&folder).output();
        if mounted.is_ok_and(|it| it.status.success()) {
            Some(Self(folder))
        } else {
            let _ = fs::remove_dir(&folder);
            skipped("a full disk: only root may mount one");
            None
        }
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Leaves no byte.
    fn fill(&self) {
        let mut filler = File::create(self.filler()).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
    }

    fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What stays is in the folder of the build.
        let _ = Command::new("umount").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}

fn large(number: u32) -> Event {
    let mut event = numbered(number);
    event.data.payload = vec![0; 100_000];
    event
}

/// Conformance: events - persistence by a stream - the disk of the NATS server is full: an exception, what was stored stays
#[test]
fn events_that_a_full_disk_does_not_store_are_not_acknowledged() {
    let Some(disk) = Disk::mount() else { return };
    let Some(nats) = NatsServer::start(&disk.0) else {
        return;
    };
    let config = JetStreamConfig {
        publish_timeout: Duration::from_millis(600),
        attempt_timeout: Duration::from_millis(200),
        ..config(&nats)
    };
    let (served, orb, log) = (Served::new(config), client(), Log::default());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    let mut stored = Vec::new();
    let mut push = |event: &Event| {
        let outcome = supplier.push(std::slice::from_ref(event));
        if outcome.is_ok() {
            stored.push(event.data.pad1);
        }
        outcome
    };
    for number in 0..4 {
        push(&large(number)).unwrap();
    }
    disk.fill();
    let refused = (4..100)
        .find_map(|number| push(&large(number)).err())
        .unwrap();
    assert!(
        matches!(
            refused.kind,
            ExceptionKind::Timeout | ExceptionKind::NoResources
        ),
        "{refused}"
    );
    disk.free();
    // Servers answer nothing after that, or serve no streams, until they are started again.
    nats.kill();
    nats.start_again();
    let event = large(100);
    eventually("events are stored again", || push(&event).is_ok());
    let _consumer = log.connect(&orb, &channel, "display");
    eventually("all that was stored", || {
        let numbers = log.numbers();
        stored.iter().all(|it| numbers.contains(it))
    });
    log.assert_stored_once();
}
