// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request information of dynamic calls and dynamic servants: the rows of `RequestInfo` that
//! compiled stubs and skeletons refuse.

use std::sync::Arc;

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, Parameter, ParameterMode, ReceiveException,
    ReceiveOther, ReceiveReply, ReceiveRequest, SendException, SendOther, SendReply, SendRequest,
    ServerInterceptor,
};
use orbium::{Any, Completion, ExceptionKind, ObjectRef, Orb, Servant, SystemException, TypeCode};
use orbium_cdr::Type;
use orbium_dynamic::{DynamicServant, Request, RequestError, Signature};
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{Journal, Recorder, client_orb, plain_server, seen_by};

/// Records the arguments, exceptions, contexts and results available at each point.
#[derive(Clone, Default)]
pub(crate) struct Asking {
    pub(crate) journal: Journal,
    /// Called within `send_request`.
    nested: Option<Target>,
}

type Asked<T> = Result<T, SystemException>;

/// Values by their directions; a dot for a missing one.
fn parameters(asked: Asked<Vec<Parameter>>) -> String {
    let shown = |it: &Parameter| {
        let mode = match it.mode {
            ParameterMode::In => "in",
            ParameterMode::Out => "out",
            ParameterMode::InOut => "inout",
        };
        format!("{mode} {}", value(&it.argument))
    };
    asked.map_or_else(refusal, |all| {
        let all: Vec<_> = all.iter().map(shown).collect();
        format!("({})", all.join(", "))
    })
}

fn value(any: &Any) -> String {
    any.extract::<i32>()
        .map_or_else(|_| ".".to_owned(), |number| number.to_string())
}

/// The number in a user exception.
fn raised(asked: Asked<Any>) -> String {
    asked.map_or_else(refusal, |any| {
        assert_eq!(any.type_code(), &lost());
        let at = any.decode_as::<i32>();
        at.map_or_else(|_| ".".to_owned(), |number| number.to_string())
    })
}

/// The ids of exceptions.
fn exceptions(asked: Asked<Vec<TypeCode>>) -> String {
    asked.map_or_else(refusal, |all| {
        let ids: Vec<_> = all.iter().map(|it| it.id().to_owned()).collect();
        format!("{ids:?}")
    })
}

fn strings(asked: Asked<Vec<String>>) -> String {
    asked.map_or_else(refusal, |all| format!("{all:?}"))
}

/// The error; only NO_RESOURCES 1 counts as a refusal.
fn refusal(exception: SystemException) -> String {
    let refused = SystemException::omg(ExceptionKind::NoResources, 1, Completion::No);
    if exception == refused {
        "refused".to_owned()
    } else {
        exception.to_string()
    }
}

impl Asking {
    fn note(&self, operation: &str, point: &str, asked: &[String]) {
        if !operation.starts_with('_') {
            self.journal
                .note(format!("{operation} {point} {}", asked.join(" ")));
        }
    }

    pub(crate) fn taken(&self) -> Vec<String> {
        self.journal.take()
    }
}

/// Implementation shared by all points with any of the information.
macro_rules! asked {
    ($it:ident) => {
        [exceptions($it.exceptions()), strings($it.contexts())]
    };
}

impl ClientInterceptor for Asking {
    fn send_request(&self, it: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        let [exceptions, contexts] = asked!(it);
        let context = strings(it.operation_context());
        let asked = [parameters(it.arguments()), exceptions, contexts, context];
        self.note(it.operation(), "send_request", &asked);
        if let (Some(nested), "measure") = (&self.nested, it.operation()) {
            nested.noop()?;
        }
        Ok(())
    }

    fn receive_reply(&self, it: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let [exceptions, contexts] = asked!(it);
        let context = strings(it.operation_context());
        let result = it.result().map_or_else(refusal, |any| value(&any));
        let arguments = parameters(it.arguments());
        let asked = [arguments, exceptions, contexts, context, result];
        self.note(it.operation(), "receive_reply", &asked);
        Ok(())
    }

    fn receive_exception(&self, it: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        let [exceptions, contexts] = asked!(it);
        let id = it.received_exception_id().to_owned();
        let raised = raised(it.received_user_exception());
        let context = strings(it.operation_context());
        let asked = [exceptions, contexts, context, id, raised];
        self.note(it.operation(), "receive_exception", &asked);
        Ok(())
    }

    fn receive_other(&self, it: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        let [exceptions, contexts] = asked!(it);
        let asked = [exceptions, contexts, strings(it.operation_context())];
        self.note(it.operation(), "receive_other", &asked);
        Ok(())
    }
}

