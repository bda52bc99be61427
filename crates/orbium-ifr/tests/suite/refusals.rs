// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions that no IDL could have made are refused, each by its own minor code.

use orbium::{Any, ExceptionKind, TypeCode};
use orbium_ifr::corba::{DefinitionKind, PrimitiveKind, Repository, UnionMember};

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

fn is_empty(root: &Repository) -> bool {
    let contents = root.contents(DefinitionKind::DkAll, true);
    contents.unwrap().is_empty()
}
