// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events wait on the disk of the channel while the stream cannot be reached.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use orbium::{ExceptionKind, Orb};
use orbium_event_jetstream::{
    JetStreamConfig, JetStreamError, PersistentChannel, PersistentSupplier, SpoolConfig,
    StreamJournal, connect_supplier,
};
use orbium_notification::{Deliver, Journal, structured_event};
use orbium_testkit::{NatsServer, PATIENCE, Relay, eventually};

use crate::stage::{Log, Served, client, config, nats, numbered, with_client};

/// The file of a spool, which is removed with this.
struct File(PathBuf);

impl File {
    fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("spool-{}-{number}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    /// A configuration that never has a supplier wait for long.
    fn config(&self, nats: &NatsServer) -> JetStreamConfig {
        JetStreamConfig {
            spool: Some(SpoolConfig::new(&self.0)),
            attempt_timeout: Duration::from_millis(200),
            ..config(nats)
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn push(supplier: &PersistentSupplier, numbers: std::ops::Range<u32>) {
    for number in numbers {
        supplier.push(&[numbered(number)]).unwrap();
    }
}

fn supplier(orb: &Orb, served: &Served) -> PersistentSupplier {
    connect_supplier(&served.seen_by(orb)).unwrap()
}

/// All events up to that number, each stored once and in the order of their pushes.
fn assert_in_order(log: &Log, events: u32) {
    eventually("all events", || log.numbers().len() == events as usize);
    log.assert_stored_once();
    let deliveries = log.deliveries();
    let places: Vec<u64> = deliveries.values().map(|it| it[0].id.sequence).collect();
    assert!(places.is_sorted(), "{places:?}");
}

/// Conformance: events - persistence by a stream - spool on disk: pushes return while the NATS server is down, in order afterwards
#[test]
fn events_are_spooled_while_the_server_is_down() {
    let Some(nats) = nats() else { return };
    let file = File::new();
    let (served, orb, log) = (Served::new(file.config(&nats)), client(), Log::default());
    let supplier = supplier(&orb, &served);
    push(&supplier, 0..10);
    assert_eq!(served.channel.statistics().spooled, 0);
    nats.kill();
    push(&supplier, 10..200);
    let counts = served.channel.statistics();
    assert!(
        counts.waiting >= 189 && counts.spooled == counts.waiting,
        "{counts:?}"
    );
    nats.start_again();
    push(&supplier, 200..300);
    eventually("the spool is empty", || {
        served.channel.statistics().waiting == 0
    });
    let (stored, mut count) = (served.channel.statistics().stored, 300);
    eventually("an event is stored by its push", || {
        push(&supplier, count..count + 1);
        count += 1;
        served.channel.statistics().stored > stored
    });
    let _consumer = log.connect(&orb, &served.seen_by(&orb), "display");
    assert_in_order(&log, count);
    assert_eq!(served.channel.statistics().refused, 0);
}

/// Conformance: events - persistence by a stream - spool on disk: it outlives the channel, which opens without a server
#[test]
fn the_spool_outlives_the_channel() {
    let Some(nats) = nats() else { return };
    let (file, orb, log) = (File::new(), client(), Log::default());
    let served = Served::new(file.config(&nats));
    nats.kill();
    push(&supplier(&orb, &served), 0..50);
    let in_use = PersistentChannel::open(file.config(&nats)).unwrap_err();
    assert!(matches!(in_use, JetStreamError::Spool(_)), "{in_use}");
    served.seen_by(&orb).destroy().unwrap();
    drop(served);
    let mut opened = None;
    eventually("the file is free", || {
        opened = PersistentChannel::open(file.config(&nats)).ok();
        opened.is_some()
    });
    let served = Served::with(opened.unwrap());
    assert!(served.channel.statistics().waiting >= 49);
    let _consumer = log.connect(&orb, &served.seen_by(&orb), "display");
    push(&supplier(&orb, &served), 50..100);
    nats.start_again();
    assert_in_order(&log, 100);
}

/// Conformance: events - persistence by a stream - spool on disk: a partition without an error raises nothing
#[test]
fn suppliers_notice_nothing_of_a_partition() {
    let Some(nats) = nats() else { return };
    let (file, relay) = (File::new(), Relay::new(&nats.url()));
    let served = Served::new(JetStreamConfig {
        servers: relay.url().to_owned(),
        ..file.config(&nats)
    });
    let (orb, log) = (client(), Log::default());
    let _consumer = log.connect(&orb, &served.seen_by(&orb), "display");
    let supplier = supplier(&orb, &served);
    push(&supplier, 0..20);
    relay.cut();
    push(&supplier, 20..120);
    assert!(served.channel.statistics().waiting > 90);
    relay.heal();
    push(&supplier, 120..150);
    assert_in_order(&log, 150);
}

/// Conformance: events - persistence by a stream - spool on disk: full, NO_RESOURCES; an event too large for the server, IMP_LIMIT
#[test]
fn a_full_spool_refuses_events() {
    let Some(nats) = nats() else { return };
    let file = File::new();
    let mut config = file.config(&nats);
    config.spool.as_mut().unwrap().max_bytes = 2000;
    let (served, orb, log) = (Served::new(config), client(), Log::default());
    let supplier = supplier(&orb, &served);
    push(&supplier, 0..1);
    nats.kill();
    let mut large = numbered(1000);
    large.data.payload = vec![0; 2 << 20];
    let refused = supplier.push(&[large]).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::ImpLimit);
    let pushed = (1..1000).find_map(|number| {
        let refused = supplier.push(&[numbered(number)]).err()?;
        Some((number, refused.kind))
    });
    let (count, kind) = pushed.unwrap();
    assert_eq!(kind, ExceptionKind::NoResources);
    assert!(count > 3, "{count}");
    nats.start_again();
    eventually("there is space again", || {
        supplier.push(&[numbered(count)]).is_ok()
    });
    let _consumer = log.connect(&orb, &served.seen_by(&orb), "display");
    assert_in_order(&log, count + 1);
}

/// One that exceeded the limit of the stream, and not that of the server, was sent again and again, and those behind it never.
#[test]
fn an_event_that_the_stream_refuses_for_good_delays_no_other() {
    let Some(nats) = nats() else { return };
    let file = File::new();
    with_client(&nats, |context| async move {
        let config = async_nats::jetstream::stream::Config {
            name: "NAV".to_owned(),
            subjects: vec!["orb.ev.NAV.>".to_owned()],
            max_message_size: 2000,
            ..Default::default()
        };
        context.create_stream(config).await.unwrap();
    });
    let (served, orb, log) = (Served::new(file.config(&nats)), client(), Log::default());
    let supplier = supplier(&orb, &served);
    let mut large = numbered(1000);
    large.data.payload = vec![0; 4000];
    nats.kill();
    push(&supplier, 0..1);
    supplier.push(&[large.clone()]).unwrap();
    push(&supplier, 1..3);
    nats.start_again();
    let _consumer = log.connect(&orb, &served.seen_by(&orb), "display");
    assert_in_order(&log, 3);
    // Until the spool has ended it takes another one.
    eventually("a supplier gets the refusal", || {
        let pushed = supplier.push(std::slice::from_ref(&large));
        pushed.is_err_and(|it| it.kind == ExceptionKind::ImpLimit)
    });
}

/// Conformance: notification - persistence by a stream - spool on disk: structured events wait for the NATS server
#[test]
fn structured_events_are_spooled() {
    let Some(nats) = nats() else { return };
    let file = File::new();
    nats.kill();
    let journal = Arc::new(StreamJournal::open(file.config(&nats)).unwrap());
    let (send, received) = std::sync::mpsc::channel();
    let deliver = move |event: orbium_notification::idl::cos_notification::StructuredEvent| {
        let _ = send.send(event.header.fixed_header.event_name);
        orbium_notification::Delivered::Accepted
    };
    // It gets what is stored from now on, though there is no server.
    let _following = journal
        .follow(None, Deliver::Push(Box::new(deliver)))
        .unwrap();
    for number in 0..20 {
        let event = structured_event("Telecom", "Alarm", &number.to_string());
        journal.store(&event).unwrap();
    }
    assert_eq!(journal.statistics().waiting, 20);
    nats.start_again();
    for number in 0..20 {
        let name = received.recv_timeout(PATIENCE).unwrap();
        assert_eq!(name, number.to_string());
    }
}
