// SPDX-License-Identifier: MIT OR Apache-2.0
//! DynAnys of what a hostile peer sends.

use std::sync::mpsc;
use std::thread;

use orbium_cdr::{Any, CdrReader, CdrWriter, Format, Type, TypeCode};
use orbium_dynamic::{DynAny, DynAnyError};
use proptest::prelude::*;

use crate::samples::{definitions, types};
use crate::waiting::PATIENCE;

/// Arrays in arrays, of which a short TypeCode may have many.
fn nested_arrays(element: TypeCode, lengths: &[u32]) -> TypeCode {
    lengths
        .iter()
        .fold(element, |code, length| TypeCode::array(code, *length))
}

#[test]
fn an_initial_value_of_many_elements_is_refused() {
    for code in [
        nested_arrays(Type::OCTET.into(), &[u32::MAX]),
        nested_arrays(Type::DOUBLE.into(), &[1000, 1000, 1000, 1000]),
        nested_arrays(TypeCode::structure("", "", []), &[1 << 16, 1 << 16]),
    ] {
        let refused = DynAny::of_type(&code).err();
        assert_eq!(refused, Some(DynAnyError::TooLarge), "{code}");
    }
}

/// Values were counted, not their octets: the id of an exception was written for each element, 16 GB
/// for a type of 1 KB.
#[test]
fn an_initial_value_of_many_octets_is_refused() {
    let id = format!("IDL:{}:1.0", "x".repeat(1024));
    let exception = TypeCode::exception(&id, "", []);
    let members: Vec<_> = (0..1 << 10).map(|_| ("", exception.clone())).collect();
    for code in [
        nested_arrays(exception.clone(), &[1 << 23]),
        nested_arrays(exception, &[1 << 11, 1 << 12]),
        nested_arrays(TypeCode::structure("", "", members), &[1 << 13]),
    ] {
        let refused = DynAny::of_type(&code).err();
        assert_eq!(refused, Some(DynAnyError::TooLarge));
    }
}

/// The labels were searched for an unused one for each element.
#[test]
fn labels_of_a_union_are_not_searched_for_each_element() {
    let labelled = (0..10_000).map(|label| (Some(label), "octet", Type::OCTET.into()));
    let members = [(None, "other", Type::LONG.into())]
        .into_iter()
        .chain(labelled);
    let union = TypeCode::union("IDL:U:1.0", "U", Type::LONG.into(), members).unwrap();
    let code = nested_arrays(union, &[1 << 20]);
    let (send, initial) = mpsc::channel();
    thread::spawn(move || send.send(DynAny::of_type(&code).map(|it| it.component_count())));
    assert_eq!(initial.recv_timeout(PATIENCE), Ok(Ok(1 << 20)));
}

#[test]
fn a_length_of_many_elements_is_refused() {
    let octets = TypeCode::sequence(Type::OCTET.into(), 0);
    let mut list = DynAny::of_type(&octets).unwrap();
    let mut form = list.as_sequence().unwrap();
    let refused = form.set_length(DynAny::MAX_COMPONENTS + 1);
    assert_eq!(refused, Err(DynAnyError::TooLarge));
    assert_eq!(list.component_count(), 0);
}

/// What is larger than that is not expanded into components, but is readable as a whole.
#[test]
fn many_elements_go_out_as_a_whole() {
    let octets = vec![7u8; DynAny::MAX_COMPONENTS + 1];
    let mut large = DynAny::new(&Any::new(&octets).unwrap()).unwrap();
    assert_eq!(large.component_count(), octets.len());
    assert_eq!(large.current_component().err(), Some(DynAnyError::TooLarge));
    assert_eq!(large.get_octet(), Err(DynAnyError::TooLarge));
    assert_eq!(large.get_octet_seq().unwrap(), octets);
}

const ELEMENTS: usize = 200_000;

