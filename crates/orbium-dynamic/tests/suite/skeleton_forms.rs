// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dynamic servants that are many objects, answer later, or have their operations one by one.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use orbium_cdr::{Any, Type, TypeCode};
use orbium_core::{
    Completion, ExceptionKind, ForwardRequest, IdAssignment, IdUniqueness, IncarnatedObject,
    ObjectRef, Orb, Poa, Policies, RequestProcessing, Servant, SystemException,
};
use orbium_dynamic::{
    DeferredServerRequest, Direction, DynamicImplementation, DynamicServant, Request, RequestError,
    ServerRequest, Signature, dynamic_servant,
};

use crate::skeletons::{parameter, serve};
use crate::waiting::PATIENCE;

/// `long twice(in long value)`, raises `Full`.
fn twice() -> Signature {
    Signature::new("twice")
        .with_in("value", Type::LONG)
        .returning(Type::LONG)
        .raising(full())
}

fn full() -> TypeCode {
    TypeCode::exception("IDL:test/Full:1.0", "Full", [("most", Type::LONG.into())])
}

fn full_of(most: i32) -> Any {
    Any::with_type(full(), &most).unwrap()
}

/// A request for twice a value, not sent.
fn request(object: &ObjectRef, value: i32) -> Request {
    Request::of(object, &twice(), [Any::from(value)]).unwrap()
}

/// Twice a value, by a call.
fn call(object: &ObjectRef, value: i32) -> Result<i32, RequestError> {
    let mut request = request(object, value);
    request.invoke()?;
    Ok(request.return_value().extract().unwrap())
}

fn given(request: &ServerRequest<'_, '_>) -> i32 {
    request.read_arguments()[0].value().extract().unwrap()
}

fn doubled(request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
    let twice = given(request) * 2;
    request.set_result(Any::from(twice))
}

/// The object of a servant in its own ORB, and as a client in another ORB has it.
fn references(servant: &Arc<dyn Servant>) -> (Orb, [ObjectRef; 2]) {
    let orb = Orb::builder().build().unwrap();
    let own = orb.root_poa().activate_servant(servant).unwrap();
    orb.root_poa().manager().activate().unwrap();
    let remote = as_client(&orb, &own);
    (orb, [own, remote])
}

fn as_client(orb: &Orb, own: &ObjectRef) -> ObjectRef {
    let client = Orb::builder().build().unwrap();
    let url = orb.object_to_string(own);
    client.string_to_object(&url).unwrap().unwrap()
}

/// A servant that is an object of a different interface for each id.
struct Many;

fn interface_in(poa: &Poa, object_id: &[u8]) -> String {
    let (adapter, id) = (poa.name(), String::from_utf8_lossy(object_id).into_owned());
    format!("IDL:test/{adapter}/{id}:1.0")
}

impl DynamicImplementation for Many {
    fn primary_interface(&self) -> String {
        "IDL:test/Many:1.0".to_owned()
    }

    fn primary_interface_of(&self, object: &IncarnatedObject<'_>) -> String {
        interface_in(&object.poa(), object.id())
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        request.arguments(&[])?;
        let call = request.call();
        let of_called = interface_in(&call.poa(), call.object_id());
        request.set_result(Any::from(of_called))
    }
}

fn many(processing: RequestProcessing) -> (Orb, Poa) {
    let orb = Orb::builder().build().unwrap();
    let policies = Policies {
        id_assignment: IdAssignment::User,
        id_uniqueness: IdUniqueness::Multiple,
        request_processing: processing,
        ..Policies::default()
    };
    let poa = orb.root_poa().create_poa("zoo", None, policies).unwrap();
    poa.manager().activate().unwrap();
    (orb, poa)
}

fn is_of(object: &ObjectRef, id: &str) {
    assert_eq!(object.repository_id().as_deref(), Ok(id));
    assert_eq!(object.is_a(id), Ok(true));
    assert_eq!(object.is_a("IDL:omg.org/CORBA/Object:1.0"), Ok(true));
    for other in ["IDL:test/Many:1.0", "IDL:test/zoo/bear:1.0"] {
        assert_eq!(object.is_a(other), Ok(false));
    }
}

