// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that take any operation, called within the process and over TCP.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use orbium_cdr::{Any, ByteOrder, CdrWriter, Format, Type, TypeCode};
use orbium_core::{Completion, ExceptionKind, ObjectRef, Orb, SystemException};
use orbium_dynamic::{
    Direction, DynamicImplementation, JsonOptions, Parameter, Request, RequestError, ServerRequest,
    dynamic_servant, from_json, to_json,
};
use orbium_giop::{
    HEADER_LEN, MessageHeader, ReplyHeader, ReplyStatus, RequestTemplate, ResponseFlags,
    SystemExceptionBody, Version, finish_message,
};

/// What a servant does with one request.
pub(crate) type Serve = fn(&mut ServerRequest<'_, '_>) -> Result<(), SystemException>;

struct Scripted(Serve);

impl DynamicImplementation for Scripted {
    fn primary_interface(&self) -> String {
        "IDL:test/Scripted:1.0".to_owned()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        [self.primary_interface().as_str(), "IDL:test/Base:1.0"].contains(&repository_id)
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        (self.0)(request)
    }
}

/// The object in its own ORB, and as a client in another ORB has it.
pub(crate) fn serve(serve: Serve) -> (Orb, [ObjectRef; 2]) {
    let orb = Orb::builder().build().unwrap();
    let servant = dynamic_servant(Scripted(serve)).unwrap();
    let own = orb.root_poa().activate_servant(&servant).unwrap();
    orb.root_poa().manager().activate().unwrap();
    let client = Orb::builder().build().unwrap();
    let url = orb.object_to_string(&own);
    let remote = client.string_to_object(&url).unwrap().unwrap();
    (orb, [own, remote])
}

pub(crate) fn parameter(name: &str, direction: Direction, code: impl Into<TypeCode>) -> Parameter {
    Parameter {
        name: name.to_owned(),
        direction,
        code: code.into(),
    }
}

fn wrong_order(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, minor, Completion::Maybe)
}

/// What a request without arguments raises.
fn raised(object: &ObjectRef) -> RequestError {
    Request::new(object, "any").unwrap().invoke().unwrap_err()
}

fn full() -> TypeCode {
    TypeCode::exception("IDL:test/Full:1.0", "Full", [("most", Type::LONG.into())])
}

/// Conformance: dynamic - skeletons: arguments in, inout and out, and the result
#[test]
fn a_servant_takes_any_operation() {
    let (_orb, references) = serve(|request| {
        assert_eq!(request.operation(), "swap");
        let arguments = request.arguments(&[
            parameter("what", Direction::In, Type::STRING),
            parameter("count", Direction::InOut, Type::LONG),
            parameter("half", Direction::Out, Type::DOUBLE),
        ])?;
        let what: String = arguments[0].value().extract()?;
        let count: i32 = arguments[1].value().extract()?;
        request.set_argument(1, Any::from(-count))?;
        request.set_argument(2, Any::from(f64::from(count) / 2.0))?;
        request.set_result(Any::from(what.len() as i16))
    });
    for object in references {
        let mut request = Request::new(&object, "swap").unwrap();
        request.add_in("what", Any::from("three")).unwrap();
        request.add_inout("count", Any::from(8)).unwrap();
        request.add_out("half", Type::DOUBLE).unwrap();
        request.set_return_type(Type::SHORT).unwrap();
        request.invoke().unwrap();
        assert_eq!(request.return_value(), &Any::from(5i16));
        assert_eq!(request.arguments()[1].value(), &Any::from(-8));
        assert_eq!(request.arguments()[2].value(), &Any::from(4.0));
    }
}

/// Conformance: dynamic - skeletons: interfaces are those that the servant names
#[test]
fn implicit_operations_do_not_reach_the_servant() {
    let (_orb, [_, object]) = serve(|_| panic!("it was called"));
    for id in ["IDL:test/Base:1.0", "IDL:omg.org/CORBA/Object:1.0"] {
        assert_eq!(object.is_a(id), Ok(true));
    }
    assert_eq!(object.is_a("IDL:test/Other:1.0"), Ok(false));
    assert_eq!(object.non_existent(), Ok(false));
    assert_eq!(
        object.repository_id().as_deref(),
        Ok("IDL:test/Scripted:1.0")
    );
}

