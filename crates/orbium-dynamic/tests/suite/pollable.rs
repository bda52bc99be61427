// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deferred requests in sets of pollables.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use orbium_cdr::{Any, CdrReader, Decode as _, Encode as _, Type};
use orbium_core::asynchronous::{Pollable, PollableError, PollableSet};
use orbium_core::{
    Call, DispatchError, ExceptionKind, ObjectRef, Orb, Servant, SystemException, UntypedReply,
    unknown_operation,
};
use orbium_dynamic::{Request, RequestError};

/// `long held(in long value)` returns what it was sent, when the test lets it.
struct Held {
    arrived: Sender<i32>,
    go_on: Mutex<Receiver<()>>,
}

impl Servant for Held {
    fn repository_id(&self) -> &'static str {
        "IDL:test/Held:1.0"
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == self.repository_id()
    }

    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        if call.operation() != b"held" {
            return Err(unknown_operation());
        }
        let value = i32::decode(arguments)?;
        // A test that ended does not look at what arrives, and lets it go on.
        let _ = self.arrived.send(value);
        let _ = self.go_on.lock().unwrap().recv();
        reply.result(|writer| value.encode(writer))
    }
}

pub(crate) struct Served {
    server: Orb,
    pub(crate) client: Orb,
    pub(crate) object: ObjectRef,
    /// What requests were sent, once the servant has them.
    pub(crate) arrived: Receiver<i32>,
    pub(crate) go_on: Sender<()>,
}

impl Served {
    pub(crate) fn new() -> Self {
        let (go_on, held) = channel();
        let (arrive, arrived) = channel();
        let server = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let server = server.build().unwrap();
        let servant: Arc<dyn Servant> = Arc::new(Held {
            arrived: arrive,
            go_on: Mutex::new(held),
        });
        let own = server.root_poa().activate_servant(&servant).unwrap();
        server.root_poa().manager().activate().unwrap();
        let client = Orb::builder().build().unwrap();
        let url = server.object_to_string(&own);
        let object = client.string_to_object(&url).unwrap().unwrap();
        Self {
            server,
            client,
            object,
            arrived,
            go_on,
        }
    }

    /// A request that was not sent.
    pub(crate) fn request(&self, value: i32) -> Request {
        let mut request = Request::new(&self.object, "held").unwrap();
        request.add_in("value", Any::from(value)).unwrap();
        request.set_return_type(Type::LONG).unwrap();
        request
    }

    fn sent(&self, value: i32) -> Request {
        let mut request = self.request(value);
        request.send().unwrap();
        request
    }

    pub(crate) fn end(self) {
        drop(self.go_on);
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
    }
}

fn kind(error: &PollableError) -> (ExceptionKind, u32) {
    match error {
        PollableError::System(it) => (it.kind, it.minor & 0xfff),
        other => panic!("{other}"),
    }
}

/// Conformance: dynamic - requests: deferred ones in a PollableSet (DIIPollable)
#[test]
fn a_deferred_request_is_ready_when_its_reply_is_there() {
    let served = Served::new();
    let mut set = PollableSet::new();
    set.add(served.sent(7));
    let none = set.next_ready(Some(Duration::ZERO)).unwrap_err();
    assert_eq!(kind(&none), (ExceptionKind::NoResponse, 1));
    let none = set.next_ready(Some(Duration::from_millis(1))).unwrap_err();
    assert_eq!(kind(&none), (ExceptionKind::Timeout, 1));
    served.go_on.send(()).unwrap();
    let (_, mut request) = set.next_ready(None).unwrap();
    assert!(request.poll_response().unwrap());
    request.get_response().unwrap();
    assert_eq!(request.return_value().extract::<i32>(), Ok(7));
    assert_eq!(set.number_left(), 0);
    served.end();
}

/// Conformance: dynamic - requests: deferred ones in a PollableSet (DIIPollable) - what they raise
#[test]
fn a_request_that_raises_is_ready_with_its_exception() {
    let served = Served::new();
    let mut set = PollableSet::new();
    let id = set.add(served.sent(1));
    // Another client's, as requests of one connection are served one after the other.
    let other = Orb::builder().build().unwrap();
    let url = served.server.object_to_string(&served.object);
    let object = other.string_to_object(&url).unwrap().unwrap();
    let mut unheard = Request::new(&object, "unheard").unwrap();
    unheard.send().unwrap();
    set.add(unheard);
    let (_, mut request) = set.next_ready(None).unwrap();
    match request.get_response() {
        Err(RequestError::System(SystemException { kind, .. })) => {
            assert_eq!(kind, ExceptionKind::BadOperation);
        }
        other => panic!("{other:?}"),
    }
    // One that is removed is a request as before.
    let mut held = set.remove(id).unwrap();
    assert!(matches!(
        set.next_ready(None),
        Err(PollableError::NoPossiblePollable)
    ));
    served.go_on.send(()).unwrap();
    held.get_response().unwrap();
    assert_eq!(held.return_value().extract::<i32>(), Ok(1));
    other.shutdown(true).unwrap();
    served.end();
}

#[test]
fn a_request_that_was_not_sent_is_ready_for_its_error() {
    let served = Served::new();
    let fresh = Request::new(&served.object, "held").unwrap();
    assert!(fresh.wake_when_ready(Waker::noop()));
    let mut set = PollableSet::new();
    set.add(fresh);
    let (_, mut fresh) = set.next_ready(None).unwrap();
    match fresh.get_response() {
        Err(RequestError::System(it)) => assert_eq!(
            (it.kind, it.minor & 0xfff),
            (ExceptionKind::BadInvOrder, 11)
        ),
        other => panic!("{other:?}"),
    }
    served.end();
}
