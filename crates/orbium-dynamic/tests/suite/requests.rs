// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests to a servant that is written by hand, within the process and over TCP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use orbium_cdr::{Any, CdrReader, Decode as _, Encode as _, Type, TypeCode};
use orbium_core::{
    Call, Completion, DispatchError, ExceptionKind, ObjectRef, Orb, Servant, SystemException,
    UntypedReply, UserException, unknown_operation,
};
use orbium_dynamic::{Argument, Request, RequestError, Requests, Signature};

orbium_core::idl_exception! {
    #[derive(Clone, Debug, PartialEq)]
    pub struct Full: FULL_TYPE = "IDL:test/Full:1.0" { pub most: i32, pub why: String }
}

orbium_core::idl_errors! {
    pub enum StoreError { Full(Full) }
}

/// `short swap(in string what, inout long count, out double half)`, and others.
#[derive(Default)]
struct Store {
    noted: AtomicU32,
}

impl Servant for Store {
    fn repository_id(&self) -> &'static str {
        "IDL:test/Store:1.0"
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
        match call.operation() {
            b"swap" => {
                let what = String::decode(arguments)?;
                let count = i32::decode(arguments)?;
                let results = (what.len() as i16, -count, f64::from(count) / 2.0);
                reply.result(|writer| {
                    results.0.encode(writer);
                    results.1.encode(writer);
                    results.2.encode(writer);
                })
            }
            b"fill" => reply.raise(&StoreError::Full(Full {
                most: 7,
                why: "no rööm".to_owned(),
            })),
            b"note" => {
                self.noted.fetch_add(1, Ordering::Relaxed);
                reply.result(|_| {})
            }
            b"late" => {
                let milliseconds = u64::decode(arguments)?;
                std::thread::sleep(Duration::from_millis(milliseconds));
                reply.result(|writer| milliseconds.encode(writer))
            }
            b"context" => {
                let strings = Vec::<String>::decode(arguments)?.join(",");
                reply.result(|writer| strings.encode(writer))
            }
            _ => Err(unknown_operation()),
        }
    }
}

fn serve(orb: &Orb, store: Arc<Store>) -> ObjectRef {
    let store: Arc<dyn Servant> = store;
    let object = orb.root_poa().activate_servant(&store).unwrap();
    orb.root_poa().manager().activate().unwrap();
    object
}

/// The object in its own ORB, and as a client in another ORB has it.
fn references() -> (Orb, [ObjectRef; 2]) {
    let orb = Orb::builder().build().unwrap();
    let own = serve(&orb, Arc::default());
    let client = Orb::builder().build().unwrap();
    let url = orb.object_to_string(&own);
    let remote = client.string_to_object(&url).unwrap().unwrap();
    (orb, [own, remote])
}

/// Conformance: dynamic - requests: arguments in, inout and out; the result comes first
#[test]
fn arguments_travel_by_their_direction() {
    let (_orb, references) = references();
    for object in references {
        let mut request = Request::new(&object, "swap").unwrap();
        request.add_in("what", Any::from("three")).unwrap();
        request.add_inout("count", Any::from(8)).unwrap();
        request.add_out("half", Type::DOUBLE).unwrap();
        request.set_return_type(Type::SHORT).unwrap();
        request.invoke().unwrap();
        assert_eq!(request.return_value().extract::<i16>(), Ok(5));
        let values: Vec<_> = request.arguments().iter().map(Argument::value).collect();
        assert_eq!(values[0], &Any::from("three"));
        assert_eq!(values[1], &Any::from(-8));
        assert_eq!(values[2], &Any::from(4.0));
    }
}

/// Conformance: dynamic - requests: a user exception that the request lists is an any (UnknownUserException)
#[test]
fn listed_exceptions_come_with_their_members() {
    let (_orb, references) = references();
    for object in references {
        let mut request = Request::new(&object, "fill").unwrap();
        request.add_exception(&FULL_TYPE).unwrap();
        let Err(RequestError::User(raised)) = request.invoke() else {
            panic!("no user exception");
        };
        assert_eq!(raised.type_code().id(), Full::REPOSITORY_ID);
        let full = raised.decode_as::<Full>().unwrap();
        assert_eq!((full.most, full.why.as_str()), (7, "no rööm"));
    }
}