/// Conformance: dynamic - skeletons: a user exception, set before or after the arguments were read
#[test]
fn exceptions_are_raised_with_their_members() {
    let (_orb, references) = serve(|request| {
        request.set_exception(Any::with_type(full(), &1i32)?)?;
        // The last one counts.
        request.set_exception(Any::with_type(full(), &7i32)?)
    });
    for object in references {
        let mut request = Request::new(&object, "any").unwrap();
        request.add_exception(full()).unwrap();
        let Err(RequestError::User(full)) = request.invoke() else {
            panic!("no user exception");
        };
        assert_eq!(full.decode_as::<i32>(), Ok(7));
    }
    let (_orb, [_, object]) = serve(|request| {
        request.arguments(&[])?;
        request.set_result(Any::from(1))?;
        request.set_exception(Any::with_type(full(), &7i32)?)
    });
    assert_eq!(raised(&object).repository_id(), "IDL:test/Full:1.0");
}

#[test]
fn system_exceptions_are_raised() {
    let (_orb, references) = serve(|_| Err(ExceptionKind::NoImplement.into()));
    for object in references {
        let repository_id = "IDL:omg.org/CORBA/NO_IMPLEMENT:1.0";
        assert_eq!(raised(&object).repository_id(), repository_id);
    }
}

/// Conformance: dynamic - skeletons: without a result the operation is void
#[test]
fn without_a_result_the_operation_is_void() {
    let (_orb, references) = serve(|request| request.arguments(&[]).map(|_| ()));
    for object in references {
        Request::new(&object, "any").unwrap().invoke().unwrap();
    }
}

/// Conformance: dynamic - skeletons: arguments twice, never, or after an exception: BAD_INV_ORDER 7
#[test]
fn arguments_are_read_exactly_once() {
    let (_orb, [_, object]) = serve(|request| {
        request.arguments(&[])?;
        request.arguments(&[]).map(|_| ())
    });
    assert_eq!(raised(&object), wrong_order(7).into());
    let (_orb, [_, object]) = serve(|_| Ok(()));
    assert_eq!(raised(&object), wrong_order(7).into());
    let (_orb, [_, object]) = serve(|request| {
        request.set_exception(Any::with_type(full(), &7i32)?)?;
        assert_eq!(request.arguments(&[]).map(drop), Err(wrong_order(7)));
        Ok(())
    });
    assert_eq!(raised(&object).repository_id(), "IDL:test/Full:1.0");
}

/// Conformance: dynamic - skeletons: contexts before the arguments or twice: BAD_INV_ORDER 8
#[test]
fn contexts_follow_the_arguments() {
    let (_orb, [_, object]) = serve(|request| {
        assert_eq!(request.contexts(), Err(wrong_order(8)));
        request.arguments(&[])?;
        let properties = request.contexts()?;
        assert_eq!(request.contexts(), Err(wrong_order(8)));
        request.set_result(Any::from(format!("{properties:?}")))
    });
    let mut request = Request::new(&object, "any").unwrap();
    let property = ("user".to_owned(), "anna".to_owned());
    request.set_contexts([property]).unwrap();
    request.set_return_type(Type::STRING).unwrap();
    request.invoke().unwrap();
    assert_eq!(request.return_value(), &Any::from("[(\"user\", \"anna\")]"));
}

/// Conformance: dynamic - skeletons: a result before the arguments, twice, or after an exception:
/// BAD_INV_ORDER 9
#[test]
fn the_result_is_set_once() {
    let (_orb, [_, object]) = serve(|request| {
        assert_eq!(request.set_result(Any::from(1)), Err(wrong_order(9)));
        request.arguments(&[])?;
        request.set_result(Any::from(1))?;
        assert_eq!(request.set_result(Any::from(1)), Err(wrong_order(9)));
        request.set_exception(Any::with_type(full(), &7i32)?)?;
        assert_eq!(request.set_result(Any::from(1)), Err(wrong_order(9)));
        Ok(())
    });
    assert_eq!(raised(&object).repository_id(), "IDL:test/Full:1.0");
}

/// Conformance: dynamic - skeletons: an exception that is none: BAD_PARAM 21
#[test]
fn an_exception_is_an_exception() {
    let (_orb, [_, object]) = serve(|request| request.set_exception(Any::from(1)));
    let refused = SystemException::omg(ExceptionKind::BadParam, 21, Completion::Maybe);
    assert_eq!(raised(&object), refused.into());
}

