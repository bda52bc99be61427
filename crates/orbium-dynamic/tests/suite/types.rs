// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes and signatures out of IDL.

use orbium_cdr::TCKind;
use orbium_dynamic::{Definitions, Direction, TypeError};
use orbium_idl::{Options, compile_source};

use crate::samples::definitions;

#[test]
fn signatures_have_types_and_directions() {
    let definitions = definitions();
    let thing = definitions.interface("All::Thing").unwrap();
    assert_eq!(definitions.interface("IDL:test/All/Thing:1.0"), Some(thing));
    let turn = definitions.signature(thing, "turn", false).unwrap();
    let shown = turn.parameters.iter().map(|it| {
        let kind = it.code.unaliased().kind();
        (it.name.as_str(), it.direction, kind)
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ("v", Direction::In, TCKind::Struct),
            ("count", Direction::InOut, TCKind::Long),
            ("name", Direction::Out, TCKind::String),
        ]
    );
    assert_eq!(turn.returns.name(), "Node");
    let raised: Vec<_> = turn
        .exceptions
        .iter()
        .map(|it| it.id().to_owned())
        .collect();
    assert_eq!(
        raised,
        ["IDL:test/All/Refused:1.0", "IDL:test/All/Empty:1.0"]
    );
    assert!(definitions.signature(thing, "note", false).unwrap().oneway);
}

#[test]
fn attributes_are_read_and_written_by_their_name() {
    let definitions = definitions();
    let thing = definitions.interface("All::Thing").unwrap();
    let wire = |name, writes| {
        let signature = definitions.signature(thing, name, writes);
        signature.map(|it| (it.wire_name, it.parameters.len()))
    };
    assert_eq!(wire("label", false), Ok(("_get_label".to_owned(), 0)));
    assert_eq!(wire("label", true), Ok(("_set_label".to_owned(), 1)));
    assert_eq!(wire("_set_label", false), Ok(("_set_label".to_owned(), 1)));
    assert_eq!(
        wire("shade", true),
        Err(TypeError::ReadOnly("shade".to_owned()))
    );
    assert_eq!(
        wire("gone", true),
        Err(TypeError::Unknown("gone".to_owned()))
    );
}

#[test]
fn recursive_types_refer_to_themselves() {
    let definitions = definitions();
    let node = definitions.type_named("All::Node").unwrap();
    let children = node.member(1).unwrap().type_code().unwrap();
    let element = children.unaliased().content_type().unwrap();
    assert!(element.equal(node.as_ref()));
    // The typedef alone comes out whole, whichever was asked for first.
    let nodes = definitions.type_named("All::Nodes").unwrap();
    assert!(
        nodes
            .unaliased()
            .as_ref()
            .content_type()
            .unwrap()
            .equal(node.as_ref())
    );
}

#[test]
fn mutual_recursion_is_complete_from_either_side() {
    let idl = "struct A; typedef sequence<A> As; \
               struct A { struct B { As more; string y; } one; sequence<B> others; };";
    let compiled = || {
        let compilation = compile_source(&Options::new(), "ab.idl", idl);
        let errors = compilation.to_string();
        compilation.model.unwrap_or_else(|| panic!("{errors}"))
    };
    let (one, other) = (Definitions::new(compiled()), Definitions::new(compiled()));
    let a_first = (
        one.type_named("A").unwrap(),
        one.type_named("A::B").unwrap(),
    );
    let b_first = (
        other.type_named("A::B").unwrap(),
        other.type_named("A").unwrap(),
    );
    assert!(a_first.0.equal(&b_first.1), "{} {}", a_first.0, b_first.1);
    assert!(a_first.1.equal(&b_first.0));
}

/// A type of 2⁶⁰ parts, if each were made anew.
#[test]
fn types_are_made_once() {
    let mut idl = "struct S0 { long x; };".to_owned();
    for n in 1..60 {
        let below = n - 1;
        idl.push_str(&format!("struct S{n} {{ S{below} a; S{below} b; }};"));
    }
    let compiled = compile_source(&Options::new(), "deep.idl", &idl);
    let definitions = Definitions::new(compiled.model.unwrap());
    assert_eq!(definitions.type_named("S59").unwrap().member_count(), 2);
}

#[test]
fn types_that_cannot_be_marshalled_are_named() {
    let idl = "local interface L {}; native N; valuetype V { public N held; }; \
               struct S { sequence<V> vs; };";
    let compiled = compile_source(&Options::new(), "v.idl", idl);
    let definitions = Definitions::new(compiled.model.unwrap());
    let error = definitions.type_named("S").unwrap_err().to_string();
    assert_eq!(
        error,
        "values of the native type `::N` cannot be marshalled"
    );
    let error = definitions.type_named("L").unwrap_err().to_string();
    assert_eq!(
        error,
        "values of the local interface `::L` cannot be marshalled"
    );
    assert_eq!(
        definitions.type_named("X"),
        Err(TypeError::Unknown("X".to_owned()))
    );
}

/// What the compiler generates for the same IDL says the same.
#[test]
fn value_types_have_the_type_codes_of_the_specification() {
    let idl = "abstract valuetype A {}; valuetype Base : A { public long x; private Base next; }; \
               valuetype Cut : truncatable Base { public sequence<Cut> more; }; \
               custom valuetype C { public long count; }; valuetype Text string; \
               abstract interface I {}; struct S { I shown; ValueBase any_value; };";
    let compiled = compile_source(&Options::new(), "values.idl", idl);
    let definitions = Definitions::new(compiled.model.unwrap());
    let named = |name: &str| definitions.type_named(name).unwrap();
    let (base, cut) = (named("Base"), named("Cut"));
    assert_eq!(base.as_ref().value_modifier(), 0);
    assert!(
        base.as_ref().concrete_base_type().is_none(),
        "A is abstract"
    );
    let members: Vec<_> = base
        .members()
        .map(|it| (it.name(), it.is_public()))
        .collect();
    assert_eq!(members, [("x", true), ("next", false)]);
    let next = base.member(1).unwrap().type_code().unwrap();
    assert_eq!(next.to_type_code(), base);
    assert_eq!(cut.as_ref().value_modifier(), 3);
    let concrete = cut.as_ref().concrete_base_type().unwrap();
    assert_eq!(concrete.to_type_code(), base);
    let more = cut.member(0).unwrap().type_code().unwrap();
    assert_eq!(more.content_type().unwrap().to_type_code(), cut);
    assert_eq!(named("C").as_ref().value_modifier(), 1);
    assert_eq!(named("A").as_ref().value_modifier(), 2);
    assert_eq!(named("Text").content_type().unwrap().kind(), TCKind::String);
    assert_eq!(named("I").kind(), TCKind::AbstractInterface);
    let any_value = named("S")
        .member(1)
        .unwrap()
        .type_code()
        .unwrap()
        .id()
        .to_owned();
    assert_eq!(any_value, "IDL:omg.org/CORBA/ValueBase:1.0");
    let mut types: Vec<_> = definitions
        .value_types()
        .map(|it| it.name().to_owned())
        .collect();
    types.sort();
    assert_eq!(types, ["Base", "Cut", "Text"]);
}
