// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes and abstract interfaces that are components of a DynAny.

use orbium_cdr::{Any, Type, TypeCode};
use orbium_core::Orb;
use orbium_dynamic::{DynAny, DynAnyError, from_json, to_json};
use orbium_value::{Abstract, ValueBase, idl_value, read_described};

use crate::samples::{compiled, known_types};

const IDL: &str = "
    valuetype Node { public long number; public Node next; };
    valuetype Leaf : truncatable Node { public string text; };
    valuetype Other { public long number; };
    valuetype Text string;
    abstract interface Shown { string show(); };
    struct Two { Node first; Node second; };
    struct Mixed { Text t; Shown s; long number; };
";

const LEAF: &str = r#"{"$type":"IDL:Leaf:1.0","$id":1,"number":1,"next":{"$ref":1},"text":"t"}"#;

idl_value! {
    /// A value that nothing marshals.
    pub struct Own(OwnState): OWN_TYPE = "IDL:Own:1.0", Custom, [] {
        public x: i32,
    }
}

fn any(name: &str, json: &str) -> Any {
    let definitions = compiled(IDL);
    let code = definitions.type_named(name).unwrap();
    from_json(&code, json, &known_types(&definitions)).unwrap_or_else(|error| panic!("{error}"))
}

fn json(dyn_any: &DynAny) -> String {
    let definitions = compiled(IDL);
    to_json(&dyn_any.to_any().unwrap(), &known_types(&definitions)).unwrap()
}

fn value(name: &str, json: &str) -> ValueBase {
    let any = any(name, json);
    let code = any.type_code().as_ref();
    let read = any.read_with(|reader| read_described(code, reader));
    read.unwrap().unwrap()
}

