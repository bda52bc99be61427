// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that survive the service, and files that it refuses.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

use orbium::{Config, Interface, Orb};
use orbium_notification::idl::cos_notification::Property;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, ConsumerAdmin, EventChannel, InterFilterGroupOperator, StructuredProxyPullSupplier,
    StructuredProxyPushConsumer, StructuredProxyPushSupplier, SupplierAdmin,
};
use orbium_notification::idl::cos_notify_comm::StructuredPushConsumer;
use orbium_notification::idl::cos_notify_filter::MappingConstraintPair;
use orbium_notification::{
    NotificationConfig, NotificationService, ServiceError, event_type, property,
};
use orbium_testkit::{PATIENCE, eventually, spawn_blocked};

use crate::peers::{Report, Reporter, alarm, constraint, severity};

/// A file of connections of a test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("orbium-connections-{}-{test}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn config(&self) -> NotificationConfig {
        NotificationConfig {
            connections: Some(self.file()),
            ..NotificationConfig::default()
        }
    }

    fn file(&self) -> PathBuf {
        self.0.join("connections")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A service at a port.
struct Server {
    orb: Orb,
    service: NotificationService,
}

impl Server {
    fn new(folder: &Folder, port: u16) -> Self {
        Self::on(folder, orb(port))
    }

    fn on(folder: &Folder, orb: Orb) -> Self {
        Self::with(&folder.config(), orb)
    }

    fn with(config: &NotificationConfig, orb: Orb) -> Self {
        let mut service = None;
        // The service of before closes its file with its last thread.
        eventually("the file", || {
            service = NotificationService::serve(&orb, "Alarms", config.clone()).ok();
            service.is_some()
        });
        let service = service.unwrap();
        Self { orb, service }
    }

    fn port(&self) -> u16 {
        self.orb.addresses().unwrap()[0].port
    }

    fn end(self) {
        self.orb.shutdown(true).unwrap();
        drop(self.service);
    }
}

fn orb(port: u16) -> Orb {
    let endpoint = format!("iiop://127.0.0.1:{port}");
    let orb = Orb::builder().endpoint(&endpoint).unwrap().build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    orb
}

fn channel(orb: &Orb, port: u16) -> EventChannel {
    let url = format!("corbaloc::127.0.0.1:{port}/Alarms");
    orb.resolve(&url).unwrap()
}

fn consumers(channel: &EventChannel) -> ConsumerAdmin {
    channel.default_consumer_admin().unwrap().unwrap()
}

fn suppliers(channel: &EventChannel) -> SupplierAdmin {
    channel.default_supplier_admin().unwrap().unwrap()
}

/// A proxy of a structured consumer that is pushed to, and its number.
fn pushed(admin: &ConsumerAdmin) -> (StructuredProxyPushSupplier, i32) {
    let obtained = admin.obtain_notification_push_supplier(ClientType::StructuredEvent);
    let obtained = obtained.unwrap();
    let proxy = obtained.result.unwrap().as_object().narrow().unwrap();
    (proxy, obtained.proxy_id)
}

/// A proxy that a structured consumer pulls from.
fn pulled(admin: &ConsumerAdmin) -> StructuredProxyPullSupplier {
    let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: StructuredProxyPullSupplier = proxy.as_object().narrow().unwrap();
    proxy.connect_structured_pull_consumer(None).unwrap();
    proxy
}

fn supplier(channel: &EventChannel) -> StructuredProxyPushConsumer {
    let obtained =
        suppliers(channel).obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: StructuredProxyPushConsumer = proxy.as_object().narrow().unwrap();
    proxy.connect_structured_push_supplier(None).unwrap();
    proxy
}

fn reporter(orb: &Orb) -> (StructuredPushConsumer, Receiver<Report>) {
    let (send, received) = mpsc::channel();
    let reporter = Arc::new(Reporter(Mutex::new(send)));
    (orb.root_poa().activate(reporter).unwrap(), received)
}

fn next(received: &Receiver<Report>) -> i16 {
    match received.recv_timeout(PATIENCE).unwrap() {
        Report::Event(event) => severity(&event),
        other => panic!("{other:?}"),
    }
}

fn value<'a>(properties: &'a [Property], name: &str) -> &'a Property {
    properties.iter().find(|it| it.name == name).unwrap()
}