/// The type was searched for values once for each element: hours, for a message of two megabytes.
#[test]
fn a_large_type_of_many_elements_is_not_searched_for_each() {
    let names: Vec<_> = (0..20_000).map(|index| format!("m{index}")).collect();
    let octets = names.iter().map(|name| (&**name, Type::OCTET.into()));
    let members = [("any", Type::ANY.into())].into_iter().chain(octets);
    let large = TypeCode::structure("IDL:Large:1.0", "Large", members);
    let code = TypeCode::sequence(TypeCode::sequence(large, 0), 0);
    // Each element is an empty sequence.
    let any = Any::with_type(code, &vec![0u32; ELEMENTS]).unwrap();
    let (send, counted) = mpsc::channel();
    thread::spawn(move || {
        let mut list = DynAny::new(&any).unwrap();
        list.current_component().unwrap();
        send.send(list.component_count())
    });
    assert_eq!(counted.recv_timeout(PATIENCE), Ok(ELEMENTS));
}

#[test]
fn a_type_that_contains_itself_is_refused() {
    let inside = TypeCode::recursive("IDL:Loop:1.0");
    let endless = TypeCode::structure("IDL:Loop:1.0", "Loop", [("again", inside)]);
    let refused = DynAny::of_type(&endless).err();
    assert_eq!(refused, Some(DynAnyError::InconsistentTypeCode));
    let promised = DynAny::of_type(&TypeCode::recursive("IDL:Never:1.0")).err();
    assert_eq!(promised, Some(DynAnyError::InconsistentTypeCode));
}

#[test]
fn a_union_or_enum_without_members_is_refused() {
    let colour = TypeCode::enumeration("IDL:Colour:1.0", "Colour", []);
    let union = TypeCode::union("IDL:U:1.0", "U", Type::LONG.into(), []).unwrap();
    for code in [colour, union] {
        let refused = DynAny::of_type(&code).err();
        assert_eq!(refused, Some(DynAnyError::InconsistentTypeCode), "{code}");
    }
}

/// The last label of a `boolean` is taken, so nothing is left for a default member.
#[test]
fn a_default_member_that_no_value_selects_is_refused() {
    let members = [
        (None, "other", Type::LONG.into()),
        (Some(0), "no", Type::LONG.into()),
        (Some(1), "yes", Type::LONG.into()),
    ];
    let code = TypeCode::union("IDL:U:1.0", "U", Type::BOOLEAN.into(), members).unwrap();
    let refused = DynAny::of_type(&code).err();
    assert_eq!(refused, Some(DynAnyError::InconsistentTypeCode));
}

/// Calls everything that reads, at every component.
fn visit(dyn_any: &mut DynAny, budget: &mut u32) {
    let _ = (dyn_any.get_long(), dyn_any.get_string(), dyn_any.get_any());
    let _ = dyn_any.get_octet_seq();
    if let Ok(mut it) = dyn_any.as_struct() {
        let _ = it.members();
    }
    if let Ok(mut it) = dyn_any.as_union() {
        let _ = (it.member_name().is_ok(), it.set_to_no_active_member());
    }
    dyn_any.rewind();
    while dyn_any.position().is_some() && *budget > 0 {
        *budget -= 1;
        if let Ok(Some(component)) = dyn_any.current_component() {
            visit(component, budget);
        }
        dyn_any.next();
    }
    let _ = dyn_any.to_any();
}

proptest! {
    #[test]
    fn octets_of_a_peer_never_panic(which in any::<prop::sample::Index>(), octets in prop::collection::vec(any::<u8>(), 0..300)) {
        let types = types(&definitions());
        let code = &types[which.index(types.len())];
        let mut octets = octets;
        let mut reader = CdrReader::new(&mut octets, Format::native());
        if let Ok(any) = Any::read_value(code.clone(), &mut reader)
            && let Ok(mut dyn_any) = DynAny::new(&any)
        {
            visit(&mut dyn_any, &mut 1000);
        }
    }

    #[test]
    fn type_codes_of_a_peer_never_panic(which in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(), octet: u8) {
        let types = types(&definitions());
        let code = &types[which.index(types.len())];
        let mut writer = CdrWriter::new(Format::native());
        code.as_ref().write(&mut writer);
        let mut octets = writer.finish().unwrap();
        let place = place.index(octets.len());
        octets[place] = octet;
        let mut reader = CdrReader::new(&mut octets, Format::native());
        if let Ok(code) = <TypeCode as orbium_cdr::Decode>::decode(&mut reader)
            && let Ok(mut dyn_any) = DynAny::of_type(&code)
        {
            visit(&mut dyn_any, &mut 1000);
        }
    }
}
