// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and changes of many definitions, at a cost that is linear in their number.

use std::fmt::Write as _;

use orbium::{ExceptionKind, Interface as _};
use orbium_ifr::LoadError;
use orbium_ifr::corba::{DefinitionKind, InterfaceDef, PrimitiveKind, SequenceDef, StructDef};
use orbium_testkit::within;

use crate::files::File;
use crate::served::{Served, model};
use crate::writing::{member, primitive, refused};

/// A chain of empty interfaces, the first of which has no base.
fn chain(name: &str, length: usize) -> String {
    let mut idl = format!("interface {name}0 {{}};");
    for number in 1..length {
        let base = number - 1;
        write!(idl, "interface {name}{number}: {name}{base} {{}};").unwrap();
    }
    idl
}

/// Loads interfaces that each inherit a chain.
fn load_derived(length: usize, derived: usize) -> Result<u32, LoadError> {
    let (mut idl, last) = (chain("a", length), length - 1);
    for number in 0..derived {
        write!(idl, "interface b{number}: a{last} {{}};").unwrap();
    }
    let model = model(&idl);
    within("the load", move || Served::empty().repository.load(&model))
}

/// For each of their bases, all bases of that one were found again.
#[test]
fn interfaces_with_many_bases_are_loaded_in_time() {
    assert_eq!(load_derived(900, 500), Ok(1400));
    let Err(LoadError::System(refused)) = load_derived(1000, 4000) else {
        panic!("not refused");
    };
    assert_eq!(refused.kind, ExceptionKind::ImpLimit);
}

/// Opening a file found the bases of each entry without a limit.
#[test]
fn a_file_with_an_interface_of_too_many_bases_is_opened() {
    let file = File::new();
    {
        let served = Served::open(&file.0).unwrap();
        let idl = chain("a", 900) + &chain("b", 900);
        served.repository.load(&model(&idl)).unwrap();
        let first: InterfaceDef = served.find("IDL:b0:1.0");
        let base: InterfaceDef = served.find("IDL:a899:1.0");
        first.set_base_interfaces(&[Some(base)]).unwrap();
        let base: InterfaceDef = served.find("IDL:b899:1.0");
        let cycle = served.find::<InterfaceDef>("IDL:a0:1.0");
        let cycle = cycle.set_base_interfaces(&[Some(base)]);
        assert_eq!(refused(cycle).0, ExceptionKind::ImpLimit);
    }
    let served = Served::open(&file.0).unwrap();
    let last: InterfaceDef = served.find("IDL:b899:1.0");
    assert_eq!(last.base_interfaces().unwrap().len(), 1);
    let inherited = last.contents(DefinitionKind::DkAll, false);
    assert_eq!(refused(inherited).0, ExceptionKind::ImpLimit);
}

/// Each definition was compared with all others in its module, and copied the list of them.
#[test]
fn a_module_of_many_definitions_is_loaded_in_time() {
    let mut idl = "module M { valuetype V {".to_owned();
    for number in 0..20_000 {
        write!(idl, "public long m{number};").unwrap();
    }
    idl += "};";
    for number in 0..40_000 {
        write!(idl, "typedef long t{number};").unwrap();
    }
    idl += "};";
    let model = model(&idl);
    within("both loads", move || {
        let served = Served::empty();
        assert_eq!(served.repository.load(&model), Ok(60_002));
        assert_eq!(served.repository.load(&model), Ok(0));
    });
}

/// For each type of the members before, all entries were searched.
#[test]
fn the_members_of_a_struct_of_many_sequences_are_replaced_in_time() {
    let mut idl = "struct S {".to_owned();
    for number in 0..40_000 {
        write!(idl, "sequence<long> a{number};").unwrap();
    }
    idl += "}; struct T { sequence<sequence<long>> a; };";
    let model = model(&idl);
    within("both changes", move || {
        let served = Served::empty();
        assert_eq!(served.repository.load(&model), Ok(2));
        let long = primitive(&served.remote(), PrimitiveKind::PkLong);
        let kept: StructDef = served.find("IDL:T:1.0");
        let outer = kept.members().unwrap().remove(0).type_def.unwrap();
        let outer: SequenceDef = outer.as_object().narrow().unwrap();
        for id in ["IDL:S:1.0", "IDL:T:1.0"] {
            let changed: StructDef = served.find(id);
            changed.set_members(&[member("a", &long)]).unwrap();
        }
        assert_eq!(refused(outer.bound()).0, ExceptionKind::ObjectNotExist);
    });
}
