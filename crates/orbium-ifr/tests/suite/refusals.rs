// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions that no IDL could have made are refused, each by its own minor code.

use orbium::{Any, ExceptionKind, Interface, TypeCode};
use orbium_ifr::corba::{
    AbstractInterfaceDef, DefinitionKind, InterfaceDef, OperationMode, ParameterDescription,
    ParameterMode, PrimitiveKind, Repository, UnionMember, ValueDef,
};

use crate::served::Served;
use crate::writing::{BAD_PARAM, member, primitive, refused};

/// Conformance: ORB - Interface Repository - a name that is no IDL identifier: BAD_PARAM 15
#[test]
fn a_definition_has_an_idl_identifier_as_its_name() {
    let served = Served::empty();
    let root = served.remote();
    for name in ["two words", "1st", ""] {
        let created = root.create_module("IDL:x:1.0", name, "1.0");
        assert_eq!(refused(created), (BAD_PARAM, 15), "{name}");
    }
    assert!(is_empty(&root));
}

/// Conformance: ORB - Interface Repository - a repository id without a format: BAD_PARAM 16
#[test]
fn a_definition_has_a_repository_id_with_a_format() {
    let served = Served::empty();
    let root = served.remote();
    for id in ["no format", ":x:1.0", "IDL:"] {
        let created = root.create_module(id, "x", "1.0");
        assert_eq!(refused(created), (BAD_PARAM, 16), "{id}");
    }
    assert!(is_empty(&root));
}

/// Conformance: ORB - Interface Repository - names of members that are none, or stand twice: BAD_PARAM 17
#[test]
fn members_have_names_of_their_own() {
    let served = Served::empty();
    let root = served.remote();
    let long = primitive(&root, PrimitiveKind::PkLong);
    for names in [["a", "A"], ["a", "two words"]] {
        let members = names.map(|name| member(name, &long));
        let created = root.create_struct("IDL:x:1.0", "x", "1.0", &members);
        assert_eq!(refused(created), (BAD_PARAM, 17), "{names:?}");
    }
    assert!(is_empty(&root));
}

/// What refuses a union with that discriminator and members called as these labels.
fn refused_union(root: &Repository, of: PrimitiveKind, labels: &[i32]) -> (ExceptionKind, u32) {
    let long = primitive(root, PrimitiveKind::PkLong);
    let mut members = Vec::new();
    for (place, label) in labels.iter().enumerate() {
        members.push(UnionMember {
            name: format!("c{place}"),
            label: Any::from(*label),
            r#type: TypeCode::default(),
            type_def: Some(long.clone()),
        });
    }
    let of = primitive(root, of);
    let created = root.create_union("IDL:x:1.0", "x", "1.0", Some(&of), &members);
    assert!(is_empty(root));
    refused(created)
}

/// Conformance: ORB - Interface Repository - a label of a union twice: BAD_PARAM 18
#[test]
fn a_label_of_a_union_stands_once() {
    let served = Served::empty();
    let refused = refused_union(&served.remote(), PrimitiveKind::PkLong, &[1, 1]);
    assert_eq!(refused, (BAD_PARAM, 18));
}

/// Conformance: ORB - Interface Repository - a label of another type than the discriminator: BAD_PARAM 19
#[test]
fn labels_are_of_the_type_of_the_discriminator() {
    let served = Served::empty();
    let refused = refused_union(&served.remote(), PrimitiveKind::PkShort, &[1]);
    assert_eq!(refused, (BAD_PARAM, 19));
}

/// Conformance: ORB - Interface Repository - a discriminator type that can be none: BAD_PARAM 20
#[test]
fn a_union_is_discriminated_by_a_type_that_can() {
    let served = Served::empty();
    let refused = refused_union(&served.remote(), PrimitiveKind::PkFloat, &[1]);
    assert_eq!(refused, (BAD_PARAM, 20));
}