#[test]
fn values_of_another_type_are_refused() {
    let (_orb, [_, object]) = serve(|request| {
        request.arguments(&[parameter("out", Direction::Out, Type::LONG)])?;
        let refused = SystemException::new(ExceptionKind::BadParam, 0, Completion::Maybe);
        assert_eq!(request.set_argument(0, Any::from("text")), Err(refused));
        assert_eq!(request.set_argument(1, Any::from(1)), Err(refused));
        Ok(())
    });
    // And what was not set cannot be sent.
    assert_eq!(
        raised(&object).repository_id(),
        "IDL:omg.org/CORBA/BAD_PARAM:1.0"
    );
}

#[test]
fn arguments_that_are_not_there_are_marshal() {
    let (_orb, [_, object]) = serve(|request| {
        let parameters = [parameter("value", Direction::In, Type::LONG)];
        request.arguments(&parameters).map(|_| ())
    });
    assert_eq!(
        raised(&object).repository_id(),
        "IDL:omg.org/CORBA/MARSHAL:1.0"
    );
}

/// What the object answers to a request without service contexts that has these octets as its
/// argument.
fn answer_to_octets(object: &ObjectRef, octets: &[u8]) -> SystemException {
    let profile = object.ior().iiop_profiles().next().unwrap();
    let template = RequestTemplate::new(Version::V1_2, &profile.object_key);
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
    let start = template.begin(&mut writer, 7, ResponseFlags::Full, "any", &[]);
    writer.write_octets(octets);
    finish_message(&mut writer, start);
    let mut stream = TcpStream::connect((&*profile.host, profile.port)).unwrap();
    stream.write_all(&writer.finish().unwrap()).unwrap();
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head).unwrap();
    let header = MessageHeader::parse(&head).unwrap();
    let mut rest = vec![0; header.size as usize];
    stream.read_exact(&mut rest).unwrap();
    let mut reader = header.reader(&mut rest);
    let reply = ReplyHeader::read(&mut reader, 2).unwrap();
    assert_eq!(reply.status, ReplyStatus::SystemException);
    SystemExceptionBody::read(&mut reader).unwrap().exception()
}

/// A client that sends wide text without naming its code set got INV_OBJREF from dynamic servants,
/// which is for clients.
#[test]
fn wide_text_without_a_code_set_is_bad_param_23() {
    let (_orb, [object, _]) = serve(|request| {
        let parameters = [parameter("text", Direction::In, Type::WSTRING)];
        request.arguments(&parameters).map(|_| ())
    });
    assert_eq!(
        answer_to_octets(&object, b"\0a"),
        SystemException::omg(ExceptionKind::BadParam, 23, Completion::No)
    );
}

/// A chain of values, which may be cyclic.
fn chain() -> TypeCode {
    let id = "IDL:test/Chain:1.0";
    let members = [
        ("next", TypeCode::recursive(id), true),
        ("v", Type::LONG.into(), true),
    ];
    TypeCode::value(id, "Chain", 0, None, members)
}

/// Neither side has code for the value: it is known by the TypeCode alone.
///
/// Conformance: dynamic - skeletons: values of valuetypes
#[test]
fn a_servant_echoes_values_that_no_code_was_generated_for() {
    let (_orb, references) = serve(|request| {
        let arguments = request.arguments(&[
            parameter("first", Direction::In, chain()),
            parameter("second", Direction::InOut, chain()),
        ])?;
        let first = arguments[0].value().clone();
        let second = arguments[1].value().clone();
        request.set_argument(1, first)?;
        request.set_result(second)
    });
    let options = JsonOptions::default();
    let cycle = r#"{"$type":"IDL:test/Chain:1.0","$id":1,"next":{"$ref":1},"v":7}"#;
    let any = |json: &str| from_json(&chain(), json, &options).unwrap();
    for object in references {
        let mut request = Request::new(&object, "swap").unwrap();
        request.add_in("first", any(cycle)).unwrap();
        request.add_inout("second", any("null")).unwrap();
        request.set_return_type(chain()).unwrap();
        request.invoke().unwrap();
        let returned = to_json(request.return_value(), &options).unwrap();
        assert_eq!(returned, "null");
        let second = request.arguments()[1].value();
        assert_eq!(to_json(second, &options).unwrap(), cycle);
    }
}
