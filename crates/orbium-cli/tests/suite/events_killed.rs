// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel that is killed in each phase of its service.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use orbium::{Call, Interface, Orb, SystemException};
use orbium_event::rtec::orbium_event::MonitoredChannel;
use orbium_event::rtec::rtec_event_channel_admin::{
    ConsumerQos, EventChannel, Observer, ObserverServant, SupplierQos,
};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Pattern, RemoteConsumer, RemoteSupplier, connect_consumer, connect_supplier, new_event,
};
use orbium_notification::idl::cos_notify_channel_admin::EventChannel as NotificationChannel;
use orbium_testkit::transport_suite::loopback;
use orbium_testkit::{PATIENCE, eventually, spawn_blocked, within};

use crate::program::Served;

/// A channel, and its peers in this process.
struct Peers {
    orb: Orb,
    served: Served,
    channel: EventChannel,
    consumer: RemoteConsumer,
    supplier: RemoteSupplier,
    /// The number of events of each push to the consumer.
    received: Receiver<usize>,
}

/// Further assertions once the channel is killed.
type Afterwards = Box<dyn FnOnce(&Peers)>;

/// A phase in which the channel is killed.
struct Phase {
    name: &'static str,
    options: &'static [&'static str],
    pattern: fn() -> Pattern,
    enter: fn(&Peers) -> Afterwards,
}

fn single() -> Pattern {
    Pattern::of(16, 0)
}

fn nothing_else() -> Afterwards {
    Box::new(|_| ())
}

const PHASES: [Phase; 9] = [
    Phase {
        name: "before an event",
        options: &[],
        pattern: single,
        enter: |_| nothing_else(),
    },
    Phase {
        name: "after an event",
        options: &[],
        pattern: single,
        enter: |peers| peers.after(1),
    },
    Phase {
        name: "while events are pushed",
        options: &[],
        pattern: single,
        enter: |peers| peers.after(500),
    },
    Phase {
        name: "a conjunction with one of two events",
        options: &[],
        pattern: || Pattern::Conjunction(vec![single(), Pattern::of(17, 0)]),
        enter: |peers| {
            peers.push();
            peers.supplier.flush().unwrap();
            assert!(peers.received.try_recv().is_err());
            nothing_else()
        },
    },
    Phase {
        name: "an armed timer",
        options: &[],
        pattern: || Pattern::Interval(Duration::from_millis(10)),
        enter: |peers| {
            peers.received.recv_timeout(PATIENCE).unwrap();
            nothing_else()
        },
    },
    Phase {
        name: "a suspended consumer with an event in its queue",
        options: &["--suspension", "wait"],
        pattern: single,
        enter: |peers| {
            peers.consumer.suspend().unwrap();
            peers.push();
            peers.supplier.flush().unwrap();
            Box::new(|peers| {
                assert!(peers.consumer.resume().is_err());
                assert!(peers.received.try_recv().is_err());
            })
        },
    },
    Phase {
        name: "a supplier that waits for space",
        options: &[
            "--suspension",
            "wait",
            "--queue",
            "1",
            "--discard",
            "block",
            "--block",
            "3600000",
        ],
        pattern: single,
        enter: Peers::block_the_supplier,
    },
    Phase {
        name: "a pull of COS Event",
        options: &["--notification"],
        pattern: single,
        enter: Peers::begin_a_pull,
    },
    Phase {
        name: "an observer",
        options: &[],
        pattern: single,
        enter: Peers::connect_an_observer,
    },
];

impl Peers {
    fn new(orb: &Orb, endpoint: &str, phase: &Phase) -> Self {
        let options = ["--endpoint", endpoint].into_iter();
        let served = Served::new("events", options.chain(phase.options.iter().copied()));
        let channel = channel_at(orb, endpoint);
        let (send, received) = mpsc::channel();
        let on_events = move |events: &[Event]| {
            let _ = send.send(events.len());
        };
        Self {
            consumer: connect_consumer(orb, &channel, &(phase.pattern)(), on_events).unwrap(),
            supplier: connect_supplier(&channel, &[(16, 1)]).unwrap(),
            orb: orb.clone(),
            served,
            channel,
            received,
        }
    }

    fn push(&self) {
        self.supplier.push(&[new_event(16, 1)]).unwrap();
    }

    fn after(&self, events: usize) -> Afterwards {
        (0..events).for_each(|_| self.push());
        self.received.recv_timeout(PATIENCE).unwrap();
        nothing_else()
    }

