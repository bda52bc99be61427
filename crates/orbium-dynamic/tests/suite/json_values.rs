// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes as JSON.

use orbium_cdr::{Any, CdrErrorKind, CdrWriter, Format, TypeCode};
use orbium_dynamic::{Definitions, JsonOptions, from_json, to_json};
use orbium_value::{Linked, ValueBase};
use proptest::prelude::*;

use crate::samples::{compiled, known_types};

const IDL: &str = "
    abstract interface Shown {};
    interface Screen {};
    valuetype Node {
        public long number;
        public Node next;
        private sequence<Node> others;
        public any more;
    };
    valuetype Leaf : truncatable Node supports Shown { public string text; };
    valuetype Other { public long number; };
    valuetype Text string;
    struct Point { long x; long y; };
    valuetype Spot Point;
    custom valuetype Own { public long x; };
    abstract valuetype Unstated {};
    struct Two { Node first; Node second; };
    struct Boxes { Text t; Spot s; };
    union Choice switch (long) { case 1: Node n; default: long number; };
    struct Shows { Shown o; Shown v; };
    struct Holder { ValueBase held; };
    valuetype Rung;
    struct Step { Rung next; };
    valuetype Boxed Step;
    valuetype Rung { public Boxed step; };
    valuetype Hollow {};
    valuetype Over { public ValueBase held; };
    valuetype Letter { public char c; public string text; };
";

fn definitions() -> Definitions {
    compiled(IDL)
}

/// Reads JSON as a type and writes it again.
fn again(name: &str, json: &str) -> String {
    let definitions = definitions();
    let options = known_types(&definitions);
    let code = definitions.type_named(name).unwrap();
    let any = from_json(&code, json, &options).unwrap_or_else(|error| panic!("{error}"));
    to_json(&any, &options).unwrap()
}

#[track_caller]
fn refused(name: &str, json: &str, error: &str) {
    let definitions = definitions();
    let options = known_types(&definitions);
    let code = definitions.type_named(name).unwrap();
    let read = from_json(&code, json, &options);
    assert_eq!(read.unwrap_err().to_string(), error);
}

const ONE: &str =
    r#"{"$type":"IDL:Node:1.0","number":1,"next":null,"others":[],"more":{"$type":"null"}}"#;