fn two() -> DynAny {
    DynAny::new(&any("Two", r#"{"first":null,"second":null}"#)).unwrap()
}

fn mixed() -> DynAny {
    DynAny::new(&any("Mixed", r#"{"t":"t","s":null,"number":7}"#)).unwrap()
}

/// Conformance: dynamic - DynAny: insert_val and get_val
#[test]
fn a_value_goes_in_and_comes_out() {
    let mut two = two();
    assert_eq!(two.get_val(), Ok(None));
    let leaf = value("Node", LEAF);
    two.insert_val(Some(&leaf)).unwrap();
    assert_eq!(json(&two), format!(r#"{{"first":{LEAF},"second":null}}"#));
    let got = two.get_val().unwrap().unwrap();
    assert_eq!(got.repository_id(), "IDL:Leaf:1.0");
    // Another value, which leads back to itself.
    assert_ne!(got, leaf);
    let members = got.state().unwrap();
    assert_eq!(members.values(), [Some(got.clone())]);
    two.insert_val(None).unwrap();
    assert_eq!(two.get_val(), Ok(None));
    [got, leaf].iter().for_each(ValueBase::unlink);
}

/// Conformance: dynamic - DynAny: insert_val and get_val
#[test]
fn a_boxed_value_goes_in_and_comes_out() {
    let mut mixed = mixed();
    let text = mixed.get_val().unwrap().unwrap();
    assert_eq!(text.repository_id(), "IDL:Text:1.0");
    mixed
        .insert_val(Some(&value("Text", r#""other""#)))
        .unwrap();
    let boxed = mixed.current_component().unwrap().unwrap();
    let content = boxed.as_value_box().unwrap().boxed_value().unwrap();
    assert_eq!(content, Any::from("other"));
}

/// Conformance: dynamic - DynAny: insert_val of a type that does not inherit that of the component: TypeMismatch
#[test]
fn a_value_of_another_type_is_refused() {
    let other = value("Other", r#"{"number":1}"#);
    let mut two = two();
    let before = json(&two);
    assert_eq!(two.insert_val(Some(&other)), Err(DynAnyError::TypeMismatch));
    assert_eq!(json(&two), before);
    let mut mixed = mixed();
    assert_eq!(
        mixed.insert_val(Some(&other)),
        Err(DynAnyError::TypeMismatch)
    );
}

/// Conformance: dynamic - DynAny: insert_val, get_val, insert_abstract and get_abstract where the component is of another kind: TypeMismatch
#[test]
fn components_of_other_kinds_are_refused() {
    let mut mixed = mixed();
    let mismatch = DynAnyError::TypeMismatch;
    assert_eq!(mixed.insert_abstract(None), Err(mismatch));
    assert_eq!(mixed.get_abstract(), Err(mismatch));
    for index in [1, 2] {
        assert!(mixed.seek(index));
        assert_eq!(mixed.insert_val(None), Err(mismatch));
        assert_eq!(mixed.get_val(), Err(mismatch));
    }
    // Of a basic type there are no components.
    let mut number = DynAny::new(&Any::from(1)).unwrap();
    assert_eq!(number.insert_val(None), Err(mismatch));
    assert_eq!(number.get_val(), Err(mismatch));
    assert_eq!(number.get_abstract(), Err(mismatch));
}

/// Conformance: dynamic - DynAny: insert_val, get_val, insert_abstract and get_abstract without a current component: InvalidValue
#[test]
fn without_a_current_component_there_is_no_value() {
    let mut two = two();
    two.seek(-1);
    let invalid = DynAnyError::InvalidValue;
    assert_eq!(two.insert_val(None), Err(invalid));
    assert_eq!(two.get_val(), Err(invalid));
    assert_eq!(two.insert_abstract(None), Err(invalid));
    assert_eq!(two.get_abstract(), Err(invalid));
}

/// Conformance: dynamic - DynAny: insert_abstract and get_abstract: objects, values and nil
#[test]
fn an_object_or_a_value_stands_for_an_abstract_interface() {
    let orb = Orb::builder().build().unwrap();
    let object = orb.string_to_object("corbaloc::localhost:1/Shown");
    let object = Abstract::Object(object.unwrap().unwrap());
    let mut mixed = mixed();
    assert!(mixed.seek(1));
    assert_eq!(mixed.get_abstract(), Ok(None));
    mixed.insert_abstract(Some(&object)).unwrap();
    let got = mixed.get_abstract().unwrap().unwrap();
    assert_eq!(
        got.object().unwrap().ior().profiles,
        object.object().unwrap().ior().profiles
    );
    let other = value("Other", r#"{"number":5}"#);
    mixed
        .insert_abstract(Some(&Abstract::Value(other)))
        .unwrap();
    let Some(Abstract::Value(got)) = mixed.get_abstract().unwrap() else {
        panic!("no value");
    };
    assert_eq!(got.repository_id(), "IDL:Other:1.0");
    mixed.insert_abstract(None).unwrap();
    assert_eq!(mixed.get_abstract(), Ok(None));
}

/// A type by its TypeCode alone, as a program without IDL has it.
#[test]
fn a_component_behind_a_typedef_takes_a_value() {
    let node = compiled(IDL).type_named("Node").unwrap();
    let named = TypeCode::alias("IDL:Named:1.0", "Named", node);
    let members = [("n", named), ("l", Type::LONG.into())];
    let mut dyn_any = DynAny::of_type(&TypeCode::structure("", "", members)).unwrap();
    let alone = value("Node", r#"{"number":4,"next":null}"#);
    dyn_any.insert_val(Some(&alone)).unwrap();
    let got = dyn_any.get_val().unwrap().unwrap();
    assert_eq!(got.repository_id(), "IDL:Node:1.0");
}

/// Conformance: dynamic - DynAny: insert_val and insert_abstract of a custom value: InvalidValue
#[test]
fn a_custom_value_is_refused() {
    let own = Own::new(OwnState { x: 1 });
    let mut mixed = mixed();
    assert!(mixed.seek(1));
    let before = json(&mixed);
    let refused = mixed.insert_abstract(Some(&Abstract::of_value(&own)));
    assert_eq!(refused, Err(DynAnyError::InvalidValue));
    assert_eq!(json(&mixed), before);
}
