// SPDX-License-Identifier: MIT OR Apache-2.0
//! Factories, channels, admins and proxies: connecting, suspending, ending.

use std::time::Duration;

use orbium::{ExceptionKind, Interface, poa::Policies};
use orbium_event::FailurePolicy;
use orbium_notification::idl::cos_notify_channel_admin::{
    AdminNotFoundError, AlreadyConnectedError, AlreadyConnectedOrTypeErrorError,
    ChannelNotFoundError, ClientType, ConnectionAlreadyActiveOrNotConnectedError,
    ConnectionAlreadyInactiveOrNotConnectedError, EventChannelFactory, InterFilterGroupOperator,
    ObtainInfoMode, ProxyNotFoundError, ProxyType, UnsupportedQoSOrUnsupportedAdminError,
};
use orbium_notification::idl::cos_notify_comm::{DisconnectedError, StructuredPushConsumer};
use orbium_notification::{NotificationConfig, event_type, property};
use orbium_testkit::{PATIENCE, eventually};

use crate::peers::{Report, Served, alarm};

/// Conformance: notification - EventChannelFactory: create, list, get, destroy - a served factory
#[test]
fn a_factory_makes_channels_that_do_not_share_events() {
    let served = Served::new();
    let factory: EventChannelFactory = served.channel.my_factory().unwrap().unwrap();
    assert_eq!(factory.get_all_channels().unwrap(), [1]);
    let made = factory
        .create_channel(&[property("OrderPolicy", 1i16)], &[])
        .unwrap();
    let (channel, id) = (made.result.unwrap(), made.id);
    assert_eq!(factory.get_all_channels().unwrap(), [1, id]);
    assert!(factory.get_event_channel(id).unwrap().is_some());
    let refused = factory
        .create_channel(&[property("Nonsense", 1i16)], &[])
        .unwrap_err();
    assert!(matches!(
        refused,
        UnsupportedQoSOrUnsupportedAdminError::UnsupportedQoS(_)
    ));
    let refused = factory
        .create_channel(&[], &[property("Nonsense", 1i16)])
        .unwrap_err();
    assert!(matches!(
        refused,
        UnsupportedQoSOrUnsupportedAdminError::UnsupportedAdmin(_)
    ));

    let proxy = served.pulled();
    channel.destroy().unwrap();
    assert!(channel.as_object().non_existent().unwrap());
    let unknown = factory.get_event_channel(id).unwrap_err();
    assert!(matches!(unknown, ChannelNotFoundError::ChannelNotFound(_)));
    assert!(!proxy.as_object().non_existent().unwrap());
}

/// Conformance: notification - EventChannel: admins by their numbers, default admins - a served channel
#[test]
fn admins_and_proxies_are_reached_by_their_numbers() {
    let served = Served::new();
    assert_eq!(served.consumers.my_id().unwrap(), 0);
    assert_eq!(served.suppliers.my_id().unwrap(), 0);
    let made = served
        .channel
        .new_for_suppliers(InterFilterGroupOperator::OrOp)
        .unwrap();
    let admin = made.result.unwrap();
    assert_eq!(
        served.channel.get_all_supplieradmins().unwrap(),
        [0, made.id]
    );
    assert!(served.channel.get_supplieradmin(made.id).unwrap().is_some());
    let unknown = served.channel.get_consumeradmin(99).unwrap_err();
    assert!(matches!(unknown, AdminNotFoundError::AdminNotFound(_)));

    let obtained = admin
        .obtain_notification_push_consumer(ClientType::SequenceEvent)
        .unwrap();
    assert_eq!(admin.push_consumers().unwrap(), [obtained.proxy_id]);
    assert!(admin.pull_consumers().unwrap().is_empty());
    let proxy = admin
        .get_proxy_consumer(obtained.proxy_id)
        .unwrap()
        .unwrap();
    assert_eq!(proxy.my_type().unwrap(), ProxyType::PushSequence);
    assert_eq!(proxy.my_admin().unwrap().unwrap().my_id().unwrap(), made.id);
    let unknown = admin.get_proxy_consumer(99).unwrap_err();
    assert!(matches!(unknown, ProxyNotFoundError::ProxyNotFound(_)));
    let pulls = admin
        .obtain_notification_pull_consumer(ClientType::AnyEvent)
        .unwrap();
    assert_eq!(admin.pull_consumers().unwrap(), [pulls.proxy_id]);
    admin.destroy().unwrap();
    assert!(proxy.as_object().non_existent().unwrap());
    assert_eq!(served.channel.get_all_supplieradmins().unwrap(), [0]);
}

