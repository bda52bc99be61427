// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL that comes out of a repository.

use std::collections::BTreeMap;

use orbium::Interface;
use orbium_idl::model::Model;
use orbium_ifr::corba::{AttributeMode, IdlType, InterfaceDef, PrimitiveKind};
use orbium_ifr::idl_of;

use crate::kitchen::KITCHEN;
use crate::served::{Served, model};

/// Ids and scoped names, with what the definitions are.
fn ids(model: &Model) -> BTreeMap<String, (String, &'static str)> {
    let all = model.definitions();
    all.map(|it| (it.repository_id.clone(), (it.scoped_name(), it.kind.noun())))
        .collect()
}

pub(crate) fn exported(idl: &str) -> String {
    let served = Served::with(idl);
    idl_of(&served.remote()).unwrap()
}

/// Loads a text, writes what is there, and loads that into another repository: which must then
/// have the same definitions, and write the same text.
pub(crate) fn round_trip(idl: &str) -> String {
    let first = exported(idl);
    assert_eq!(ids(&model(&first)), ids(&model(idl)), "{first}");
    assert_eq!(exported(&first), first);
    // Loading the text where the definitions are finds nothing new and nothing different.
    let served = Served::with(idl);
    assert_eq!(
        served.repository.load(&model(&first)).unwrap(),
        0,
        "{first}"
    );
    first
}

/// Conformance: ORB - Interface Repository - every construct of `kitchen.idl`, and out again as IDL
#[test]
fn the_kitchen_comes_out_with_the_same_ids() {
    let text = round_trip(KITCHEN);
    assert!(text.contains("#pragma prefix \"orbium.test\""), "{text}");
    assert!(
        text.contains("_interface(in long _module, in string select)"),
        "{text}"
    );
}

#[test]
fn modules_are_opened_again_where_the_order_needs_it() {
    let text = round_trip(
        "module A { struct X { long a; }; };
         module B { struct Y { A::X x; }; };
         module A { struct Z { B::Y y; }; };",
    );
    assert_eq!(text.matches("module A").count(), 2, "{text}");
}

#[test]
fn ids_that_names_do_not_give_are_written() {
    let text = round_trip(
        "#pragma prefix \"one.example\"
         module M { typedef long T; interface I { void f(); };
         #pragma ID I \"DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1\"
         #pragma version T 2.3
         };
         #pragma prefix \"two.example\"
         struct Outside { M::T t; M::I i; };",
    );
    assert!(text.contains("#pragma prefix \"two.example\""), "{text}");
}

#[test]
fn other_definitions_of_idl_are_exported() {
    round_trip(
        "module M {
           enum Late { one, two };
           union U switch (Late) { case one: case two: long a; };
           struct Outer { struct Inner { long a; } first; Inner second[2]; enum E { x, y } kind; };
           exception Bad { Outer why; };
           native Cookie;
           local interface L { Cookie bake(); };
           abstract interface D { string describe(); };
           abstract valuetype AV { void act(); };
           valuetype V supports D { private long a; void op(in long b) raises (Bad); factory make(in long a) raises (Bad); };
           valuetype W : truncatable V, AV { public V other; public ValueBase any_value; };
           custom valuetype C { public string<4> s; };
           valuetype Box sequence<V>;
           interface I {
             attribute long guarded getraises (Bad) setraises (Bad);
             readonly attribute string watched raises (Bad);
             string asked(in long a) context (\"user\", \"host\");
             struct Rec; typedef sequence<Rec> Recs; struct Rec { Recs all; };
             const wstring<9> WIDE = L\"a\\u20ac\";
             const long double LD = 2.5;
             const fixed F = 12.50d;
             const unsigned long long BIG = 18446744073709551615;
             const long long SMALL = -9223372036854775808;
             const Late WHICH = two;
             const octet O = 255;
           };
         };",
    );
}

/// An array of a type that a member defines, and state of types that a value defines: what came
/// out did not compile.
#[test]
fn types_that_members_and_values_define_are_exported() {
    let text = round_trip(
        "module M {
           struct S { struct T { long a; } all[2]; enum E { x, y } grid[3][2], one; T last; };
           union U switch (long) { case 1: struct Inner { S first; } four[4]; default: Inner other; };
           exception Bad { struct Why { string text; } reasons[2]; };
           valuetype V {
             typedef sequence<long> Longs;
             struct Part { Longs values; };
             public Longs all;
             private Part pair[2];
             Part first() raises (Bad);
           };
         };",
    );
    assert!(text.contains("struct T { long a; } all[2];"), "{text}");
}

#[test]
fn ids_of_attributes_are_written_too() {
    let served = Served::with("interface I { };");
    let interface: InterfaceDef = served.find("IDL:I:1.0");
    let root = served.remote();
    let long = root.get_primitive(PrimitiveKind::PkLong).unwrap().unwrap();
    let long = IdlType::from_object(long.as_object().clone());
    let mode = AttributeMode::AttrNormal;
    interface
        .create_attribute("IDL:a:1.0", "a", "1.0", Some(&long), mode)
        .unwrap();
    let text = idl_of(&root).unwrap();
    assert_eq!(ids(&model(&text))["IDL:a:1.0"].0, "::I::a", "{text}");
}
