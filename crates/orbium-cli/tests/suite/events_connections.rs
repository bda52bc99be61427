// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of notification channels survive processes that are killed while events pass: suppliers and consumers connect once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use orbium::{ExceptionKind, Interface, Orb};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, EventChannel, StructuredProxyPushConsumer, StructuredProxyPushSupplier,
};
use orbium_notification::idl::cos_notify_comm::{DisconnectedError, StructuredPushConsumer};
use orbium_notification::{StructuredConsumer, property, structured_event};
use orbium_testkit::transport_suite::loopback;
use orbium_testkit::{PATIENCE, eventually};

use crate::program::{Folder, Served, nats, run};

/// How often each event has arrived, by its number.
type Arrived = Arc<Mutex<BTreeMap<i32, u32>>>;

/// A service at an address that stays free when it is killed.
pub(crate) struct Killed {
    served: Served,
    command: &'static str,
    arguments: Vec<String>,
}

impl Killed {
    pub(crate) fn new(command: &'static str, unique: &str, arguments: &[&str]) -> Self {
        let host = loopback(&format!("{unique} {}", std::process::id()));
        let endpoint = ["--endpoint", &format!("iiop://{host}:20102")].map(str::to_owned);
        let more = arguments.iter().map(|it| (*it).to_owned());
        let arguments: Vec<_> = endpoint.into_iter().chain(more).collect();
        Self {
            served: Self::start(command, &arguments),
            command,
            arguments,
        }
    }

    fn start(command: &'static str, arguments: &[String]) -> Served {
        Served::new(command, arguments.iter().map(String::as_str))
    }

    pub(crate) fn kill_and_start(&mut self) {
        self.served.kill();
        self.served = Self::start(self.command, &self.arguments);
    }

    /// The reference of what it serves.
    pub(crate) fn reference(&self) -> &str {
        self.served.reference()
    }

    pub(crate) fn channel(&self, orb: &Orb) -> EventChannel {
        let address = &self.arguments[1]["iiop://".len()..];
        let url = format!("corbaloc::{address}/NotificationChannel");
        orb.resolve(&url).unwrap()
    }
}

pub(crate) fn client() -> Orb {
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = builder.call_timeout(PATIENCE).build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    orb
}

fn number(event: &StructuredEvent) -> i32 {
    event.filterable_data[0].value.extract().unwrap()
}

/// A consumer that notes what arrives.
fn consumer(orb: &Orb, channel: &EventChannel) -> (StructuredProxyPushSupplier, Arrived) {
    let arrived = Arrived::default();
    let noted = Arc::clone(&arrived);
    let consumer = StructuredConsumer::new(move |event: &StructuredEvent| {
        *noted.lock().unwrap().entry(number(event)).or_default() += 1;
        Ok(())
    });
    let consumer: StructuredPushConsumer = orb.root_poa().activate(consumer).unwrap();
    let admin = channel.default_consumer_admin().unwrap().unwrap();
    let obtained = admin.obtain_notification_push_supplier(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: StructuredProxyPushSupplier = proxy.as_object().narrow().unwrap();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    (proxy, arrived)
}

pub(crate) fn supplier(channel: &EventChannel) -> StructuredProxyPushConsumer {
    let admin = channel.default_supplier_admin().unwrap().unwrap();
    let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: StructuredProxyPushConsumer = proxy.as_object().narrow().unwrap();
    proxy.connect_structured_push_supplier(None).unwrap();
    proxy
}

/// Pushes an event until the channel has it. Its proxy is never said not to exist.
fn push(supplier: &StructuredProxyPushConsumer, number: i32) {
    let mut event = structured_event("Telecom", "Alarm", "link 7");
    event.filterable_data.push(property("number", number));
    eventually("the channel", || {
        match supplier.push_structured_event(&event) {
            Ok(()) => true,
            Err(DisconnectedError::System(exception)) => {
                let kind = exception.kind;
                let is_absent =
                    matches!(kind, ExceptionKind::Transient | ExceptionKind::CommFailure);
                assert!(is_absent, "{exception}");
                false
            }
            Err(error) => panic!("{error}"),
        }
    });
}

/// Conformance: notification - ConnectionReliability 1 - `orbium events serve --connections`, killed and restarted
#[test]
fn consumers_and_suppliers_connect_once_whatever_is_killed() {
    let (folder, client) = (Folder::new(), client());
    let file = folder.path("connections");
    let arguments = ["--notification", "--connections", &file];
    let mut killed = Killed::new("events", "connections", &arguments);
    let channel = killed.channel(&client);
    let (proxy, arrived) = consumer(&client, &channel);
    let supplier = supplier(&channel);
    for round in 0..4 {
        push(&supplier, round);
        eventually("the event", || arrived.lock().unwrap().contains_key(&round));
        std::thread::scope(|scope| {
            // While there is no channel.
            let pushing = scope.spawn(|| {
                for number in 0..20 {
                    push(&supplier, 100 * (round + 1) + number);
                }
            });
            killed.kill_and_start();
            pushing.join().unwrap();
        });
    }
    proxy.disconnect_structured_push_supplier().unwrap();
    killed.kill_and_start();
    // The first call may meet the connection to the service that was killed.
    eventually("its end", || {
        matches!(proxy.as_object().non_existent(), Ok(true))
    });
}

/// Conformance: notification - EventReliability 1 with ConnectionReliability 1 - nothing is lost
#[test]
fn nothing_is_lost_of_events_and_connections_that_are_stored() {
    let Some(nats) = nats() else { return };
    let (folder, client, url) = (Folder::new(), client(), nats.url());
    let file = folder.path("connections");
    let arguments = [
        "--connections",
        &file,
        "--jetstream",
        &url,
        "--stream",
        "ALARMS",
        "--ack-wait",
        "1",
    ];
    let mut killed = Killed::new("notify", "stored connections", &arguments);
    let channel = killed.channel(&client);
    let supplier = supplier(&channel);
    push(&supplier, -1);
    // What was stored before a connection is not for it.
    let (proxy, arrived) = consumer(&client, &channel);
    const EVENTS: i32 = 400;
    for event in 0..EVENTS {
        push(&supplier, event);
        if event % 100 == 50 {
            killed.kill_and_start();
        }
    }
    let has_all = || (0..EVENTS).all(|it| arrived.lock().unwrap().contains_key(&it));
    eventually("all events", has_all);
    assert!(!arrived.lock().unwrap().contains_key(&-1));
    proxy.disconnect_structured_push_supplier().unwrap();
    killed.kill_and_start();
    // The first call may meet the connection to the service that was killed.
    eventually("its end", || {
        matches!(proxy.as_object().non_existent(), Ok(true))
    });
}

#[test]
fn a_file_that_has_no_connections_is_refused() {
    let folder = Folder::new();
    let file = folder.file("connections", "nothing of the kind");
    run(["notify", "serve", "--connections", &file]).assert_failed_saying("title");
    assert_eq!(std::fs::read(&file).unwrap(), b"nothing of the kind");
    let refused = run(["events", "serve", "--connections", &file]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    // There is none where no file is given.
    let served = Served::new("notify", []);
    let client = client();
    let channel: EventChannel = client.resolve(served.reference()).unwrap();
    let set = channel.set_qos(&[property("ConnectionReliability", 1i16)]);
    let unsupported = set.unwrap_err().to_string();
    assert!(unsupported.contains("UnsupportedQoS"), "{unsupported}");
}
