// SPDX-License-Identifier: MIT OR Apache-2.0
//! Public names under `orbium` for all types in its signatures.

use std::collections::BTreeSet;
use std::path::Path;

/// The text of a source of a crate.
fn source(name: &str, file: &str) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = crates.join(name).join("src").join(file);
    std::fs::read_to_string(path).unwrap()
}

/// Modules of the core that a feature adds.
const OF_FEATURES: [&str; 2] = ["asynchronous", "values"];

/// The names that `pub use` and `pub mod` make public in a root, those without
/// documentation left out.
fn public_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_hidden = false;
    for item in text.split_inclusive([';', '}']) {
        for line in item.lines().map(str::trim) {
            is_hidden |= line == "#[doc(hidden)]";
        }
        let item = item.lines().filter(|line| !line.trim().starts_with("//"));
        let item = item.collect::<Vec<_>>().join(" ");
        if let Some((_, used)) = item.split_once("pub use ").or(item.split_once("pub mod ")) {
            let used = used.rsplit_once("::{").map_or_else(
                || used.rsplit([' ', ':']).next().unwrap_or(used),
                |(_, list)| list,
            );
            let used = used
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|name| !name.is_empty() && !is_hidden);
            names.extend(used.map(str::to_owned));
        }
        if item.trim() != "" {
            is_hidden = false;
        }
    }
    names
}

/// A servant written by hand could name neither `UntypedReply` nor `DispatchError`, which its
/// `dispatch` takes and returns: only the hidden module of generated code had them.
#[test]
fn every_public_name_of_the_core_is_public_in_the_facade() {
    let facade = source("orbium", "lib.rs");
    let (facade, _) = facade.split_once("pub mod codegen").unwrap();
    let mut facade = public_names(facade);
    facade.extend(public_names(&source("orbium-transport", "lib.rs")));
    let mut core = public_names(&source("orbium-core", "lib.rs"));
    for module in OF_FEATURES {
        assert!(core.remove(module), "{core:?}");
        core.extend(public_names(&source(
            "orbium-core",
            &format!("{module}.rs"),
        )));
    }
    for known in ["Orb", "ObjectRef", "metrics", "SystemException"] {
        assert!(core.contains(known), "{core:?}");
    }
    let missing: Vec<_> = core.difference(&facade).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Names of other crates that signatures of the façade have.
#[test]
fn types_in_signatures_have_a_public_name() {
    use orbium::{extension, stub};

    fn named<T: ?Sized>() -> &'static str {
        std::any::type_name::<T>()
    }
    let names = [
        named::<orbium::cdr::TCKind>(),
        named::<orbium::protocol::PeerMemory>(),
        named::<orbium::config::UnknownStrategy>(),
        named::<orbium::config::UnknownClientStrategy>(),
        named::<orbium::transport::OptionError>(),
        named::<stub::DispatchError>(),
        named::<stub::OperationTable>(),
        named::<stub::UntypedReply<'_>>(),
        named::<dyn extension::RealTime>(),
    ];
    assert!(
        names.iter().all(|name| name.contains("orbium")),
        "{names:?}"
    );
}
