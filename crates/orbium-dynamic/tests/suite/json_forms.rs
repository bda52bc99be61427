// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON form of each type, and the other forms accepted when reading.

use orbium_cdr::{Any, Type, TypeCode};
use orbium_dynamic::{JsonOptions, from_json, to_json};

use crate::samples::definitions;

/// Reads `given` as the type, and compares what is written.
#[track_caller]
fn becomes(code: impl Into<TypeCode>, given: &str, written: &str) {
    let definitions = definitions();
    let options = JsonOptions {
        types: Some(&definitions),
        guess_types: true,
        ..JsonOptions::default()
    };
    let any = from_json(&code.into(), given, &options).unwrap();
    assert_eq!(to_json(&any, &options).unwrap(), written);
}

fn named(name: &str) -> TypeCode {
    definitions().type_named(&format!("All::{name}")).unwrap()
}

#[test]
fn whole_numbers_may_be_strings_and_hexadecimal() {
    becomes(Type::LONG, "-7", "-7");
    becomes(Type::LONG, "\"-7\"", "-7");
    becomes(Type::ULONG, "\"0xFF\"", "255");
    becomes(Type::OCTET, "255", "255");
    becomes(Type::LONGLONG, "9007199254740993", "\"9007199254740993\"");
    becomes(
        Type::ULONGLONG,
        "\"18446744073709551615\"",
        "\"18446744073709551615\"",
    );
}

#[test]
fn floats_are_the_shortest_text_that_reads_back() {
    becomes(Type::DOUBLE, "0.1", "0.1");
    becomes(Type::FLOAT, "0.1", "0.1");
    becomes(Type::DOUBLE, "1e300", "1e300");
    becomes(Type::DOUBLE, "-0.0", "-0.0");
    becomes(Type::DOUBLE, "\"NaN\"", "\"NaN\"");
    becomes(Type::FLOAT, "\"-Infinity\"", "\"-Infinity\"");
    becomes(
        Type::FLOAT,
        r#"{"$bits":"0x7fc00001"}"#,
        r#"{"$bits":"0x7fc00001"}"#,
    );
    // Through a double it would round twice, to another float.
    becomes(Type::FLOAT, "7.038531e-26", "7.038531e-26");
}

#[test]
fn long_doubles_keep_all_their_digits() {
    becomes(Type::LONGDOUBLE, "1.5", "\"1.5\"");
    becomes(
        Type::LONGDOUBLE,
        "\"3.14159265358979323846264338327950288\"",
        "\"3.1415926535897932384626433832795028\"",
    );
    becomes(Type::LONGDOUBLE, "\"Infinity\"", "\"Infinity\"");
    let bits = format!("{{\"$bits\":\"0x7fff{}1\"}}", "0".repeat(27));
    becomes(Type::LONGDOUBLE, &bits, &bits);
}

#[test]
fn decimals_are_strings_with_the_digits_of_their_scale() {
    becomes(named("Money"), "1.5", "\"1.50\"");
    becomes(named("Money"), "\"-0.05\"", "\"-0.05\"");
    becomes(named("Money"), "-0", "\"0.00\"");
}

