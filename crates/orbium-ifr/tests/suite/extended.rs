// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions that say which exceptions attributes and initialisers raise (`Ext…Def`).

use orbium::{TypeCode, cdr::TCKind};
use orbium_ifr::corba::{AttributeMode, ExceptionDescription, ExtInitializer, PrimitiveKind};

use crate::served::Served;
use crate::writing::{member, primitive};

/// Conformance: ORB - Interface Repository - exceptions of initialisers and attributes: `ExtValueDef`, `ExtAttributeDef`
#[test]
fn initialisers_and_attributes_of_values_raise_exceptions() {
    let served = Served::empty();
    let root = served.remote();
    let long = primitive(&root, PrimitiveKind::PkLong);
    let bad = root
        .create_exception("IDL:Bad:1.0", "Bad", "1.0", &[member("at", &long)])
        .unwrap()
        .unwrap();
    let raised = ExceptionDescription {
        name: "Bad".to_owned(),
        id: "IDL:Bad:1.0".to_owned(),
        defined_in: String::new(),
        version: "1.0".to_owned(),
        r#type: TypeCode::default(),
    };
    let initializer = ExtInitializer {
        members: vec![member("x", &long)],
        exceptions: vec![raised],
        name: "make".to_owned(),
    };
    let value = root
        .create_ext_value(
            "IDL:V:1.0",
            "V",
            "1.0",
            false,
            false,
            None,
            false,
            &[],
            &[],
            &[initializer],
        )
        .unwrap()
        .unwrap();
    let attribute = value
        .create_ext_attribute(
            "IDL:V/level:1.0",
            "level",
            "1.0",
            Some(&long),
            AttributeMode::AttrNormal,
            &[Some(bad)],
            &[],
        )
        .unwrap()
        .unwrap();
    let described = value.describe_ext_value().unwrap();
    assert_eq!(described.r#type.kind(), TCKind::Value);
    let [made] = &described.initializers[..] else {
        panic!("{:?}", described.initializers);
    };
    assert_eq!((&*made.name, &*made.members[0].name), ("make", "x"));
    assert_eq!(made.exceptions[0].id, "IDL:Bad:1.0");
    let [level] = &described.attributes[..] else {
        panic!("{:?}", described.attributes);
    };
    assert_eq!(level.get_exceptions[0].id, "IDL:Bad:1.0");
    assert!(level.put_exceptions.is_empty());

    let raised = attribute.get_exceptions().unwrap();
    attribute.set_get_exceptions(&[]).unwrap();
    attribute.set_set_exceptions(&raised).unwrap();
    let described = attribute.describe_attribute().unwrap();
    assert!(described.get_exceptions.is_empty());
    assert_eq!(described.put_exceptions[0].id, "IDL:Bad:1.0");
    value.set_ext_initializers(&[]).unwrap();
    assert!(value.ext_initializers().unwrap().is_empty());
}
