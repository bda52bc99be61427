// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams with copies on several NATS servers, of which some are killed, and servers of which one is silent.

use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

use orbium::ExceptionKind;
use orbium_event_jetstream::{
    JetStreamConfig, JetStreamError, PersistentChannel, SpoolConfig, connect_supplier,
};
use orbium_testkit::{NatsCluster, PATIENCE, eventually};

use crate::stage::{Log, Served, client, config, nats, numbered, store, with_client_of};

const EVENTS: u32 = 300;

fn cluster() -> Option<NatsCluster> {
    NatsCluster::start(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn with_copies(cluster: &NatsCluster) -> JetStreamConfig {
    JetStreamConfig {
        replicas: 3,
        connect_timeout: PATIENCE,
        publish_timeout: PATIENCE,
        ..JetStreamConfig::new(&cluster.urls(), "NAV")
    }
}

/// The copies of the stream and how many events it has, with the name of its leader.
fn stream(cluster: &NatsCluster) -> Option<(usize, u64, String)> {
    with_client_of(&cluster.urls(), |context| async move {
        let stream = context.get_stream("NAV").await.ok()?;
        let info = stream.cached_info();
        let leader = info.cluster.as_ref()?.leader.clone()?;
        Some((info.config.num_replicas, info.state.messages, leader))
    })
}

/// Kills the leader of the stream, and starts it again when there is another one.
fn kill_the_leader(cluster: &NatsCluster) {
    let mut leader = None;
    eventually("a leader", || {
        leader = stream(cluster).map(|it| it.2);
        leader.is_some()
    });
    let leader = leader.unwrap();
    cluster.server(&leader).kill();
    eventually("another leader", || {
        stream(cluster).is_some_and(|it| it.2 != leader)
    });
    cluster.server(&leader).start_again();
}

/// Conformance: events - persistence by a stream - a cluster: the server that leads the stream is killed, and no event is lost
#[test]
fn no_event_is_lost_when_the_leader_of_the_stream_is_killed() {
    let Some(cluster) = cluster() else { return };
    let (served, orb, log) = (Served::new(with_copies(&cluster)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let _consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| (0..EVENTS).for_each(|number| store(&supplier, number)));
        for part in 1..=2 {
            eventually("a part arrives", || {
                log.numbers().len() >= (EVENTS / 3 * part) as usize
            });
            kill_the_leader(&cluster);
        }
    });
    eventually("all arrive", || log.numbers().len() == EVENTS as usize);
    // The next leader may not know of a delivery, so that the first one comes twice.
    for (number, all) in log.deliveries() {
        assert!(all.iter().all(|it| it.id == all[0].id), "{number}: {all:?}");
    }
    let (copies, events, _) = stream(&cluster).unwrap();
    assert_eq!((copies, events), (3, u64::from(EVENTS)));
}

/// Conformance: events - persistence by a stream - a cluster: without a majority the spool keeps the events, and a supplier gets TIMEOUT without one
#[test]
fn events_wait_for_a_majority_of_the_cluster() {
    let Some(cluster) = cluster() else { return };
    let spool = format!(
        "{}/cluster-{}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    let spooling = Served::new(JetStreamConfig {
        spool: Some(SpoolConfig::new(&spool)),
        ..with_copies(&cluster)
    });
    let plain = Served::new(JetStreamConfig {
        publish_timeout: Duration::from_millis(500),
        attempt_timeout: Duration::from_millis(200),
        ..with_copies(&cluster)
    });
    let (orb, log) = (client(), Log::default());
    let _consumer = log.connect(&orb, &plain.seen_by(&orb), "display");
    let spooled = connect_supplier(&spooling.seen_by(&orb)).unwrap();
    let supplier = connect_supplier(&plain.seen_by(&orb)).unwrap();
    store(&spooled, 1);
    eventually("the first event", || log.numbers() == [1]);
    for name in ["n1", "n2"] {
        cluster.server(name).kill();
    }
    let third = [numbered(3)];
    let refused = supplier.push(&third).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Timeout);
    spooled.push(&[numbered(2)]).unwrap();
    assert_eq!(spooling.channel.statistics().waiting, 1);
    for name in ["n1", "n2"] {
        cluster.server(name).start_again();
    }
    eventually("the third event is stored", || {
        supplier.push(&third).is_ok()
    });
    eventually("all arrive", || log.numbers() == [1, 2, 3]);
    assert_eq!(stream(&cluster).map(|it| it.1), Some(3));
    drop(spooling);
    let _ = std::fs::remove_file(spool);
}

/// The time for all servers was that of each: a silent one that was tried first used it up.
#[test]
fn a_silent_server_leaves_time_for_the_others() {
    let Some(nats) = nats() else { return };
    // Connections wait in their backlogs.
    let silent = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let silent = silent.each_ref().map(|it| it.local_addr().unwrap());
    let config = JetStreamConfig {
        servers: format!("nats://{}, nats://{}, {}", silent[0], silent[1], nats.url()),
        connect_timeout: Duration::from_secs(6),
        ..config(&nats)
    };
    // They are tried in any order.
    PersistentChannel::open(config).unwrap();
}

/// A stream with one copy was used in place of the one with three that was asked for, without a word.
#[test]
fn a_stream_with_fewer_copies_than_wanted_is_refused() {
    let Some(nats) = nats() else { return };
    drop(PersistentChannel::open(config(&nats)).unwrap());
    let config = JetStreamConfig {
        replicas: 3,
        ..config(&nats)
    };
    let error = PersistentChannel::open(config).unwrap_err();
    let expected = JetStreamError::FewerReplicas {
        stream: "NAV".to_owned(),
        replicas: 1,
    };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("stream NAV exists with 1 copy"));
}
