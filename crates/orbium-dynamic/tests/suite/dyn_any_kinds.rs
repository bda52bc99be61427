// SPDX-License-Identifier: MIT OR Apache-2.0
//! DynAnys of fixed, enum, struct, union, sequence and array.

use orbium_cdr::{Any, TCKind, Type, TypeCode};
use orbium_dynamic::{DynAny, DynAnyError};

use crate::dyn_any::{dyn_any, json};

/// Conformance: dynamic - DynFixed: get_value and set_value
#[test]
fn a_fixed_is_set_from_text() {
    let mut money = dyn_any("All::Money", r#""1.50""#);
    let mut fixed = money.as_fixed().unwrap();
    assert_eq!(fixed.value().unwrap(), "1.50");
    for (text, expected) in [
        ("-2.5", "-2.50"),
        ("+.25d", "0.25"),
        (" 007. ", "7.00"),
        ("999.99D", "999.99"),
    ] {
        assert_eq!(fixed.set_value(text), Ok(true), "{text}");
        assert_eq!(fixed.value().unwrap(), expected);
    }
}

/// Conformance: dynamic - DynFixed: set_value is FALSE where digits behind the point are cut off
#[test]
fn a_fixed_says_that_digits_were_lost() {
    let mut money = dyn_any("All::Money", r#""0.00""#);
    let mut fixed = money.as_fixed().unwrap();
    assert_eq!(fixed.set_value("1.239"), Ok(false));
    assert_eq!(fixed.value().unwrap(), "1.23");
    assert_eq!(fixed.set_value("1.2300"), Ok(true));
}

/// Conformance: dynamic - DynFixed: set_value: InvalidValue for too many digits, TypeMismatch for other text
#[test]
fn a_fixed_refuses_what_is_no_decimal_of_its_type() {
    let mut money = dyn_any("All::Money", r#""3.14""#);
    let mut fixed = money.as_fixed().unwrap();
    assert_eq!(fixed.set_value("1000"), Err(DynAnyError::InvalidValue));
    for text in ["", ".", "-", "1e3", "0x1", "1.2.3", "1 2", "--1", "½"] {
        let refused = fixed.set_value(text);
        assert_eq!(refused, Err(DynAnyError::TypeMismatch), "{text}");
    }
    assert_eq!(fixed.value().unwrap(), "3.14");
}

/// Conformance: dynamic - DynEnum: names and numbers; others are InvalidValue
#[test]
fn an_enumerator_is_set_by_name_or_number() {
    let mut colour = dyn_any("All::Colour", r#""green""#);
    let mut colour = colour.as_enum().unwrap();
    assert_eq!(
        (colour.as_string(), colour.as_ulong()),
        (Ok("green"), Ok(1))
    );
    colour.set_as_string("blue").unwrap();
    assert_eq!(colour.as_ulong(), Ok(2));
    colour.set_as_ulong(0).unwrap();
    assert_eq!(colour.as_string(), Ok("red"));
    for name in ["", "Red", "All::red", "pink"] {
        let refused = colour.set_as_string(name);
        assert_eq!(refused, Err(DynAnyError::InvalidValue));
    }
    assert_eq!(colour.set_as_ulong(3), Err(DynAnyError::InvalidValue));
    assert_eq!(colour.as_string(), Ok("red"));
}

/// Conformance: dynamic - DynAny: the forms of other kinds: TypeMismatch
#[test]
fn a_value_has_the_form_of_its_kind_only() {
    let mut colour = dyn_any("All::Colour", r#""green""#);
    assert!(colour.as_struct().is_err() && colour.as_union().is_err());
    assert!(colour.as_sequence().is_err() && colour.as_array().is_err());
    assert_eq!(colour.as_fixed().err(), Some(DynAnyError::TypeMismatch));
    let mut list = DynAny::new(&Any::new(&vec![1i32]).unwrap()).unwrap();
    assert_eq!(list.as_enum().err(), Some(DynAnyError::TypeMismatch));
}

/// Conformance: dynamic - DynStruct: name and kind of the current member
#[test]
fn a_struct_names_its_current_member() {
    let mut node = dyn_any("All::Node", r#"{"name":"a","children":[]}"#);
    let form = node.as_struct().unwrap();
    assert_eq!(form.current_member_name(), Ok("name"));
    assert_eq!(form.current_member_kind(), Ok(TCKind::String));
    node.next();
    let form = node.as_struct().unwrap();
    assert_eq!(form.current_member_name(), Ok("children"));
    assert_eq!(form.current_member_kind(), Ok(TCKind::Sequence));
    node.next();
    let form = node.as_struct().unwrap();
    let refused = Err(DynAnyError::InvalidValue);
    assert_eq!(form.current_member_name(), refused);
    assert_eq!(form.current_member_kind(), Err(DynAnyError::InvalidValue));
    let mut empty = dyn_any("All::Empty", "{}");
    let form = empty.as_struct().unwrap();
    let refused = Err(DynAnyError::TypeMismatch);
    assert_eq!(form.current_member_name(), refused);
}

/// Conformance: dynamic - DynStruct: members are read and set with their names
#[test]
fn members_are_set_all_together() {
    let mut node = dyn_any("All::Node", r#"{"name":"a","children":[]}"#);
    node.seek(1);
    let mut form = node.as_struct().unwrap();
    let mut members = form.members().unwrap();
    assert_eq!(members[0], ("name".to_owned(), Any::from("a")));
    members[0].1 = Any::from("b");
    let given = members.iter().map(|(name, value)| (name.as_str(), value));
    form.set_members(given).unwrap();
    assert_eq!(node.position(), Some(0));
    assert_eq!(json(&node), r#"{"name":"b","children":[]}"#);
    let mut form = node.as_struct().unwrap();
    for (name, member) in form.members_as_dyn_any().unwrap() {
        if name == "name" {
            member.insert_string("c").unwrap();
        }
    }
    assert_eq!(json(&node), r#"{"name":"c","children":[]}"#);
    let name = DynAny::new(&Any::from("d")).unwrap();
    let members = node.as_struct().unwrap().members().unwrap();
    let children = DynAny::new(&members[1].1).unwrap();
    let mut form = node.as_struct().unwrap();
    let given = [("name", &name), ("children", &children)];
    form.set_members_as_dyn_any(given).unwrap();
    assert_eq!(json(&node), r#"{"name":"d","children":[]}"#);
}

/// Conformance: dynamic - DynStruct: set_members: InvalidValue for the count, TypeMismatch for a name or type
#[test]
fn members_of_another_count_name_or_type_are_refused() {
    let mut node = dyn_any("All::Node", r#"{"name":"a","children":[]}"#);
    let mut form = node.as_struct().unwrap();
    let members = form.members().unwrap();
    let (name, children) = (&members[0].1, &members[1].1);
    let few = form.set_members([("name", name)]);
    assert_eq!(few, Err(DynAnyError::InvalidValue));
    let misnamed = form.set_members([("label", name), ("children", children)]);
    assert_eq!(misnamed, Err(DynAnyError::TypeMismatch));
    let mistyped = form.set_members([("name", children), ("children", children)]);
    assert_eq!(mistyped, Err(DynAnyError::TypeMismatch));
    assert_eq!(form.set_members([("", name), ("", children)]), Ok(()));
    assert_eq!(json(&node), r#"{"name":"a","children":[]}"#);
}

/// Conformance: dynamic - DynUnion: components, names and kinds
#[test]
fn a_union_has_a_discriminator_and_a_member() {
    let mut union = dyn_any("All::ByColour", r#"{"$d":"blue","text":"sky"}"#);
    assert_eq!((union.component_count(), union.position()), (2, Some(0)));
    let mut form = union.as_union().unwrap();
    assert_eq!(form.discriminator_kind(), Ok(TCKind::Enum));
    assert_eq!(json(&form.discriminator().unwrap()), r#""blue""#);
    assert!(!form.has_no_active_member());
    assert_eq!(form.member_name(), Ok("text"));
    assert_eq!(form.member_kind(), Ok(TCKind::String));
    form.member().unwrap().insert_string("sea").unwrap();
    assert_eq!(json(&union), r#"{"$d":"blue","text":"sea"}"#);
    union.seek(1);
    assert_eq!(union.get_string().unwrap(), "sea");
}

/// Conformance: dynamic - DynUnion: set_discriminator keeps the member that is selected still
#[test]
fn another_label_of_the_same_member_keeps_it() {
    let mut union = dyn_any("All::ByColour", r#"{"$d":"blue","text":"sky"}"#);
    let green = dyn_any("All::Colour", r#""green""#);
    let mut form = union.as_union().unwrap();
    form.set_discriminator(&green).unwrap();
    assert_eq!(json(&union), r#"{"$d":"green","text":"sky"}"#);
    assert_eq!(union.position(), Some(1));
}

/// Conformance: dynamic - DynUnion: set_discriminator activates the initial value of the member that it selects
#[test]
fn a_label_of_another_member_activates_it() {
    let mut union = dyn_any("All::ByColour", r#"{"$d":"blue","text":"sky"}"#);
    let red = dyn_any("All::Colour", r#""red""#);
    let mut form = union.as_union().unwrap();
    form.set_discriminator(&red).unwrap();
    assert_eq!(form.member_name(), Ok("l"));
    assert_eq!(json(&union), r#"{"$d":"red","l":0}"#);
    let other = DynAny::new(&Any::from(0)).unwrap();
    let refused = union.as_union().unwrap().set_discriminator(&other);
    assert_eq!(refused, Err(DynAnyError::TypeMismatch));
}

/// Conformance: dynamic - DynUnion: without an active member: one component, InvalidValue for the member
#[test]
fn a_discriminator_without_a_label_leaves_no_member() {
    let mut union = dyn_any("All::ByBool", r#"{"$d":false}"#);
    assert_eq!(union.component_count(), 1);
    let mut form = union.as_union().unwrap();
    assert!(form.has_no_active_member());
    assert_eq!(form.member().err(), Some(DynAnyError::InvalidValue));
    assert_eq!(form.member_name(), Err(DynAnyError::InvalidValue));
    assert_eq!(form.member_kind(), Err(DynAnyError::InvalidValue));
    let mut full = DynAny::of_type(union.type_code()).unwrap();
    let no = DynAny::new(&Any::from(false)).unwrap();
    full.as_union().unwrap().set_discriminator(&no).unwrap();
    assert_eq!(full.position(), Some(0));
    assert_eq!(json(&full), r#"{"$d":false}"#);
}

/// Conformance: dynamic - DynUnion: set_to_default_member: TypeMismatch without one
#[test]
fn the_default_member_is_activated_if_there_is_one() {
    let mut union = dyn_any("All::ByChar", r#"{"$d":"a","o":3}"#);
    let mut form = union.as_union().unwrap();
    form.set_to_default_member().unwrap();
    assert_eq!(form.member_name(), Ok("d"));
    assert_eq!((union.position(), union.component_count()), (Some(0), 2));
    let refused = union.as_union().unwrap().set_to_no_active_member();
    assert_eq!(refused, Err(DynAnyError::TypeMismatch));
    let mut without = dyn_any("All::ByBool", r#"{"$d":false}"#);
    let refused = without.as_union().unwrap().set_to_default_member();
    assert_eq!(refused, Err(DynAnyError::TypeMismatch));
}

/// Conformance: dynamic - DynUnion: set_to_no_active_member: TypeMismatch where all values have labels
#[test]
fn no_member_is_active_where_a_value_has_no_label() {
    let mut union = DynAny::of_type(dyn_any("All::ByBool", r#"{"$d":false}"#).type_code()).unwrap();
    union.as_union().unwrap().set_to_no_active_member().unwrap();
    assert_eq!(json(&union), r#"{"$d":false}"#);
    assert_eq!((union.position(), union.component_count()), (Some(0), 1));
    let mut full = dyn_any("All::ByColour", r#"{"$d":"red","l":5}"#);
    let refused = full.as_union().unwrap().set_to_no_active_member();
    assert_eq!(refused, Err(DynAnyError::TypeMismatch));
    assert_eq!(json(&full), r#"{"$d":"red","l":5}"#);
}

/// Conformance: dynamic - DynUnion: the discriminator changed as a component selects the member
#[test]
fn a_discriminator_that_is_changed_as_a_component_selects_the_member() {
    let mut union = dyn_any("All::ByChar", r#"{"$d":"a","o":3}"#);
    union.insert_char(orbium_cdr::Char(b'b')).unwrap();
    assert_eq!(union.component_count(), 2);
    assert_eq!(json(&union), r#"{"$d":"b","tree":[]}"#);
    assert_eq!(union.as_union().unwrap().member_name(), Ok("tree"));
    let mut bool_union =
        DynAny::of_type(dyn_any("All::ByBool", r#"{"$d":false}"#).type_code()).unwrap();
    bool_union.insert_boolean(false).unwrap();
    assert_eq!(bool_union.component_count(), 1);
    assert_eq!(json(&bool_union), r#"{"$d":false}"#);
    assert!(!bool_union.seek(1));
}

/// Conformance: dynamic - DynSequence: set_length appends initial values, or cuts off
#[test]
fn a_sequence_grows_and_shrinks() {
    let mut list = DynAny::new(&Any::new(&vec![7i32, 8]).unwrap()).unwrap();
    list.seek(1);
    list.as_sequence().unwrap().set_length(4).unwrap();
    assert_eq!(
        (json(&list), list.position()),
        ("[7,8,0,0]".into(), Some(1))
    );
    list.as_sequence().unwrap().set_length(2).unwrap();
    assert_eq!(list.position(), Some(1));
    list.as_sequence().unwrap().set_length(1).unwrap();
    assert_eq!((json(&list), list.position()), ("[7]".into(), None));
    list.as_sequence().unwrap().set_length(3).unwrap();
    assert_eq!(list.position(), Some(1));
    list.as_sequence().unwrap().set_length(0).unwrap();
    assert_eq!(
        (list.as_sequence().unwrap().length(), list.position()),
        (0, None)
    );
}

/// Conformance: dynamic - DynSequence: elements and length: InvalidValue beyond the bound, TypeMismatch for a type
#[test]
fn a_sequence_keeps_its_bound_and_type() {
    let mut list = DynAny::of_type(&TypeCode::sequence(Type::LONG.into(), 2)).unwrap();
    let mut form = list.as_sequence().unwrap();
    assert_eq!(form.set_length(3), Err(DynAnyError::InvalidValue));
    let ones = |count: usize| vec![Any::from(1); count];
    assert_eq!(form.set_elements(&ones(3)), Err(DynAnyError::InvalidValue));
    let mixed = [Any::from(1), Any::from("2")];
    assert_eq!(form.set_elements(&mixed), Err(DynAnyError::TypeMismatch));
    form.set_elements(&ones(2)).unwrap();
    assert_eq!(form.elements().unwrap(), ones(2));
    for element in form.elements_as_dyn_any().unwrap() {
        element.insert_long(6).unwrap();
    }
    let six = DynAny::new(&Any::from(6)).unwrap();
    form.set_elements_as_dyn_any(std::slice::from_ref(&six))
        .unwrap();
    assert_eq!((json(&list), list.position()), ("[6]".into(), Some(0)));
    list.as_sequence().unwrap().set_elements(&[]).unwrap();
    assert_eq!(list.position(), None);
}

/// Conformance: dynamic - DynArray: elements: InvalidValue for another count, TypeMismatch for another type
#[test]
fn an_array_keeps_its_length() {
    let mut matrix = dyn_any("All::Matrix", "[[1,2,3],[4,5,6]]");
    assert_eq!(matrix.component_count(), 2);
    let mut rows = matrix.as_array().unwrap();
    let mut values = rows.elements().unwrap();
    values.reverse();
    rows.set_elements(&values).unwrap();
    assert_eq!(
        rows.set_elements(&values[..1]),
        Err(DynAnyError::InvalidValue)
    );
    let mistyped = [Any::from(1), Any::from(2)];
    assert_eq!(rows.set_elements(&mistyped), Err(DynAnyError::TypeMismatch));
    let row = &mut rows.elements_as_dyn_any().unwrap()[0];
    row.insert_long(9).unwrap();
    assert_eq!(json(&matrix), "[[9,5,6],[1,2,3]]");
    let copies = DynAny::new_all(&values).unwrap();
    matrix
        .as_array()
        .unwrap()
        .set_elements_as_dyn_any(&copies)
        .unwrap();
    assert_eq!(json(&matrix), "[[4,5,6],[1,2,3]]");
}
