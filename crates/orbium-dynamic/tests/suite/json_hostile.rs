// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of a peer that would become far more JSON than they have octets, and JSON that would take
//! far more time.

use std::sync::mpsc;
use std::thread;

use orbium_cdr::{Any, CdrErrorKind, CdrReader, Decode, Format, Type, TypeCode};
use orbium_dynamic::{JsonOptions, from_json, to_json};

use crate::waiting::PATIENCE;

fn json(any: &Any) -> Result<String, CdrErrorKind> {
    to_json(any, &JsonOptions::default()).map_err(|error| error.kind)
}

/// An any of so many structs, each of one octet with that name.
fn structs(name: &str, count: usize) -> Any {
    let member = [(name, Type::OCTET.into())];
    let code = TypeCode::sequence(TypeCode::structure("IDL:S:1.0", "S", member), 0);
    Any::with_type(code, &vec![7u8; count]).unwrap()
}

/// A sequence repeats the names of its elements' members and its enumerators: a message of two
/// megabytes became a terabyte of JSON.
#[test]
fn long_names_are_not_repeated_without_end() {
    assert_eq!(json(&structs("x", 2)).unwrap(), r#"[{"x":7},{"x":7}]"#);
    // The longest of IDL, say, in many elements.
    assert!(json(&structs(&"x".repeat(250), 100_000)).is_ok());
    let name = "x".repeat(100_000);
    let refused = json(&structs(&name, 500)).err();
    assert_eq!(refused, Some(CdrErrorKind::NoMemory));

    let code = TypeCode::sequence(TypeCode::enumeration("IDL:E:1.0", "E", [&*name]), 0);
    let enums = Any::with_type(code, &vec![0u32; 500]).unwrap();
    assert_eq!(json(&enums).err(), Some(CdrErrorKind::NoMemory));
}

/// A struct of `count` members of one type, which is described once and has an id of `length` octets.
fn repeating(count: u32, length: usize) -> TypeCode {
    const STRUCT: u32 = 15;
    let mut octets = Vec::new();
    let long = |octets: &mut Vec<u8>, value: u32| {
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets.extend(value.to_ne_bytes());
    };
    let begin = |octets: &mut Vec<u8>, id: usize| {
        long(octets, STRUCT);
        long(octets, 0);
        let start = octets.len();
        octets.push(u8::from(cfg!(target_endian = "little")));
        long(octets, id as u32 + 1);
        octets.resize(octets.len() + id, b'x');
        octets.push(0);
        long(octets, 1);
        octets.push(0);
        start
    };
    let end = |octets: &mut Vec<u8>, start: usize| {
        let length = (octets.len() - start) as u32;
        octets[start - 4..start].copy_from_slice(&length.to_ne_bytes());
    };
    let outer = begin(&mut octets, 1);
    long(&mut octets, count);
    long(&mut octets, 1);
    octets.push(0);
    let inner = begin(&mut octets, length);
    long(&mut octets, 0);
    end(&mut octets, inner);
    for _ in 1..count {
        long(&mut octets, 1);
        octets.push(0);
        long(&mut octets, u32::MAX);
        let back = (inner as u32 - 8).wrapping_sub(octets.len() as u32);
        long(&mut octets, back);
    }
    end(&mut octets, outer);
    TypeCode::decode(&mut CdrReader::new(&mut octets, Format::native())).unwrap()
}

/// The JSON of a type describes each part where it stands.
#[test]
fn long_ids_in_types_are_not_repeated_without_end() {
    let few = Any::new(&repeating(10, 1_000)).unwrap();
    assert!(json(&few).unwrap().len() > 10_000);
    let many = Any::new(&repeating(2_000, 100_000)).unwrap();
    assert_eq!(json(&many).err(), Some(CdrErrorKind::TooDeep));
}

/// Each member was searched from the first key on: minutes for a hundred thousand members that are
/// not in order.
#[test]
fn many_members_out_of_order_are_read_in_time() {
    let names: Vec<_> = (0..100_000).map(|index| format!("m{index}")).collect();
    let members = names.iter().map(|name| (&**name, Type::LONG.into()));
    let code = TypeCode::structure("IDL:S:1.0", "S", members);
    let (send, read) = mpsc::channel();
    thread::spawn(move || {
        let reversed: Vec<_> = (0..names.len())
            .rev()
            .map(|index| format!("\"{}\":{index}", names[index]))
            .collect();
        let json = format!("{{{}}}", reversed.join(","));
        let any = from_json(&code, &json, &JsonOptions::default()).unwrap();
        send.send(any.value_octets().to_vec())
    });
    let expected: Vec<_> = (0..100_000i32).flat_map(i32::to_ne_bytes).collect();
    assert!(read.recv_timeout(PATIENCE).unwrap() == expected);
}

/// Regression: for each element all members or enumerators of its type were searched.
#[test]
fn elements_with_many_members_or_enumerators_are_read_in_time() {
    const COUNT: usize = 60_000;
    let names: Vec<_> = (0..COUNT).map(|index| format!("m{index}")).collect();
    let members = names.iter().zip(0i64..).map(|(name, label)| {
        let label = Some(label).filter(|it| *it > 0);
        (label, &**name, Type::OCTET.into())
    });
    let union = TypeCode::union("IDL:U:1.0", "U", Type::LONG.into(), members).unwrap();
    let last = &names[COUNT - 1];
    let elements = [
        (union.clone(), r#"{"m0":7}"#.to_owned()),
        (union, format!("{{\"{last}\":7}}")),
        (
            TypeCode::enumeration("IDL:E:1.0", "E", names.iter().map(|it| &**it)),
            format!("\"{last}\""),
        ),
    ];
    let (send, read) = mpsc::channel();
    thread::spawn(move || {
        for (code, element) in elements {
            let json = format!("[{}]", vec![&*element; COUNT].join(","));
            let code = TypeCode::sequence(code, 0);
            let any = from_json(&code, &json, &JsonOptions::default()).unwrap();
            send.send(any.value_octets().len()).unwrap();
        }
    });
    for octets in [8, 8, 4] {
        // Behind the last element of a union there is no padding.
        let expected = 4 + octets * COUNT - if octets == 8 { 3 } else { 0 };
        assert_eq!(read.recv_timeout(PATIENCE), Ok(expected));
    }
}
