// SPDX-License-Identifier: MIT OR Apache-2.0
//! DynAnys of every type: cursor, copies, comparison, basic types.

use orbium_cdr::{Any, Char, LongDouble, TCKind, Type, TypeCode, WChar};
use orbium_core::Orb;
use orbium_dynamic::{DynAny, DynAnyError, JsonOptions, from_json, to_json};
use proptest::prelude::*;

use crate::samples::{Entropy, definitions, types, value};

/// A DynAny of a type of the samples with a value out of JSON.
pub(crate) fn dyn_any(name: &str, json: &str) -> DynAny {
    let definitions = definitions();
    let code = definitions.type_named(name).unwrap();
    DynAny::new(&from_json(&code, json, &JsonOptions::default()).unwrap()).unwrap()
}

pub(crate) fn json(dyn_any: &DynAny) -> String {
    to_json(&dyn_any.to_any().unwrap(), &JsonOptions::default()).unwrap()
}

/// `struct Pair { long first; string second; }`.
fn pair() -> TypeCode {
    let members = [
        ("first", Type::LONG.into()),
        ("second", Type::STRING.into()),
    ];
    TypeCode::structure("IDL:Pair:1.0", "Pair", members)
}

fn longs(values: &[i32]) -> DynAny {
    DynAny::new(&Any::new(&values.to_vec()).unwrap()).unwrap()
}

/// Expands every component.
fn expand(dyn_any: &mut DynAny) {
    dyn_any.rewind();
    while dyn_any.position().is_some() {
        expand(dyn_any.current_component().unwrap().unwrap());
        dyn_any.next();
    }
}

proptest! {
    /// Conformance: dynamic - DynAny: every value survives its expansion into components, and a copy equals it
    #[test]
    fn values_of_every_type_survive(which in any::<prop::sample::Index>(), entropy in prop::collection::vec(any::<u8>(), 0..400)) {
        let types = types(&definitions());
        let code = &types[which.index(types.len())];
        let any = value(code, &types, &mut Entropy(entropy.iter()));
        if code.unaliased().kind() == TCKind::Principal {
            prop_assert_eq!(DynAny::new(&any).err(), Some(DynAnyError::InconsistentTypeCode));
            return Ok(());
        }
        let whole = DynAny::new(&any).unwrap();
        let mut expanded = whole.copy();
        expand(&mut expanded);
        prop_assert_eq!(expanded.to_any().unwrap(), any.clone());
        prop_assert!(expanded.type_code().equal(any.type_code()));
        prop_assert!(expanded.equal(&whole).unwrap());
        let mut assigned = DynAny::of_type(code).unwrap();
        assigned.assign(&expanded).unwrap();
        prop_assert!(assigned.equal(&whole).unwrap());
    }
}

/// Conformance: dynamic - DynAny: the cursor: seek, rewind, next; out of range there is no current component
#[test]
fn the_cursor_moves_over_components() {
    let mut list = longs(&[7, 8, 9]);
    assert_eq!((list.component_count(), list.position()), (3, Some(0)));
    assert!(list.next() && list.next());
    assert_eq!(list.get_long(), Ok(9));
    assert!(!list.next());
    assert_eq!(list.position(), None);
    assert!(list.seek(1));
    assert_eq!(list.get_long(), Ok(8));
    assert!(!list.seek(3));
    assert_eq!(list.position(), None);
    assert!(list.seek(2) && !list.seek(-1));
    assert_eq!(list.position(), None);
    assert!(list.rewind());
    assert_eq!(list.get_long(), Ok(7));
}

/// Conformance: dynamic - DynAny: from no current component, next goes to the first
#[test]
fn next_goes_from_nowhere_to_the_first_component() {
    let mut list = longs(&[7, 8]);
    assert!(!list.seek(-1) && list.next());
    assert_eq!(list.position(), Some(0));
    let mut empty = longs(&[]);
    assert!(!empty.next() && !empty.rewind());
    assert_eq!(empty.position(), None);
}

/// Conformance: dynamic - DynAny: no component is current where there is none
#[test]
fn a_type_that_may_have_components_and_has_none_has_no_current_one() {
    let mut empty = longs(&[]);
    assert_eq!((empty.component_count(), empty.position()), (0, None));
    assert!(empty.current_component().unwrap().is_none());
}