/// Conformance: ORB - Interface Repository - a member of a type that it cannot have: BAD_TYPECODE 2
#[test]
fn a_member_has_a_type() {
    let served = Served::empty();
    let root = served.remote();
    let nothing = [member("a", &primitive(&root, PrimitiveKind::PkVoid))];
    let created = root.create_struct("IDL:x:1.0", "x", "1.0", &nothing);
    assert_eq!(refused(created), (ExceptionKind::BadTypecode, 2));
    assert!(is_empty(&root));
}

/// Conformance: ORB - Interface Repository - a parameter of a type that it cannot have: BAD_TYPECODE 3
#[test]
fn a_parameter_has_a_type() {
    let served = Served::with("interface I { };");
    let root = served.remote();
    let void = primitive(&root, PrimitiveKind::PkVoid);
    let nothing = ParameterDescription {
        name: "a".to_owned(),
        r#type: TypeCode::default(),
        type_def: Some(void.clone()),
        mode: ParameterMode::ParamIn,
    };
    let interface: InterfaceDef = served.find("IDL:I:1.0");
    let mode = OperationMode::OpNormal;
    let created = interface.create_operation(
        "IDL:I/f:1.0",
        "f",
        "1.0",
        Some(&void),
        mode,
        &[nothing],
        &[],
        &[],
    );
    assert_eq!(refused(created), (ExceptionKind::BadTypecode, 3));
    let operations = interface.contents(DefinitionKind::DkOperation, true);
    assert!(operations.unwrap().is_empty());
}

/// Conformance: ORB - Interface Repository - a base of an abstract interface that is not abstract: BAD_PARAM 11
#[test]
fn an_abstract_interface_has_abstract_bases() {
    let served =
        Served::with("interface I { }; abstract interface A { }; abstract interface B { };");
    let (base, derived): (InterfaceDef, InterfaceDef) =
        (served.find("IDL:I:1.0"), served.find("IDL:A:1.0"));
    let changed = derived.set_base_interfaces(&[Some(base.clone())]);
    assert_eq!(refused(changed), (BAD_PARAM, 11));
    let as_abstract = AbstractInterfaceDef::from_object(base.as_object().clone());
    let created =
        served
            .remote()
            .create_abstract_interface("IDL:x:1.0", "x", "1.0", &[Some(as_abstract)]);
    assert_eq!(refused(created), (BAD_PARAM, 11));
    let abstract_base = served.find("IDL:B:1.0");
    derived.set_base_interfaces(&[Some(abstract_base)]).unwrap();
    assert_eq!(derived.base_interfaces().unwrap().len(), 1);
}

/// Conformance: ORB - Interface Repository - a value that supports two interfaces that are not abstract: BAD_PARAM 12
#[test]
fn a_value_supports_one_concrete_interface() {
    let served = Served::with(
        "interface I { }; interface J { }; abstract interface A { }; valuetype V supports I { };",
    );
    let value: ValueDef = served.find("IDL:V:1.0");
    let both = [
        Some(served.find("IDL:I:1.0")),
        Some(served.find("IDL:J:1.0")),
    ];
    let changed = value.set_supported_interfaces(&both);
    assert_eq!(refused(changed), (BAD_PARAM, 12));
    let created = served.remote().create_value(
        "IDL:x:1.0",
        "x",
        "1.0",
        false,
        false,
        None,
        false,
        &[],
        &both,
        &[],
    );
    assert_eq!(refused(created), (BAD_PARAM, 12));
    let with_abstract = [
        Some(served.find("IDL:I:1.0")),
        Some(served.find("IDL:A:1.0")),
    ];
    value.set_supported_interfaces(&with_abstract).unwrap();
    assert_eq!(value.supported_interfaces().unwrap().len(), 2);
}

fn is_empty(root: &Repository) -> bool {
    let contents = root.contents(DefinitionKind::DkAll, true);
    contents.unwrap().is_empty()
}
