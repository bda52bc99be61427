// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that call definitions as what they are not, by object keys of their own making.

use orbium::{ExceptionKind, Interface};
use orbium_ifr::corba::{AliasDef, EnumDef};
use orbium_ifr::idl_of;

use crate::files::File;
use crate::served::Served;
use crate::writing::refused;

/// The reference with the key of another entry, for the same adapter, which is of that name.
fn forged<I: Interface>(of: &I, adapter: &str, entry: u64) -> I {
    let object = of.as_object();
    let mut ior = object.ior().clone();
    for profile in &mut ior.profiles {
        let data = &mut profile.data;
        let mut places = data.windows(adapter.len());
        let name = places.position(|it| it == adapter.as_bytes());
        let id = name.expect("the name of the adapter") + adapter.len();
        data[id..id + 8].copy_from_slice(&entry.to_be_bytes());
    }
    I::from_object(object.orb().plain_reference(ior))
}

/// `_set_members` made an enumeration of whatever was called as one: of the repository itself too, and its file
/// could not be opened again.
#[test]
fn the_repository_is_no_enumeration() {
    let file = File::new();
    let before = {
        let served = Served::open(&file.0).unwrap();
        let root = served.remote();
        let names = ["x".to_owned()];
        let made = root.create_enum("IDL:E:1.0", "E", "1.0", &names).unwrap();
        let root_as_enum: EnumDef = forged(&made.unwrap(), "Enum", 0);
        let answer = root_as_enum.set_members(&["y".to_owned()]);
        assert_eq!(refused(answer).0, ExceptionKind::ObjectNotExist);
        root.create_module("IDL:M:1.0", "M", "1.0").unwrap();
        idl_of(&root).unwrap()
    };
    let served = Served::open(&file.0).unwrap();
    assert_eq!(idl_of(&served.remote()).unwrap(), before);
}

/// The bound of a sequence made a sequence of an alias, which kept its name and place.
#[test]
fn an_alias_is_neither_a_sequence_nor_a_string() {
    let served = Served::with("typedef long A;");
    let root = served.remote();
    let before = idl_of(&root).unwrap();
    let alias: AliasDef = served.find("IDL:A:1.0");
    let element = alias.original_type_def().unwrap();
    let sequence = root.create_sequence(3, element.as_ref()).unwrap().unwrap();
    let text = root.create_string(3).unwrap().unwrap();
    // It is the first definition behind the repository.
    let answers = [
        forged(&sequence, "Sequence", 1).set_bound(7),
        forged(&text, "String", 1).set_bound(7),
    ];
    for answer in answers {
        assert_eq!(refused(answer).0, ExceptionKind::ObjectNotExist);
    }
    assert_eq!(idl_of(&root).unwrap(), before);
}