/// Conformance: dynamic - DynAny: current_component where values have no components: TypeMismatch
#[test]
fn basic_types_have_no_current_component() {
    let empty = TypeCode::exception("IDL:Empty:1.0", "Empty", []);
    let colour = TypeCode::enumeration("IDL:Colour:1.0", "Colour", ["red"]);
    let codes = [
        Type::LONG.into(),
        Type::STRING.into(),
        Type::TYPE_CODE.into(),
        Type::OBJECT.into(),
        Type::ANY.into(),
        TypeCode::fixed(3, 1),
        colour,
        empty,
    ];
    for code in codes {
        let mut basic = DynAny::of_type(&code).unwrap();
        assert_eq!(basic.component_count(), 0, "{code}");
        let refused = basic.current_component().err();
        assert_eq!(refused, Some(DynAnyError::TypeMismatch), "{code}");
        assert!(!basic.next() && !basic.seek(0));
    }
}

/// Conformance: dynamic - DynAny: a component is part of its owner
#[test]
fn changing_a_component_changes_its_owner() {
    let mut node = dyn_any(
        "All::Node",
        r#"{"name":"a","children":[{"name":"b","children":[]}]}"#,
    );
    node.seek(1);
    let children = node.current_component().unwrap().unwrap();
    let child = children.current_component().unwrap().unwrap();
    child.insert_string("changed").unwrap();
    assert_eq!(
        json(&node),
        r#"{"name":"a","children":[{"name":"changed","children":[]}]}"#
    );
}

/// Conformance: dynamic - DynAny: copy is deep
#[test]
fn a_copy_has_components_of_its_own() {
    let mut original = longs(&[1, 2]);
    original.next();
    let mut copy = original.copy();
    assert_eq!(copy.position(), Some(0));
    copy.insert_long(5).unwrap();
    assert_eq!(
        (json(&original), json(&copy)),
        ("[1,2]".into(), "[5,2]".into())
    );
    original.destroy();
    assert_eq!(copy.get_long(), Ok(5));
}

/// Conformance: dynamic - DynAny: assign takes a value of an equivalent type, else TypeMismatch
#[test]
fn assign_takes_values_of_equivalent_types() {
    let mut to = longs(&[1, 2, 3]);
    to.seek(2);
    to.assign(&longs(&[9])).unwrap();
    assert_eq!((json(&to), to.position()), ("[9]".into(), Some(0)));
    let text = DynAny::new(&Any::from("text")).unwrap();
    assert_eq!(to.assign(&text), Err(DynAnyError::TypeMismatch));
    assert_eq!(json(&to), "[9]");
}

/// Conformance: dynamic - DynAny: a type keeps its aliases, whatever is assigned
#[test]
fn the_type_keeps_its_aliases() {
    let alias = TypeCode::alias("IDL:Count:1.0", "Count", Type::LONG.into());
    let mut count = DynAny::of_type(&alias).unwrap();
    count.from_any(&Any::from(4)).unwrap();
    assert_eq!(count.type_code().name(), "Count");
    assert_eq!(count.to_any().unwrap().type_code().name(), "Count");
    count.insert_long(5).unwrap();
    assert_eq!(count.to_any().unwrap().type_code().name(), "Count");
    count.assign(&DynAny::new(&Any::from(6)).unwrap()).unwrap();
    assert_eq!(count.to_any().unwrap().type_code().name(), "Count");
    assert_eq!(count.get_long(), Ok(6));
}

/// Conformance: dynamic - DynAny: from_any: TypeMismatch for another type, InvalidValue for no value of it
#[test]
fn from_any_refuses_other_types_and_broken_values() {
    let mut list = longs(&[1]);
    list.from_any(&Any::new(&vec![3i32, 4]).unwrap()).unwrap();
    assert_eq!(json(&list), "[3,4]");
    let other = list.from_any(&Any::from(1));
    assert_eq!(other, Err(DynAnyError::TypeMismatch));
    let broken = Any::with_type(TypeCode::sequence(Type::LONG.into(), 0), &5u32).unwrap();
    assert_eq!(list.from_any(&broken), Err(DynAnyError::InvalidValue));
    assert_eq!(DynAny::new(&broken).err(), Some(DynAnyError::InvalidValue));
    assert_eq!(json(&list), "[3,4]");
}

/// Conformance: dynamic - DynAny: equal compares types and values, not cursors
#[test]
fn equal_disregards_the_cursor() {
    let (mut one, other) = (longs(&[1, 2]), longs(&[1, 2]));
    one.seek(1);
    assert_eq!(one.equal(&other), Ok(true));
    one.insert_long(3).unwrap();
    assert_eq!(one.equal(&other), Ok(false));
    let text = DynAny::new(&Any::from("1")).unwrap();
    assert_eq!(one.equal(&text), Ok(false));
    let nan = DynAny::new(&Any::from(f64::NAN)).unwrap();
    assert_eq!(nan.equal(&nan.copy()), Ok(true));
}

