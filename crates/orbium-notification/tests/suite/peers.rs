// SPDX-License-Identifier: MIT OR Apache-2.0
//! A served channel, and consumers and suppliers of another ORB.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use orbium::{Any, Call, Interface, Orb, SystemException};
use orbium_notification::idl::cos_event_comm::{
    DisconnectedError as CosDisconnectedError, PushConsumer, PushConsumerServant,
};
use orbium_notification::idl::cos_notification::{EventType, StructuredEvent};
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, ConsumerAdmin, EventChannel, StructuredProxyPullSupplier,
    StructuredProxyPushConsumer, StructuredProxyPushSupplier, SupplierAdmin,
};
use orbium_notification::idl::cos_notify_comm::{
    DisconnectedError, InvalidEventTypeError, NotifyPublishServant, SequencePushConsumerServant,
    StructuredPushConsumer, StructuredPushConsumerServant,
};
use orbium_notification::idl::cos_notify_filter::{ConstraintExp, Filter};
use orbium_notification::{NotificationConfig, NotificationService, property, structured_event};

/// A service, and an ORB that calls it and can be called.
pub(crate) struct Served {
    server: Orb,
    pub(crate) orb: Orb,
    pub(crate) service: NotificationService,
    pub(crate) channel: EventChannel,
    pub(crate) consumers: ConsumerAdmin,
    pub(crate) suppliers: SupplierAdmin,
}

fn orb() -> Orb {
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = builder.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    orb
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(NotificationConfig::default())
    }

    pub(crate) fn with(config: NotificationConfig) -> Self {
        Self::by(|server| NotificationService::serve(server, "Alarms", config).unwrap())
    }

    pub(crate) fn by(serve: impl FnOnce(&Orb) -> NotificationService) -> Self {
        Self::on(orb(), serve)
    }

    /// By an ORB of its own.
    pub(crate) fn on(server: Orb, serve: impl FnOnce(&Orb) -> NotificationService) -> Self {
        let orb = orb();
        let service = serve(&server);
        let port = server.addresses().unwrap()[0].port;
        let url = format!("corbaloc::127.0.0.1:{port}/Alarms");
        let channel: EventChannel = orb.resolve(&url).unwrap();
        let consumers = channel.default_consumer_admin().unwrap().unwrap();
        let suppliers = channel.default_supplier_admin().unwrap().unwrap();
        Self {
            server,
            orb,
            service,
            channel,
            consumers,
            suppliers,
        }
    }

    /// A proxy that a structured supplier is connected to.
    pub(crate) fn supplier(&self) -> StructuredProxyPushConsumer {
        let obtained = self
            .suppliers
            .obtain_notification_push_consumer(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().result.unwrap();
        let proxy: StructuredProxyPushConsumer = proxy.as_object().narrow().unwrap();
        proxy.connect_structured_push_supplier(None).unwrap();
        proxy
    }

    /// A proxy of a structured consumer that is pushed to.
    pub(crate) fn pushed(&self) -> StructuredProxyPushSupplier {
        let obtained = self
            .consumers
            .obtain_notification_push_supplier(ClientType::StructuredEvent);
        obtained
            .unwrap()
            .result
            .unwrap()
            .as_object()
            .narrow()
            .unwrap()
    }

    /// A proxy that a structured consumer pulls from.
    pub(crate) fn pulled(&self) -> StructuredProxyPullSupplier {
        let obtained = self
            .consumers
            .obtain_notification_pull_supplier(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().result.unwrap();
        let proxy: StructuredProxyPullSupplier = proxy.as_object().narrow().unwrap();
        proxy.connect_structured_pull_consumer(None).unwrap();
        proxy
    }

    /// A consumer that reports what it is pushed.
    pub(crate) fn reporter<I: Interface>(
        &self,
        activate: impl FnOnce(&Orb, Arc<Reporter>) -> I,
    ) -> (I, Receiver<Report>) {
        let (send, received) = mpsc::channel();
        let reporter = Arc::new(Reporter(Mutex::new(send)));
        (activate(&self.orb, reporter), received)
    }

    pub(crate) fn structured_reporter(&self) -> (StructuredPushConsumer, Receiver<Report>) {
        self.reporter(|orb, it| orb.root_poa().activate(it).unwrap())
    }

    pub(crate) fn any_reporter(&self) -> (PushConsumer, Receiver<Report>) {
        self.reporter(|orb, it| orb.root_poa().activate(it).unwrap())
    }

    /// A filter of the channel with these constraints.
    pub(crate) fn filter(&self, constraints: &[&str]) -> Filter {
        let factory = self.channel.default_filter_factory().unwrap().unwrap();
        let filter = factory.create_filter("EXTENDED_TCL").unwrap().unwrap();
        let constraints: Vec<_> = constraints.iter().map(|it| constraint(it)).collect();
        filter.add_constraints(&constraints).unwrap();
        filter
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
        let _ = self.server.shutdown(true);
    }
}

pub(crate) fn constraint(expression: &str) -> ConstraintExp {
    ConstraintExp {
        constraint_expr: expression.to_owned(),
        ..ConstraintExp::default()
    }
}

/// An alarm with that severity.
pub(crate) fn alarm(severity: i16) -> StructuredEvent {
    let mut event = structured_event("Telecom", "Alarm", "lost");
    event.filterable_data = vec![property("severity", severity)];
    event
}

/// The severity of an alarm.
pub(crate) fn severity(event: &StructuredEvent) -> i16 {
    event.filterable_data[0].value.extract().unwrap()
}

/// What a consumer is called with.
#[derive(Debug, PartialEq)]
pub(crate) enum Report {
    Any(Any),
    Event(StructuredEvent),
    Batch(Vec<i16>),
    Offer(Vec<EventType>, Vec<EventType>),
    Disconnected,
}

/// A consumer of every form of events.
pub(crate) struct Reporter(pub(crate) Mutex<Sender<Report>>);

impl Reporter {
    fn report(&self, report: Report) {
        let _ = self.0.lock().unwrap().send(report);
    }
}

impl NotifyPublishServant for Reporter {
    fn offer_change(
        &self,
        _: &Call<'_>,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        self.report(Report::Offer(added.to_vec(), removed.to_vec()));
        Ok(())
    }
}

impl PushConsumerServant for Reporter {
    fn push(&self, _: &Call<'_>, data: &Any) -> Result<(), CosDisconnectedError> {
        self.report(Report::Any(data.clone()));
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.report(Report::Disconnected);
        Ok(())
    }
}

impl StructuredPushConsumerServant for Reporter {
    fn push_structured_event(
        &self,
        _: &Call<'_>,
        notification: &StructuredEvent,
    ) -> Result<(), DisconnectedError> {
        self.report(Report::Event(notification.clone()));
        Ok(())
    }

    fn disconnect_structured_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.report(Report::Disconnected);
        Ok(())
    }
}

impl SequencePushConsumerServant for Reporter {
    fn push_structured_events(
        &self,
        _: &Call<'_>,
        notifications: &[StructuredEvent],
    ) -> Result<(), DisconnectedError> {
        self.report(Report::Batch(notifications.iter().map(severity).collect()));
        Ok(())
    }

    fn disconnect_sequence_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.report(Report::Disconnected);
        Ok(())
    }
}