/// Conformance: dynamic - skeletons: the primary interface is that of the object, by its id and adapter
#[test]
fn one_servant_is_objects_of_many_interfaces() {
    let (orb, poa) = many(RequestProcessing::ActiveObjectMapOnly);
    let servant = dynamic_servant(Many).unwrap();
    for (id, interface) in [
        ("cat", "IDL:test/zoo/cat:1.0"),
        ("dog", "IDL:test/zoo/dog:1.0"),
    ] {
        let own = poa
            .activate_servant_with_id(id.as_bytes(), &servant)
            .unwrap();
        let again = poa.id_to_reference(id.as_bytes()).unwrap();
        for object in [&own, &again, &as_client(&orb, &own)] {
            assert_eq!(object.ior().type_id, interface);
            is_of(object, interface);
        }
    }
}

/// Conformance: dynamic - skeletons: the primary interface is that of the object, by its id and adapter - of a default servant
#[test]
fn a_default_servant_is_objects_of_many_interfaces() {
    let (orb, poa) = many(RequestProcessing::DefaultServant);
    poa.set_servant(dynamic_servant(Many).unwrap()).unwrap();
    let own: ObjectRef = poa.create_reference_with_id(b"cat").unwrap();
    let remote = as_client(&orb, &own);
    for object in [&own, &remote] {
        is_of(object, "IDL:test/zoo/cat:1.0");
        let mut request = Request::new(object, "which").unwrap();
        request.set_return_type(Type::STRING).unwrap();
        request.invoke().unwrap();
        assert_eq!(request.return_value(), &Any::from("IDL:test/zoo/cat:1.0"));
    }
}

/// Conformance: dynamic - skeletons: answers after `invoke` has returned
#[test]
fn a_servant_answers_later() {
    let (send, open) = channel();
    let send = Mutex::new(send);
    let servant = DynamicServant::builder("IDL:test/Later:1.0")
        .operation(twice(), move |request| {
            let deferred = request.defer()?;
            let again = SystemException::omg(ExceptionKind::BadInvOrder, 7, Completion::Maybe);
            assert_eq!(request.defer().map(drop), Err(again));
            send.lock().unwrap().send(deferred).unwrap();
            Ok(())
        })
        .build()
        .unwrap();
    let (_orb, references) = references(&servant);
    let next = || -> DeferredServerRequest { open.recv_timeout(PATIENCE).unwrap() };
    for object in references {
        // Several at once, answered in another order.
        let mut requests = [3, 4].map(|value| request(&object, value));
        requests.iter_mut().for_each(|it| it.send().unwrap());
        let mut deferred = [next(), next()];
        deferred.reverse();
        for mut one in deferred {
            assert!(one.response_expected() && !one.is_cancelled());
            let value: i32 = one.arguments()[0].value().extract().unwrap();
            one.set_result(Any::from(value * 2)).unwrap();
            one.answer().unwrap();
        }
        for (request, twice) in requests.iter_mut().zip([6, 8]) {
            request.get_response().unwrap();
            assert_eq!(request.return_value(), &Any::from(twice));
        }
    }
}

#[test]
fn a_late_answer_may_be_an_exception_or_a_forward() {
    let to = DynamicServant::builder("IDL:test/Later:1.0").operation(twice(), doubled);
    let (_other, [_, to]) = references(&to.build().unwrap());
    let target = to.clone();
    let servant = DynamicServant::builder("IDL:test/Later:1.0")
        .operation(twice(), move |request| {
            let value = given(request);
            let mut deferred = request.defer()?;
            match value {
                1 => deferred.set_exception(full_of(7))?,
                2 => {
                    deferred.raise(ExceptionKind::NoMemory.into());
                    return Ok(());
                }
                3 => {
                    deferred.forward(&ForwardRequest::to(&target));
                    return Ok(());
                }
                4 => return Ok(()),
                // No result.
                _ => {}
            }
            let _ = deferred.answer();
            Ok(())
        })
        .build()
        .unwrap();
    let (_orb, references) = references(&servant);
    for object in references {
        assert_eq!(call(&object, 1), Err(RequestError::User(full_of(7))));
        let kind = |value| match call(&object, value) {
            Err(RequestError::System(exception)) => exception.kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(2), ExceptionKind::NoMemory);
        assert_eq!(kind(4), ExceptionKind::NoResponse);
        assert_eq!(kind(5), ExceptionKind::BadParam);
        assert_eq!(call(&object, 3), Ok(6));
    }
}