/// Conformance: dynamic - requests: a user exception that the request does not list is UNKNOWN 1
#[test]
fn an_exception_that_is_not_listed_is_unknown() {
    let (_orb, references) = references();
    for object in references {
        let mut request = Request::new(&object, "fill").unwrap();
        let other = TypeCode::exception("IDL:test/Other:1.0", "Other", []);
        request.add_exception(other).unwrap();
        let raised = request.invoke().unwrap_err();
        let RequestError::Unlisted { id, members } = &raised else {
            panic!("{raised}");
        };
        assert_eq!(id, Full::REPOSITORY_ID);
        assert!(members.len() >= 8);
        let unknown = SystemException::omg(ExceptionKind::Unknown, 1, Completion::Yes);
        assert_eq!(SystemException::from(raised), unknown);
    }
}

#[test]
fn system_exceptions_come_as_themselves() {
    let (_orb, references) = references();
    for object in references {
        let raised = Request::new(&object, "nothing").unwrap().invoke();
        let Err(RequestError::System(exception)) = raised else {
            panic!("{raised:?}");
        };
        assert_eq!(exception.kind, ExceptionKind::BadOperation);
    }
}

#[test]
fn a_oneway_has_no_results() {
    let store = Arc::new(Store::default());
    let orb = Orb::builder().build().unwrap();
    let object = serve(&orb, Arc::clone(&store));
    let mut request = Request::new(&object, "note").unwrap();
    request.send_oneway().unwrap();
    assert_eq!(store.noted.load(Ordering::Relaxed), 1);
}

/// Conformance: dynamic - requests: contexts travel behind the arguments
#[test]
fn contexts_are_strings_behind_the_arguments() {
    let (_orb, references) = references();
    for object in references {
        let mut request = Request::new(&object, "context").unwrap();
        let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        request
            .set_contexts([property("user", "anna"), property("site", "lab")])
            .unwrap();
        request.set_return_type(Type::STRING).unwrap();
        request.invoke().unwrap();
        let returned = request.return_value().extract::<String>().unwrap();
        assert_eq!(returned, "user,anna,site,lab");
    }
}

/// Conformance: dynamic - contexts: a request sends what its clause names, and an empty list without a context
#[test]
fn a_context_is_sent_by_the_names_of_the_clause() {
    let (orb, references) = references();
    orb.default_context()
        .set_values([("site", "lab"), ("secret", "x")])
        .unwrap();
    let session = orb.default_context().create_child("session").unwrap();
    session
        .set_values([("user.name", "anna"), ("user.role", "operator")])
        .unwrap();
    let clause = Signature {
        contexts: vec!["user.*".to_owned(), "site".to_owned(), "unset".to_owned()],
        ..Signature::new("context").returning(Type::STRING)
    };
    for object in references {
        let mut request = Request::of(&object, &clause, []).unwrap();
        request.set_context(&session).unwrap();
        request.invoke().unwrap();
        let sent = "site,lab,user.name,anna,user.role,operator";
        assert_eq!(request.return_value(), &Any::from(sent));
        assert_eq!(request.set_context(&session), Err(wrong_order(10)));

        let mut without = Request::of(&object, &clause, []).unwrap();
        without.invoke().unwrap();
        assert_eq!(without.return_value(), &Any::from(""));

        // Without a clause nothing is sent: the servant finds no list to read.
        let mut none = Request::new(&object, "context").unwrap();
        none.set_context(&session).unwrap();
        none.set_return_type(Type::STRING).unwrap();
        let refused = none.invoke().unwrap_err();
        assert_eq!(refused.repository_id(), "IDL:omg.org/CORBA/MARSHAL:1.0");

        let mut by_hand = Request::new(&object, "context").unwrap();
        by_hand.set_return_type(Type::STRING).unwrap();
        by_hand.add_context_name("site").unwrap();
        by_hand.set_context(&session).unwrap();
        by_hand.send().unwrap();
        by_hand.get_response().unwrap();
        assert_eq!(by_hand.return_value(), &Any::from("site,lab"));
    }
}

