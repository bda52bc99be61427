// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrong JSON is refused, with the path of the member.

use orbium_cdr::{Type, TypeCode};
use orbium_dynamic::{JsonOptions, from_json};

use crate::samples::definitions;

#[track_caller]
fn refused(code: impl Into<TypeCode>, json: &str, error: &str) {
    let read = from_json(&code.into(), json, &JsonOptions::default());
    assert_eq!(read.unwrap_err().to_string(), error);
}

fn named(name: &str) -> TypeCode {
    definitions().type_named(&format!("All::{name}")).unwrap()
}

#[test]
fn the_path_leads_to_the_member() {
    let json = r#"{"name":"a","children":[{"name":"b","children":[]},{"name":"c","children":[{"name":7,"children":[]}]}]}"#;
    refused(
        named("Node"),
        json,
        "$.children[1].children[0].name: expected string, found 7",
    );
    refused(
        named("Matrix"),
        "[[1,2,3],[4,5,\"x\"]]",
        "$[1][2]: expected long, found \"x\"",
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    refused(
        Type::OCTET,
        "256",
        "$: 256 is out of range for octet: 0 to 255",
    );
    refused(Type::LONG, "1.5", "$: expected long, found 1.5");
    refused(Type::LONG, "1e3", "$: expected long, found 1e3");
    refused(Type::DOUBLE, "1e999", "$: expected double, found 1e999");
    refused(Type::FLOAT, "1e39", "$: expected float, found 1e39");
    refused(Type::DOUBLE, "\"inf\"", "$: expected double, found \"inf\"");
    refused(
        Type::LONGDOUBLE,
        "1e5000",
        "$: expected long double, found 1e5000",
    );
    refused(
        Type::FLOAT,
        r#"{"$bits":"0x7fc0"}"#,
        "$: expected 0x and 8 hexadecimal digits, found 0x7fc0",
    );
}

#[test]
fn decimals_are_never_rounded() {
    refused(
        named("Money"),
        "1.505",
        "$: 1.505 has 3 digits behind the point, fixed<5,2> has 2",
    );
    refused(
        named("Money"),
        "\"1000\"",
        "$: 1000 has more digits than fixed<5,2>",
    );
    refused(
        named("Money"),
        "\"1,5\"",
        "$: expected fixed<5,2>, found 1,5",
    );
}

#[test]
fn bounds_and_lengths_are_checked() {
    refused(
        named("Brief"),
        "\"12345\"",
        "$: 5 characters, but the bound is 4",
    );
    refused(
        named("Wide"),
        "\"𝄞𝄞\"",
        "$: 4 code units, but the bound is 3",
    );
    refused(
        named("Matrix"),
        "[[1,2,3]]",
        "$: 1 elements, where 2 are expected",
    );
    refused(
        named("Uuid"),
        "\"AQI=\"",
        "$: 2 elements, where 4 are expected",
    );
    refused(
        named("Letters"),
        "\"abcdef\"",
        "$: 6 elements, but the bound is 5",
    );
}

#[test]
fn strings_cannot_contain_nul() {
    refused(
        Type::STRING,
        r#""a\u0000b""#,
        "$: a string cannot contain U+0000",
    );
    refused(
        Type::WSTRING,
        r#""\u0000""#,
        "$: a string cannot contain U+0000",
    );
    refused(
        Type::WSTRING,
        r#"{"$utf16":[55296]}"#,
        "$: the code units are not UTF-16",
    );
}

#[test]
fn members_are_those_of_the_type_each_once() {
    let node = || named("Node");
    refused(
        node(),
        r#"{"name":"a"}"#,
        "$: the member `children` is missing",
    );
    refused(
        node(),
        r#"{"name":"a","children":[],"colour":1}"#,
        "$: struct Node has no member `colour`",
    );
    refused(
        node(),
        r#"{"name":"a","children":[],"name":"b"}"#,
        "$: `name` is there twice",
    );
    refused(node(), r#"["a"]"#, "$: 1 values, but Node has 2 members");
    refused(node(), "null", "$: expected struct Node, found null");
}

#[test]
fn many_members_are_compared_in_a_table() {
    let members: Vec<_> = (0..40).map(|it| format!("\"m{it}\":1")).collect();
    let json = format!("{{{},\"m3\":2}}", members.join(","));
    refused(named("Node"), &json, "$: `m3` is there twice");
}

#[test]
fn a_union_has_the_member_that_its_discriminator_selects() {
    let by_colour = || named("ByColour");
    refused(
        by_colour(),
        r#"{"text":"t"}"#,
        "$: `text` has several labels: say which as `$d`",
    );
    refused(
        by_colour(),
        r#"{"$d":"red","text":"t"}"#,
        "$: `$d` selects the member `l`, but `text` is there",
    );
    refused(
        by_colour(),
        r#"{"$d":"red"}"#,
        "$: `$d` selects the member `l`, which is missing",
    );
    refused(
        by_colour(),
        r#"{"l":1,"text":"t"}"#,
        "$: union ByColour has one member at a time",
    );
    refused(
        named("ByBool"),
        r#"{"$d":false,"n":null}"#,
        "$: `$d` selects no member, but `n` is there",
    );
    refused(
        by_colour(),
        "{}",
        "$: union ByColour has a `$d` or a member",
    );
    refused(
        by_colour(),
        r#"{"$d":"pink"}"#,
        "$.$d: expected an enumerator of Colour, found \"pink\"",
    );
}

#[test]
fn anys_need_a_type_that_is_known() {
    refused(
        Type::ANY,
        "7",
        "$: expected any, an object with $type and $value, found 7",
    );
    refused(Type::ANY, r#"{"$value":7}"#, "$: an any has a `$type`");
    refused(
        Type::ANY,
        r#"{"$type":"IDL:None:1.0","$value":7}"#,
        "$.$type: `IDL:None:1.0` is no type of IDL, nor the repository id of a known one",
    );
    refused(
        Type::ANY,
        r#"{"$type":"short","$value":70000}"#,
        "$.$value: 70000 is out of range for short: -32768 to 32767",
    );
    refused(
        Type::ANY,
        r#"{"$type":"short"}"#,
        "$.$value: expected short, found null",
    );
    refused(
        Type::ANY,
        r#"{"$type":{"kind":"sequence","type":{"$rec":"IDL:X:1.0"}},"$value":[]}"#,
        "$.$value: the type is incomplete",
    );
}

#[test]
fn references_are_object_urls() {
    refused(
        Type::OBJECT,
        "\"corbaname::localhost#x\"",
        "$: a corbaname: has to be resolved by a naming service first",
    );
    let read = from_json(
        &Type::OBJECT.into(),
        "\"http://x\"",
        &JsonOptions::default(),
    );
    let error = read.unwrap_err().to_string();
    assert!(error.starts_with("$: bad object reference: "), "{error}");
}

#[test]
fn text_that_is_no_json_is_refused() {
    for json in ["", "{", "[1,]", "01", "nul", "\"\\ud800\"", "1 2"] {
        let read = from_json(&named("Node"), json, &JsonOptions::default());
        assert_eq!(read.unwrap_err().path(), "$", "{json}");
    }
}

/// Conformance: dynamic - JSON: nesting is bounded
#[test]
fn nesting_is_bounded() {
    let mut json = r#"{"name":"x","children":[]}"#.to_owned();
    for _ in 0..100 {
        json = format!(r#"{{"name":"x","children":[{json}]}}"#);
    }
    let error = from_json(&named("Node"), &json, &JsonOptions::default()).unwrap_err();
    assert_eq!(error.reason(), "values are nested too deeply");
    let deep = "[".repeat(100_000);
    assert!(from_json(&Type::ANY.into(), &deep, &JsonOptions::default()).is_err());
    let types = format!(
        "{{\"$type\":{}\"long\"{},\"$value\":1}}",
        "{\"kind\":\"sequence\",\"type\":".repeat(500),
        "}".repeat(500)
    );
    assert!(from_json(&Type::ANY.into(), &types, &JsonOptions::default()).is_err());
}