impl ServerInterceptor for Asking {
    fn receive_request(&self, it: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let [exceptions, contexts] = asked!(it);
        let context = strings(it.operation_context());
        let asked = [parameters(it.arguments()), exceptions, contexts, context];
        self.note(&it.operation(), "receive_request", &asked);
        Ok(())
    }

    fn send_reply(&self, it: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        let [exceptions, contexts] = asked!(it);
        let context = strings(it.operation_context());
        let result = it.result().map_or_else(refusal, |any| value(&any));
        let arguments = parameters(it.arguments());
        let asked = [arguments, exceptions, contexts, context, result];
        self.note(&it.operation(), "send_reply", &asked);
        Ok(())
    }

    fn send_exception(&self, it: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        let [exceptions, contexts] = asked!(it);
        let asked = [exceptions, contexts, raised(it.sending_user_exception())];
        self.note(&it.operation(), "send_exception", &asked);
        Ok(())
    }

    fn send_other(&self, it: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        let asked = asked!(it);
        self.note(&it.operation(), "send_other", &asked);
        Ok(())
    }
}

pub(crate) fn lost() -> TypeCode {
    TypeCode::exception("IDL:test/Lost:1.0", "Lost", [("at", Type::LONG.into())])
}

/// `long measure(in long a, inout long b, out long c) raises (Lost) context ("user")`.
fn measure() -> Signature {
    let mut signature = Signature::new("measure")
        .with_in("a", Type::LONG)
        .with_inout("b", Type::LONG)
        .with_out("c", Type::LONG)
        .returning(Type::LONG)
        .raising(lost());
    signature.contexts = vec!["user".to_owned()];
    signature
}

/// Adds up, and raises `Lost` for a negative number.
fn meter() -> Arc<dyn Servant> {
    let servant = DynamicServant::builder("IDL:test/Meter:1.0");
    let servant = servant.operation(measure(), |request| {
        let arguments = request.read_arguments();
        let [a, b] = [0, 1].map(|at| arguments[at].value().extract::<i32>());
        let (a, b) = (a?, b?);
        if a < 0 {
            return request.set_exception(Any::with_type(lost(), &a)?);
        }
        request.set_argument(1, Any::from(b * 10))?;
        request.set_argument(2, Any::from(a * 100))?;
        request.set_result(Any::from(a + b))
    });
    servant.build().unwrap()
}

/// An ORB with interceptors of requests, and its object as seen by a client.
pub(crate) struct Dynamic {
    _server: Orb,
    client: Orb,
    pub(crate) object: ObjectRef,
}

impl Dynamic {
    pub(crate) fn new(
        of_client: Interceptors,
        of_server: Interceptors,
        servant: &Arc<dyn Servant>,
    ) -> Self {
        let server = Orb::builder()
            .endpoint("iiop://127.0.0.1:0")
            .unwrap()
            .interceptors(of_server)
            .build()
            .unwrap();
        let own = server.root_poa().activate_servant(servant).unwrap();
        server.root_poa().manager().activate().unwrap();
        let client = Orb::builder().interceptors(of_client).build().unwrap();
        let url = server.object_to_string(&own);
        let object = client.string_to_object(&url).unwrap().unwrap();
        Self {
            _server: server,
            client,
            object,
        }
    }

    fn measure(&self, a: i32) -> Request {
        let values = [a, 3].map(Any::from);
        let mut request = Request::of(&self.object, &measure(), values).unwrap();
        let user = ("user".to_owned(), "ada".to_owned());
        request.set_contexts([user]).unwrap();
        request
    }
}

fn of_calls(asking: &Asking) -> Interceptors {
    let mut all = Interceptors::new();
    all.add_client(asking.clone()).unwrap();
    all
}

pub(crate) fn of_requests(asking: &Asking, further: Option<Recorder>) -> Interceptors {
    let mut all = Interceptors::new();
    all.add_server(asking.clone()).unwrap();
    if let Some(further) = further {
        all.add_server(further).unwrap();
    }
    all
}

const TYPES: &str = r#"["IDL:test/Lost:1.0"] ["user"]"#;
const CONTEXT: &str = r#"["user", "ada"]"#;