/// Conformance: dynamic - DynAny: equal looks into anys and TypeCodes: names do not count
#[test]
fn equal_looks_into_anys_and_type_codes() {
    let named = |name: &str| TypeCode::alias("IDL:T:1.0", name, Type::LONG.into());
    let inner = |name: &str| Any::with_type(named(name), &3).unwrap();
    let member = [("a", Type::ANY.into()), ("t", Type::TYPE_CODE.into())];
    let code = TypeCode::structure("IDL:S:1.0", "S", member);
    let both = ["one", "other"].map(|name| {
        let mut made = DynAny::of_type(&code).unwrap();
        made.insert_any(&inner(name)).unwrap();
        made.next();
        made.insert_typecode(&named(name)).unwrap();
        made
    });
    assert_ne!(
        both[0].to_any().unwrap().value_octets(),
        both[1].to_any().unwrap().value_octets()
    );
    assert_eq!(both[0].equal(&both[1]), Ok(true));
    let mut third = both[0].copy();
    third.insert_any(&Any::from(4)).unwrap();
    assert_eq!(both[0].equal(&third), Ok(false));
}

/// Conformance: dynamic - DynAny: insert and get of each basic type
#[test]
fn basic_types_go_in_and_out() {
    macro_rules! goes {
        ($($value:expr, $code:expr, $insert:ident, $get:ident;)*) => { $(
            let mut basic = DynAny::of_type(&TypeCode::from($code)).unwrap();
            basic.$insert($value).unwrap();
            assert_eq!(basic.$get().unwrap(), $value);
            assert!(basic.to_any().unwrap().type_code().equal(&TypeCode::from($code)));
            // As the component of a sequence.
            let mut list = DynAny::of_type(&TypeCode::sequence($code.into(), 0)).unwrap();
            list.as_sequence().unwrap().set_length(1).unwrap();
            list.$insert($value).unwrap();
            assert_eq!(list.$get().unwrap(), $value);
            // Where another type is expected.
            let mut other = DynAny::of_type(&TypeCode::fixed(1, 0)).unwrap();
            assert_eq!(other.$insert($value), Err(DynAnyError::TypeMismatch));
            assert_eq!(other.$get().err(), Some(DynAnyError::TypeMismatch));
        )* };
    }
    goes! {
        true, Type::BOOLEAN, insert_boolean, get_boolean;
        200, Type::OCTET, insert_octet, get_octet;
        Char(0xe9), Type::CHAR, insert_char, get_char;
        WChar(0x20ac), Type::WCHAR, insert_wchar, get_wchar;
        -3, Type::SHORT, insert_short, get_short;
        60_000, Type::USHORT, insert_ushort, get_ushort;
        -70_000, Type::LONG, insert_long, get_long;
        4_000_000_000, Type::ULONG, insert_ulong, get_ulong;
        i64::MIN, Type::LONGLONG, insert_longlong, get_longlong;
        u64::MAX, Type::ULONGLONG, insert_ulonglong, get_ulonglong;
        0.5, Type::FLOAT, insert_float, get_float;
        -0.25, Type::DOUBLE, insert_double, get_double;
        LongDouble::from(1.5), Type::LONGDOUBLE, insert_longdouble, get_longdouble;
        "blé", Type::STRING, insert_string, get_string;
        "€", Type::WSTRING, insert_wstring, get_wstring;
        &pair(), Type::TYPE_CODE, insert_typecode, get_typecode_ref;
        &Any::from("inside"), Type::ANY, insert_any, get_any_ref;
    }
}

/// References to what is compared above.
trait ByReference {
    fn get_typecode_ref(&mut self) -> Result<&'static TypeCode, DynAnyError>;
    fn get_any_ref(&mut self) -> Result<&'static Any, DynAnyError>;
}

impl ByReference for DynAny {
    fn get_typecode_ref(&mut self) -> Result<&'static TypeCode, DynAnyError> {
        Ok(Box::leak(Box::new(self.get_typecode()?)))
    }

    fn get_any_ref(&mut self) -> Result<&'static Any, DynAnyError> {
        Ok(Box::leak(Box::new(self.get_any()?)))
    }
}

