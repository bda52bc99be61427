// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium call` with values of valuetypes, which the program has no code for.

use orbium::Orb;
use orbium_demo::serve_values;
use orbium_idl::{Options, compile};
use orbium_ifr::InterfaceRepository;
use serde_json::{Value, json};

use crate::program::{Ran, project_idl, run};

/// `Values::Echo`, until it is dropped.
struct Echo {
    orb: Orb,
    reference: String,
    /// Where the types come from.
    types: Vec<String>,
}

impl Echo {
    /// Types come from the file of IDL.
    fn serve() -> Self {
        let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let orb = orb.build().unwrap();
        let echo = serve_values(&orb).unwrap();
        let reference = orb.object_to_string(&echo);
        Self {
            orb,
            reference,
            types: vec!["--idl".to_owned(), project_idl("values.idl")],
        }
    }

    /// The ORB of the object has an Interface Repository, which `call` finds through `_interface`.
    fn with_repository() -> (Self, InterfaceRepository) {
        let mut echo = Self::serve();
        let repository = InterfaceRepository::in_memory(&echo.orb).unwrap();
        let idl = project_idl("values.idl");
        let compiled = compile(&Options::new(), idl.as_ref());
        repository.load(&compiled.model.unwrap()).unwrap();
        echo.types.clear();
        (echo, repository)
    }

    fn call(&self, operation: &str, arguments: &[Value]) -> Ran {
        let arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
        let start = ["call", "--json", &self.reference, operation];
        run(start
            .into_iter()
            .chain(self.types.iter().map(String::as_str))
            .chain(arguments.iter().map(String::as_str)))
    }

    /// What the operation returns.
    fn returned(&self, operation: &str, argument: &Value) -> Value {
        let ran = self.call(operation, std::slice::from_ref(argument));
        ran.assert_done();
        ran.json()["$return"].take()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

fn point(x: i32) -> Value {
    json!({"$type": "IDL:orbium.test/Values/Point:1.0", "x": x, "y": 2})
}

fn labelled(x: i32) -> Value {
    let id = "IDL:orbium.test/Values/Labelled:1.0";
    json!({"$type": id, "x": x, "y": 2, "text": "here", "hidden": 3})
}

/// Conformance: dynamic - JSON: values of valuetypes - by `orbium call`
#[test]
fn values_of_every_form_come_back() {
    values_come_back(&Echo::serve());
}

/// Conformance: dynamic - JSON: values of valuetypes - types from the Interface Repository
#[test]
fn values_come_back_by_the_types_of_a_repository() {
    let (mut echo, repository) = Echo::with_repository();
    values_come_back(&echo);
    let reference = echo.orb.object_to_string(&repository.reference());
    echo.types = vec!["--ifr".to_owned(), reference];
    values_come_back(&echo);
}

fn values_come_back(echo: &Echo) {
    let arrow = "IDL:orbium.test/Values/Arrow:1.0";
    let head = json!({"$type": arrow, "x": 1, "y": 2, "head": point(3), "tail": labelled(4)});
    let link = |next: Value| {
        let id = "IDL:orbium.test/Values/Chain:1.0";
        json!({"$type": id, "$id": 1, "next": next, "v": 7})
    };
    let tree = |name: &str, children: Value| {
        let id = "IDL:orbium.test/Values/Tree:1.0";
        json!({"$type": id, "name": name, "children": children})
    };
    let numbers = json!({"$type": "IDL:orbium.test/Values/Numbers:1.0", "$value": [1, 2, 3]});
    let text = json!({"$type": "IDL:orbium.test/Values/Text:1.0", "$value": "boxed"});
    for (operation, value) in [
        ("echo_point", point(1)),
        ("echo_point", labelled(1)),
        ("echo_point", head),
        ("echo_point", Value::Null),
        ("echo_chain", link(json!({"$ref": 1}))),
        ("echo_tree", tree("a", json!([tree("b", json!([])), null]))),
        ("echo_text", text),
        ("echo_numbers", numbers),
        ("echo_base", labelled(5)),
        (
            "echo_any",
            json!({"$type": "IDL:orbium.test/Values/Point:1.0", "$value": labelled(5)}),
        ),
    ] {
        assert_eq!(echo.returned(operation, &value), value, "{operation}");
    }
    let mut shared = point(1);
    shared["$id"] = json!(1);
    let two = json!({"first": shared, "second": {"$ref": 1}});
    assert_eq!(echo.returned("echo_two", &two), two);
}

/// Conformance: dynamic - JSON: values of valuetypes - by `orbium call`
#[test]
fn a_value_in_an_exception_is_printed() {
    exceptions_and_out_arguments(&Echo::serve());
    exceptions_and_out_arguments(&Echo::with_repository().0);
}

fn exceptions_and_out_arguments(echo: &Echo) {
    let ran = echo.call("echo_point", &[point(-1)]);
    assert_eq!(ran.status, Some(1));
    assert_eq!(ran.json()["where"], point(-1), "{ran:?}");
    let several = echo.call("echo_points", &[point(1), labelled(2)]);
    several.assert_done();
    // The servant returns one value twice.
    assert_eq!(several.json()["$return"]["x"], 1);
    assert_eq!(several.json()["copy"], json!({"$ref": 1}));
    assert_eq!(several.json()["both"], labelled(2));

    let mut shared = point(1);
    shared["$id"] = json!(1);
    let same = json!({"$ref": 1});
    let one = echo.call("echo_points", &[shared.clone(), same.clone()]);
    one.assert_done();
    let expected = json!({"$return": shared, "both": same, "copy": same});
    assert_eq!(one.json(), expected);
}

/// Conformance: dynamic - JSON: values of valuetypes - abstract interfaces
#[test]
fn an_abstract_interface_takes_values_and_references() {
    abstract_interfaces(&Echo::serve());
    abstract_interfaces(&Echo::with_repository().0);
}

fn abstract_interfaces(echo: &Echo) {
    let note = json!({"$type": "IDL:orbium.test/Values/Note:1.0", "text": "t"});
    assert_eq!(echo.returned("echo_describable", &note), note);
    assert_eq!(echo.returned("description", &note), "note: t");
    let object = json!(echo.reference);
    assert_eq!(echo.returned("echo_describable", &object), object);
}

#[test]
fn a_wrong_value_is_refused_with_its_path() {
    let echo = Echo::serve();
    let mut wrong = labelled(1);
    wrong["text"] = json!(5);
    let ran = echo.call("echo_point", &[wrong]);
    ran.assert_failed_saying("v.text: expected string, found 5");
    let other = json!({"$type": "IDL:orbium.test/Values/Chain:1.0", "next": null, "v": 7});
    let ran = echo.call("echo_point", &[other]);
    ran.assert_failed_saying("does not inherit IDL:orbium.test/Values/Point:1.0");
}