/// Conformance: dynamic - skeletons: a gateway that holds no thread while it waits
#[test]
fn a_gateway_passes_requests_on_without_a_thread() {
    let behind = DynamicServant::builder("IDL:test/Behind:1.0")
        .operation(twice(), |request| match given(request) {
            0 => request.set_exception(full_of(0)),
            1 => Err(ExceptionKind::NoMemory.into()),
            _ => doubled(request),
        })
        .build()
        .unwrap();
    let (_behind, [_, behind]) = references(&behind);
    let gateway = DynamicServant::builder("IDL:test/Behind:1.0")
        .operation(twice(), move |request| {
            let passed = Request::with_arguments(&behind, &twice(), request.received()?)?;
            let deferred = request.defer()?;
            passed.on_reply(move |passed, outcome| {
                deferred.answer_as(&passed, outcome).unwrap();
            })
        })
        .build()
        .unwrap();
    let (_orb, references) = references(&gateway);
    for object in references {
        assert_eq!(call(&object, 21), Ok(42));
        assert_eq!(call(&object, 0), Err(RequestError::User(full_of(0))));
        let raised = call(&object, 1).unwrap_err();
        assert_eq!(raised.repository_id(), "IDL:omg.org/CORBA/NO_MEMORY:1.0");
    }
}

/// Conformance: dynamic - skeletons: `invoke` sends the client to another object
#[test]
fn a_servant_forwards() {
    let to = DynamicServant::builder("IDL:test/Doubler:1.0").operation(twice(), doubled);
    let (_other, [_, to]) = references(&to.build().unwrap());
    let servant = DynamicServant::builder("IDL:test/Doubler:1.0")
        .operation(twice(), move |request| {
            request.set_forward(ForwardRequest::to(&to));
            Ok(())
        })
        .build()
        .unwrap();
    let (_orb, references) = references(&servant);
    for object in references {
        assert_eq!(call(&object, 21), Ok(42));
    }
}

/// Conformance: dynamic - skeletons: a table of operations that is built at run time
#[test]
fn operations_are_given_one_by_one() {
    let limit = Arc::new(Mutex::new(10));
    let (read, written) = (Arc::clone(&limit), limit);
    let servant = DynamicServant::builder("IDL:test/Doubler:1.0")
        .base("IDL:test/Base:1.0")
        .operation(twice(), doubled)
        .operation(
            Signature::new("_get_limit").returning(Type::LONG),
            move |request| request.set_result(Any::from(*read.lock().unwrap())),
        )
        .operation(
            Signature::new("_set_limit").with_in("value", Type::LONG),
            move |request| {
                *written.lock().unwrap() = given(request);
                Ok(())
            },
        )
        .build()
        .unwrap();
    let (_orb, references) = references(&servant);
    for object in references {
        assert_eq!(call(&object, 21), Ok(42));
        for id in ["IDL:test/Doubler:1.0", "IDL:test/Base:1.0"] {
            assert_eq!(object.is_a(id), Ok(true));
        }
        let mut set = Request::new(&object, "_set_limit").unwrap();
        set.add_in("value", Any::from(12)).unwrap();
        set.invoke().unwrap();
        let mut get = Request::new(&object, "_get_limit").unwrap();
        get.set_return_type(Type::LONG).unwrap();
        get.invoke().unwrap();
        assert_eq!(get.return_value(), &Any::from(12));
        let unknown = Request::new(&object, "thrice").unwrap().invoke();
        let expected = SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No);
        assert_eq!(unknown, Err(expected.into()));
    }
}