/// Conformance: dynamic - DynAny: object references and nil, bound to their ORB when taken out
#[test]
fn references_go_in_and_out() {
    let orb = Orb::builder().build().unwrap();
    let object = orb
        .string_to_object("corbaloc::localhost:1/Thing")
        .unwrap()
        .unwrap();
    let thing = definitions().type_named("All::Thing").unwrap();
    let members = [("n", Type::LONG.into()), ("o", thing)];
    let mut made = DynAny::of_type(&TypeCode::structure("IDL:R:1.0", "R", members)).unwrap();
    made.seek(1);
    assert!(made.get_reference().unwrap().is_none());
    made.insert_reference(Some(&object)).unwrap();
    let mut again = DynAny::new(&made.to_any().unwrap()).unwrap();
    again.seek(1);
    let found = again.get_reference().unwrap().unwrap();
    assert_eq!(found.ior(), object.ior());
    again.insert_reference(None).unwrap();
    assert!(again.get_reference().unwrap().is_none());
    again.seek(0);
    assert_eq!(again.insert_reference(None), Err(DynAnyError::TypeMismatch));
}

/// Conformance: dynamic - DynAny: insert_dyn_any and get_dyn_any are for anys
#[test]
fn an_any_takes_a_dyn_any() {
    let mut outer = DynAny::of_type(&Type::ANY.into()).unwrap();
    outer.insert_dyn_any(&longs(&[4, 5])).unwrap();
    let inner = outer.get_dyn_any().unwrap();
    assert_eq!(json(&inner), "[4,5]");
    let mut list = longs(&[1]);
    let refused = list.insert_dyn_any(&inner);
    assert_eq!(refused, Err(DynAnyError::TypeMismatch));
}

/// Conformance: dynamic - DynAny: insert and get without a current component: InvalidValue
#[test]
fn without_a_current_component_nothing_goes_in_or_out() {
    let mut list = longs(&[1]);
    list.seek(-1);
    assert_eq!(list.insert_long(2), Err(DynAnyError::InvalidValue));
    assert_eq!(list.get_long(), Err(DynAnyError::InvalidValue));
    let mut empty = longs(&[]);
    assert_eq!(empty.insert_long(2), Err(DynAnyError::InvalidValue));
}

/// Conformance: dynamic - DynAny: insert and get where the current component has components: TypeMismatch
#[test]
fn nothing_goes_into_a_component_that_has_components() {
    let mut nested = DynAny::new(&Any::new(&vec![vec![1i32]]).unwrap()).unwrap();
    assert_eq!(nested.insert_long(2), Err(DynAnyError::TypeMismatch));
    assert_eq!(nested.get_long(), Err(DynAnyError::TypeMismatch));
    let inner = nested.current_component().unwrap().unwrap();
    inner.insert_long(2).unwrap();
    assert_eq!(json(&nested), "[[2]]");
}

/// Conformance: dynamic - DynAny: a string beyond its bound or with a NUL: InvalidValue
#[test]
fn strings_keep_their_bounds() {
    let mut brief = DynAny::of_type(&TypeCode::string(3)).unwrap();
    brief.insert_string("üöä").unwrap();
    assert_eq!(brief.insert_string("long"), Err(DynAnyError::InvalidValue));
    assert_eq!(brief.insert_string("a\0"), Err(DynAnyError::InvalidValue));
    assert_eq!(brief.get_string().unwrap(), "üöä");
    let mut wide = DynAny::of_type(&TypeCode::wstring(2)).unwrap();
    wide.insert_wstring("𝄞").unwrap();
    assert_eq!(wide.insert_wstring("abc"), Err(DynAnyError::InvalidValue));
    assert_eq!(wide.insert_wstring("\0"), Err(DynAnyError::InvalidValue));
    assert_eq!(wide.get_wstring().unwrap(), "𝄞");
}

