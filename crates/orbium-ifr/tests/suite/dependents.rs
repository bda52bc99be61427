// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of definitions on which others depend.

use orbium::{ExceptionKind, Interface};
use orbium_ifr::LoadError;
use orbium_ifr::corba::{Contained, DefinitionKind, EnumDef, IdlType, PrimitiveKind, Repository};

use crate::files::File;
use crate::served::{Served, model};
use crate::writing::{member, primitive, refused};

fn ty(of: &impl Interface) -> IdlType {
    IdlType::from_object(of.as_object().clone())
}

fn enumeration(root: &Repository) -> EnumDef {
    let names = ["x".to_owned()];
    let made = root.create_enum("IDL:E:1.0", "E", "1.0", &names);
    made.unwrap().unwrap()
}

/// It stayed without its element: every later change was refused, and the file could not be opened again.
#[test]
fn a_sequence_that_nothing_uses_is_destroyed_with_its_element() {
    let file = File::new();
    {
        let served = Served::open(&file.0).unwrap();
        let root = served.remote();
        let members = [member("a", &primitive(&root, PrimitiveKind::PkLong))];
        let made = root.create_struct("IDL:S:1.0", "S", "1.0", &members);
        let element = made.unwrap().unwrap();
        let sequence = root.create_sequence(0, Some(&ty(&element))).unwrap();
        let outer = root.create_sequence(0, Some(&ty(&sequence.clone().unwrap())));
        element.destroy().unwrap();
        for gone in [sequence, outer.unwrap()] {
            let answer = gone.unwrap().bound();
            assert_eq!(refused(answer).0, ExceptionKind::ObjectNotExist);
        }
        enumeration(&root).set_members(&["y".to_owned()]).unwrap();
    }
    let served = Served::open(&file.0).unwrap();
    let found: EnumDef = served.find("IDL:E:1.0");
    assert_eq!(found.members().unwrap(), ["y"]);
}

/// The inner sequence counted as used by one that stays.
#[test]
fn a_module_with_sequences_of_sequences_is_destroyed() {
    let served = Served::with(
        "module M { struct S { long a; }; typedef sequence<sequence<S>> T; typedef T U[3]; };
         module N { typedef sequence<sequence<string<7>>> T; };",
    );
    let root = served.remote();
    for id in ["IDL:M:1.0", "IDL:N:1.0"] {
        served.find::<Contained>(id).destroy().unwrap();
    }
    let left = root.contents(DefinitionKind::DkAll, true).unwrap();
    assert!(left.is_empty());
}

/// A member that makes a struct of values too large left that as it was: every later change was refused, and the
/// file could not be opened again.
#[test]
fn a_member_of_a_value_is_refused_that_makes_another_type_too_large() {
    let served = Served::empty();
    let root = served.remote();
    let long = primitive(&root, PrimitiveKind::PkLong);
    let (mut large, mut made) = (long, 0);
    loop {
        let (id, name) = (format!("IDL:S{made}:1.0"), format!("S{made}"));
        let members = [member("a", &large), member("b", &large)];
        let Ok(larger) = root.create_struct(&id, &name, "1.0", &members) else {
            break;
        };
        (large, made) = (ty(&larger.unwrap()), made + 1);
    }
    let value = root
        .create_value(
            "IDL:V:1.0",
            "V",
            "1.0",
            false,
            false,
            None,
            false,
            &[],
            &[],
            &[],
        )
        .unwrap()
        .unwrap();
    let members = [member("a", &ty(&value)), member("b", &ty(&value))];
    root.create_struct("IDL:T:1.0", "T", "1.0", &members)
        .unwrap();
    let added = value.create_value_member("IDL:V/m:1.0", "m", "1.0", Some(&large), 0);
    assert_eq!(refused(added).0, ExceptionKind::ImpLimit);
    enumeration(&root).set_members(&["y".to_owned()]).unwrap();
}

/// The same where a value that was declared alone is defined by a further load.
#[test]
fn a_load_is_refused_that_makes_another_type_too_large() {
    let served = Served::empty();
    let mut large = "struct S0 { long a, b; };".to_owned();
    for number in 1..15 {
        let before = number - 1;
        large += &format!(" struct S{number} {{ S{before} a, b; }};");
    }
    let declared = format!("{large} valuetype V; struct T {{ V a, b; }};");
    served.repository.load(&model(&declared)).unwrap();
    let defined = format!("{large} valuetype V {{ public S14 m; }};");
    let Err(LoadError::System(refused)) = served.repository.load(&model(&defined)) else {
        panic!("not refused");
    };
    assert_eq!(refused.kind, ExceptionKind::ImpLimit);
    enumeration(&served.remote())
        .set_members(&["y".to_owned()])
        .unwrap();
}
