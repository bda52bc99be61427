// SPDX-License-Identifier: MIT OR Apache-2.0
//! COS Event in front of a channel.

use std::sync::{Mutex, mpsc};

use orbium::{Any, Call, ExceptionKind, Interface, SystemException};
use orbium_event::cos_event::cos_event_channel_admin::{
    AlreadyConnectedError, AlreadyConnectedOrTypeErrorError, ConsumerAdmin, EventChannel,
    SupplierAdmin,
};
use orbium_event::cos_event::cos_event_comm::{
    DisconnectedError, PushConsumer, PushConsumerServant,
};
use orbium_event::{CosHeader, Pattern, SharedEvent, new_event};
use orbium_testkit::{PATIENCE, eventually};

use crate::served::{Served, patient};

const HEADER: CosHeader = CosHeader {
    r#type: 20,
    source: 3,
};

/// The admins of a COS channel, as another process has them.
fn admins(served: &Served) -> (EventChannel, ConsumerAdmin, SupplierAdmin) {
    let channel = served.local.serve_cos(&served.server, "Cos", HEADER);
    let text = served.server.object_to_string(&channel.unwrap());
    let channel: EventChannel = served.orb.resolve(&text).unwrap();
    let consumers = channel.for_consumers().unwrap().unwrap();
    let suppliers = channel.for_suppliers().unwrap().unwrap();
    (channel, consumers, suppliers)
}

/// A consumer that reports events, and its disconnection as `None`.
pub(crate) struct Reporter(Mutex<mpsc::Sender<Option<Any>>>);

impl Reporter {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Option<Any>>) {
        let (send, received) = mpsc::channel();
        (Self(Mutex::new(send)), received)
    }
}

impl PushConsumerServant for Reporter {
    fn push(&self, _: &Call<'_>, data: &Any) -> Result<(), DisconnectedError> {
        let _ = self.0.lock().unwrap().send(Some(data.clone()));
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        let _ = self.0.lock().unwrap().send(None);
        Ok(())
    }
}

/// Conformance: events - COS Event: push, pull, and the real-time channel behind it - a served channel
#[test]
fn cos_events_are_pushed_pulled_and_seen_by_the_real_time_channel() {
    let served = Served::new(patient());
    let (_channel, consumers, suppliers) = admins(&served);
    let (reporter, pushed) = Reporter::new();
    let consumer: PushConsumer = served.orb.root_poa().activate(reporter).unwrap();
    let push = consumers.obtain_push_supplier().unwrap().unwrap();
    push.connect_push_consumer(Some(&consumer)).unwrap();
    let pull = consumers.obtain_pull_supplier().unwrap().unwrap();
    pull.connect_pull_consumer(None).unwrap();
    let (send, seen) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        let _ = send.send(events[0].header.source);
    };
    let _real_time = served.local.subscribe(&Pattern::of(20, 0), sink).unwrap();

    let supplier = suppliers.obtain_push_consumer().unwrap().unwrap();
    supplier.connect_push_supplier(None).unwrap();
    for number in 0..50i32 {
        supplier.push(&Any::from(number)).unwrap();
    }
    for number in 0..50i32 {
        let any = pushed.recv_timeout(PATIENCE).unwrap().unwrap();
        assert_eq!(any.extract::<i32>(), Ok(number));
        assert_eq!(pull.pull().unwrap().extract::<i32>(), Ok(number));
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(3));
    }
    assert!(!pull.try_pull().unwrap().has_event);

    // An event of a real-time supplier.
    let publisher = served.local.connect_supplier(&[]).unwrap();
    publisher.push(&[new_event(77, 1)]);
    let any = pushed.recv_timeout(PATIENCE).unwrap().unwrap();
    let event: orbium_event::rtec::rtec_event_comm::Event = any.extract().unwrap();
    assert_eq!(event.header.r#type, 77);
    let mut results = None;
    eventually("the event", || {
        let tried = pull.try_pull().unwrap();
        let has_event = tried.has_event;
        results = has_event.then_some(tried.result);
        has_event
    });
    assert_eq!(results, Some(any));
}

/// Conformance: events - COS Event: nil, second connection, disconnection - a served channel
#[test]
fn cos_proxies_check_what_connects() {
    let served = Served::new(patient());
    let (channel, consumers, suppliers) = admins(&served);
    let (reporter, pushed) = Reporter::new();
    let consumer: PushConsumer = served.orb.root_poa().activate(reporter).unwrap();

    let push = consumers.obtain_push_supplier().unwrap().unwrap();
    let nil = push.connect_push_consumer(None).unwrap_err();
    assert!(
        matches!(nil, AlreadyConnectedOrTypeErrorError::System(it) if it.kind == ExceptionKind::BadParam)
    );
    push.connect_push_consumer(Some(&consumer)).unwrap();
    let again = push.connect_push_consumer(Some(&consumer)).unwrap_err();
    assert!(matches!(
        again,
        AlreadyConnectedOrTypeErrorError::AlreadyConnected(_)
    ));
    push.disconnect_push_supplier().unwrap();
    assert_eq!(pushed.recv_timeout(PATIENCE).unwrap(), None);
    assert!(push.as_object().non_existent().unwrap());

    let supplier = suppliers.obtain_push_consumer().unwrap().unwrap();
    let early = supplier.push(&Any::from(1i32)).unwrap_err();
    assert!(matches!(early, DisconnectedError::Disconnected(_)));
    supplier.connect_push_supplier(None).unwrap();
    let again = supplier.connect_push_supplier(None).unwrap_err();
    assert!(matches!(again, AlreadyConnectedError::AlreadyConnected(_)));

    let pull = consumers.obtain_pull_supplier().unwrap().unwrap();
    let early = pull.try_pull().unwrap_err();
    assert!(matches!(early, DisconnectedError::Disconnected(_)));
    channel.destroy().unwrap();
    assert!(channel.as_object().non_existent().unwrap());
    assert!(supplier.as_object().non_existent().unwrap());
}
