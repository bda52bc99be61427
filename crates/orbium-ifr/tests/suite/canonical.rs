// SPDX-License-Identifier: MIT OR Apache-2.0
//! `get_canonical_typecode`: TypeCodes without names, with ids of the repository and others.

use orbium::cdr::Typed;
use orbium::{TypeCode, cdr::TCKind};
use orbium_ifr::corba::Repository;

use crate::served::Served;

const IDL: &str = "struct P { long x; sequence<P> more; };";

fn nameless() -> TypeCode {
    let more = TypeCode::sequence(TypeCode::recursive("IDL:P:1.0"), 0);
    TypeCode::structure("IDL:P:1.0", "", [("", long()), ("", more)])
}

fn long() -> TypeCode {
    i32::type_code()
}

fn canonical(root: &Repository, code: &TypeCode) -> TypeCode {
    root.get_canonical_typecode(code).unwrap()
}

fn is_p(code: Option<TypeCode>) -> bool {
    code.is_some_and(|it| it.name() == "P" && it.member(0).unwrap().name() == "x")
}

fn member(code: &TypeCode, index: usize) -> Option<TypeCode> {
    Some(code.member(index)?.type_code()?.to_type_code())
}

/// Conformance: ORB - Interface Repository - `get_canonical_typecode`: names of the repository, in parts of other types too
#[test]
fn type_codes_have_the_names_of_the_repository() {
    let served = Served::with(IDL);
    let root = served.remote();
    assert!(is_p(Some(canonical(&root, &nameless()))));
    assert_eq!(canonical(&root, &long()), long());
    // Types without an id.
    let rows = canonical(&root, &TypeCode::sequence(nameless(), 4));
    assert_eq!((rows.kind(), rows.length()), (TCKind::Sequence, 4));
    assert!(is_p(rows.content_type()));
    let row = canonical(&root, &TypeCode::array(nameless(), 2));
    assert!(is_p(row.content_type()));
    // Types of another repository.
    let alias = TypeCode::alias("IDL:A:1.0", "A", nameless());
    assert!(is_p(canonical(&root, &alias).content_type()));
    let cases = [(Some(1), "one", nameless()), (None, "other", long())];
    let union = TypeCode::union("IDL:U:1.0", "U", long(), cases).unwrap();
    let made = canonical(&root, &union);
    assert!(made.equivalent(&union) && is_p(member(&made, 0)));
    assert_eq!(made.default_index(), Some(1));
    let value = TypeCode::value("IDL:V:1.0", "V", 0, None, [("p", nameless(), true)]);
    let made = canonical(&root, &value);
    assert!(made.equivalent(&value) && is_p(member(&made, 0)));
    assert!(made.member(0).unwrap().is_public());
}

/// Conformance: ORB - Interface Repository - `get_canonical_typecode`: types of another repository that contain themselves
#[test]
fn a_type_that_contains_itself_is_canonical() {
    let served = Served::with(IDL);
    let root = served.remote();
    let nodes = TypeCode::sequence(TypeCode::recursive("IDL:Node:1.0"), 0);
    let node = TypeCode::structure("IDL:Node:1.0", "Node", [("p", nameless()), ("all", nodes)]);
    let made = canonical(&root, &node);
    assert!(made.equivalent(&node) && is_p(member(&made, 0)));
    let again = member(&made, 1).unwrap().content_type().unwrap();
    assert!(again == made && is_p(member(&again, 0)));
}
