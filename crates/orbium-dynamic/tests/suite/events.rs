// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event types of IDL 3, known by their definitions alone.

use orbium_cdr::{
    Any, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format, TCKind, TypeCode,
};
use orbium_dynamic::{Definitions, DynAny, from_json, to_json};

use crate::idl_text::survives;
use crate::samples::{compiled, known_types};

const IDL: &str = "module Events {
    abstract eventtype Observed { string summary(); };
    eventtype Reading : Observed { public double level; public Reading before; };
    eventtype Alarm : truncatable Reading { private string text; };
    custom eventtype Sealed { public string seal; };
    struct Batch { sequence<Reading> readings; };
    interface Sink { Reading push(in Reading event, in Observed seen, in Batch all, in Sealed s); };
};";

fn definitions() -> Definitions {
    compiled(IDL)
}

fn read(json: &str) -> Any {
    let definitions = definitions();
    let code = definitions.type_named("Events::Batch").unwrap();
    from_json(&code, json, &known_types(&definitions)).unwrap()
}

const BATCH: &str = concat!(
    r#"{"readings":[{"$type":"IDL:Events/Reading:1.0","$id":1,"level":1.5,"before":{"$ref":1}},"#,
    r#"{"$type":"IDL:Events/Alarm:1.0","level":9.0,"before":{"$ref":1},"text":"high"},null]}"#
);

/// Conformance: dynamic - JSON: event types, as values of valuetypes
#[test]
fn events_are_json_as_values_are() {
    let any = read(BATCH);
    let sequence = any.type_code().member(0).unwrap().type_code().unwrap();
    let reading = sequence.content_type().unwrap();
    assert_eq!(reading.kind(), TCKind::Event);
    let definitions = definitions();
    assert_eq!(to_json(&any, &known_types(&definitions)).unwrap(), BATCH);
    // An any says that its type is an event type, and is read again by what it says.
    let alone = from_json(
        &definitions.type_named("Events::Alarm").unwrap(),
        r#"{"$type":"IDL:Events/Alarm:1.0","level":9.0,"before":null,"text":"high"}"#,
        &known_types(&definitions),
    );
    let json = to_json(
        &Any::new(&alone.unwrap()).unwrap(),
        &known_types(&definitions),
    )
    .unwrap();
    let any = from_json(
        &TypeCode::from(orbium_cdr::Type::ANY),
        &json,
        &known_types(&definitions),
    );
    let inner: Any = any.unwrap().extract().unwrap();
    assert_eq!(inner.type_code().kind(), TCKind::Event);
}

/// Conformance: dynamic - DynValue: events are values
#[test]
fn events_are_dyn_anys_with_members() {
    let mut batch = DynAny::new(&read(BATCH)).unwrap();
    let readings = batch.current_component().unwrap().unwrap();
    assert!(readings.seek(1));
    let alarm = readings.current_component().unwrap().unwrap();
    assert_eq!(alarm.type_code().kind(), TCKind::Event);
    let members = alarm.as_value().unwrap().members().unwrap();
    let names: Vec<_> = members.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["level", "before", "text"]);
}

#[test]
fn an_interface_with_events_is_described_as_idl() {
    let text = survives(&definitions(), "Events::Sink");
    for part in [
        "abstract eventtype Observed",
        "eventtype Reading : ::Events::Observed",
        "custom eventtype Sealed",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

fn encoded(code: &TypeCode) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::native());
    code.encode(&mut writer);
    writer.finish().unwrap()
}

fn decoded(octets: &[u8]) -> Result<TypeCode, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::new(&mut octets, Format::native());
    TypeCode::decode(&mut reader).map_err(|error| error.kind)
}

/// Conformance: TypeCode - hostile TypeCodes - of event types
#[test]
fn hostile_type_codes_of_event_types_are_refused_as_those_of_value_types() {
    let code = definitions().type_named("Events::Alarm").unwrap();
    let octets = encoded(&code);
    assert!(decoded(&octets).unwrap().equal(&code));
    for end in 0..octets.len() {
        assert!(decoded(&octets[..end]).is_err(), "{end}");
    }
    let value = (TCKind::Value as u32).to_ne_bytes();
    for at in 4..octets.len() {
        for octet in [0, 1, 0x7f, 0x80, 0xff] {
            let mut event = octets.clone();
            event[at] = octet;
            let mut other = event.clone();
            other[..4].copy_from_slice(&value);
            let (event, other) = (decoded(&event), decoded(&other));
            assert_eq!(event.err(), other.err(), "{at}");
        }
    }
}
