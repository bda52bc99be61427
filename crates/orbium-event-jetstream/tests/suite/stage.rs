// SPDX-License-Identifier: MIT OR Apache-2.0
//! A NATS server, channels on a stream of it, and a client.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::{self, Context};
use orbium::{Orb, SystemException};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{Pattern, new_event};
use orbium_event_jetstream::{
    Delivery, JetStreamConfig, PersistentChannel, PersistentConsumer, PersistentSupplier,
};
use orbium_testkit::{NatsServer, PATIENCE, eventually};

/// Starts a server; `None` where there is none.
pub(crate) fn nats() -> Option<NatsServer> {
    NatsServer::start(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// Waits for what another client of the server does.
pub(crate) fn with_client<T, F: Future<Output = T>>(
    nats: &NatsServer,
    act: impl FnOnce(Context) -> F,
) -> T {
    with_client_of(&nats.url(), act)
}

/// Waits for what another client of these servers does.
pub(crate) fn with_client_of<T, F: Future<Output = T>>(
    urls: &str,
    act: impl FnOnce(Context) -> F,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let urls: Vec<_> = urls.split(',').collect();
        let client = async_nats::connect(urls).await.unwrap();
        act(jetstream::new(client)).await
    })
}

/// A configuration with which a test does not wait long for a redelivery.
pub(crate) fn config(nats: &NatsServer) -> JetStreamConfig {
    JetStreamConfig {
        ack_wait: Duration::from_secs(1),
        connect_timeout: PATIENCE,
        publish_timeout: PATIENCE,
        ..JetStreamConfig::new(&nats.url(), "NAV")
    }
}

/// A channel that an ORB of its own serves.
pub(crate) struct Served {
    pub(crate) server: Orb,
    pub(crate) channel: PersistentChannel,
    pub(crate) reference: String,
}

impl Served {
    pub(crate) fn new(config: JetStreamConfig) -> Self {
        Self::with(PersistentChannel::open(config).unwrap())
    }

    pub(crate) fn with(channel: PersistentChannel) -> Self {
        let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let server = builder.build().unwrap();
        let object = channel.serve(&server, "EventService").unwrap();
        Self {
            reference: server.object_to_string(&object),
            channel,
            server,
        }
    }

    /// As a client sees it.
    pub(crate) fn seen_by(&self, orb: &Orb) -> EventChannel {
        orb.resolve(&self.reference).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.shutdown(true);
    }
}

/// An ORB that can be called back, and waits for long.
pub(crate) fn client() -> Orb {
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    builder.call_timeout(PATIENCE).build().unwrap()
}

/// An event with a number.
pub(crate) fn numbered(number: u32) -> Event {
    let mut event = new_event(16, 1);
    event.data.pad1 = i32::try_from(number).unwrap();
    event
}

/// Pushes an event until it is stored; an exception does not say whether it was.
pub(crate) fn store(supplier: &PersistentSupplier, number: u32) {
    let event = numbered(number);
    eventually("the event is stored", || {
        supplier.push(std::slice::from_ref(&event)).is_ok()
    });
}

/// What consumers have received: deliveries by the number of the event.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<BTreeMap<i32, Vec<Delivery>>>>);

impl Log {
    pub(crate) fn add(&self, event: &Event) {
        let mut log = self.0.lock().unwrap();
        log.entry(event.data.pad1)
            .or_default()
            .push(Delivery::of(event));
    }

    pub(crate) fn numbers(&self) -> Vec<i32> {
        self.0.lock().unwrap().keys().copied().collect()
    }

    pub(crate) fn deliveries(&self) -> BTreeMap<i32, Vec<Delivery>> {
        self.0.lock().unwrap().clone()
    }

    /// Each event has one place in the stream. On a loaded machine a push may pass its timeout, and the
    /// next be received before it: all but one of an event's deliveries are marked as repeated, in any order.
    #[track_caller]
    pub(crate) fn assert_stored_once(&self) {
        for (number, all) in self.deliveries() {
            assert!(all.iter().all(|it| it.id == all[0].id), "{number}: {all:?}");
            let first = all.iter().filter(|it| !it.is_repeated()).count();
            assert!(first <= 1, "{number}: {all:?}");
        }
    }

    /// A consumer that adds what it receives.
    pub(crate) fn connect(
        &self,
        orb: &Orb,
        channel: &EventChannel,
        name: &str,
    ) -> PersistentConsumer {
        let log = self.clone();
        connect(orb, channel, name, move |event| {
            log.add(event);
            Ok(())
        })
    }
}

/// A consumer of type 16.
pub(crate) fn connect(
    orb: &Orb,
    channel: &EventChannel,
    name: &str,
    on_event: impl Fn(&Event) -> Result<(), SystemException> + Send + Sync + 'static,
) -> PersistentConsumer {
    let pattern = Pattern::of(16, 0);
    orbium_event_jetstream::connect_consumer(orb, channel, (name, &pattern), on_event).unwrap()
}