/// Conformance: notification - ConnectionReliability 1 - consumers, suppliers, filters and properties survive a restart
#[test]
fn proxies_with_filters_and_properties_are_there_again() {
    let (folder, client) = (Folder::new("again"), orb(0));
    let server = Server::new(&folder, 0);
    let port = server.port();
    let served = channel(&client, port);
    let made = served
        .new_for_consumers(InterFilterGroupOperator::OrOp)
        .unwrap();
    let admin = made.result.unwrap();
    admin.set_qos(&[property("Priority", 7i16)]).unwrap();
    let (proxy, id) = pushed(&admin);
    let filters = served.default_filter_factory().unwrap().unwrap();
    let filter = filters.create_filter("EXTENDED_TCL").unwrap().unwrap();
    let added = filter
        .add_constraints(&[constraint("$severity > 3")])
        .unwrap();
    let filter_id = proxy.add_filter(Some(&filter)).unwrap();
    let admin_filter = filters.create_filter("EXTENDED_TCL").unwrap().unwrap();
    admin_filter
        .add_constraints(&[constraint("$severity < 0")])
        .unwrap();
    admin.add_filter(Some(&admin_filter)).unwrap();
    let mapping = filters
        .create_mapping_filter("EXTENDED_TCL", &3i16.into())
        .unwrap()
        .unwrap();
    mapping
        .add_mapping_constraints(&[MappingConstraintPair {
            constraint_expression: constraint("$severity == 9"),
            result_to_set: 5i16.into(),
        }])
        .unwrap();
    proxy.set_priority_filter(Some(&mapping)).unwrap();
    proxy
        .set_qos(&[property("MaxEventsPerConsumer", 10i32)])
        .unwrap();
    proxy
        .subscription_change(&[event_type("Telecom", "*")], &[])
        .unwrap();
    let (consumer, received) = reporter(&client);
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let supplier = supplier(&served);
    supplier.push_structured_event(&alarm(4)).unwrap();
    assert_eq!(next(&received), 4);

    server.end();
    let server = Server::new(&folder, port);
    for number in [2, 5, -1, 1, 6] {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    for expected in [5, -1, 6] {
        assert_eq!(next(&received), expected);
    }
    assert_eq!(proxy.get_all_filters().unwrap(), [filter_id]);
    assert_eq!(filter.get_all_constraints().unwrap(), added);
    let qos = proxy.get_qos().unwrap();
    assert_eq!(
        value(&qos, "MaxEventsPerConsumer").value.extract::<i32>(),
        Ok(10)
    );
    assert_eq!(value(&qos, "Priority").value.extract::<i16>(), Ok(7));
    let mapping = proxy.priority_filter().unwrap().unwrap();
    assert_eq!(mapping.default_value().unwrap().extract::<i16>(), Ok(3));
    let mapped = mapping.match_structured(&alarm(9)).unwrap();
    assert_eq!(mapped.result_to_set.extract::<i16>(), Ok(5));
    assert_eq!(proxy.my_admin().unwrap().unwrap().my_id().unwrap(), made.id);
    assert_eq!(admin.push_suppliers().unwrap(), [id]);
    // No number is given twice.
    assert!(pushed(&admin).1 > id);
    proxy.disconnect_structured_push_supplier().unwrap();
    assert_eq!(
        received.recv_timeout(PATIENCE).unwrap(),
        Report::Disconnected
    );

    server.end();
    let server = Server::new(&folder, port);
    assert!(proxy.as_object().non_existent().unwrap());
    assert_eq!(admin.push_suppliers().unwrap().len(), 1);
    server.end();
}

/// The file had been refused as damaged.
#[test]
fn proxies_beyond_a_limit_that_was_set_later_are_there_again() {
    let (folder, client) = (Folder::new("limit"), orb(0));
    let server = Server::new(&folder, 0);
    let port = server.port();
    let served = channel(&client, port);
    let admin = consumers(&served);
    let proxies = [(); 2].map(|()| pulled(&admin));
    served.set_admin(&[property("MaxConsumers", 1i32)]).unwrap();

    server.end();
    let server = Server::new(&folder, port);
    for proxy in &proxies {
        assert!(!proxy.as_object().non_existent().unwrap());
        let further = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
        assert!(further.is_err());
        proxy.disconnect_structured_pull_supplier().unwrap();
    }
    pulled(&admin);
    server.end();
}

/// The service did not start (IMP_LIMIT).
#[test]
fn proxies_beyond_a_lower_limit_of_the_configuration_are_there_again() {
    let (folder, client) = (Folder::new("lower"), orb(0));
    let server = Server::new(&folder, 0);
    let port = server.port();
    let admin = consumers(&channel(&client, port));
    let proxies = [(); 2].map(|()| pulled(&admin));
    server.end();
    let config = NotificationConfig {
        proxies: 1,
        ..folder.config()
    };
    let server = Server::with(&config, orb(port));
    for proxy in &proxies {
        assert!(!proxy.as_object().non_existent().unwrap());
        let further = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
        assert!(further.is_err());
    }
    server.end();
}

/// Conformance: notification - ConnectionReliability 1 - suspended connections, further channels and COS Event survive a restart
#[test]
fn suspended_connections_and_further_channels_are_there_again() {
    let (folder, client) = (Folder::new("further"), orb(0));
    let server = Server::new(&folder, 0);
    let port = server.port();
    let factory = channel(&client, port).my_factory().unwrap().unwrap();
    let made = factory
        .create_channel(&[property("OrderPolicy", 1i16)], &[])
        .unwrap();
    let further = made.result.unwrap();
    let (proxy, _) = pushed(&consumers(&further));
    let (consumer, received) = reporter(&client);
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    proxy.suspend_connection().unwrap();
    let pulled = pulled(&consumers(&further));
    let supplier = supplier(&further);
    let cos = further.for_consumers().unwrap().unwrap();
    let cos = cos.obtain_push_supplier().unwrap().unwrap();
    let (send, anys) = mpsc::channel();
    let any: orbium_notification::idl::cos_event_comm::PushConsumer = {
        let reporter = Arc::new(Reporter(Mutex::new(send)));
        client.root_poa().activate(reporter).unwrap()
    };
    cos.connect_push_consumer(Some(&any)).unwrap();

    server.end();
    let server = Server::new(&folder, port);
    supplier.push_structured_event(&alarm(1)).unwrap();
    assert!(matches!(
        anys.recv_timeout(PATIENCE).unwrap(),
        Report::Any(_)
    ));
    assert_eq!(severity(&pulled.pull_structured_event().unwrap()), 1);
    assert!(received.try_recv().is_err());
    proxy.resume_connection().unwrap();
    assert_eq!(next(&received), 1);
    let order = further.get_qos().unwrap();
    assert_eq!(value(&order, "OrderPolicy").value.extract::<i16>(), Ok(1));
    assert_eq!(factory.get_all_channels().unwrap(), [1, made.id]);
    further.destroy().unwrap();

    server.end();
    let server = Server::new(&folder, port);
    assert_eq!(factory.get_all_channels().unwrap(), [1]);
    server.end();
}

/// Conformance: notification - ConnectionReliability 0 and 1 - a channel with a file of connections
#[test]
fn a_connection_that_is_not_to_survive_ends_with_the_service() {
    let (folder, client) = (Folder::new("best-effort"), orb(0));
    let server = Server::new(&folder, 0);
    let port = server.port();
    let served = channel(&client, port);
    let reliability = |qos: &[Property]| {
        value(qos, "ConnectionReliability")
            .value
            .extract::<i16>()
            .unwrap()
    };
    assert_eq!(reliability(&served.get_qos().unwrap()), 1);
    let available = served.validate_qos(&[property("Priority", 1i16)]).unwrap();
    let range = available
        .iter()
        .find(|it| it.name == "ConnectionReliability");
    assert_eq!(range.unwrap().range.high_val.extract::<i16>(), Ok(1));
    let survives = pulled(&consumers(&served));
    let ends = pulled(&consumers(&served));
    ends.set_qos(&[property("ConnectionReliability", 0i16)])
        .unwrap();
    assert_eq!(reliability(&ends.get_qos().unwrap()), 0);

    server.end();
    let server = Server::new(&folder, port);
    assert!(!survives.as_object().non_existent().unwrap());
    assert!(ends.as_object().non_existent().unwrap());
    // In force for the proxies below.
    served
        .set_qos(&[property("ConnectionReliability", 0i16)])
        .unwrap();
    server.end();
    let server = Server::new(&folder, port);
    assert!(survives.as_object().non_existent().unwrap());
    server.end();
}

/// Conformance: notification - ConnectionReliability 1 - peers that call while the service begins wait for it
#[test]
fn a_supplier_that_pushes_while_the_service_begins_waits() {
    let (folder, client) = (Folder::new("waits"), orb(0));
    let server = Server::new(&folder, 0);
    let port = server.port();
    let served = channel(&client, port);
    let (supplier, pulled) = (supplier(&served), pulled(&consumers(&served)));
    server.end();
    let endpoint = format!("iiop://127.0.0.1:{port}");
    let config = Config {
        endpoints: vec![endpoint.parse().unwrap()],
        awaits_adapters: true,
        ..Config::default()
    };
    let orb = Orb::new(config).unwrap();
    // The first call may meet the connection to the service of before.
    let pushing = spawn_blocked(move || {
        let push = || supplier.push_structured_event(&alarm(1));
        push().or_else(|_| push())
    });
    let server = Server::on(&folder, orb);
    pushing.join().unwrap().unwrap();
    assert_eq!(severity(&pulled.pull_structured_event().unwrap()), 1);
    server.end();
}

/// The error of a service with that file.
fn refused(folder: &Folder) -> ServiceError {
    let orb = orb(0);
    let served = NotificationService::serve(&orb, "Alarms", folder.config());
    served.map(drop).unwrap_err()
}

#[test]
fn damaged_files_are_refused_and_left_as_they_are() {
    let (folder, client) = (Folder::new("damaged"), orb(0));
    let server = Server::new(&folder, 0);
    let served = channel(&client, server.port());
    pulled(&consumers(&served));
    supplier(&served);
    let busy = refused(&folder);
    assert!(matches!(busy, ServiceError::File { .. }), "{busy}");
    server.end();
    let whole = fs::read(folder.file()).unwrap();
    let middle = whole.len() / 2;
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let mut longer = whole.clone();
    longer.extend_from_slice(&[1; 100]);
    for (bytes, why) in [
        (b"something else".to_vec(), "title"),
        (flipped(3), "title"),
        (flipped(middle), "byte"),
        (longer, "byte"),
    ] {
        fs::write(folder.file(), &bytes).unwrap();
        let error = refused(&folder);
        assert!(matches!(error, ServiceError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(fs::read(folder.file()).unwrap(), bytes, "{error}");
    }
    // A process that was killed has left a part of an entry.
    for length in [0, 5, whole.len() - 1, whole.len() - 20] {
        fs::write(folder.file(), &whole[..length]).unwrap();
        Server::new(&folder, 0).end();
    }
}

/// The entries of a file: where each begins, its key, and whether the object has ended.
fn entries(file: &[u8]) -> Vec<(usize, Vec<u8>, bool)> {
    let mut entries = Vec::new();
    let mut at = file.iter().position(|it| *it == b'\n').unwrap() + 1;
    while at < file.len() {
        let length = u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let body = at + 12;
        entries.push((at, file[body..body + 9].to_vec(), length == 9));
        at = body + length;
    }
    entries
}

/// The keys of the objects that a file has.
fn recorded(folder: &Folder) -> BTreeSet<Vec<u8>> {
    let mut keys = BTreeSet::new();
    for (_, key, has_ended) in entries(&fs::read(folder.file()).unwrap()) {
        if has_ended {
            keys.remove(&key);
        } else {
            keys.insert(key);
        }
    }
    keys
}

/// Proxies that ended as the properties of their channel were set were recorded again, without
/// their admin: the service refused the file.
#[test]
fn objects_that_end_while_they_are_recorded_have_no_record() {
    let folder = Folder::new("ending");
    let clients = [orb(0), orb(0)];
    let server = Server::new(&folder, 0);
    let [served, setting] = clients.each_ref().map(|it| channel(it, server.port()));
    let before = recorded(&folder);
    for round in 0..10 {
        let made = served.new_for_consumers(InterFilterGroupOperator::AndOp);
        let admin = made.unwrap().result.unwrap();
        for _ in 0..30 {
            pushed(&admin);
        }
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (begins, begun) = mpsc::channel();
            let setting = &setting;
            let sets = scope.spawn(|| {
                let begins = begins;
                while !is_over.load(Ordering::Relaxed) {
                    setting.set_qos(&[property("Priority", 1i16)]).unwrap();
                    let _ = begins.send(());
                }
            });
            begun.recv().unwrap();
            admin.destroy().unwrap();
            is_over.store(true, Ordering::Relaxed);
            sets.join().unwrap();
        });
        assert_eq!(recorded(&folder), before, "{round}");
    }
    server.end();
    Server::new(&folder, 0).end();
}

/// The admin was destroyed as it made a proxy.
#[test]
fn a_proxy_without_an_admin_is_not_there_again() {
    let (folder, client) = (Folder::new("orphan"), orb(0));
    let server = Server::new(&folder, 0);
    let port = server.port();
    let served = channel(&client, port);
    let made = served.new_for_consumers(InterFilterGroupOperator::AndOp);
    let admin = made.unwrap().result.unwrap();
    let (proxy, other) = (pushed(&admin).0, pulled(&consumers(&served)));
    let length = fs::metadata(folder.file()).unwrap().len();
    admin.destroy().unwrap();
    server.end();
    // All but the end of the proxy.
    let mut whole = fs::read(folder.file()).unwrap();
    let mut ends = entries(&whole).into_iter().map(|(at, ..)| at);
    let end = ends.find(|at| *at as u64 == length).unwrap();
    whole.drain(end..ends.next().unwrap());
    fs::write(folder.file(), &whole).unwrap();
    assert_eq!(recorded(&folder).len(), 6);

    let server = Server::new(&folder, port);
    assert!(proxy.as_object().non_existent().unwrap());
    assert!(!other.as_object().non_existent().unwrap());
    assert_eq!(recorded(&folder).len(), 5);
    server.end();
}

#[test]
fn no_file_of_any_bytes_ends_the_process() {
    let (folder, client) = (Folder::new("bytes"), orb(0));
    let server = Server::new(&folder, 0);
    let served = channel(&client, server.port());
    let proxy = pulled(&consumers(&served));
    let filters = served.default_filter_factory().unwrap().unwrap();
    let filter = filters.create_filter("EXTENDED_TCL").unwrap().unwrap();
    filter
        .add_constraints(&[constraint("$severity > 3")])
        .unwrap();
    proxy.add_filter(Some(&filter)).unwrap();
    server.end();
    let whole = fs::read(folder.file()).unwrap();
    let title = whole.iter().position(|it| *it == b'\n').unwrap() + 1;
    // Every byte of the bodies, with checksums that fit.
    let mut entries: Vec<(usize, usize)> = Vec::new();
    let mut at = title;
    while at < whole.len() {
        let length = u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) as usize;
        entries.push((at, length));
        at += 12 + length;
    }
    let mut refusals = 0;
    for (at, length) in entries {
        for index in (0..length).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at + 12 + index] = !bytes[at + 12 + index];
            let sum = crc32fast::hash(&bytes[at + 12..at + 12 + length]);
            bytes[at + 8..at + 12].copy_from_slice(&sum.to_le_bytes());
            fs::write(folder.file(), &bytes).unwrap();
            let orb = orb(0);
            let mut served = None;
            // As in `Server::on`.
            eventually("the file", || {
                let ended = NotificationService::serve(&orb, "Alarms", folder.config());
                !matches!(served.insert(ended), Err(ServiceError::File { .. }))
            });
            if let Some(Err(error)) = &served {
                assert!(matches!(error, ServiceError::Damaged { .. }), "{error}");
                refusals += 1;
            }
            orb.shutdown(true).unwrap();
        }
    }
    assert!(refusals > 0);
}
