// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes that the arguments or the results of one request share.

use orbium_cdr::{Any, Type, TypeCode};
use orbium_core::{Completion, ExceptionKind, Orb, SystemException};
use orbium_dynamic::{
    Direction, JsonOptions, Parameter, Request, RequestError, Signature, from_json,
    members_from_json, to_json,
};

use crate::skeletons::{parameter, serve};

fn point() -> TypeCode {
    let members = [("x", Type::LONG.into(), true)];
    TypeCode::value("IDL:Point:1.0", "Point", 0, None, members)
}

fn parameters() -> Vec<Parameter> {
    vec![
        parameter("first", Direction::In, point()),
        parameter("second", Direction::InOut, point()),
        parameter("third", Direction::Out, point()),
    ]
}

/// `Point three(in Point first, inout Point second, out Point third)`.
fn three() -> Signature {
    Signature {
        name: "three".to_owned(),
        wire_name: "three".to_owned(),
        oneway: false,
        parameters: parameters(),
        returns: point(),
        exceptions: Vec::new(),
        contexts: Vec::new(),
    }
}

const SHARED: &str = r#"{"$type":"IDL:Point:1.0","$id":1,"x":7}"#;
const SAME: &str = r#"{"$ref":1}"#;
const ALONE: &str = r#"{"$type":"IDL:Point:1.0","x":7}"#;

fn json(any: &Any) -> String {
    to_json(any, &JsonOptions::default()).unwrap()
}

fn arguments(texts: &[&str]) -> Any {
    let code = three().arguments_type();
    members_from_json(&code, texts, &JsonOptions::default()).unwrap()
}

/// The results that a servant answers with: the value of the first argument three times.
fn results(of: &Any) -> Any {
    let code = TypeCode::structure("", "", ["r", "second", "third"].map(|name| (name, point())));
    let first: serde_json::Value = serde_json::from_str(&json(of)).unwrap();
    let (first, same) = (first["first"].to_string(), SAME);
    let texts = [first.as_str(), same, same];
    members_from_json(&code, &texts, &JsonOptions::default()).unwrap()
}

fn bad_param() -> SystemException {
    SystemException::new(ExceptionKind::BadParam, 0, Completion::Maybe)
}

/// Conformance: dynamic - requests: values that arguments and results share
#[test]
fn a_value_in_two_arguments_arrives_as_one() {
    let (_orb, references) = serve(|request| {
        request.arguments(&parameters())?;
        let received = request.received()?;
        let expected = format!(r#"{{"first":{SHARED},"second":{SAME}}}"#);
        assert_eq!(json(&received), expected);
        request.set_results(results(&received))
    });
    let returned = format!(r#"{{"$return":{SHARED},"second":{SAME},"third":{SAME}}}"#);
    for object in references {
        let sent = arguments(&[SHARED, SAME]);
        let mut request = Request::with_arguments(&object, &three(), sent.clone()).unwrap();
        request.invoke().unwrap();
        assert_eq!(json(&request.results().unwrap()), returned);
        // Each alone is a copy.
        assert_eq!(json(request.return_value()), ALONE);
        assert_eq!(json(request.arguments()[2].value()), ALONE);

        let mut deferred = Request::with_arguments(&object, &three(), sent).unwrap();
        deferred.send().unwrap();
        deferred.get_response().unwrap();
        assert_eq!(json(&deferred.results().unwrap()), returned);
    }
}

/// Conformance: dynamic - requests: values that arguments and results share
#[test]
fn equal_values_of_two_arguments_stay_two() {
    let (_orb, references) = serve(|request| {
        request.arguments(&parameters())?;
        let expected = format!(r#"{{"first":{ALONE},"second":{ALONE}}}"#);
        assert_eq!(json(&request.received()?), expected);
        let value = request.arguments(&[]).unwrap_err();
        assert_eq!(value.kind, ExceptionKind::BadInvOrder);
        let value = from_json(&point(), ALONE, &JsonOptions::default()).unwrap();
        request.set_argument(2, value.clone())?;
        request.set_result(value)
    });
    for object in references {
        let sent = arguments(&[ALONE, ALONE]);
        let mut request = Request::with_arguments(&object, &three(), sent).unwrap();
        request.invoke().unwrap();
        let expected = format!(r#"{{"$return":{ALONE},"second":{ALONE},"third":{ALONE}}}"#);
        assert_eq!(json(&request.results().unwrap()), expected);
    }
}

#[test]
fn arguments_without_values_are_a_struct_too() {
    let (_orb, references) = serve(|request| {
        request.arguments(&[parameter("n", Direction::InOut, Type::LONG)])?;
        let received = request.received()?;
        assert_eq!(json(&received), r#"{"n":4}"#);
        request.set_results(received)
    });
    for object in references {
        let mut request = Request::new(&object, "count").unwrap();
        request.add_inout("n", Any::from(4)).unwrap();
        request.invoke().unwrap();
        assert_eq!(json(&request.results().unwrap()), r#"{"n":4}"#);
    }
}

#[test]
fn arguments_of_another_type_are_refused() {
    let orb = Orb::builder().build().unwrap();
    let object = orb.string_to_object("corbaloc::localhost:1/Any").unwrap();
    let object = object.unwrap();
    for wrong in [Any::from(1), Any::default(), {
        let code = TypeCode::structure("", "", [("first", point())]);
        members_from_json(&code, &["null"], &JsonOptions::default()).unwrap()
    }] {
        let refused = Request::with_arguments(&object, &three(), wrong).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::BadParam);
    }
}

/// Each row: members that are no results of the operation.
#[test]
fn results_of_other_types_are_refused() {
    let (_orb, [_, object]) = serve(|request| {
        let early = request.set_results(Any::from(1)).unwrap_err();
        assert_eq!(early.minor & 0xfff, 9);
        assert!(request.received().is_err());
        request.arguments(&parameters())?;
        let members = |types: &[TypeCode], texts: &[&str]| {
            let members = types.iter().map(|code| ("m", code.clone()));
            let code = TypeCode::structure("", "", members);
            members_from_json(&code, texts, &JsonOptions::default()).unwrap()
        };
        let long = TypeCode::from(Type::LONG);
        for wrong in [
            Any::from(1),
            members(&[point()], &["null"]),
            members(&[point(), point(), long.clone()], &["null", "null", "1"]),
            members(&vec![point(); 4], &["null"; 4]),
        ] {
            assert_eq!(request.set_results(wrong), Err(bad_param()));
        }
        let right = members(&[long, point(), point()], &["1", "null", "null"]);
        request.set_results(right.clone())?;
        let again = request.set_results(right).unwrap_err();
        assert_eq!(again.minor & 0xfff, 9);
        Err(ExceptionKind::NoImplement.into())
    });
    let sent = arguments(&["null", "null"]);
    let mut request = Request::with_arguments(&object, &three(), sent).unwrap();
    let Err(RequestError::System(raised)) = request.invoke() else {
        panic!("no exception");
    };
    assert_eq!(raised.kind, ExceptionKind::NoImplement);
}