    /// The queue has space for one event, and the consumer takes none.
    fn block_the_supplier(&self) -> Afterwards {
        self.consumer.suspend().unwrap();
        self.push();
        self.push();
        let supplier = self.supplier.clone();
        let waiting = spawn_blocked(move || supplier.flush());
        let monitored: MonitoredChannel = self.channel.as_object().narrow().unwrap();
        eventually("the second event", || {
            monitored.state().unwrap().received == 2
        });
        Box::new(move |_| {
            let flushed = within("the supplier", move || waiting.join().unwrap());
            assert!(flushed.is_err());
        })
    }

    fn begin_a_pull(&self) -> Afterwards {
        let channel: NotificationChannel = self.orb.resolve(&self.served.lines[1]).unwrap();
        let consumers = channel.for_consumers().unwrap().unwrap();
        let proxy = consumers.obtain_pull_supplier().unwrap().unwrap();
        proxy.connect_pull_consumer(None).unwrap();
        let pulling = proxy.clone();
        let waiting = spawn_blocked(move || pulling.pull().map(drop));
        Box::new(move |_| {
            let pulled = within("the pull", move || waiting.join().unwrap());
            assert!(pulled.is_err());
            assert!(proxy.try_pull().is_err());
        })
    }

    fn connect_an_observer(&self) -> Afterwards {
        let (send, updated) = mpsc::channel();
        let observer = Updated(Mutex::new(send));
        let observer: Observer = self.orb.root_poa().activate(observer).unwrap();
        let handle = self.channel.append_observer(Some(&observer)).unwrap();
        updated.recv_timeout(PATIENCE).unwrap();
        Box::new(move |peers| {
            assert!(peers.channel.remove_observer(handle).is_err());
            assert!(peers.channel.append_observer(Some(&observer)).is_err());
        })
    }
}

/// An observer that reports updates.
struct Updated(Mutex<mpsc::Sender<()>>);

impl ObserverServant for Updated {
    fn update_consumer(&self, _: &Call<'_>, _: &ConsumerQos) -> Result<(), SystemException> {
        let _ = self.0.lock().unwrap().send(());
        Ok(())
    }

    fn update_supplier(&self, _: &Call<'_>, _: &SupplierQos) -> Result<(), SystemException> {
        Ok(())
    }
}

/// The channel that answers there now.
fn channel_at(orb: &Orb, endpoint: &str) -> EventChannel {
    let url = format!("corbaloc::{}/EventService", &endpoint["iiop://".len()..]);
    let mut found = None;
    // A connection to the channel before may still be thought open.
    eventually("the channel answers", || {
        found = orb.resolve(&url).ok();
        found.is_some()
    });
    found.unwrap()
}

/// An ORB that consumers can be called in, and an address that stays free when its channel is killed.
fn setting(test: &str) -> (Orb, String) {
    let host = loopback(&format!("{test} {}", std::process::id()));
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = builder.call_timeout(PATIENCE).build().unwrap();
    (orb, format!("iiop://{host}:20101"))
}

/// Conformance: events - a channel that is killed in each phase leaves its peers with errors - `orbium events`
#[test]
fn peers_of_a_killed_channel_get_errors_and_connect_to_the_next_one() {
    let (orb, endpoint) = setting("each phase");
    for phase in &PHASES {
        println!("{}", phase.name);
        let mut peers = Peers::new(&orb, &endpoint, phase);
        let afterwards = (phase.enter)(&peers);
        peers.served.kill();
        afterwards(&peers);
        let supplier = &peers.supplier;
        eventually("pushes fail", || {
            supplier.push(&[new_event(16, 1)]).is_err()
        });
        assert!(supplier.flush().is_err());
        assert!(supplier.disconnect().is_err());
        assert!(peers.consumer.disconnect().is_err());
    }
    orb.shutdown(true).unwrap();
}

/// Conformance: events - a channel that is killed in each phase leaves its peers with errors - before a peer connects
#[test]
fn peers_do_not_connect_to_a_killed_channel() {
    let (orb, endpoint) = setting("no peers");
    let mut served = Served::new("events", ["--endpoint", &endpoint]);
    let channel = channel_at(&orb, &endpoint);
    let consumers = channel.for_consumers().unwrap().unwrap();
    let proxy = consumers.obtain_push_supplier().unwrap().unwrap();
    served.kill();
    assert!(proxy.suspend_connection().is_err());
    assert!(connect_consumer(&orb, &channel, &single(), |_: &[Event]| {}).is_err());
    assert!(connect_supplier(&channel, &[(16, 1)]).is_err());
    orb.shutdown(true).unwrap();
}
