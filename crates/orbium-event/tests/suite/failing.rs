// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers that die, stall or lie.

use std::io::Read;
use std::net::TcpListener;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use orbium::{Call, Interface, SystemException, poa::Policies};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use orbium_event::{
    ChannelConfig, Dispatching, FailurePolicy, Pattern, SharedEvent, connect_supplier, new_event,
};
use orbium_testkit::{PATIENCE, dead_port, eventually};

use crate::scheduled::SCHEDULE;
use crate::served::Served;

fn impatient(dispatching: Dispatching) -> ChannelConfig {
    ChannelConfig {
        dispatching,
        soft: true,
        push_timeout: Duration::from_millis(50),
        ping_timeout: Duration::from_millis(50),
        ping_period: Some(Duration::from_millis(20)),
        failure: FailurePolicy {
            failures: 2,
            time: Duration::from_secs(600),
        },
        ..ChannelConfig::default()
    }
}

/// A bad consumer and a good one: the good one gets every event, and the bad one is dropped.
fn is_dropped(config: ChannelConfig, bad: impl FnOnce(&Served) -> PushConsumer) {
    let served = Served::new(config);
    let bad = bad(&served);
    let proxy = served.proxy_supplier();
    let everything = Pattern::Null.to_qos();
    proxy
        .connect_push_consumer(Some(&bad), &everything)
        .unwrap();
    let (send, received) = mpsc::channel();
    // In the process of the channel: on a busy machine another one would be too slow as well.
    let on_events = move |events: &[SharedEvent]| {
        let _ = send.send(events[0].header.source);
    };
    let good = served.local.subscribe(&Pattern::of(16, 0), on_events);
    let _good = good.unwrap();
    let supplier = connect_supplier(&served.channel, &[]).unwrap();
    let mut source = 0;
    eventually("the bad consumer is dropped", || {
        source += 1;
        let mut event = new_event(16, source);
        event.data.payload = vec![0; 10_000];
        supplier.push(&[event]).unwrap();
        assert_eq!(received.recv_timeout(PATIENCE), Ok(source));
        served.local.statistics().dropped_consumers == 1
    });
    assert_eq!(served.local.statistics().consumers.len(), 1);
    eventually("the end of its proxy", || {
        proxy.as_object().non_existent().unwrap()
    });
}

fn at_port(served: &Served, port: u16) -> PushConsumer {
    let url = format!("corbaloc::127.0.0.1:{port}/Consumer");
    let object = served.orb.string_to_object(&url).unwrap().unwrap();
    PushConsumer::from_object(object)
}

const ALL: [Dispatching; 3] = [
    Dispatching::PerConsumer,
    Dispatching::Reactive,
    Dispatching::Scheduled(&SCHEDULE),
];

/// Conformance: events - consumers that die are disconnected, and others get every event - a served channel
#[test]
fn a_consumer_of_an_ended_process_is_dropped() {
    for dispatching in ALL {
        is_dropped(impatient(dispatching), |served| {
            at_port(served, dead_port())
        });
    }
}

#[test]
fn a_consumer_without_object_is_dropped() {
    for dispatching in ALL {
        is_dropped(impatient(dispatching), |served| {
            at_port(served, served.orb.addresses().unwrap()[0].port)
        });
    }
}

/// The thread that pings ended with a panic: no point of time is so late.
#[test]
fn a_ping_period_that_no_clock_has_is_never_over() {
    let config = ChannelConfig {
        ping_period: Some(Duration::MAX),
        ..impatient(Dispatching::Reactive)
    };
    is_dropped(config, |served| at_port(served, dead_port()));
}

/// Conformance: events - consumers that stall are disconnected, and others get every event - a served channel
#[test]
fn a_consumer_that_reads_nothing_is_dropped() {
    for dispatching in ALL {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        is_dropped(impatient(dispatching), |served| at_port(served, port));
        drop(listener);
    }
}

#[test]
fn a_consumer_that_sends_what_is_no_message_is_dropped() {
    for dispatching in ALL {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 64]);
                let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        is_dropped(impatient(dispatching), |served| at_port(served, port));
    }
}

/// Conformance: events - a consumer that comes back in time gets events again - a served channel
#[test]
fn a_consumer_that_answers_again_gets_events_again() {
    let served = Served::new(ChannelConfig {
        failure: FailurePolicy {
            failures: u32::MAX,
            time: Duration::from_secs(600),
        },
        push_timeout: PATIENCE,
        ping_timeout: PATIENCE,
        ..impatient(Dispatching::PerConsumer)
    });
    let root = served.orb.root_poa();
    let poa = root
        .create_poa("consumer", None, Policies::default())
        .unwrap();
    let manager = poa.manager();
    let (send, received) = mpsc::channel();
    let consumer: PushConsumer = poa.activate(Counting(Mutex::new(send))).unwrap();
    // Requests are answered with TRANSIENT, pings too.
    manager.discard_requests(false).unwrap();
    let proxy = served.proxy_supplier();
    let everything = Pattern::Null.to_qos();
    proxy
        .connect_push_consumer(Some(&consumer), &everything)
        .unwrap();
    let supplier = connect_supplier(&served.channel, &[]).unwrap();
    let is_suspect = || served.local.statistics().consumers[0].is_suspect;
    eventually("the suspicion", is_suspect);
    supplier.push(&[new_event(16, 1)]).unwrap();
    eventually("the loss", || {
        served.local.statistics().consumers[0].lost == 1
    });
    manager.activate().unwrap();
    eventually("the recovery", || !is_suspect());
    supplier.push(&[new_event(16, 2)]).unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(2));
}

struct Counting(Mutex<mpsc::Sender<i32>>);

impl PushConsumerServant for Counting {
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        let _ = self.0.lock().unwrap().send(data[0].header.source);
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}
