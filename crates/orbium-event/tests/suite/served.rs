// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel that other ORBs call.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};

use orbium::{Call, ExceptionKind, Interface, Orb, SystemException};
use orbium_event::rtec::orbium_event::MonitoredChannel;
use orbium_event::rtec::rtec_event_channel_admin::{
    AlreadyConnectedError, AlreadyConnectedOrTypeErrorError, ConsumerQos, EventChannel, Observer,
    ObserverServant, ProxyPushConsumer, ProxyPushSupplier, SupplierQos,
};
use orbium_event::rtec::rtec_event_comm::{
    Event, PushConsumer, PushConsumerServant, PushSupplier, PushSupplierServant,
};
use orbium_event::{
    Channel, ChannelConfig, Dispatching, FailurePolicy, Pattern, connect_consumer,
    connect_supplier, new_event,
};
use orbium_testkit::{PATIENCE, eventually};

use crate::scheduled::SCHEDULE;

/// A channel that is served, and an ORB that calls it and can be called.
pub(crate) struct Served {
    pub(crate) server: Orb,
    pub(crate) orb: Orb,
    pub(crate) local: Channel,
    pub(crate) channel: EventChannel,
}

fn orb() -> Orb {
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = builder.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    orb
}

impl Served {
    pub(crate) fn new(config: ChannelConfig) -> Self {
        Self::by(orb(), config)
    }

    pub(crate) fn by(server: Orb, config: ChannelConfig) -> Self {
        let orb = orb();
        let local = Channel::new(config);
        local.serve(&server, "EventService").unwrap();
        let port = server.addresses().unwrap()[0].port;
        let url = format!("corbaloc::127.0.0.1:{port}/EventService");
        let channel = orb.resolve(&url).unwrap();
        Self {
            server,
            orb,
            local,
            channel,
        }
    }

    pub(crate) fn proxy_supplier(&self) -> ProxyPushSupplier {
        let admin = self.channel.for_consumers().unwrap().unwrap();
        admin.obtain_push_supplier().unwrap().unwrap()
    }

    pub(crate) fn proxy_consumer(&self) -> ProxyPushConsumer {
        let admin = self.channel.for_suppliers().unwrap().unwrap();
        admin.obtain_push_consumer().unwrap().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
        let _ = self.server.shutdown(true);
    }
}

/// A peer that reports what it is called with.
struct Reporter(Mutex<mpsc::Sender<Report>>);

#[derive(Debug, PartialEq)]
enum Report {
    Events(Vec<i32>),
    Disconnected,
    Consumers(usize),
    Suppliers(usize),
}

impl Reporter {
    fn new() -> (Arc<Self>, Receiver<Report>) {
        let (send, received) = mpsc::channel();
        (Arc::new(Self(Mutex::new(send))), received)
    }

    fn report(&self, report: Report) -> Result<(), SystemException> {
        let _ = self.0.lock().unwrap().send(report);
        Ok(())
    }
}

impl PushConsumerServant for Reporter {
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        let types = data.iter().map(|it| it.header.r#type).collect();
        self.report(Report::Events(types))
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.report(Report::Disconnected)
    }
}

impl PushSupplierServant for Reporter {
    fn disconnect_push_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.report(Report::Disconnected)
    }
}

impl ObserverServant for Reporter {
    fn update_consumer(&self, _: &Call<'_>, sub: &ConsumerQos) -> Result<(), SystemException> {
        self.report(Report::Consumers(sub.dependencies.len()))
    }