/// Conformance: notification - connecting: nil, twice, before; suspend_connection, resume_connection - a served channel
#[test]
fn connections_are_made_suspended_resumed_and_ended_once() {
    let served = Served::new();
    let (consumer, received) = served.structured_reporter();
    let (proxy, supplier) = (served.pushed(), served.supplier());
    let early = proxy.suspend_connection().unwrap_err();
    assert!(matches!(
        early,
        ConnectionAlreadyInactiveOrNotConnectedError::NotConnected(_)
    ));
    let early = proxy.resume_connection().unwrap_err();
    assert!(matches!(
        early,
        ConnectionAlreadyActiveOrNotConnectedError::NotConnected(_)
    ));
    let nil = proxy.connect_structured_push_consumer(None).unwrap_err();
    assert!(
        matches!(nil, AlreadyConnectedOrTypeErrorError::System(it) if it.kind == ExceptionKind::BadParam)
    );
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let again = proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap_err();
    assert!(matches!(
        again,
        AlreadyConnectedOrTypeErrorError::AlreadyConnected(_)
    ));
    let active = proxy.resume_connection().unwrap_err();
    assert!(matches!(
        active,
        ConnectionAlreadyActiveOrNotConnectedError::ConnectionAlreadyActive(_)
    ));

    proxy.suspend_connection().unwrap();
    let again = proxy.suspend_connection().unwrap_err();
    assert!(matches!(
        again,
        ConnectionAlreadyInactiveOrNotConnectedError::ConnectionAlreadyInactive(_)
    ));
    supplier.push_structured_event(&alarm(1)).unwrap();
    eventually("the event waits", || {
        served.service.statistics()[0].consumers[0].queued == 1
    });
    assert!(received.try_recv().is_err());
    proxy.resume_connection().unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(Report::Event(alarm(1))));

    let again = supplier.connect_structured_push_supplier(None).unwrap_err();
    assert!(matches!(again, AlreadyConnectedError::AlreadyConnected(_)));
    served.channel.destroy().unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(Report::Disconnected));
    assert!(supplier.as_object().non_existent().unwrap());
}

#[test]
fn a_supplier_that_has_not_connected_cannot_push() {
    let served = Served::new();
    let obtained = served
        .suppliers
        .obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: orbium_notification::idl::cos_notify_channel_admin::StructuredProxyPushConsumer =
        proxy.as_object().narrow().unwrap();
    let early = proxy.push_structured_event(&alarm(1)).unwrap_err();
    assert!(matches!(early, DisconnectedError::Disconnected(_)));
}

/// Conformance: notification - offer_change, subscription_change, obtain types - a served channel
#[test]
fn offered_and_subscribed_types_are_obtained() {
    let served = Served::new();
    let (proxy, supplier) = (served.pulled(), served.supplier());
    supplier
        .offer_change(&[event_type("Telecom", "Alarm")], &[])
        .unwrap();
    served
        .suppliers
        .offer_change(&[event_type("Power", "*")], &[])
        .unwrap();
    let offered = proxy
        .obtain_offered_types(ObtainInfoMode::AllNowUpdatesOff)
        .unwrap();
    assert_eq!(
        offered,
        [event_type("Telecom", "Alarm"), event_type("Power", "*")]
    );
    proxy
        .subscription_change(&[event_type("A", "B")], &[])
        .unwrap();
    let subscribed = supplier
        .obtain_subscription_types(ObtainInfoMode::AllNowUpdatesOff)
        .unwrap();
    assert_eq!(subscribed, [event_type("A", "B")]);
    assert!(
        proxy
            .obtain_offered_types(ObtainInfoMode::NoneNowUpdatesOff)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_consumer_that_is_gone_is_disconnected_and_delays_no_other() {
    let failure = FailurePolicy {
        failures: 1,
        ..FailurePolicy::default()
    };
    let served = Served::with(NotificationConfig {
        failure,
        push_timeout: Duration::from_secs(30),
        ..NotificationConfig::default()
    });
    let (gone, _) = served.structured_reporter();
    let (alive, received) = served.structured_reporter();
    let (first, second) = (served.pushed(), served.pushed());
    first.connect_structured_push_consumer(Some(&gone)).unwrap();
    second
        .connect_structured_push_consumer(Some(&alive))
        .unwrap();
    let poa = served.orb.root_poa();
    poa.deactivate(&poa.reference_to_id(&gone).unwrap())
        .unwrap();
    served.supplier().push_structured_event(&alarm(1)).unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(Report::Event(alarm(1))));
    eventually("the consumer is given up", || {
        first.as_object().non_existent().unwrap()
    });
    assert!(!second.as_object().non_existent().unwrap());
}

/// Conformance: notification - events wait for a consumer that fails, until it answers - a served channel
#[test]
fn events_wait_for_a_consumer_that_fails_until_it_answers() {
    let served = Served::with(NotificationConfig {
        failure: FailurePolicy {
            failures: u32::MAX,
            time: Duration::from_secs(600),
        },
        ..NotificationConfig::default()
    });
    let root = served.orb.root_poa();
    let poa = root.create_poa("consumer", None, Policies::default());
    let poa = poa.unwrap();
    let manager = poa.manager();
    // Requests are answered with TRANSIENT, pings too.
    manager.discard_requests(false).unwrap();
    let (consumer, received): (StructuredPushConsumer, _) =
        served.reporter(|_, it| poa.activate(it).unwrap());
    let proxy = served.pushed();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let counts = || served.service.statistics()[0].consumers[0];
    let supplier = served.supplier();
    supplier.push_structured_event(&alarm(1)).unwrap();
    eventually("a push that failed", || counts().lost == 1);
    for number in 2..4 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    assert_eq!((counts().queued, counts().lost), (2, 1));
    manager.activate().unwrap();
    let mut second = alarm(2);
    // The first one was lost.
    second.header.variable_header = vec![property("EventsDropped", 1u64)];
    for expected in [second, alarm(3)] {
        let pushed = received.recv_timeout(PATIENCE);
        assert_eq!(pushed, Ok(Report::Event(expected)));
    }
}
