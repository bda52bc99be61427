// SPDX-License-Identifier: MIT OR Apache-2.0
//! DynAnys of valuetypes and of boxed values.

use orbium_cdr::{Any, TCKind, TypeCode};
use orbium_dynamic::{Definitions, DynAny, DynAnyError, from_json, to_json};

use crate::samples::{compiled, known_types};

const IDL: &str = "
    valuetype Node {
        public long number;
        public Node next;
        private sequence<Node> others;
        public any more;
    };
    valuetype Leaf : truncatable Node { private string text; };
    valuetype Nothing {};
    valuetype Text string;
    struct Point { long x; long y; };
    valuetype Spot Point;
    custom valuetype Own { public long x; };
    abstract valuetype Unstated {};
    struct Two { Node first; Node second; };
    union Choice switch (long) { case 1: Node n; default: long number; };
";

fn definitions() -> Definitions {
    compiled(IDL)
}

fn code(name: &str) -> TypeCode {
    definitions().type_named(name).unwrap()
}

fn any(name: &str, json: &str) -> Any {
    let definitions = definitions();
    let options = known_types(&definitions);
    let code = definitions.type_named(name).unwrap();
    from_json(&code, json, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn dyn_any(name: &str, json: &str) -> DynAny {
    DynAny::new(&any(name, json)).unwrap()
}

fn json(dyn_any: &DynAny) -> String {
    let definitions = definitions();
    let options = known_types(&definitions);
    to_json(&dyn_any.to_any().unwrap(), &options).unwrap()
}

/// A `Node` with its `$id`, its number and what is next.
fn node(id: &str, number: i32, next: &str) -> String {
    format!(
        r#"{{"$type":"IDL:Node:1.0",{id}"number":{number},"next":{next},"others":[],"more":{{"$type":"null"}}}}"#
    )
}

fn leaf(number: i32, text: &str) -> String {
    format!(
        r#"{{"$type":"IDL:Leaf:1.0","number":{number},"next":null,"others":[],"more":{{"$type":"null"}},"text":"{text}"}}"#
    )
}

/// Expands the members of a value, of those in them, and so on.
fn expand(dyn_any: &mut DynAny, levels: usize) {
    for index in 0..dyn_any.component_count() {
        dyn_any.seek(index as i32);
        let component = dyn_any.current_component().unwrap().unwrap();
        if levels > 0 {
            expand(component, levels - 1);
        }
    }
}

/// The component at a path of places.
fn at<'d>(dyn_any: &'d mut DynAny, path: &[i32]) -> &'d mut DynAny {
    let mut at = dyn_any;
    for index in path {
        assert!(at.seek(*index));
        at = at.current_component().unwrap().unwrap();
    }
    at
}

/// Conformance: dynamic - DynValue: components are the members of the bases, then its own, private ones too
#[test]
fn members_of_bases_come_first() {
    let mut value = dyn_any("Leaf", &leaf(7, "t"));
    assert_eq!((value.component_count(), value.position()), (5, Some(0)));
    let names = ["number", "next", "others", "more", "text"];
    let kinds = [
        TCKind::Long,
        TCKind::Value,
        TCKind::Sequence,
        TCKind::Any,
        TCKind::String,
    ];
    for (index, (name, kind)) in names.into_iter().zip(kinds).enumerate() {
        value.seek(index as i32);
        let value = value.as_value().unwrap();
        assert_eq!(value.current_member_name().unwrap(), name);
        assert_eq!(value.current_member_kind(), Ok(kind));
    }
    assert_eq!(value.get_string().unwrap(), "t");
    value.insert_string("changed").unwrap();
    value.rewind();
    value.insert_long(8).unwrap();
    assert_eq!(json(&value), leaf(8, "changed"));
}