    fn update_supplier(&self, _: &Call<'_>, r#pub: &SupplierQos) -> Result<(), SystemException> {
        self.report(Report::Suppliers(r#pub.publications.len()))
    }
}

fn next(received: &Receiver<Report>) -> Report {
    received.recv_timeout(PATIENCE).unwrap()
}

/// No peer is given up because the machine is busy.
pub(crate) fn patient() -> ChannelConfig {
    ChannelConfig {
        push_timeout: PATIENCE,
        ping_timeout: PATIENCE,
        failure: FailurePolicy {
            time: PATIENCE,
            ..FailurePolicy::default()
        },
        ..ChannelConfig::default()
    }
}

fn all() -> impl Iterator<Item = ChannelConfig> {
    let dispatching = [
        Dispatching::PerConsumer,
        Dispatching::Reactive,
        Dispatching::Scheduled(&SCHEDULE),
    ];
    dispatching.into_iter().map(|dispatching| ChannelConfig {
        dispatching,
        soft: true,
        disconnect_callbacks: true,
        ..patient()
    })
}

/// Conformance: events - events through a channel on the wire, in order - a served channel
#[test]
fn events_pass_through_a_served_channel_in_order() {
    for config in all() {
        let served = Served::new(config);
        let (send, received) = mpsc::channel();
        let on_events = move |events: &[Event]| {
            let _ = send.send(events.to_vec());
        };
        let pattern = Pattern::of(0, 1);
        let consumer = connect_consumer(&served.orb, &served.channel, &pattern, on_events).unwrap();
        let supplier = connect_supplier(&served.channel, &[(0, 1)]).unwrap();
        for number in 0..200u8 {
            let mut event = new_event(16, 1);
            event.data.payload = vec![number];
            event.data.any_value = "text".into();
            supplier.push(&[event]).unwrap();
        }
        for number in 0..200u8 {
            let events = received.recv_timeout(PATIENCE).unwrap();
            assert_eq!(events[0].data.payload, [number]);
            assert_eq!(
                events[0].data.any_value.extract::<String>().unwrap(),
                "text"
            );
            assert!(events[0].header.ec_recv_time >= events[0].header.creation_time);
            assert_eq!(events[0].header.ttl, 1);
        }
        consumer.disconnect().unwrap();
        supplier.disconnect().unwrap();
        let statistics = served.local.statistics();
        assert_eq!((statistics.consumers.len(), statistics.suppliers), (0, 0));
    }
}

/// Conformance: events - sets of a conjunction arrive as one - a served channel
#[test]
fn a_conjunction_is_pushed_as_one_set() {
    for config in all() {
        let served = Served::new(config);
        let (reporter, received) = Reporter::new();
        let consumer: PushConsumer = served.orb.root_poa().activate(reporter).unwrap();
        let pair = Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)]);
        let proxy = served.proxy_supplier();
        proxy
            .connect_push_consumer(Some(&consumer), &pair.to_qos())
            .unwrap();
        let supplier = connect_supplier(&served.channel, &[]).unwrap();
        for r#type in [17, 17, 16] {
            supplier.push(&[new_event(r#type, 1)]).unwrap();
        }
        assert_eq!(next(&received), Report::Events(vec![17, 16]));
    }
}

/// Conformance: events - nil, second connection, calls after disconnection - a served channel
#[test]
fn proxies_check_what_connects() {
    for config in all() {
        let served = Served::new(config);
        let (reporter, received) = Reporter::new();
        let poa = served.orb.root_poa();
        let consumer: PushConsumer = poa.activate(Arc::clone(&reporter)).unwrap();
        let supplier: PushSupplier = poa.activate(reporter).unwrap();
        let everything = Pattern::Null.to_qos();

        let proxy = served.proxy_supplier();
        let nil = proxy.connect_push_consumer(None, &everything).unwrap_err();
        assert!(
            matches!(nil, AlreadyConnectedOrTypeErrorError::System(it) if it.kind == ExceptionKind::BadParam)
        );
        let empty = ConsumerQos::default();
        let malformed = proxy.connect_push_consumer(Some(&consumer), &empty);
        assert!(matches!(
            malformed,
            Err(AlreadyConnectedOrTypeErrorError::TypeError(_))
        ));
        // Neither is an error before the connection.
        proxy.suspend_connection().unwrap();
        proxy.resume_connection().unwrap();
        proxy
            .connect_push_consumer(Some(&consumer), &everything)
            .unwrap();
        let again = proxy.connect_push_consumer(Some(&consumer), &everything);
        assert!(matches!(
            again,
            Err(AlreadyConnectedOrTypeErrorError::AlreadyConnected(_))
        ));
        proxy.disconnect_push_supplier().unwrap();
        assert_eq!(next(&received), Report::Disconnected);
        let gone = proxy.suspend_connection().unwrap_err();
        assert_eq!(gone.kind, ExceptionKind::ObjectNotExist);

        let proxy = served.proxy_consumer();
        proxy
            .connect_push_supplier(Some(&supplier), &SupplierQos::default())
            .unwrap();
        let again = proxy.connect_push_supplier(None, &SupplierQos::default());
        assert!(matches!(
            again,
            Err(AlreadyConnectedError::AlreadyConnected(_))
        ));
        proxy.disconnect_push_consumer().unwrap();
        assert_eq!(next(&received), Report::Disconnected);
        let unused = served.proxy_supplier();
        unused.disconnect_push_supplier().unwrap();
        assert!(unused.as_object().non_existent().unwrap());
    }
}

#[test]
fn events_of_a_supplier_that_has_not_connected_are_dropped() {
    let served = Served::new(patient());
    let text = served.orb.object_to_string(&served.proxy_consumer());
    // A call within the server returns when the push is done.
    let proxy: ProxyPushConsumer = served.server.resolve(&text).unwrap();
    proxy.push(&[new_event(16, 1)]).unwrap();
    assert_eq!(served.local.statistics().received, 0);
    proxy
        .connect_push_supplier(None, &SupplierQos::default())
        .unwrap();
    proxy.push(&[new_event(16, 1)]).unwrap();
    assert_eq!(served.local.statistics().received, 1);
}

/// Conformance: events - reconnection replaces the subscription - a served channel
#[test]
fn a_consumer_reconnects_with_another_subscription() {
    for config in all() {
        let served = Served::new(ChannelConfig {
            consumer_reconnect: true,
            supplier_reconnect: true,
            ..config
        });
        let (reporter, received) = Reporter::new();
        let consumer: PushConsumer = served.orb.root_poa().activate(reporter).unwrap();
        let proxy = served.proxy_supplier();
        for r#type in [16, 17] {
            let qos = Pattern::of(r#type, 0).to_qos();
            proxy.connect_push_consumer(Some(&consumer), &qos).unwrap();
        }
        let supplier = served.proxy_consumer();
        for _ in 0..2 {
            supplier
                .connect_push_supplier(None, &SupplierQos::default())
                .unwrap();
        }
        for r#type in [16, 17, 16, 17] {
            supplier.push(&[new_event(r#type, 1)]).unwrap();
        }
        assert_eq!(next(&received), Report::Events(vec![17]));
        assert_eq!(next(&received), Report::Events(vec![17]));
        assert_eq!(served.local.statistics().consumers.len(), 1);
    }
}

/// Conformance: events - destroying a channel notifies every peer - a served channel
#[test]
fn destroying_a_channel_notifies_its_peers() {
    for config in all() {
        let served = Served::new(config);
        let (reporter, received) = Reporter::new();
        let poa = served.orb.root_poa();
        let consumer: PushConsumer = poa.activate(Arc::clone(&reporter)).unwrap();
        let supplier: PushSupplier = poa.activate(reporter).unwrap();
        let everything = Pattern::Null.to_qos();
        let proxies = (served.proxy_supplier(), served.proxy_consumer());
        proxies
            .0
            .connect_push_consumer(Some(&consumer), &everything)
            .unwrap();
        proxies
            .1
            .connect_push_supplier(Some(&supplier), &SupplierQos::default())
            .unwrap();
        served.channel.destroy().unwrap();
        assert_eq!(next(&received), Report::Disconnected);
        assert_eq!(next(&received), Report::Disconnected);
        assert!(proxies.0.as_object().non_existent().unwrap());
        assert!(proxies.1.as_object().non_existent().unwrap());
        assert!(served.channel.as_object().non_existent().unwrap());
    }
}

#[test]
fn an_observer_behind_a_reference_gets_the_sums() {
    let served = Served::new(patient());
    let (reporter, received) = Reporter::new();
    let observer: Observer = served.orb.root_poa().activate(reporter).unwrap();
    let handle = served.channel.append_observer(Some(&observer)).unwrap();
    assert_eq!(next(&received), Report::Consumers(1));
    assert_eq!(next(&received), Report::Suppliers(0));
    let _supplier = connect_supplier(&served.channel, &[(16, 1)]).unwrap();
    assert_eq!(next(&received), Report::Consumers(1));
    assert_eq!(next(&received), Report::Suppliers(1));
    served.channel.remove_observer(handle).unwrap();
    assert!(served.channel.remove_observer(handle).is_err());
}

#[test]
fn an_observer_that_is_gone_is_removed() {
    let served = Served::new(patient());
    let (reporter, received) = Reporter::new();
    let poa = served.orb.root_poa();
    let observer: Observer = poa.activate(reporter).unwrap();
    served.channel.append_observer(Some(&observer)).unwrap();
    assert_eq!(next(&received), Report::Consumers(1));
    poa.deactivate(&poa.reference_to_id(&observer).unwrap())
        .unwrap();
    let _supplier = connect_supplier(&served.channel, &[]).unwrap();
    eventually("the removal", || served.local.statistics().observers == 0);
}

/// Conformance: events - proxies that never connect are bounded - a served channel
#[test]
fn proxies_that_never_connect_are_bounded() {
    let served = Served::new(ChannelConfig {
        consumers: 3,
        suppliers: 2,
        publications: 4,
        ..patient()
    });
    let admin = served.channel.for_consumers().unwrap().unwrap();
    let proxies: Vec<_> = (0..3)
        .map(|_| admin.obtain_push_supplier().unwrap())
        .collect();
    let refused = admin.obtain_push_supplier().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::ImpLimit);
    proxies[0]
        .as_ref()
        .unwrap()
        .disconnect_push_supplier()
        .unwrap();
    eventually("a proxy", || admin.obtain_push_supplier().is_ok());

    let proxy = served.proxy_consumer();
    let qos = SupplierQos {
        publications: vec![Default::default(); 5],
        is_gateway: false,
    };
    let refused = proxy.connect_push_supplier(None, &qos).unwrap_err();
    assert!(
        matches!(refused, AlreadyConnectedError::System(it) if it.kind == ExceptionKind::ImpLimit)
    );
}

#[test]
fn the_state_of_a_channel_can_be_read() {
    let served = Served::new(patient());
    let monitored: MonitoredChannel = served.channel.as_object().narrow().unwrap();
    let consumer = connect_consumer(&served.orb, &served.channel, &Pattern::Null, |_| {});
    let consumer = consumer.unwrap();
    let supplier = connect_supplier(&served.channel, &[]).unwrap();
    consumer.suspend().unwrap();
    supplier.push(&[new_event(16, 1)]).unwrap();
    eventually("the event", || {
        monitored.state().unwrap().consumers[0].suspended == 1
    });
    consumer.resume().unwrap();
    supplier.push(&[new_event(16, 1)]).unwrap();
    eventually("the event", || {
        monitored.state().unwrap().consumers[0].delivered == 1
    });
    let state = monitored.state().unwrap();
    assert_eq!((state.received, state.suppliers), (2, 1));
    assert!(!state.consumers[0].is_suspended);
}
