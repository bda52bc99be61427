// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that no repository has written.

use std::fs;

use orbium::{Config, Orb};
use orbium_ifr::corba::DefinitionKind;
use orbium_ifr::{InterfaceRepository, RepositoryError, idl_of};
use redb::{Database, TableDefinition};

use crate::files::File;
use crate::served::{Served, model};

const ENTRIES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("entries");

/// The octets of a file with a few definitions, of which some may be changed.
fn written(change: impl FnOnce(&mut redb::Table<'_, u64, &'static [u8]>)) -> Vec<u8> {
    let file = File::new();
    {
        let served = Served::open(&file.0).unwrap();
        let idl = "module M { struct S { long a; }; interface I { S f(in S given); }; };";
        served.repository.load(&model(idl)).unwrap();
    }
    let database = Database::create(&file.0).unwrap();
    let transaction = database.begin_write().unwrap();
    change(&mut transaction.open_table(ENTRIES).unwrap());
    transaction.commit().unwrap();
    drop(database);
    fs::read(&file.0).unwrap()
}

fn opened(octets: Vec<u8>) -> Result<String, RepositoryError> {
    let orb = Orb::new(Config::default()).unwrap();
    orb.root_poa().manager().activate().unwrap();
    let text = InterfaceRepository::from_octets(&orb, octets).map(|repository| {
        let root = repository.reference();
        let _ = root.contents(DefinitionKind::DkAll, true);
        idl_of(&root).unwrap_or_default()
    });
    orb.shutdown(true).unwrap();
    text
}

/// Conformance: ORB - Interface Repository - the octets of a file are a repository too
#[test]
fn the_octets_of_a_file_are_a_repository() {
    assert!(opened(written(|_| {})).unwrap().contains("struct S"));
    assert_eq!(opened(Vec::new()), Ok(String::new()));
}

/// The next key was once computed from the greatest there is: an overflow.
#[test]
fn a_key_behind_which_there_is_no_other_is_damage() {
    for key in [u64::MAX, u64::MAX - 1, u64::MAX / 2 + 1] {
        let octets = written(|table| {
            let text = br#"{"name":"","id":"","version":"","container":null,"contents":[],"body":{"String":4}}"#;
            table.insert(key, &text[..]).unwrap();
        });
        let damaged = opened(octets).unwrap_err();
        assert!(matches!(damaged, RepositoryError::Damaged(_)), "{damaged}");
    }
}

#[test]
fn definitions_in_place_of_the_repository_are_damage() {
    for text in [
        r#"{"name":"M","id":"IDL:M:1.0","version":"1.0","container":null,"contents":[],"body":"Module"}"#,
        r#"{"name":"","id":"","version":"","container":0,"contents":[],"body":"Repository"}"#,
        "{}",
        "",
    ] {
        let octets = written(|table| {
            table.insert(0, text.as_bytes()).unwrap();
        });
        let damaged = opened(octets).unwrap_err();
        assert!(matches!(damaged, RepositoryError::Damaged(_)), "{damaged}");
    }
}

/// The engine panics at some of these, as it takes them for impossible.
///
/// Conformance: ORB - Interface Repository - a damaged file is an error
#[test]
fn a_file_with_a_changed_octet_is_read_or_refused_in_words() {
    let octets = written(|_| {});
    let mut refused = 0;
    for at in (0..octets.len().min(64 << 10)).step_by(389) {
        let mut octets = octets.clone();
        octets[at] ^= 0xFF;
        if let Err(error) = opened(octets) {
            assert!(!error.to_string().is_empty());
            refused += 1;
        }
    }
    assert!(refused > 0, "some octets matter");
}

/// These were opened, and written as what is no IDL.
#[test]
fn states_that_no_change_makes_are_damage() {
    let interface = r#"{"name":"I","id":"IDL:I:1.0","version":"1.0","container":0,"contents":[],"body":{"Interface":{"kind":"Plain","bases":[1]}}}"#;
    let constant = r#"{"name":"C","id":"IDL:C:1.0","version":"1.0","container":0,"contents":[],"body":{"Constant":{"ty":{"Primitive":3},"value":[0,0,0,0]}}}"#;
    let root =
        r#"{"name":"","id":"","version":"","container":null,"contents":[1],"body":"Repository"}"#;
    for (definition, why) in [(interface, "inherits itself"), (constant, "another type")] {
        let octets = written(|table| {
            table.retain(|_, _| false).unwrap();
            table.insert(0, root.as_bytes()).unwrap();
            table.insert(1, definition.as_bytes()).unwrap();
        });
        let damaged = opened(octets).unwrap_err();
        assert!(damaged.to_string().contains(why), "{damaged}");
    }
}
