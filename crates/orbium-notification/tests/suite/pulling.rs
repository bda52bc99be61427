// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suppliers that the channel pulls from.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use orbium::giop::time::UtcTime;
use orbium::{Any, Call, ExceptionKind, Interface, SystemException};
use orbium_event::FailurePolicy;
use orbium_notification::idl::cos_event_comm::{
    Disconnected, DisconnectedError as CosDisconnectedError, PullSupplier, PullSupplierServant,
    PullSupplierTryPullResults,
};
use orbium_notification::idl::cos_notification::{EventType, StructuredEvent};
use orbium_notification::idl::cos_notify_channel_admin::{
    AlreadyConnectedOrTypeErrorError, ClientType,
    ConnectionAlreadyActiveOrNotConnectedError as ResumeError,
    ConnectionAlreadyInactiveOrNotConnectedError as SuspendError, ProxyType,
    SequenceProxyPullConsumer, StructuredProxyPullConsumer,
};
use orbium_notification::idl::cos_notify_comm::{
    DisconnectedError, InvalidEventTypeError, NotifySubscribeServant, SequencePullSupplier,
    SequencePullSupplierServant, SequencePullSupplierTryPullStructuredEventsResults,
    StructuredPullSupplier, StructuredPullSupplierServant,
    StructuredPullSupplierTryPullStructuredEventResults,
};
use orbium_notification::{
    Deliver, Following, Journal, NotificationConfig, NotificationService, property,
};
use orbium_testkit::{PATIENCE, eventually};

use crate::peers::{Served, alarm, severity};

/// A supplier of the alarms that a test sends to it.
struct Alarms {
    events: Mutex<Receiver<i16>>,
    calls: AtomicUsize,
    disconnected: Sender<()>,
}

impl Alarms {
    fn new() -> (Arc<Self>, Sender<i16>, Receiver<()>) {
        let (send, events) = mpsc::channel();
        let (disconnected, is_disconnected) = mpsc::channel();
        let alarms = Self {
            events: Mutex::new(events),
            calls: AtomicUsize::new(0),
            disconnected,
        };
        (Arc::new(alarms), send, is_disconnected)
    }

    /// Waits for the next alarm; Disconnected when there will be none.
    fn next(&self) -> Result<StructuredEvent, DisconnectedError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let next = self.events.lock().unwrap().recv();
        next.map(alarm).map_err(|_| Disconnected {}.into())
    }

    /// The next alarm, if there is one.
    fn try_next(&self) -> Result<Option<StructuredEvent>, DisconnectedError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match self.events.lock().unwrap().try_recv() {
            Ok(number) => Ok(Some(alarm(number))),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Disconnected {}.into()),
        }
    }

    fn disconnect(&self) {
        let _ = self.disconnected.send(());
    }
}

impl NotifySubscribeServant for Alarms {
    fn subscription_change(
        &self,
        _: &Call<'_>,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        Ok(())
    }
}

impl StructuredPullSupplierServant for Alarms {
    fn pull_structured_event(&self, _: &Call<'_>) -> Result<StructuredEvent, DisconnectedError> {
        self.next()
    }

    fn try_pull_structured_event(
        &self,
        _: &Call<'_>,
    ) -> Result<StructuredPullSupplierTryPullStructuredEventResults, DisconnectedError> {
        let event = self.try_next()?;
        Ok(StructuredPullSupplierTryPullStructuredEventResults {
            has_event: event.is_some(),
            result: event.unwrap_or_default(),
        })
    }

