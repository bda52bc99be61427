// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers of other processes that suspend their connection.

use std::sync::{Mutex, mpsc};
use std::thread;

use orbium::{Call, SystemException};
use orbium_event::rtec::rtec_event_channel_admin::{EventChannel, ProxyPushSupplier};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use orbium_event::{
    ChannelConfig, Dispatching, Pattern, QueueLimits, Suspension, connect_consumer, new_event,
};
use orbium_testkit::PATIENCE;

use crate::served::Served;

/// Conformance: events - events wait for suspended consumers, on request - a served channel
#[test]
fn events_wait_for_a_suspended_consumer_if_the_channel_says_so() {
    let served = Served::new(ChannelConfig {
        suspension: Suspension::Wait,
        queue: QueueLimits {
            sets: 2,
            ..QueueLimits::default()
        },
        ..ChannelConfig::default()
    });
    let (send, received) = mpsc::channel();
    let consumer = connect_consumer(
        &served.orb,
        &served.channel,
        &Pattern::Null,
        move |events| {
            let sources = events.iter().map(|it| it.header.source);
            sources.for_each(|it| send.send(it).unwrap_or_default());
        },
    );
    let consumer = consumer.unwrap();
    let supplier = served.local.connect_supplier(&[]).unwrap();
    consumer.suspend().unwrap();
    for source in 1..4 {
        supplier.push(&[new_event(16, source)]);
    }
    let counts = served.local.statistics().consumers[0];
    assert_eq!(
        (counts.queued, counts.discarded, counts.suspended),
        (2, 1, 0)
    );
    assert!(counts.is_suspended && received.try_recv().is_err());
    consumer.resume().unwrap();
    let next = || received.recv_timeout(PATIENCE).unwrap();
    assert_eq!([next(), next()], [2, 3]);
    supplier.push(&[new_event(16, 4)]);
    assert_eq!(next(), 4);
    assert!(!served.local.statistics().consumers[0].is_suspended);
}

/// A consumer that suspends its connection at each push.
struct Suspending {
    proxy: ProxyPushSupplier,
    sources: Mutex<mpsc::Sender<i32>>,
}

impl PushConsumerServant for Suspending {
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        self.proxy.suspend_connection()?;
        let _ = self.sources.lock().unwrap().send(data[0].header.source);
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Regression: the resumption pushed with the lock of the proxy, for which a suspension in the same
/// thread waited for ever.
#[test]
fn a_consumer_of_the_same_orb_may_suspend_its_connection_during_a_resumption() {
    let served = Served::new(ChannelConfig {
        dispatching: Dispatching::Reactive,
        suspension: Suspension::Wait,
        ..ChannelConfig::default()
    });
    let port = served.server.addresses().unwrap()[0].port;
    let url = format!("corbaloc::127.0.0.1:{port}/EventService");
    let channel: EventChannel = served.server.resolve(&url).unwrap();
    let admin = channel.for_consumers().unwrap().unwrap();
    let proxy = admin.obtain_push_supplier().unwrap().unwrap();
    let (send, received) = mpsc::channel();
    let consumer = Suspending {
        proxy: proxy.clone(),
        sources: Mutex::new(send),
    };
    let consumer: PushConsumer = served.server.root_poa().activate(consumer).unwrap();
    let everything = Pattern::Null.to_qos();
    proxy
        .connect_push_consumer(Some(&consumer), &everything)
        .unwrap();
    proxy.suspend_connection().unwrap();
    let supplier = served.local.connect_supplier(&[]).unwrap();
    supplier.push(&[new_event(16, 1)]);
    supplier.push(&[new_event(16, 2)]);
    for source in [1, 2] {
        let (resumed, proxy) = (mpsc::channel(), proxy.clone());
        thread::spawn(move || resumed.0.send(proxy.resume_connection()));
        assert!(matches!(resumed.1.recv_timeout(PATIENCE), Ok(Ok(()))));
        assert_eq!(received.recv_timeout(PATIENCE), Ok(source));
    }
    assert!(received.try_recv().is_err());
}
