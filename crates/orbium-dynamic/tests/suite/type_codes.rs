// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes made at run time: what makes no IDL is refused, each by its own minor code.

use orbium_cdr::{Any, CdrErrorKind, CdrWriter, Format, Type, TypeCode};
use orbium_core::{Completion, ExceptionKind, SystemException};
use orbium_dynamic::TypeCodeFactory as Factory;

type Created = Result<TypeCode, SystemException>;

const ID: &str = "IDL:M/X:1.0";

fn bad_param(minor: u32) -> Created {
    let kind = ExceptionKind::BadParam;
    Err(SystemException::omg(kind, minor, Completion::No))
}

fn bad_typecode(minor: u32) -> Created {
    let kind = ExceptionKind::BadTypecode;
    Err(SystemException::omg(kind, minor, Completion::No))
}

fn long() -> TypeCode {
    Type::LONG.into()
}

/// Every operation that takes an id and a name, given those.
fn declared(id: &str, name: &str) -> [Created; 12] {
    let members = [("a", long())];
    let state = [("a", long(), true)];
    [
        Factory::create_struct_tc(id, name, &members),
        Factory::create_exception_tc(id, name, &members),
        Factory::create_enum_tc(id, name, &["A"]),
        Factory::create_union_tc(id, name, &long(), &[(Any::from(1), "a", long())]),
        Factory::create_alias_tc(id, name, long()),
        Factory::create_interface_tc(id, name),
        Factory::create_abstract_interface_tc(id, name),
        Factory::create_local_interface_tc(id, name),
        Factory::create_native_tc(id, name),
        Factory::create_value_box_tc(id, name, long()),
        Factory::create_value_tc(id, name, 0, None, &state),
        Factory::create_event_tc(id, name, 0, None, &state),
    ]
}

/// Conformance: TypeCode - BAD_PARAM 15: a name that is no IDL identifier
#[test]
fn a_name_that_is_no_identifier_is_bad_param_15() {
    for name in ["two words", "1st", "a-b", "_x", "a::b"] {
        for created in declared(ID, name) {
            assert_eq!(created, bad_param(15), "{name}");
        }
    }
    // TypeCodes of peers that leave names out have none.
    for name in ["X", "x_1", ""] {
        assert!(declared(ID, name).iter().all(Result::is_ok), "{name}");
    }
}

/// Conformance: TypeCode - BAD_PARAM 16: a repository id without a format
#[test]
fn an_id_without_a_format_is_bad_param_16() {
    for id in ["", "X", ":X:1.0", "IDL:", "IDL:X\0:1.0"] {
        for created in declared(id, "X") {
            assert_eq!(created, bad_param(16), "{id:?}");
        }
        assert_eq!(Factory::create_recursive_tc(id), bad_param(16), "{id:?}");
    }
    assert!(Factory::create_recursive_tc(ID).is_ok());
}

/// Conformance: TypeCode - BAD_PARAM 17: names of members that are none, or stand twice
#[test]
fn names_of_members_that_are_none_or_stand_twice_are_bad_param_17() {
    let case = |label: i32, name, ty: &TypeCode| (Any::from(label), name, ty.clone());
    let short = TypeCode::from(Type::SHORT);
    for names in [["a", "A"], ["a", "1st"], ["two words", "b"]] {
        let members = names.map(|name| (name, long()));
        let state = names.map(|name| (name, long(), true));
        let cases = [case(1, names[0], &long()), case(2, names[1], &long())];
        for created in [
            Factory::create_struct_tc(ID, "X", &members),
            Factory::create_exception_tc(ID, "X", &members),
            Factory::create_enum_tc(ID, "X", &names),
            Factory::create_value_tc(ID, "X", 0, None, &state),
            Factory::create_event_tc(ID, "X", 0, None, &state),
            Factory::create_union_tc(ID, "X", &long(), &cases),
        ] {
            assert_eq!(created, bad_param(17), "{names:?}");
        }
    }
    // Several labels of one member stand one behind the other.
    let cases = [case(1, "a", &long()), case(2, "a", &long())];
    assert!(Factory::create_union_tc(ID, "X", &long(), &cases).is_ok());
    let separated = [cases[0].clone(), case(3, "b", &long()), cases[1].clone()];
    let of_two_types = [case(1, "a", &long()), case(2, "a", &short)];
    for cases in [&separated[..], &of_two_types] {
        let created = Factory::create_union_tc(ID, "X", &long(), cases);
        assert_eq!(created, bad_param(17), "{cases:?}");
    }
}