    fn disconnect_structured_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl SequencePullSupplierServant for Alarms {
    fn pull_structured_events(
        &self,
        _: &Call<'_>,
        _: i32,
    ) -> Result<Vec<StructuredEvent>, DisconnectedError> {
        Ok(vec![self.next()?, self.next()?])
    }

    fn try_pull_structured_events(
        &self,
        _: &Call<'_>,
        _: i32,
    ) -> Result<SequencePullSupplierTryPullStructuredEventsResults, DisconnectedError> {
        let events = [self.try_next()?, self.try_next()?];
        let result: Vec<_> = events.into_iter().flatten().collect();
        Ok(SequencePullSupplierTryPullStructuredEventsResults {
            has_event: !result.is_empty(),
            result,
        })
    }

    fn disconnect_sequence_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

fn cos_error(error: DisconnectedError) -> CosDisconnectedError {
    match error {
        DisconnectedError::Disconnected(it) => it.into(),
        DisconnectedError::System(it) => it.into(),
    }
}

impl PullSupplierServant for Alarms {
    fn pull(&self, _: &Call<'_>) -> Result<Any, CosDisconnectedError> {
        let event = self.next().map_err(cos_error)?;
        Ok(Any::from(severity(&event)))
    }

    fn try_pull(&self, _: &Call<'_>) -> Result<PullSupplierTryPullResults, CosDisconnectedError> {
        let event = self.try_next().map_err(cos_error)?;
        let number = event.as_ref().map(severity);
        Ok(PullSupplierTryPullResults {
            has_event: number.is_some(),
            result: number.map(Any::from).unwrap_or_default(),
        })
    }

    fn disconnect_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

fn structured(served: &Served) -> StructuredProxyPullConsumer {
    let obtained = served
        .suppliers
        .obtain_notification_pull_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    assert_eq!(proxy.my_type().unwrap(), ProxyType::PullStructured);
    proxy.as_object().narrow().unwrap()
}

/// Conformance: notification - suppliers are pulled from: structured events, suspension, the end - a served channel
#[test]
fn structured_suppliers_are_pulled_from_until_they_are_disconnected() {
    let served = Served::new();
    let (alarms, send, disconnected) = Alarms::new();
    let supplier: StructuredPullSupplier = served.orb.root_poa().activate(alarms).unwrap();
    let (proxy, consumer) = (structured(&served), served.pulled());
    let early = proxy.suspend_connection().unwrap_err();
    assert!(matches!(early, SuspendError::NotConnected(_)));
    let nil = proxy.connect_structured_pull_supplier(None).unwrap_err();
    assert!(nil.to_string().contains("BAD_PARAM"));
    proxy
        .connect_structured_pull_supplier(Some(&supplier))
        .unwrap();
    let twice = proxy
        .connect_structured_pull_supplier(Some(&supplier))
        .unwrap_err();
    assert!(matches!(
        twice,
        AlreadyConnectedOrTypeErrorError::AlreadyConnected(_)
    ));
    for number in 0..10 {
        send.send(number).unwrap();
    }
    for number in 0..10 {
        let event = consumer.pull_structured_event().unwrap();
        assert_eq!(severity(&event), number);
    }
    let active = proxy.resume_connection().unwrap_err();
    assert!(matches!(active, ResumeError::ConnectionAlreadyActive(_)));
    proxy.suspend_connection().unwrap();
    let again = proxy.suspend_connection().unwrap_err();
    assert!(matches!(again, SuspendError::ConnectionAlreadyInactive(_)));
    proxy.resume_connection().unwrap();
    send.send(77).unwrap();
    assert_eq!(severity(&consumer.pull_structured_event().unwrap()), 77);
    proxy.disconnect_structured_pull_consumer().unwrap();
    disconnected.recv_timeout(PATIENCE).unwrap();
    assert!(proxy.as_object().non_existent().unwrap());
}

/// Conformance: notification - suppliers are pulled from: anys, sequences, those of COS Event - a served channel
#[test]
fn suppliers_of_every_form_are_pulled_from() {
    let served = Served::new();
    let consumer = served.pulled();
    let next = || consumer.pull_structured_event().unwrap();
    let root = served.orb.root_poa();

    let (alarms, send, _end) = Alarms::new();
    let supplier: SequencePullSupplier = root.activate(alarms).unwrap();
    let obtained = served
        .suppliers
        .obtain_notification_pull_consumer(ClientType::SequenceEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: SequenceProxyPullConsumer = proxy.as_object().narrow().unwrap();
    for number in [3, 4] {
        send.send(number).unwrap();
    }
    proxy
        .connect_sequence_pull_supplier(Some(&supplier))
        .unwrap();
    assert_eq!((severity(&next()), severity(&next())), (3, 4));

    let (alarms, send, _end) = Alarms::new();
    let supplier: PullSupplier = root.activate(alarms).unwrap();
    let proxy = served.suppliers.obtain_pull_consumer().unwrap().unwrap();
    proxy.connect_pull_supplier(Some(&supplier)).unwrap();
    send.send(5).unwrap();
    assert_eq!(next().remainder_of_body, Any::from(5i16));
}

/// The channel gave up a call in which the supplier waited for an event, and the event went there.
#[test]
fn an_event_after_a_long_time_without_one_is_pulled() {
    let served = Served::with(NotificationConfig {
        pull_timeout: Duration::from_millis(200),
        ..NotificationConfig::default()
    });
    let (alarms, send, _end) = Alarms::new();
    let root = served.orb.root_poa();
    let supplier: StructuredPullSupplier = root.activate(Arc::clone(&alarms)).unwrap();
    let (proxy, consumer) = (structured(&served), served.pulled());
    proxy
        .connect_structured_pull_supplier(Some(&supplier))
        .unwrap();
    eventually("further calls", || alarms.calls.load(Ordering::Relaxed) > 2);
    send.send(1).unwrap();
    eventually("the event", || {
        let pulled = consumer.try_pull_structured_event().unwrap();
        pulled.has_event && severity(&pulled.result) == 1
    });
}

/// A journal that cannot be reached at first, and reports what it stores.
struct Unreachable {
    is_reachable: AtomicBool,
    stored: Sender<i16>,
    /// Whether an event had not expired when it was stored.
    has_lasting: AtomicBool,
}

/// Whether the time has come at which an event expires.
// The method by its name would be for one lifetime only.
#[allow(clippy::redundant_closure_for_method_calls)]
fn is_expired(event: &StructuredEvent) -> bool {
    let fields = &event.header.variable_header;
    let stop = fields.iter().find(|it| it.name == "StopTime");
    let stop = stop.map(|it| it.value.read_with(|reader| reader.read_u64()).unwrap());
    stop.is_some_and(|it| it <= UtcTime::from(SystemTime::now()).0)
}

impl Journal for Unreachable {
    fn store(&self, event: &StructuredEvent) -> Result<(), SystemException> {
        if self.is_reachable.swap(true, Ordering::SeqCst) {
            if !is_expired(event) {
                self.has_lasting.store(true, Ordering::SeqCst);
            }
            let _ = self.stored.send(severity(event));
            Ok(())
        } else {
            Err(ExceptionKind::Timeout.into())
        }
    }

    fn is_name(&self, _: &str) -> bool {
        false
    }

    fn follow(&self, _: Option<&str>, _: Deliver) -> Result<Following, SystemException> {
        Ok(Box::new(()))
    }
}

/// Its supplier does not have an event any more that was pulled: it was lost. The time after which it expires began anew when it was
/// stored later.
#[test]
fn an_event_that_was_pulled_and_cannot_be_stored_is_stored_later() {
    let (stored, events) = mpsc::channel();
    let journal = Arc::new(Unreachable {
        is_reachable: AtomicBool::new(false),
        stored,
        has_lasting: AtomicBool::new(false),
    });
    let served = Served::by(|server| {
        let (config, stored) = (NotificationConfig::default(), Arc::clone(&journal) as _);
        NotificationService::serve_stored(server, "Alarms", config, stored).unwrap()
    });
    let (alarms, send, _end) = Alarms::new();
    let supplier: SequencePullSupplier = served.orb.root_poa().activate(alarms).unwrap();
    let obtained = served
        .suppliers
        .obtain_notification_pull_consumer(ClientType::SequenceEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: SequenceProxyPullConsumer = proxy.as_object().narrow().unwrap();
    // 10 ms.
    proxy.set_qos(&[property("Timeout", 100_000u64)]).unwrap();
    for number in 1..=2 {
        send.send(number).unwrap();
    }
    proxy
        .connect_sequence_pull_supplier(Some(&supplier))
        .unwrap();
    for number in 1..=2 {
        assert_eq!(events.recv_timeout(PATIENCE), Ok(number));
    }
    assert_eq!(served.service.statistics()[0].received, 2);
    assert!(!journal.has_lasting.load(Ordering::SeqCst));
}

/// Conformance: notification - suppliers are pulled from: one that is gone - a served channel
#[test]
fn a_supplier_that_is_gone_is_disconnected() {
    let served = Served::with(NotificationConfig {
        failure: FailurePolicy {
            failures: 1,
            ..FailurePolicy::default()
        },
        ..NotificationConfig::default()
    });
    let root = served.orb.root_poa();
    // One says so, of one the object does not exist any more.
    let (alarms, send, _end) = Alarms::new();
    drop(send);
    let says: StructuredPullSupplier = root.activate(alarms).unwrap();
    let (alarms, _send, _end) = Alarms::new();
    let ends: StructuredPullSupplier = root.activate(alarms).unwrap();
    root.deactivate(&root.reference_to_id(&ends).unwrap())
        .unwrap();
    for supplier in [says, ends] {
        let proxy = structured(&served);
        proxy
            .connect_structured_pull_supplier(Some(&supplier))
            .unwrap();
        eventually("the proxy ends", || {
            proxy.as_object().non_existent().unwrap()
        });
    }
}
