// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repositories in files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_ifr::corba::{EnumDef, IdlType};
use orbium_ifr::{LoadError, RepositoryError, idl_of};

use crate::kitchen::KITCHEN;
use crate::served::{Served, model};

/// A file of one test, gone with it.
pub(crate) struct File(pub(crate) PathBuf);

impl File {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("orbium-ifr-{}-{number}.redb", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Conformance: ORB - Interface Repository - definitions in a file outlive the process
#[test]
fn a_file_has_what_was_loaded_when_it_is_opened_again() {
    let file = File::new();
    let before = {
        let served = Served::open(&file.0).unwrap();
        served.repository.load(&model(KITCHEN)).unwrap();
        let colour: EnumDef = served.find("IDL:orbium.test/Kitchen/Colour:1.0");
        colour.set_version("2.0").unwrap();
        idl_of(&served.remote()).unwrap()
    };
    let served = Served::open(&file.0).unwrap();
    assert_eq!(idl_of(&served.remote()).unwrap(), before);
    let colour: EnumDef = served.find("IDL:orbium.test/Kitchen/Colour:1.0");
    assert_eq!(colour.version().unwrap(), "2.0");
    let node: IdlType = served.find("IDL:orbium.test/Kitchen/Node:1.0");
    assert_eq!(node.r#type().unwrap().name(), "Node");
}

/// Conformance: ORB - Interface Repository - a load is one transaction
#[test]
fn a_load_that_fails_changes_nothing() {
    let file = File::new();
    let loaded = "module M { struct S { long a; }; interface Same { void f(); }; };";
    let different = "module New { struct T { long a; }; }; module M { struct S { string a; }; };";
    {
        let served = Served::open(&file.0).unwrap();
        served.repository.load(&model(loaded)).unwrap();
        let before = idl_of(&served.remote()).unwrap();
        let refused = served.repository.load(&model(different)).unwrap_err();
        assert_eq!(refused, LoadError::Different("IDL:M/S:1.0".to_owned()));
        assert!(served.remote().lookup("New").unwrap().is_none());
        assert_eq!(idl_of(&served.remote()).unwrap(), before);
    }
    let served = Served::open(&file.0).unwrap();
    assert!(served.remote().lookup("New").unwrap().is_none());
    assert!(served.remote().lookup("M::S").unwrap().is_some());
}

#[test]
fn definitions_that_differ_are_refused_by_their_ids() {
    let loaded = "module M { enum E { a, b }; interface I { void f(in long x); };
                  typedef sequence<long> L; valuetype V { public long a; }; };";
    for (idl, id) in [
        ("module M { enum E { a, c }; };", "IDL:M/E:1.0"),
        (
            "module M { interface I { void f(in short x); }; };",
            "IDL:M/I/f:1.0",
        ),
        (
            "module M { interface I { void f(in long x); void g(); }; };",
            "IDL:M/I/g:1.0",
        ),
        ("module M { interface I { }; };", "IDL:M/I:1.0"),
        ("module M { typedef sequence<long, 2> L; };", "IDL:M/L:1.0"),
        (
            "module M { valuetype V { private long a; }; };",
            "IDL:M/V:1.0",
        ),
        ("module M { struct E { long a; }; };", "IDL:M/E:1.0"),
    ] {
        let served = Served::with(loaded);
        let refused = served.repository.load(&model(idl)).unwrap_err();
        assert_eq!(refused, LoadError::Different(id.to_owned()), "{idl}");
    }
}

#[test]
fn an_interface_that_was_declared_is_defined_later() {
    let served = Served::with("interface Later; interface User { Later get(); };");
    let defined = "interface Later { void f(); }; interface User { Later get(); };";
    assert_eq!(served.repository.load(&model(defined)).unwrap(), 1);
    assert!(served.remote().lookup("Later::f").unwrap().is_some());
    let declared = "interface Later; interface User { Later get(); };";
    assert_eq!(served.repository.load(&model(declared)).unwrap(), 0);
}

#[test]
fn a_value_type_that_was_declared_is_defined_later() {
    let declared = "valuetype Later; abstract valuetype Other; valuetype User { public Later v; };";
    let served = Served::with(declared);
    let concrete = "valuetype Later; valuetype Other { }; valuetype User { public Later v; };";
    let refused = served.repository.load(&model(concrete)).unwrap_err();
    assert_eq!(refused, LoadError::Different("IDL:Other:1.0".to_owned()));
    let defined = "abstract valuetype Other { long g(); };
      valuetype Later : Other {
        typedef sequence<long> Longs;
        public Longs a;
        private sequence<octet, 4> b;
        void f();
        factory make();
      };
      valuetype User { public Later v; };";
    assert_eq!(served.repository.load(&model(defined)).unwrap(), 5);
    for name in [
        "Later::Longs",
        "Later::a",
        "Later::b",
        "Later::f",
        "Other::g",
    ] {
        assert!(served.remote().lookup(name).unwrap().is_some(), "{name}");
    }
    assert_eq!(served.repository.load(&model(declared)).unwrap(), 0);
    assert_eq!(served.repository.load(&model(defined)).unwrap(), 0);
    let other = defined.replace("public Longs a", "public long a");
    let refused = served.repository.load(&model(&other)).unwrap_err();
    assert_eq!(refused, LoadError::Different("IDL:Later:1.0".to_owned()));
}

#[test]
fn components_are_not_loaded_but_refused_where_they_are_used() {
    let served = Served::empty();
    let unused = "component C { }; struct S { long a; };";
    assert_eq!(served.repository.load(&model(unused)).unwrap(), 1);
    let used = "component D { }; interface I { void f(in D it); };";
    let refused = served.repository.load(&model(used)).unwrap_err();
    assert!(
        matches!(refused, LoadError::Unsupported { .. }),
        "{refused}"
    );
}

#[test]
fn a_file_that_is_no_repository_is_refused() {
    let file = File::new();
    fs::write(&file.0, "no database").unwrap();
    let refused = Served::open(&file.0).err().unwrap();
    assert!(matches!(refused, RepositoryError::Database(_)), "{refused}");
}