/// Conformance: TypeCode - BAD_PARAM 18: a label of a union twice
#[test]
fn a_label_that_stands_twice_is_bad_param_18() {
    let twice = |label: Any| [(label.clone(), "a", long()), (label, "b", long())];
    let union = |cases: &[_]| Factory::create_union_tc(ID, "X", &long(), cases);
    assert_eq!(union(&twice(Any::from(7))), bad_param(18));
    // Of the default member there is one.
    assert_eq!(union(&twice(Any::from(0_u8))), bad_param(18));
    let one_of_each = [(Any::from(7), "a", long()), (Any::from(0_u8), "b", long())];
    assert_eq!(union(&one_of_each).unwrap().default_index(), Some(1));
}

/// Conformance: TypeCode - BAD_PARAM 19: a label of another type than the discriminator
#[test]
fn a_label_of_another_type_is_bad_param_19() {
    let union = |label: Any| Factory::create_union_tc(ID, "X", &long(), &[(label, "a", long())]);
    for label in [
        Any::from(1_i16),
        Any::from(true),
        Any::from(1_u8),
        Any::default(),
    ] {
        assert_eq!(union(label.clone()), bad_param(19), "{label:?}");
    }
    // A discriminator that is an octet has no default member: 0 is a label like the others.
    let octet = TypeCode::from(Type::OCTET);
    let zero = [(Any::from(0_u8), "a", long())];
    let union = Factory::create_union_tc(ID, "X", &octet, &zero).unwrap();
    assert_eq!(union.default_index(), None);
}

/// Conformance: TypeCode - BAD_PARAM 20: a discriminator type that can be none
#[test]
fn a_discriminator_of_no_such_type_is_bad_param_20() {
    for ty in [Type::FLOAT, Type::ANY, Type::STRING, Type::VOID] {
        let ty = TypeCode::from(ty);
        let with_label = [(Any::from(1), "a", long())];
        for cases in [&with_label[..], &[]] {
            let created = Factory::create_union_tc(ID, "X", &ty, cases);
            assert_eq!(created, bad_param(20), "{ty}");
        }
    }
}

/// Conformance: TypeCode - BAD_TYPECODE 2: types that members, elements and bases cannot have
#[test]
fn types_that_members_cannot_have_are_bad_typecode_2() {
    let exception = Factory::create_exception_tc(ID, "E", &[]).unwrap();
    let hidden = TypeCode::alias(ID, "Hidden", exception.clone());
    for ty in [Type::VOID.into(), TypeCode::default(), exception, hidden] {
        let cases = [(Any::from(1), "a", ty.clone())];
        let state = [("a", ty.clone(), true)];
        for created in [
            Factory::create_struct_tc(ID, "X", &[("a", ty.clone())]),
            Factory::create_exception_tc(ID, "X", &[("a", ty.clone())]),
            Factory::create_union_tc(ID, "X", &long(), &cases),
            Factory::create_alias_tc(ID, "X", ty.clone()),
            Factory::create_sequence_tc(0, ty.clone()),
            Factory::create_array_tc(2, ty.clone()),
            Factory::create_value_box_tc(ID, "X", ty.clone()),
            Factory::create_value_tc(ID, "X", 0, None, &state),
            Factory::create_event_tc(ID, "X", 0, None, &state),
            Factory::create_value_tc(ID, "X", 0, Some(ty.clone()), &[]),
        ] {
            assert_eq!(created, bad_typecode(2), "{ty}");
        }
    }
    let value = Factory::create_value_tc(ID, "V", 0, None, &[]).unwrap();
    assert_eq!(
        Factory::create_value_box_tc(ID, "X", value.clone()),
        bad_typecode(2)
    );
    assert!(Factory::create_value_tc(ID, "X", 0, Some(value), &[]).is_ok());
}

/// Conformance: TypeCode - BAD_TYPECODE 1: an incomplete TypeCode is marshalled
#[test]
fn an_incomplete_type_code_that_is_marshalled_is_bad_typecode_1() {
    let within = Factory::create_recursive_tc(ID).unwrap();
    let nodes = Factory::create_sequence_tc(0, within.clone()).unwrap();
    let other = Factory::create_struct_tc("IDL:Other:1.0", "Other", &[("nodes", nodes.clone())]);
    let written = |code: &TypeCode| {
        let mut writer = CdrWriter::new(Format::native());
        orbium_cdr::Encode::encode(code, &mut writer);
        writer.finish().map(drop)
    };
    for incomplete in [within, nodes.clone(), other.unwrap()] {
        let error = written(&incomplete).unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::IncompleteTypeCode, "{incomplete}");
        let raised = SystemException::from_cdr(error, Completion::No);
        assert_eq!(Err(raised), bad_typecode(1), "{incomplete}");
    }
    // Within the type that it stands for it is complete.
    let node = Factory::create_struct_tc(ID, "X", &[("nodes", nodes)]).unwrap();
    assert_eq!(written(&node), Ok(()));
}