/// Conformance: dynamic - DynAny: sequences and arrays of basic types go in and out as a whole
#[test]
fn sequences_of_basic_types_go_in_and_out() {
    macro_rules! goes {
        ($($values:expr, $code:expr, $insert:ident, $get:ident;)*) => { $(
            let values = $values;
            let sequence = TypeCode::sequence($code.into(), 3);
            let mut list = DynAny::of_type(&sequence).unwrap();
            list.$insert(&values).unwrap();
            assert_eq!(list.$get().unwrap(), values);
            assert_eq!((list.component_count(), list.position()), (2, Some(0)));
            let long = [values[0]; 4];
            assert_eq!(list.$insert(&long), Err(DynAnyError::InvalidValue));
            // As an array that is a member of a struct.
            let array = TypeCode::array($code.into(), 2);
            let outer = TypeCode::structure("IDL:O:1.0", "O", [("a", array)]);
            let mut outer = DynAny::of_type(&outer).unwrap();
            outer.$insert(&values).unwrap();
            assert_eq!(outer.$get().unwrap(), values);
            assert_eq!(outer.$insert(&values[..1]), Err(DynAnyError::InvalidValue));
            outer.seek(-1);
            assert_eq!(outer.$insert(&values), Err(DynAnyError::InvalidValue));
            let mut other = DynAny::of_type(&TypeCode::sequence(Type::STRING.into(), 0)).unwrap();
            other.as_sequence().unwrap().set_length(1).unwrap();
            assert_eq!(other.$insert(&values), Err(DynAnyError::TypeMismatch));
            assert_eq!(other.$get().err(), Some(DynAnyError::TypeMismatch));
        )* };
    }
    goes! {
        [true, false], Type::BOOLEAN, insert_boolean_seq, get_boolean_seq;
        [0u8, 200], Type::OCTET, insert_octet_seq, get_octet_seq;
        [Char(0xe9), Char(0x41)], Type::CHAR, insert_char_seq, get_char_seq;
        [WChar(0x20ac), WChar(0x41)], Type::WCHAR, insert_wchar_seq, get_wchar_seq;
        [-3i16, 4], Type::SHORT, insert_short_seq, get_short_seq;
        [60_000u16, 4], Type::USHORT, insert_ushort_seq, get_ushort_seq;
        [-70_000i32, 4], Type::LONG, insert_long_seq, get_long_seq;
        [4_000_000_000u32, 4], Type::ULONG, insert_ulong_seq, get_ulong_seq;
        [i64::MIN, 4], Type::LONGLONG, insert_longlong_seq, get_longlong_seq;
        [u64::MAX, 4], Type::ULONGLONG, insert_ulonglong_seq, get_ulonglong_seq;
        [0.5f32, 4.0], Type::FLOAT, insert_float_seq, get_float_seq;
        [-0.25f64, 4.0], Type::DOUBLE, insert_double_seq, get_double_seq;
        [LongDouble::from(1.5), LongDouble::from(2.0)], Type::LONGDOUBLE,
            insert_longdouble_seq, get_longdouble_seq;
    }
}

/// Conformance: dynamic - DynAny: factories of several at once
#[test]
fn several_are_made_at_once() {
    let anys = [Any::from(1), Any::from("two")];
    let dyn_anys = DynAny::new_all(&anys).unwrap();
    assert_eq!(DynAny::to_anys(&dyn_anys).unwrap(), anys);
}

/// Conformance: dynamic - DynAny: types without DynAnys: InconsistentTypeCode
#[test]
fn types_without_dyn_anys_are_refused() {
    let principal = TypeCode::from(Type::PRINCIPAL);
    let inside = TypeCode::structure("IDL:P:1.0", "P", [("p", principal.clone())]);
    let alias = TypeCode::alias("IDL:A:1.0", "A", principal.clone());
    for code in [principal, alias, inside] {
        let refused = DynAny::of_type(&code).err();
        assert_eq!(refused, Some(DynAnyError::InconsistentTypeCode), "{code}");
    }
}

/// Conformance: dynamic - DynAny: initial values of every type
#[test]
fn initial_values_are_zero_empty_or_the_first() {
    let definitions = definitions();
    let initial = |name: &str| {
        let code = definitions.type_named(name).unwrap();
        json(&DynAny::of_type(&code).unwrap())
    };
    assert_eq!(initial("All::Colour"), r#""red""#);
    assert_eq!(initial("All::Money"), r#""0.00""#);
    assert_eq!(initial("All::Matrix"), "[[0,0,0],[0,0,0]]");
    assert_eq!(initial("All::ByChar"), r#"{"$d":"a","o":0}"#);
    assert_eq!(
        initial("All::ByBool"),
        concat!(
            r#"{"$d":true,"n":{"b":false,"o":0,"s":0,"us":0,"l":0,"ul":0,"ll":"0","ull":"0","#,
            r#""f":0.0,"d":0.0,"ld":"0","c":"\u0000","w":"\u0000"}}"#
        )
    );
    let any = r#"{"$type":"null"}"#;
    assert_eq!(initial("All::ByWide"), format!(r#"{{"$d":"1","a":{any}}}"#));
    let code = TypeCode::structure(
        "IDL:E:1.0",
        "E",
        [
            ("a", Type::ANY.into()),
            ("o", Type::OBJECT.into()),
            ("t", Type::TYPE_CODE.into()),
            ("s", Type::STRING.into()),
            ("w", Type::WSTRING.into()),
            ("q", TypeCode::sequence(Type::STRING.into(), 0)),
        ],
    );
    assert_eq!(
        json(&DynAny::of_type(&code).unwrap()),
        format!(r#"{{"a":{any},"o":null,"t":"null","s":"","w":"","q":[]}}"#)
    );
}