#[test]
fn characters_are_strings_of_one() {
    becomes(Type::CHAR, "\"é\"", "\"é\"");
    becomes(Type::CHAR, r#"{"$octet":233}"#, "\"é\"");
    becomes(Type::WCHAR, "\"€\"", "\"€\"");
    becomes(
        Type::WCHAR,
        r#"{"$utf16":[55296]}"#,
        r#"{"$utf16":[55296]}"#,
    );
    becomes(Type::WSTRING, r#"{"$utf16":[55348,56606]}"#, "\"𝄞\"");
    becomes(Type::STRING, r#"{"$base64":"aGk="}"#, "\"hi\"");
}

#[test]
fn enumerators_are_names() {
    becomes(named("Colour"), "\"green\"", "\"green\"");
    becomes(named("Colour"), "\"All::green\"", "\"green\"");
    becomes(named("Colour"), "2", "\"blue\"");
}

#[test]
fn octets_are_base64() {
    becomes(named("Bytes"), "\"AQL/\"", "\"AQL/\"");
    becomes(named("Bytes"), "\"AQL_\"", "\"AQL/\"");
    becomes(named("Bytes"), r#"{"$hex":"0102fF"}"#, "\"AQL/\"");
    becomes(named("Bytes"), r#"{"$utf8":"hi"}"#, "\"aGk=\"");
    becomes(named("Bytes"), "[1, 2, 255]", "\"AQL/\"");
    becomes(named("Bytes"), "[]", "\"\"");
    becomes(named("Letters"), "\"abc\"", r#"["a","b","c"]"#);
}

#[test]
fn unions_have_their_discriminator_as_d() {
    let by_colour = || named("ByColour");
    becomes(by_colour(), r#"{"l":4}"#, r#"{"$d":"red","l":4}"#);
    becomes(
        by_colour(),
        r#"{"text":"t","$d":"blue"}"#,
        r#"{"$d":"blue","text":"t"}"#,
    );
    becomes(named("ByBool"), r#"{"$d":false}"#, r#"{"$d":false}"#);
    // The least value that no label uses.
    becomes(named("ByChar"), r#"{"d":1}"#, r#"{"$d":"\u0000","d":1.0}"#);
    becomes(named("ByWide"), r#"{"s":"x"}"#, r#"{"$d":"0","s":"x"}"#);
    becomes(
        named("ByWide"),
        r#"{"b":"AQ=="}"#,
        r#"{"$d":"18446744073709551615","b":"AQ=="}"#,
    );
}

#[test]
fn anys_have_their_type() {
    becomes(Type::ANY, r#"{"$type":"null"}"#, r#"{"$type":"null"}"#);
    becomes(
        Type::ANY,
        r#"{"$value":[1],"$type":"sequence< unsigned  long , 3 >"}"#,
        r#"{"$type":"sequence<unsigned long,3>","$value":[1]}"#,
    );
    becomes(
        Type::ANY,
        r#"{"$type":"IDL:test/All/Node:1.0","$value":{"name":"n","children":[]}}"#,
        r#"{"$type":"IDL:test/All/Node:1.0","$value":{"name":"n","children":[]}}"#,
    );
    becomes(Type::ANY, "true", r#"{"$type":"boolean","$value":true}"#);
    becomes(Type::ANY, "7", r#"{"$type":"long long","$value":"7"}"#);
    becomes(Type::ANY, "7.5", r#"{"$type":"double","$value":7.5}"#);
    becomes(Type::ANY, "\"t\"", r#"{"$type":"string","$value":"t"}"#);
}

#[test]
fn a_type_that_is_not_known_is_written_in_full() {
    let node = named("Node");
    let any = Any::new(&node).unwrap();
    let json = to_json(&any, &JsonOptions::default()).unwrap();
    assert_eq!(
        json,
        r#"{"kind":"struct","id":"IDL:test/All/Node:1.0","name":"Node","members":["#.to_owned()
            + r#"{"name":"name","type":"string"},{"name":"children","type":"#
            + r#"{"kind":"alias","id":"IDL:test/All/Nodes:1.0","name":"Nodes","type":"#
            + r#"{"kind":"sequence","type":{"$rec":"IDL:test/All/Node:1.0"},"bound":0}}}]}"#
    );
    let read = from_json(any.type_code(), &json, &JsonOptions::default()).unwrap();
    assert_eq!(read.extract::<TypeCode>().unwrap(), node);
}

#[test]
fn references_are_text_and_nil_is_null() {
    becomes(Type::OBJECT, "null", "null");
    let any = from_json(
        &Type::OBJECT.into(),
        "\"corbaloc::localhost:5000/Key\"",
        &JsonOptions::default(),
    );
    let json = to_json(&any.unwrap(), &JsonOptions::default()).unwrap();
    assert!(json.starts_with("\"IOR:"), "{json}");
    becomes(Type::OBJECT, &json, &json);
}

#[test]
fn members_come_in_any_order_or_in_an_array() {
    let node = || named("Node");
    becomes(
        node(),
        r#"{"children":[],"name":"n"}"#,
        r#"{"name":"n","children":[]}"#,
    );
    becomes(node(), r#"["n",[]]"#, r#"{"name":"n","children":[]}"#);
}

#[test]
fn indented_json_has_short_elements_side_by_side() {
    let options = JsonOptions {
        indent: Some(2),
        ..JsonOptions::default()
    };
    let any = from_json(&named("Matrix"), "[[1,2,3],[4,5,6]]", &options).unwrap();
    let json = to_json(&any, &options).unwrap();
    assert_eq!(json, "[\n  [1, 2, 3],\n  [4, 5, 6]\n]");
    let any = from_json(&named("Node"), r#"["n",[]]"#, &options).unwrap();
    let json = to_json(&any, &options).unwrap();
    assert_eq!(json, "{\n  \"name\": \"n\",\n  \"children\": []\n}");
}