/// Conformance: dynamic - DynValue: current_member_name and kind: InvalidValue without a current member, TypeMismatch for null
#[test]
fn without_a_current_member_there_is_no_name() {
    let mut value = dyn_any("Node", &node("", 1, "null"));
    value.seek(-1);
    let form = value.as_value().unwrap();
    assert_eq!(form.current_member_name(), Err(DynAnyError::InvalidValue));
    assert_eq!(form.current_member_kind(), Err(DynAnyError::InvalidValue));
    let mut null = dyn_any("Node", "null");
    let form = null.as_value().unwrap();
    assert_eq!(form.current_member_name(), Err(DynAnyError::TypeMismatch));
    assert_eq!(form.current_member_kind(), Err(DynAnyError::TypeMismatch));
    let mut nothing = dyn_any("Nothing", r#"{"$type":"IDL:Nothing:1.0"}"#);
    let form = nothing.as_value().unwrap();
    assert!(!form.is_null());
    assert_eq!(form.current_member_name(), Err(DynAnyError::TypeMismatch));
}

/// Conformance: dynamic - DynValueCommon: null has no components and no current one
#[test]
fn null_has_no_components() {
    for name in ["Node", "Text"] {
        let mut null = DynAny::of_type(&code(name)).unwrap();
        assert_eq!(json(&null), "null");
        assert_eq!((null.component_count(), null.position()), (0, None));
        assert!(null.current_component().unwrap().is_none());
        assert_eq!((null.seek(0), null.next()), (false, false));
        assert_eq!(null.insert_long(1), Err(DynAnyError::InvalidValue));
        assert_eq!(null.get_long(), Err(DynAnyError::InvalidValue));
    }
}

/// Conformance: dynamic - DynValueCommon: is_null, set_to_null, set_to_value
#[test]
fn null_becomes_a_value_and_a_value_null() {
    let mut value = DynAny::of_type(&code("Leaf")).unwrap();
    let mut form = value.as_value().unwrap();
    assert!(form.is_null());
    form.set_to_value().unwrap();
    assert!(!form.is_null());
    assert_eq!((value.component_count(), value.position()), (5, Some(0)));
    assert_eq!(json(&value), leaf(0, ""));
    value.insert_long(3).unwrap();
    value.as_value().unwrap().set_to_value().unwrap();
    assert_eq!(json(&value), leaf(3, ""));
    value.as_value().unwrap().set_to_null().unwrap();
    assert_eq!((value.component_count(), value.position()), (0, None));
    assert_eq!(json(&value), "null");

    let mut spot = DynAny::of_type(&code("Spot")).unwrap();
    let mut form = spot.as_value_box().unwrap();
    form.set_to_value().unwrap();
    assert!(!form.is_null());
    let initial = r#"{"$type":"IDL:Spot:1.0","$value":{"x":0,"y":0}}"#;
    assert_eq!(json(&spot), initial);
    spot.as_value_box().unwrap().set_to_null().unwrap();
    assert_eq!(json(&spot), "null");
}

/// Conformance: dynamic - DynValueCommon: set_to_value of an abstract or custom type: InconsistentTypeCode
#[test]
fn abstract_and_custom_types_have_null_only() {
    for name in ["Unstated", "Own"] {
        let mut null = DynAny::of_type(&code(name)).unwrap();
        let mut form = null.as_value().unwrap();
        let refused = form.set_to_value();
        assert_eq!(refused, Err(DynAnyError::InconsistentTypeCode), "{name}");
        assert!(form.is_null());
    }
}

/// Conformance: dynamic - DynValue: get_members: InvalidValue for null
#[test]
fn null_has_no_members_to_read() {
    let mut null = dyn_any("Node", "null");
    let mut form = null.as_value().unwrap();
    assert_eq!(form.members().err(), Some(DynAnyError::InvalidValue));
    let refused = form.members_as_dyn_any().err();
    assert_eq!(refused, Some(DynAnyError::InvalidValue));
}

/// Conformance: dynamic - DynValue: members are read and set with their names; null becomes a value
#[test]
fn members_are_set_all_together() {
    let mut from = dyn_any("Node", &node("", 5, &leaf(6, "t")));
    let members = from.as_value().unwrap().members().unwrap();
    assert_eq!(members[0], ("number".to_owned(), Any::from(5)));
    let mut to = DynAny::of_type(&code("Node")).unwrap();
    let set = members.iter().map(|(name, value)| (&**name, value));
    to.as_value().unwrap().set_members(set).unwrap();
    assert_eq!(to.position(), Some(0));
    assert_eq!(json(&to), json(&from));

    let mut to = dyn_any("Node", &node("", 1, "null"));
    let mut form = from.as_value().unwrap();
    let mut members = form.members_as_dyn_any().unwrap();
    members[0].1.insert_long(9).unwrap();
    let set = members.iter().map(|(_, value)| ("", &**value));
    to.as_value().unwrap().set_members_as_dyn_any(set).unwrap();
    assert_eq!(json(&to), node("", 9, &leaf(6, "t")));
}

/// Conformance: dynamic - DynValue: set_members: InvalidValue for the count, TypeMismatch for a name or type
#[test]
fn members_of_another_count_name_or_type_are_refused() {
    let mut null = dyn_any("Node", "null");
    let mut form = null.as_value().unwrap();
    let mut from = dyn_any("Node", &node("", 5, "null"));
    let members = from.as_value().unwrap().members().unwrap();
    let mut named: Vec<(&str, &Any)> = members.iter().map(|(name, it)| (&**name, it)).collect();
    let few = form.set_members(named[..3].iter().copied());
    assert_eq!(few, Err(DynAnyError::InvalidValue));
    let many = form.set_members(named.iter().chain(&named[..1]).copied());
    assert_eq!(many, Err(DynAnyError::InvalidValue));
    named[0].0 = "count";
    let other_name = form.set_members(named.iter().copied());
    assert_eq!(other_name, Err(DynAnyError::TypeMismatch));
    let text = Any::from("five");
    named[0] = ("number", &text);
    let other_type = form.set_members(named.iter().copied());
    assert_eq!(other_type, Err(DynAnyError::TypeMismatch));
    assert!(form.is_null());
}

/// Conformance: dynamic - DynValueBox: the boxed value is read and set; null becomes a box
#[test]
fn a_box_has_its_content_as_the_one_component() {
    let mut text = DynAny::of_type(&code("Text")).unwrap();
    let mut form = text.as_value_box().unwrap();
    form.set_boxed_value(&Any::from("t")).unwrap();
    assert_eq!(form.boxed_value().unwrap(), Any::from("t"));
    assert_eq!((text.component_count(), text.position()), (1, Some(0)));
    text.insert_string("u").unwrap();
    let printed = r#"{"$type":"IDL:Text:1.0","$value":"u"}"#;
    assert_eq!(json(&text), printed);

    let mut spot = dyn_any("Spot", r#"{"$value":{"x":1,"y":2}}"#);
    let mut form = spot.as_value_box().unwrap();
    let point = form.boxed_value_as_dyn_any().unwrap();
    point.seek(1);
    point.insert_long(5).unwrap();
    let point = point.copy();
    let mut other = DynAny::of_type(&code("Spot")).unwrap();
    let mut form = other.as_value_box().unwrap();
    form.set_boxed_value_as_dyn_any(&point).unwrap();
    assert_eq!(json(&other), json(&spot));
    let printed = r#"{"$type":"IDL:Spot:1.0","$value":{"x":1,"y":5}}"#;
    assert_eq!(json(&other), printed);
}

/// Conformance: dynamic - DynValueBox: get_boxed_value: InvalidValue for null
#[test]
fn a_null_box_has_no_content() {
    let mut null = DynAny::of_type(&code("Text")).unwrap();
    let mut form = null.as_value_box().unwrap();
    assert_eq!(form.boxed_value().err(), Some(DynAnyError::InvalidValue));
    let refused = form.boxed_value_as_dyn_any().err();
    assert_eq!(refused, Some(DynAnyError::InvalidValue));
}

/// Conformance: dynamic - DynValueBox: set_boxed_value: TypeMismatch for another type
#[test]
fn a_box_takes_its_type_only() {
    let mut text = DynAny::of_type(&code("Text")).unwrap();
    let mut form = text.as_value_box().unwrap();
    let refused = form.set_boxed_value(&Any::from(1));
    assert_eq!(refused, Err(DynAnyError::TypeMismatch));
    let number = DynAny::new(&Any::from(1)).unwrap();
    let refused = form.set_boxed_value_as_dyn_any(&number);
    assert_eq!(refused, Err(DynAnyError::TypeMismatch));
    assert!(form.is_null());
}

/// Conformance: dynamic - DynValue: the forms of other kinds: TypeMismatch
#[test]
fn a_value_has_the_form_of_its_kind_only() {
    let mut value = dyn_any("Node", "null");
    assert_eq!(value.as_struct().err(), Some(DynAnyError::TypeMismatch));
    assert_eq!(value.as_value_box().err(), Some(DynAnyError::TypeMismatch));
    let mut text = dyn_any("Text", "null");
    assert_eq!(text.as_value().err(), Some(DynAnyError::TypeMismatch));
}

/// Conformance: dynamic - DynValue: assign and from_any: TypeMismatch for another type
#[test]
fn values_are_assigned_to_their_type_only() {
    let mut to = dyn_any("Node", "null");
    to.assign(&dyn_any("Node", &node("", 1, "null"))).unwrap();
    assert_eq!(json(&to), node("", 1, "null"));
    to.from_any(&any("Node", &leaf(2, "t"))).unwrap();
    assert_eq!((json(&to), to.component_count()), (leaf(2, "t"), 5));
    let text = dyn_any("Text", r#""t""#);
    assert_eq!(to.assign(&text), Err(DynAnyError::TypeMismatch));
    let other = to.from_any(&text.to_any().unwrap());
    assert_eq!(other, Err(DynAnyError::TypeMismatch));
    assert_eq!(json(&to), leaf(2, "t"));
}

/// Conformance: dynamic - DynValue: what is shared stays shared while its members are read
#[test]
fn reading_members_keeps_what_is_shared() {
    let shared = node(r#""$id":1,"#, 1, "null");
    let two = format!(r#"{{"first":{shared},"second":{{"$ref":1}}}}"#);
    let cycle = node(r#""$id":1,"#, 1, r#"{"$ref":1}"#);
    let others = shared.replace(r#""others":[]"#, r#""others":[{"$ref":1},null,{"$ref":1}]"#);
    let more = r#"{"$type":"IDL:Node:1.0","$value":{"$ref":1}}"#;
    let any = shared.replace(r#"{"$type":"null"}"#, more);
    for (name, text) in [
        ("Two", two),
        ("Node", cycle),
        ("Node", others),
        ("Node", any),
    ] {
        let mut value = dyn_any(name, &text);
        assert_eq!(json(&value), text);
        expand(&mut value, 4);
        assert_eq!(json(&value), text);
    }
}

/// Conformance: dynamic - DynValue: a changed member makes a new value in its place only
#[test]
fn a_change_does_not_reach_other_places_of_the_value() {
    let shared = node(r#""$id":1,"#, 1, "null");
    let mut two = dyn_any(
        "Two",
        &format!(r#"{{"first":{shared},"second":{{"$ref":1}}}}"#),
    );
    at(&mut two, &[1]).insert_long(2).unwrap();
    let (first, second) = (node("", 1, "null"), node("", 2, "null"));
    let printed = format!(r#"{{"first":{first},"second":{second}}}"#);
    assert_eq!(json(&two), printed);
    // Back to what it was, it is the same value again.
    at(&mut two, &[1]).insert_long(1).unwrap();
    assert!(json(&two).ends_with(r#""second":{"$ref":1}}"#));

    let mut cycle = dyn_any("Node", &node(r#""$id":1,"#, 1, r#"{"$ref":1}"#));
    let copy = cycle.copy();
    cycle.insert_long(2).unwrap();
    let inner = node(r#""$id":1,"#, 1, r#"{"$ref":1}"#);
    assert_eq!(json(&cycle), node("", 2, &inner));
    assert_eq!(json(&copy), inner);
}

/// Conformance: dynamic - DynValue: a cycle is expanded to the depth of values in messages
#[test]
fn a_cycle_is_not_expanded_without_end() {
    let mut cycle = dyn_any("Node", &node(r#""$id":1,"#, 1, r#"{"$ref":1}"#));
    let mut inner = &mut cycle;
    for _ in 0..orbium_value::MAX_DEPTH {
        inner.seek(1);
        inner = inner.current_component().unwrap().unwrap();
    }
    assert!(inner.seek(1));
    let refused = inner.current_component().err();
    assert!(matches!(refused, Some(DynAnyError::Marshal(_))));
}

/// Conformance: dynamic - DynValue: equal compares graphs: members, types, what is shared
#[test]
fn equal_compares_graphs() {
    let shared = node(r#""$id":1,"#, 1, "null");
    let separate = node("", 1, "null");
    let cycle = node(r#""$id":1,"#, 1, r#"{"$ref":1}"#);
    let unrolled = node(r#""$id":1,"#, 1, &node("", 1, r#"{"$ref":1}"#));
    let twos = [
        format!(r#"{{"first":{shared},"second":{{"$ref":1}}}}"#),
        format!(r#"{{"first":{separate},"second":{separate}}}"#),
        format!(r#"{{"first":{cycle},"second":{{"$ref":1}}}}"#),
        format!(r#"{{"first":{unrolled},"second":{{"$ref":1}}}}"#),
        format!(r#"{{"first":{separate},"second":null}}"#),
        format!(r#"{{"first":{},"second":null}}"#, leaf(1, "t")),
        format!(r#"{{"first":{},"second":null}}"#, leaf(1, "u")),
    ];
    for (index, one) in twos.iter().enumerate() {
        for (other_index, other) in twos.iter().enumerate() {
            let mut one = dyn_any("Two", one);
            expand(&mut one, 2);
            let equal = one.equal(&dyn_any("Two", other));
            assert_eq!(equal, Ok(index == other_index), "{index}, {other_index}");
        }
    }
}

/// Conformance: dynamic - DynValue: values within unions, sequences and anys
#[test]
fn values_are_within_other_types() {
    let mut choice = DynAny::of_type(&code("Choice")).unwrap();
    choice.insert_long(1).unwrap();
    choice.seek(1);
    let member = choice.current_component().unwrap().unwrap();
    member.as_value().unwrap().set_to_value().unwrap();
    member.insert_long(4).unwrap();
    let printed = format!(r#"{{"$d":1,"n":{}}}"#, node("", 4, "null"));
    assert_eq!(json(&choice), printed);

    let mut value = dyn_any("Node", &node("", 1, "null"));
    let others = at(&mut value, &[2]);
    others.as_sequence().unwrap().set_length(1).unwrap();
    let new = others.current_component().unwrap().unwrap();
    new.assign(&dyn_any("Node", &leaf(2, "t"))).unwrap();
    value.seek(3);
    value
        .insert_dyn_any(&dyn_any("Text", r#"{"$value":"t"}"#))
        .unwrap();
    let inner = value.get_dyn_any().unwrap();
    let text = r#"{"$type":"IDL:Text:1.0","$value":"t"}"#;
    assert_eq!(json(&inner), text);
    let printed = json(&value);
    assert!(printed.contains(&leaf(2, "t")), "{printed}");
    assert!(printed.contains(text), "{printed}");
}