/// Conformance: dynamic - skeletons: a user exception that the signature does not list: BAD_PARAM 22
#[test]
fn an_exception_that_is_not_listed_is_refused() {
    let servant = DynamicServant::builder("IDL:test/Doubler:1.0")
        .operation(twice(), |request| {
            let other = TypeCode::exception("IDL:test/Other:1.0", "Other", []);
            request.set_exception(Any::with_type(other, &())?)
        })
        .build()
        .unwrap();
    let (_orb, references) = references(&servant);
    let refused = SystemException::omg(ExceptionKind::BadParam, 22, Completion::Maybe);
    for object in references {
        assert_eq!(call(&object, 1), Err(refused.into()));
    }
}

#[test]
fn a_result_that_is_not_of_the_signature_is_refused() {
    let servant = DynamicServant::builder("IDL:test/Doubler:1.0")
        .operation(twice(), |request| {
            let refused = SystemException::new(ExceptionKind::BadParam, 0, Completion::Maybe);
            let text = Any::from("text");
            assert_eq!(request.set_result(text), Err(refused));
            assert_eq!(request.set_result(Any::default()), Err(refused));
            doubled(request)
        })
        .build()
        .unwrap();
    let (_orb, [own, _]) = references(&servant);
    assert_eq!(call(&own, 2), Ok(4));
}

fn marshal(minor: u32) -> RequestError {
    SystemException::omg(ExceptionKind::Marshal, minor, Completion::No).into()
}

/// Conformance: dynamic - skeletons: arguments that are not all of the request: MARSHAL 3
#[test]
fn more_or_fewer_arguments_are_marshal_3() {
    let (_orb, references) = references(
        &DynamicServant::builder("IDL:test/Doubler:1.0")
            .operation(twice(), doubled)
            .build()
            .unwrap(),
    );
    for object in references {
        for count in [0, 2] {
            let mut request = Request::new(&object, "twice").unwrap();
            for _ in 0..count {
                request.add_in("value", Any::from(1)).unwrap();
            }
            assert_eq!(request.invoke(), Err(marshal(3)));
        }
    }
    let (_orb, [_, object]) = serve(|request| request.arguments(&[]).map(drop));
    let mut request = Request::new(&object, "any").unwrap();
    request.add_in("value", Any::from(1)).unwrap();
    assert_eq!(request.invoke(), Err(marshal(3)));
}

/// Conformance: dynamic - skeletons: a result while a context is not read: MARSHAL 2
#[test]
fn a_result_before_the_contexts_is_marshal_2() {
    let (_orb, [_, object]) = serve(|request| {
        request.arguments(&[parameter("value", Direction::In, Type::LONG)])?;
        assert!(request.set_result(Any::from(1)).is_err());
        // Reading them mends it.
        let read = request.call().operation() == b"mended";
        if read {
            request.contexts()?;
        }
        request.set_result(Any::from(1))
    });
    for (operation, expected) in [("mended", Ok(())), ("any", Err(marshal(2)))] {
        let mut request = Request::new(&object, operation).unwrap();
        request.add_in("value", Any::from(1)).unwrap();
        let property = ("user".to_owned(), "anna".to_owned());
        request.set_contexts([property]).unwrap();
        request.set_return_type(Type::LONG).unwrap();
        assert_eq!(request.invoke(), expected);
    }
}

#[test]
fn a_signature_with_a_context_clause_has_the_contexts_read() {
    let signature = Signature {
        contexts: vec!["user".to_owned()],
        ..Signature::new("caller").returning(Type::STRING)
    };
    let servant = DynamicServant::builder("IDL:test/Caller:1.0")
        .operation(signature, |request| {
            let properties = request.contexts()?;
            let again = SystemException::omg(ExceptionKind::BadInvOrder, 8, Completion::Maybe);
            assert_eq!(request.contexts(), Err(again));
            request.set_result(Any::from(format!("{properties:?}")))
        })
        .build()
        .unwrap();
    let (_orb, references) = references(&servant);
    for object in references {
        let mut request = Request::new(&object, "caller").unwrap();
        let property = ("user".to_owned(), "anna".to_owned());
        request.set_contexts([property]).unwrap();
        request.set_return_type(Type::STRING).unwrap();
        request.invoke().unwrap();
        assert_eq!(request.return_value(), &Any::from("[(\"user\", \"anna\")]"));
    }
}
