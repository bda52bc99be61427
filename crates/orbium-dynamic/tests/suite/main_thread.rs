// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that the main thread sends within its upcalls, and that come back to it.

use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::Duration;

use orbium_cdr::{Any, CdrReader, Decode as _, Encode as _, Type};
use orbium_core::{
    Call, DispatchError, ExceptionKind, ObjectRef, Orb, OrbBuilder, Policies, Servant,
    SystemException, ThreadModel, UntypedReply, unknown_operation,
};
use orbium_dynamic::{Request, RequestError, Requests};

use crate::waiting::PATIENCE;

fn asking(object: &ObjectRef, value: i32) -> Result<Request, SystemException> {
    let mut request = Request::new(object, "count")?;
    request.add_in("value", Any::from(value))?;
    request.set_return_type(Type::LONG)?;
    Ok(request)
}

fn answer(request: &Request) -> i32 {
    request.return_value().extract().unwrap()
}

/// `long count(in long value)` returns `value`: as many others as that are asked, one by the other.
struct Counting {
    /// Where alone it is served.
    on: Option<ThreadId>,
    next: OnceLock<ObjectRef>,
    /// How long it waits for the one that it asks.
    patience: Option<Duration>,
}

impl Counting {
    fn ask(&self, value: i32) -> Result<i32, RequestError> {
        let mut requests = Requests::new();
        requests.send(asking(self.next.get().unwrap(), value)?)?;
        let (request, outcome) = requests.next_response(self.patience)?;
        outcome.map(|()| answer(&request))
    }
}

impl Servant for Counting {
    fn repository_id(&self) -> &'static str {
        "IDL:test/Counting:1.0"
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
        if call.operation() != b"count" {
            return Err(unknown_operation());
        }
        if self.on.is_some_and(|it| it != thread::current().id()) {
            return Err(SystemException::from(ExceptionKind::NoPermission).into());
        }
        let counted = match i32::decode(arguments)? {
            0 => 0,
            value => self.ask(value - 1).map_err(SystemException::from)? + 1,
        };
        reply.result(|writer| counted.encode(writer))
    }
}

fn server() -> OrbBuilder {
    Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap()
}

/// The object as another ORB has it.
fn seen_by(orb: &Orb, own: (&Orb, &ObjectRef)) -> ObjectRef {
    let url = own.0.object_to_string(own.1);
    orb.string_to_object(&url).unwrap().unwrap()
}

/// The main thread of one ORB and the threads of another one ask each other in turn, so deep.
fn chain(patience: Option<Duration>) {
    let (front, back) = (server().build().unwrap(), server().build().unwrap());
    // This thread is the main one.
    assert_eq!(front.work_pending(), Ok(false));
    let counting = |on| Counting {
        on,
        next: OnceLock::new(),
        patience,
    };
    let main = Arc::new(counting(Some(thread::current().id())));
    let behind = Arc::new(counting(None));
    let policies = Policies {
        thread_model: ThreadModel::MainThread,
        ..Policies::default()
    };
    let root = front.root_poa();
    let poa = root.create_poa("main", Some(root.manager()), policies);
    let main_servant: Arc<dyn Servant> = Arc::clone(&main) as _;
    let object = poa.unwrap().activate_servant(&main_servant).unwrap();
    let behind_servant: Arc<dyn Servant> = Arc::clone(&behind) as _;
    let behind_object = back.root_poa().activate_servant(&behind_servant).unwrap();
    for orb in [&front, &back] {
        orb.root_poa().manager().activate().unwrap();
    }
    let next = seen_by(&front, (&back, &behind_object));
    main.next.set(next).unwrap();
    let next = seen_by(&back, (&front, &object));
    behind.next.set(next).unwrap();

    let client = Orb::builder().build().unwrap();
    let called = seen_by(&client, (&front, &object));
    let orb = front.clone();
    let calls = thread::spawn(move || {
        for depth in [0, 1, 2, 20] {
            let mut request = asking(&called, depth).unwrap();
            request.invoke().unwrap();
            assert_eq!(answer(&request), depth);
        }
        client.shutdown(true).unwrap();
        orb.shutdown(true).unwrap();
    });
    front.run().unwrap();
    calls.join().unwrap();
    back.shutdown(true).unwrap();
}

/// The main thread waited for the next response alone: what that depended on was in its queue for
/// ever.
///
/// Conformance: POA - MAIN_THREAD_MODEL
#[test]
fn the_main_thread_is_called_back_while_it_waits_for_the_next_response_of_a_set() {
    for patience in [None, Some(PATIENCE * 2)] {
        let (done, ended) = channel();
        thread::spawn(move || {
            chain(patience);
            done.send(()).unwrap();
        });
        ended.recv_timeout(PATIENCE).unwrap();
    }
}
