// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions of the types of values, as programs that have the values ask for them.

use orbium::codegen as orb;
use orbium::value::ValueType;
use orbium::{Config, Interface, Orb};
use orbium_ifr::{INTERFACE_REPOSITORY, value_def};

use crate::served::Served;

orb::idl_value! {
    /// Defined in the repository.
    pub struct Known(KnownState): KNOWN_TYPE = "IDL:Known:1.0", Plain, [] {
        public x: i32,
    }
}

orb::idl_value! {
    /// Defined nowhere.
    pub struct Unheard(UnheardState): UNHEARD_TYPE = "IDL:Unheard:1.0", Plain, [] {
        public x: i32,
    }
}

orb::idl_value_box! {
    /// Its definition is no ValueDef.
    pub struct Text(TextState): TEXT_TYPE = "IDL:Text:1.0", String;
}

/// Conformance: ORB - Interface Repository - the ValueDef of a value (`get_value_def`)
#[test]
fn a_value_has_the_definition_of_its_type() {
    let served = Served::with("valuetype Known { public long x; }; valuetype Text string;");
    let configured = (INTERFACE_REPOSITORY.to_owned(), served.address());
    let orb = Orb::new(Config {
        initial_references: vec![configured],
        ..Config::default()
    })
    .unwrap();
    let known = Known::new(KnownState { x: 1 });
    let definition = value_def(&orb, known.as_value()).unwrap().unwrap();
    let described = definition.describe_value().unwrap();
    assert_eq!(described.id, "IDL:Known:1.0");
    assert_eq!(described.members[0].name, "x");
    assert!(
        definition
            .as_object()
            .is_a("IDL:omg.org/CORBA/ValueDef:1.0")
            .unwrap()
    );
    let unheard = Unheard::new(UnheardState { x: 1 });
    assert!(value_def(&orb, unheard.as_value()).unwrap().is_none());
    let text = Text::from("boxed".to_owned());
    assert!(value_def(&orb, text.as_value()).unwrap().is_none());
    let without = Orb::builder().build().unwrap();
    assert!(value_def(&without, known.as_value()).unwrap().is_none());
}