/// Conformance: dynamic - requests: a request is used once: BAD_INV_ORDER 10
#[test]
fn a_request_is_used_once() {
    let (_orb, [object, _]) = references();
    let mut request = Request::new(&object, "note").unwrap();
    request.invoke().unwrap();
    let again = SystemException::omg(ExceptionKind::BadInvOrder, 10, Completion::No);
    assert_eq!(request.invoke(), Err(RequestError::System(again)));
    assert_eq!(request.send_oneway(), Err(again));
    assert_eq!(request.add_in("late", Any::from(1)), Err(again));
    assert_eq!(request.set_return_type(Type::LONG), Err(again));
}

/// Conformance: dynamic - requests: an operation of every object is BAD_PARAM 32
#[test]
fn operations_of_every_object_are_refused() {
    let (_orb, [object, _]) = references();
    let refused = SystemException::omg(ExceptionKind::BadParam, 32, Completion::No);
    for operation in ["_is_a", "_non_existent", "_interface", "_repository_id"] {
        assert_eq!(Request::new(&object, operation).unwrap_err(), refused);
    }
}

fn wrong_order(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, minor, Completion::No)
}

/// A request that is answered with its argument, so many milliseconds later.
fn late(object: &ObjectRef, milliseconds: u64) -> Request {
    let mut request = Request::new(object, "late").unwrap();
    request
        .add_in("milliseconds", Any::from(milliseconds))
        .unwrap();
    request.set_return_type(Type::ULONGLONG).unwrap();
    request
}