/// Conformance: PI - RequestInfo of dynamic calls and servants: arguments, exceptions, contexts, operation_context and result at the points that have them
#[test]
fn points_of_a_dynamic_call_and_a_dynamic_servant_have_its_values() -> Tested {
    let [client, server] = [0, 1].map(|_| Asking::default());
    let both = Dynamic::new(of_calls(&client), of_requests(&server, None), &meter());
    let mut request = both.measure(2);
    request.invoke()?;
    assert_eq!(request.return_value().extract::<i32>()?, 5);
    let sent = format!("(in 2, inout 3, out .) {TYPES} {CONTEXT}");
    let returned = format!("(in 2, inout 30, out 200) {TYPES} {CONTEXT} 5");
    let points = [
        format!("measure send_request {sent}"),
        format!("measure receive_reply {returned}"),
    ];
    assert_eq!(client.taken(), points);
    let points = [
        format!("measure receive_request {sent}"),
        format!("measure send_reply {returned}"),
    ];
    assert_eq!(server.taken(), points);
    Ok(())
}

/// Conformance: PI - RequestInfo of dynamic calls and servants: with an exception
#[test]
fn points_of_an_exception_have_its_types() -> Tested {
    let [client, server] = [0, 1].map(|_| Asking::default());
    let both = Dynamic::new(of_calls(&client), of_requests(&server, None), &meter());
    let raised = both.measure(-1).invoke();
    assert!(matches!(raised, Err(RequestError::User(_))), "{raised:?}");
    let points = client.taken();
    let [_, last] = &*points else {
        panic!("{points:?}")
    };
    assert_eq!(
        *last,
        format!("measure receive_exception {TYPES} {CONTEXT} IDL:test/Lost:1.0 -1")
    );
    let points = server.taken();
    assert_eq!(points[1], format!("measure send_exception {TYPES} -1"));
    assert_eq!(points.len(), 2);
    Ok(())
}

/// Conformance: PI - RequestInfo of dynamic calls and servants: a call by a stub within a dynamic call has none of its values
#[test]
fn a_call_within_a_dynamic_call_has_no_values() -> Tested {
    let plain = plain_server();
    let orb = client_orb([]);
    let asking = Asking::default();
    let nested = Asking {
        nested: Some(seen_by(&orb, &plain.target)),
        ..asking.clone()
    };
    let both = Dynamic::new(of_calls(&nested), Interceptors::new(), &meter());
    let again = Asking {
        nested: Some(seen_by(&both.client, &plain.target)),
        ..asking.clone()
    };
    both.measure(1).invoke()?;
    assert_eq!(asking.taken().len(), 2);
    let nesting = Dynamic::new(of_calls(&again), Interceptors::new(), &meter());
    nesting.measure(1).invoke()?;
    let points = asking.taken();
    let refused = "refused refused refused refused";
    assert_eq!(points[1], format!("noop send_request {refused}"));
    assert_eq!(points[2], format!("noop receive_reply {refused} refused"));
    let sent = format!("(in 1, inout 3, out .) {TYPES} {CONTEXT}");
    assert_eq!(points[0], format!("measure send_request {sent}"));
    assert!(points[3].starts_with("measure receive_reply (in 1, inout 30, out 100)"));
    Ok(())
}

/// Conformance: PI - RequestInfo of dynamic calls and servants: of a deferred request, before its reply is collected
#[test]
fn a_deferred_request_has_what_it_sends_and_what_its_reply_returns() -> Tested {
    let client = Asking::default();
    let both = Dynamic::new(of_calls(&client), Interceptors::new(), &meter());
    let mut request = both.measure(2);
    request.send()?;
    request.get_response()?;
    assert_eq!(request.return_value().extract::<i32>()?, 5);
    let sent = format!("(in 2, inout 3, out .) {TYPES} {CONTEXT}");
    let points = [
        format!("measure send_request {sent}"),
        format!("measure receive_other {TYPES} {CONTEXT}"),
        format!("measure receive_reply (in 2, inout 30, out 200) {TYPES} {CONTEXT} 5"),
    ];
    assert_eq!(client.taken(), points);
    Ok(())
}

/// Conformance: PI - RequestInfo of dynamic calls and servants: user exceptions as anys, of a deferred request too
#[test]
fn points_of_an_exception_have_its_members() -> Tested {
    let [client, server] = [0, 1].map(|_| Asking::default());
    let both = Dynamic::new(of_calls(&client), of_requests(&server, None), &meter());
    for is_deferred in [false, true] {
        let mut request = both.measure(-7);
        let raised = if is_deferred {
            request.send()?;
            request.get_response()
        } else {
            request.invoke()
        };
        assert!(matches!(raised, Err(RequestError::User(_))), "{raised:?}");
        let last = client.taken().pop().unwrap_or_default();
        assert_eq!(
            last,
            format!("measure receive_exception {TYPES} {CONTEXT} IDL:test/Lost:1.0 -7")
        );
        let last = server.taken().pop().unwrap_or_default();
        assert_eq!(last, format!("measure send_exception {TYPES} -7"));
    }
    Ok(())
}
