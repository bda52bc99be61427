// SPDX-License-Identifier: MIT OR Apache-2.0
//! JacORB's notification service and its clients.
//!
//! `interop/build.sh jacorb` builds them. Without them these tests say that they were skipped,
//! unless `ORBIUM_REQUIRE_PEERS=1` makes that a failure.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use orbium::{Any, Interface, Orb};

use orbium_notification::idl::cos_notification::UnsupportedQoSError;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, EventChannel, EventChannelFactory, ProxyPullSupplier, ProxyPushConsumer,
    StructuredProxyPullSupplier, StructuredProxyPushConsumer, StructuredProxyPushSupplier,
};
use orbium_notification::idl::cos_notify_comm::StructuredPushConsumer;
use orbium_notification::idl::cos_notify_filter::{Filter, InvalidConstraintError};
use orbium_notification::property;
use orbium_testkit::PATIENCE;

use crate::peers::{Report, Served, alarm, constraint, severity};

/// A program that `interop/build.sh` has built, unless it is missing and may be.
fn built(name: &str) -> Option<PathBuf> {
    let folder = match env::var_os("ORBIUM_INTEROP_DIR") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop"),
    };
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    orbium_testkit::skipped_peer(&format!("{name} is missing"));
    None
}

/// JacORB's service, until it is dropped.
struct JacorbService {
    child: Child,
    factory: String,
}

impl JacorbService {
    fn start(path: &Path) -> Self {
        let mut child = Command::new(path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let (send, references) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if line.starts_with("IOR:") {
                    let _ = send.send(line);
                }
            }
        });
        let factory = references.recv_timeout(PATIENCE);
        let mut service = Self {
            child,
            factory: String::new(),
        };
        // The process ends with the service if there is none.
        service.factory = factory.expect("a reference");
        service
    }
}

impl Drop for JacorbService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn narrowed<I: Interface>(object: &impl Interface) -> I {
    object.as_object().narrow().unwrap()
}

fn filter(channel: &EventChannel, expression: &str) -> Result<Filter, InvalidConstraintError> {
    let factory = channel.default_filter_factory().unwrap().unwrap();
    let filter = factory.create_filter("EXTENDED_TCL").unwrap().unwrap();
    filter.add_constraints(&[constraint(expression)])?;
    Ok(filter)
}

/// Conformance: notification - clients of other services - JacORB's service: structured events through a filter, anys, properties
#[test]
fn jacorbs_service_delivers_what_passes_its_filters() {
    let Some(path) = built("jacorb-notify") else {
        return;
    };
    let service = JacorbService::start(&path);
    // Its consumers are objects of this one.
    let own = Served::new();
    let orb: &Orb = &own.orb;
    let factory: EventChannelFactory = orb.resolve(&service.factory).unwrap();
    let channel = factory.create_channel(&[], &[]).unwrap().result.unwrap();
    let consumers = channel.default_consumer_admin().unwrap().unwrap();
    let suppliers = channel.default_supplier_admin().unwrap().unwrap();

    let obtained = consumers.obtain_notification_push_supplier(ClientType::StructuredEvent);
    let pushed: StructuredProxyPushSupplier = narrowed(&obtained.unwrap().result.unwrap());
    let important = filter(&channel, "$severity > 3 and $domain_name == 'Telecom'").unwrap();
    pushed.add_filter(Some(&important)).unwrap();
    let (consumer, received): (StructuredPushConsumer, _) = own.structured_reporter();
    pushed
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let obtained = consumers.obtain_notification_pull_supplier(ClientType::StructuredEvent);
    let pulled: StructuredProxyPullSupplier = narrowed(&obtained.unwrap().result.unwrap());
    pulled.connect_structured_pull_consumer(None).unwrap();
    let obtained = suppliers.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let supplier: StructuredProxyPushConsumer = narrowed(&obtained.unwrap().result.unwrap());
    supplier.connect_structured_push_supplier(None).unwrap();
    for number in 0..10 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    // JacORB filters with several threads, and delivers in another order at times.
    let next = |_| match received.recv_timeout(PATIENCE) {
        Ok(Report::Event(event)) => event,
        other => panic!("{other:?}"),
    };
    let mut events: Vec<_> = (4..10).map(next).collect();
    events.sort_by_key(severity);
    let expected: Vec<_> = (4..10).map(alarm).collect();
    assert_eq!(events, expected);
    let next = |_| severity(&pulled.pull_structured_event().unwrap());
    let mut numbers: Vec<_> = (0..10).map(next).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());

    let obtained = consumers.obtain_notification_pull_supplier(ClientType::AnyEvent);
    let anys: ProxyPullSupplier = narrowed(&obtained.unwrap().result.unwrap());
    anys.connect_any_pull_consumer(None).unwrap();
    let obtained = suppliers.obtain_notification_push_consumer(ClientType::AnyEvent);
    let any_supplier: ProxyPushConsumer = narrowed(&obtained.unwrap().result.unwrap());
    any_supplier.connect_any_push_supplier(None).unwrap();
    any_supplier.push(&Any::from(2.5f64)).unwrap();
    assert_eq!(anys.pull().unwrap(), Any::from(2.5f64));

    // Its parser throws what its own interface does not declare.
    let invalid = filter(&channel, "$severity ==").unwrap_err();
    assert!(matches!(invalid, InvalidConstraintError::System(_)));
    let unsupported = channel.set_qos(&[property("NoSuchProperty", 1i32)]);
    assert!(matches!(
        unsupported,
        Err(UnsupportedQoSError::UnsupportedQoS(_))
    ));
    channel.destroy().unwrap();
}

/// Conformance: notification - clients of other ORBs - JacORB: structured events, anys, sequences, filters, mapping filters, properties, a supplier that is pulled from
#[test]
fn jacorbs_client_uses_a_served_channel() {
    let Some(path) = built("jacorb-notify-client") else {
        return;
    };
    let served = Served::new();
    let reference = served.orb.object_to_string(&served.channel);
    let mut child = Command::new(path)
        .arg(reference)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = String::new();
    let mut lines = child.stdout.take().unwrap();
    lines.read_to_string(&mut output).unwrap();
    child.wait().unwrap();
    let checks = [
        "structured_push",
        "any_pull",
        "sequence_push",
        "constraints",
        "qos",
        "pulled_supplier",
        "mapping_filter",
    ];
    let expected: Vec<_> = checks.iter().map(|it| format!("ok {it}")).collect();
    assert_eq!(output.lines().collect::<Vec<_>>(), expected, "{output}");
}