fn wait_for(mut is_there: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_there() {
        assert!(Instant::now() < end, "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Conformance: dynamic - requests: deferred: send, poll_response, get_response
#[test]
fn a_deferred_request_is_collected_once_its_reply_is_there() {
    let (_orb, references) = references();
    for object in references {
        let mut request = late(&object, 20);
        request.send().unwrap();
        wait_for(|| request.poll_response().unwrap());
        // It stays there until it is collected.
        assert_eq!(request.poll_response(), Ok(true));
        assert_eq!(request.return_value(), &Any::default());
        request.get_response().unwrap();
        assert_eq!(request.return_value().extract::<u64>(), Ok(20));
    }
}

#[test]
fn get_response_waits() {
    let (_orb, [_, object]) = references();
    let mut request = late(&object, 50);
    request.send().unwrap();
    request.get_response().unwrap();
    assert_eq!(request.return_value().extract::<u64>(), Ok(50));
}

#[test]
fn a_deferred_request_has_inout_and_out_arguments_and_exceptions() {
    let (_orb, references) = references();
    for object in references {
        let mut request = Request::new(&object, "swap").unwrap();
        request.add_in("what", Any::from("three")).unwrap();
        request.add_inout("count", Any::from(8)).unwrap();
        request.add_out("half", Type::DOUBLE).unwrap();
        request.set_return_type(Type::SHORT).unwrap();
        request.send().unwrap();
        request.get_response().unwrap();
        assert_eq!(request.arguments()[1].value(), &Any::from(-8));
        assert_eq!(request.arguments()[2].value(), &Any::from(4.0));
        let mut request = Request::new(&object, "fill").unwrap();
        request.add_exception(&FULL_TYPE).unwrap();
        request.send().unwrap();
        let raised = request.get_response().unwrap_err();
        assert!(matches!(&raised, RequestError::User(full) if full.type_code().name() == "Full"));
    }
}

/// Conformance: dynamic - requests: poll_response and get_response of one that was not sent: BAD_INV_ORDER 11
#[test]
fn the_reply_of_a_fresh_request_is_refused() {
    let (_orb, [object, _]) = references();
    let mut request = late(&object, 0);
    assert_eq!(request.poll_response(), Err(wrong_order(11)));
    assert_eq!(request.get_response(), Err(wrong_order(11).into()));
    // It is fresh still.
    request.invoke().unwrap();
}

/// Conformance: dynamic - requests: poll_response and get_response of one that was collected: BAD_INV_ORDER 12
#[test]
fn a_reply_is_collected_once() {
    let (_orb, [_, object]) = references();
    let mut request = late(&object, 0);
    request.send().unwrap();
    request.get_response().unwrap();
    assert_eq!(request.poll_response(), Err(wrong_order(12)));
    assert_eq!(request.get_response(), Err(wrong_order(12).into()));
    assert_eq!(request.return_value().extract::<u64>(), Ok(0));
}

/// Conformance: dynamic - requests: poll_response and get_response of one that was invoked: BAD_INV_ORDER 13
#[test]
fn an_invoked_request_has_no_reply_to_collect() {
    let (_orb, [_, object]) = references();
    let mut request = late(&object, 0);
    request.invoke().unwrap();
    assert_eq!(request.poll_response(), Err(wrong_order(13)));
    assert_eq!(request.get_response(), Err(wrong_order(13).into()));
}

/// Conformance: dynamic - requests: one that was sent cannot be sent, invoked or changed: BAD_INV_ORDER 10
#[test]
fn a_sent_request_is_not_sent_again() {
    let (_orb, [_, object]) = references();
    let mut request = late(&object, 0);
    request.send().unwrap();
    assert_eq!(request.send(), Err(wrong_order(10)));
    assert_eq!(request.invoke(), Err(wrong_order(10).into()));
    assert_eq!(request.add_in("more", Any::from(1)), Err(wrong_order(10)));
    request.get_response().unwrap();
    assert_eq!(request.send(), Err(wrong_order(10)));
}

/// Conformance: dynamic - requests: several at once, each handed back once
#[test]
fn several_requests_come_back_in_the_order_of_their_replies() {
    let (_orb, [_, object]) = references();
    let mut requests = Requests::new();
    assert_eq!(requests.poll_next_response(), Err(wrong_order(11)));
    for milliseconds in [1500, 3, 2, 1] {
        requests.send(late(&object, milliseconds)).unwrap();
    }
    assert_eq!(requests.outstanding(), 4);
    wait_for(|| requests.poll_next_response().unwrap());
    let mut came = Vec::new();
    while requests.outstanding() > 0 {
        let (request, outcome) = requests.get_next_response().unwrap();
        assert_eq!(
            (outcome, request.poll_response()),
            (Ok(()), Err(wrong_order(12)))
        );
        came.push(request.return_value().extract::<u64>().unwrap());
    }
    came.sort_unstable();
    assert_eq!(came, [1, 2, 3, 1500]);
    assert_eq!(requests.get_next_response().map(drop), Err(wrong_order(11)));
}

#[test]
fn a_set_hands_back_failures_too() {
    let (_orb, [_, object]) = references();
    let mut requests = Requests::new();
    let mut fill = Request::new(&object, "fill").unwrap();
    fill.add_exception(&FULL_TYPE).unwrap();
    requests.send(fill).unwrap();
    let (_, outcome) = requests.get_next_response().unwrap();
    assert!(matches!(outcome, Err(RequestError::User(_))), "{outcome:?}");
}

/// What is dropped is discarded, and the connection serves others.
#[test]
fn a_request_may_be_dropped_while_it_is_deferred() {
    let (_orb, [_, object]) = references();
    let mut request = late(&object, 200);
    request.send().unwrap();
    drop(request);
    let mut requests = Requests::new();
    requests.send(late(&object, 200)).unwrap();
    drop(requests);
    late(&object, 0).invoke().unwrap();
}