/// Conformance: dynamic - JSON: values of valuetypes
#[test]
fn a_value_is_its_type_and_its_members() {
    assert_eq!(again("Node", ONE), ONE);
    assert_eq!(again("Node", "null"), "null");
    let without_type = ONE.replace(r#""$type":"IDL:Node:1.0","#, "");
    assert_eq!(again("Node", &without_type), ONE);
    let choice = format!(r#"{{"$d":1,"n":{ONE}}}"#);
    assert_eq!(again("Choice", &choice), choice);
    let held = format!(r#"{{"held":{ONE}}}"#);
    assert_eq!(again("Holder", &held), held);
}

/// Conformance: dynamic - JSON: values of valuetypes - derived, base members first
#[test]
fn a_derived_value_names_its_type() {
    let leaf = r#"{"$type":"IDL:Leaf:1.0","number":1,"next":null,"others":[],"more":{"$type":"null"},"text":"t"}"#;
    assert_eq!(again("Node", leaf), leaf);
    let nested = ONE.replace(r#""next":null"#, &format!(r#""next":{leaf}"#));
    assert_eq!(again("Node", &nested), nested);
}

/// Conformance: dynamic - JSON: values of valuetypes - shared and cyclic
#[test]
fn shared_and_cyclic_values_are_referred_to() {
    let first = ONE.replace(r#""number""#, r#""$id":1,"number""#);
    let two = format!(r#"{{"first":{first},"second":{{"$ref":1}}}}"#);
    assert_eq!(again("Two", &two), two);
    let cycle = first.replace(r#""next":null"#, r#""next":{"$ref":1}"#);
    assert_eq!(again("Node", &cycle), cycle);
    let others = first.replace(r#""others":[]"#, r#""others":[{"$ref":1},null,{"$ref":1}]"#);
    assert_eq!(again("Node", &others), others);
    let any = r#""more":{"$type":"IDL:Node:1.0","$value":{"$ref":1}}"#;
    let any = first.replace(r#""more":{"$type":"null"}"#, any);
    assert_eq!(again("Node", &any), any);
    // Ids are numbered anew; those that nothing refers to are left out.
    let named = cycle
        .replace(r#""$id":1"#, r#""$id":"x""#)
        .replace(r#""$ref":1"#, r#""$ref":"x""#);
    assert_eq!(again("Node", &named), cycle);
    assert_eq!(again("Node", &first), ONE);
}

/// Conformance: dynamic - JSON: values of valuetypes - boxed
#[test]
fn a_boxed_value_is_its_content() {
    let text = r#"{"$type":"IDL:Text:1.0","$value":"t"}"#;
    let spot = r#"{"$type":"IDL:Spot:1.0","$value":{"x":1,"y":2}}"#;
    let boxes = format!(r#"{{"t":{text},"s":{spot}}}"#);
    assert_eq!(again("Boxes", &boxes), boxes);
    assert_eq!(again("Boxes", r#"{"t":"t","s":{"x":1,"y":2}}"#), boxes);
    assert_eq!(
        again("Boxes", r#"{"t":null,"s":null}"#),
        r#"{"t":null,"s":null}"#
    );
    assert_eq!(again("Text", r#"{"$value":"t"}"#), text);
}

/// Conformance: dynamic - JSON: values of valuetypes - abstract interfaces
#[test]
fn an_abstract_interface_is_a_reference_or_a_value() {
    let definitions = definitions();
    let options = known_types(&definitions);
    let leaf = r#"{"$type":"IDL:Leaf:1.0","number":1,"next":null,"others":[],"more":{"$type":"null"},"text":"t"}"#;
    let code = definitions.type_named("Shows").unwrap();
    let json = format!(r#"{{"o":"corbaloc::localhost:5000/Screen","v":{leaf}}}"#);
    let any = from_json(&code, &json, &options).unwrap();
    let printed = to_json(&any, &options).unwrap();
    assert!(printed.starts_with(r#"{"o":"IOR:"#), "{printed}");
    assert!(printed.ends_with(&format!(r#","v":{leaf}}}"#)), "{printed}");
}

#[test]
fn wrong_values_are_refused_with_their_path() {
    refused(
        "Two",
        &format!(r#"{{"first":{ONE},"second":{{"$type":"IDL:Node:1.0","number":"x"}}}}"#),
        "$.second.number: expected long, found \"x\"",
    );
    refused("Node", "7", "$: expected valuetype Node, found 7");
    refused("Node", r#"{"number":1}"#, "$: the member `next` is missing");
    refused(
        "Node",
        &ONE.replace("number", "count"),
        "$: valuetype Node has no member `count`",
    );
    refused(
        "Node",
        r#"{"$ref":1}"#,
        "$: no value before this one has the `$id` 1",
    );
    refused("Node", r#"{"$ref":1,"x":2}"#, "$: a `$ref` has no members");
    refused(
        "Node",
        r#"{"$id":{},"number":1}"#,
        "$: expected a number or a string as `$id`, found {}",
    );
    let twice = ONE.replace(r#""number""#, r#""$id":1,"number""#);
    let twice = twice.replace(r#""next":null"#, &format!(r#""next":{twice}"#));
    refused("Node", &twice, "$.next: two values have the `$id` 1");
    refused(
        "Node",
        r#"{"$type":"IDL:None:1.0"}"#,
        "$.$type: `IDL:None:1.0` is not the repository id of a known type",
    );
    refused(
        "Node",
        r#"{"$type":"IDL:Other:1.0","number":1}"#,
        "$: IDL:Other:1.0 does not inherit IDL:Node:1.0",
    );
    refused(
        "Node",
        r#"{"$type":"IDL:Point:1.0","x":1,"y":1}"#,
        "$: the type IDL:Point:1.0 has no values of its own: `$type` names one that inherits it",
    );
    refused(
        "Unstated",
        "{}",
        "$: the type IDL:Unstated:1.0 has no values of its own: `$type` names one that inherits it",
    );
    refused(
        "Own",
        r#"{"x":1}"#,
        "$: the state of the custom value type IDL:Own:1.0 cannot be interpreted",
    );
    refused(
        "Text",
        r#"{"$type":"IDL:Text:1.0"}"#,
        "$: a boxed value has a `$value`",
    );
    refused(
        "Text",
        r#"{"$value":"t","x":1}"#,
        "$: a boxed value has no member `x`",
    );
    refused(
        "Text",
        r#"{"$value":7}"#,
        "$.$value: expected string, found 7",
    );
}

/// Conformance: dynamic - JSON: values of valuetypes - limits
#[test]
fn the_depth_of_values_is_bounded() {
    let nested = |levels: usize| {
        (0..levels).fold("null".to_owned(), |next, _| {
            ONE.replace(r#""next":null"#, &format!(r#""next":{next}"#))
        })
    };
    let deep = nested(127);
    assert_eq!(again("Node", &deep), deep);
    let definitions = definitions();
    let code = definitions.type_named("Node").unwrap();
    let error = from_json(&code, &nested(140), &JsonOptions::default()).unwrap_err();
    assert_eq!(error.reason(), "values are nested too deeply");
}

/// What is nested too deeply to be written is not read: a box and a struct in each value, and a
/// value without members at the limit.
///
/// Conformance: dynamic - JSON: values of valuetypes - limits
#[test]
fn values_are_read_as_deep_as_they_are_written() {
    let definitions = definitions();
    let options = known_types(&definitions);
    let rungs = |levels: usize| {
        (0..levels).fold("null".to_owned(), |next, _| {
            format!(r#"{{"step":{{"next":{next}}}}}"#)
        })
    };
    let over = |levels: usize| {
        let hollow = r#"{"$type":"IDL:Hollow:1.0"}"#.to_owned();
        (0..levels).fold(hollow, |held, _| {
            format!(r#"{{"$type":"IDL:Over:1.0","held":{held}}}"#)
        })
    };
    let is_read = |name: &str, json: &str| {
        let code = definitions.type_named(name).unwrap();
        let any = from_json(&code, json, &options);
        any.is_ok_and(|any| {
            to_json(&any, &options).unwrap();
            true
        })
    };
    let rungs: Vec<_> = (1..64).map(|it| is_read("Rung", &rungs(it))).collect();
    assert_eq!(rungs.iter().filter(|is_read| **is_read).count(), 42);
    let over: Vec<_> = (120..130).map(|it| is_read("Over", &over(it))).collect();
    assert_eq!(over.iter().filter(|is_read| **is_read).count(), 8);
}

/// Conformance: dynamic - JSON: values of valuetypes
#[test]
fn a_value_may_have_a_char_beyond_ascii() {
    let letter = r#"{"$type":"IDL:Letter:1.0","c":"é","text":"€"}"#;
    assert_eq!(again("Letter", letter), letter);
}

#[test]
fn a_value_in_an_any_has_its_type_in_full() {
    let definitions = definitions();
    let known = known_types(&definitions);
    for (name, value) in [
        ("Node", ONE),
        ("Text", r#""t""#),
        ("Leaf", "null"),
        ("Shown", "null"),
    ] {
        let code = definitions.type_named(name).unwrap();
        let json = format!(r#"{{"$type":"{}","$value":{value}}}"#, code.id());
        let any_type = TypeCode::from(orbium_cdr::Type::ANY);
        let any = from_json(&any_type, &json, &known).unwrap();
        let full = to_json(&any, &JsonOptions::default()).unwrap();
        let read = from_json(&any_type, &full, &JsonOptions::default()).unwrap();
        assert_eq!(read.value_octets(), any.value_octets(), "{full}");
    }
}

/// A graph out of random bytes: as many nodes as there are bytes in fours, each of which refers
/// to others by their numbers.
fn graph(definitions: &Definitions, entropy: &[[u8; 4]]) -> (Any, Vec<ValueBase>) {
    let named = |name: &str| definitions.type_named(name).unwrap();
    let types = [named("Node"), named("Leaf")];
    let values: Vec<_> = entropy
        .iter()
        .map(|bytes| ValueBase::described(types[usize::from(bytes[0] & 1)].as_ref()).unwrap())
        .collect();
    // The last number is null.
    let choose = |byte: u8| values.get(usize::from(byte) % (values.len() + 1)).cloned();
    for (value, bytes) in values.iter().zip(entropy) {
        let mut writer = CdrWriter::new(Format::native());
        writer.write_u32(u32::from(bytes[0]));
        writer.write_u32(0);
        let others = u32::from(bytes[1] % 3);
        writer.write_u32(others);
        (0..others).for_each(|other| writer.write_u32(1 + other));
        TypeCode::default().as_ref().write(&mut writer);
        if bytes[0] & 1 == 1 {
            writer.write_name("text");
        }
        let numbered = vec![
            choose(bytes[2]),
            choose(bytes[3]),
            choose(bytes[2] ^ bytes[3]),
        ];
        let code = value.state_type().unwrap();
        let state = Linked::of_parts(code, &mut writer.finish().unwrap(), numbered).unwrap();
        value.set_state(state).unwrap();
    }
    let two = named("Two");
    let mut octets = [0u32, 1].map(u32::to_ne_bytes).concat();
    let numbered = vec![values.first().cloned(), values.last().cloned()];
    let data = Linked::of_parts(two, &mut octets, numbered).unwrap();
    (data.to_any().unwrap(), values)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Conformance: dynamic - JSON: values of valuetypes - any graph that is written reads back bit for bit
    #[test]
    fn graphs_survive(entropy in prop::collection::vec(any::<[u8; 4]>(), 0..20)) {
        let definitions = definitions();
        let options = JsonOptions { types: Some(&definitions), ..JsonOptions::default() };
        let (any, values) = graph(&definitions, &entropy);
        let json = to_json(&any, &options).unwrap();
        let read = from_json(any.type_code(), &json, &options);
        let read = read.unwrap_or_else(|error| panic!("{error} in {json}"));
        assert_eq!(read.value_octets(), any.value_octets(), "{json}");
        assert_eq!(to_json(&read, &options).unwrap(), json);
        values.iter().for_each(ValueBase::clear_state);
    }
}

#[test]
fn a_value_without_a_state_is_not_written() {
    let definitions = definitions();
    let code = definitions.type_named("Node").unwrap();
    let value = ValueBase::described(code.as_ref()).unwrap();
    let mut number = 0u32.to_ne_bytes();
    let data = Linked::of_parts(code, &mut number, vec![Some(value)]).unwrap();
    assert_eq!(data.to_any().unwrap_err().kind, CdrErrorKind::BadValue);
}
