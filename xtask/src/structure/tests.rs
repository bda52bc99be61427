// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests on small artificial trees.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::functions::functions;
use super::measures::{Measures, OfCrate};
use super::module_tree::Tree;
use super::tokens::{Switches, switches};

/// A folder of packages that is removed when it is dropped.
struct Packages(PathBuf);

impl Packages {
    fn new(files: &[(&str, &str)]) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("structure-{}-{number}", std::process::id()));
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn measures(&self, names: &[&str]) -> Measures {
        let mut tree = Tree::default();
        for name in names {
            tree.read_crate(name, &self.0.join(name)).unwrap();
        }
        Measures::of(&tree)
    }

    /// The cycles of the package `one`, by names of files.
    fn cycles(&self) -> Vec<Vec<String>> {
        cycles(&self.measures(&["one"]).crates[0], &self.0.join("one/src"))
    }
}

impl Drop for Packages {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn cycles(krate: &OfCrate, below: &Path) -> Vec<Vec<String>> {
    let name = |path: &PathBuf| path.strip_prefix(below).unwrap().display().to_string();
    let named = krate.cycles.iter().map(|set| {
        let mut set: Vec<_> = set.iter().map(name).collect();
        set.sort();
        set
    });
    named.collect()
}

#[test]
fn files_that_import_each_other_are_a_cycle() {
    let packages = Packages::new(&[
        ("one/src/lib.rs", "mod a; mod b; mod c;"),
        ("one/src/a.rs", "use crate::b::B; pub struct A(B);"),
        ("one/src/b.rs", "use super::a::A; pub struct B(Vec<A>);"),
        ("one/src/c.rs", "use crate::a::A; pub struct C(A);"),
    ]);
    assert_eq!(packages.cycles(), [["a.rs", "b.rs"]]);
}

#[test]
fn a_cycle_through_a_reexport_is_of_the_files_that_define() {
    let packages = Packages::new(&[
        ("one/src/lib.rs", "mod a; mod room; pub use room::Inner;"),
        ("one/src/a.rs", "use crate::Inner; pub struct A(Inner);"),
        ("one/src/room/mod.rs", "mod inner; pub use inner::Inner;"),
        (
            "one/src/room/inner.rs",
            "use crate::a::A as Other; pub struct Inner(Vec<Other>);",
        ),
    ]);
    assert_eq!(packages.cycles(), [["a.rs", "room/inner.rs"]]);
}

#[test]
fn a_reexport_itself_is_no_import() {
    let packages = Packages::new(&[
        ("one/src/lib.rs", "mod a; pub use a::A; pub struct Error;"),
        ("one/src/a.rs", "use crate::Error; pub struct A(Error);"),
    ]);
    assert!(packages.cycles().is_empty());
}

#[test]
fn paths_within_bodies_and_macros_count() {
    let packages = Packages::new(&[
        ("one/src/lib.rs", "mod a; mod b; mod c;"),
        (
            "one/src/a.rs",
            "pub const LIMIT: u8 = 1; pub fn f() -> u8 { crate::b::g(0) }",
        ),
        (
            "one/src/b.rs",
            "pub fn g(x: u8) -> u8 { assert!(x < super::c::C); x }",
        ),
        ("one/src/c.rs", "pub const C: u8 = crate::a::LIMIT;"),
    ]);
    assert_eq!(packages.cycles(), [["a.rs", "b.rs", "c.rs"]]);
}

#[test]
fn globs_and_names_of_modules_are_followed() {
    let packages = Packages::new(&[
        (
            "one/src/lib.rs",
            "mod a; mod room; mod all { pub use crate::room::*; }",
        ),
        ("one/src/a.rs", "use crate::all::*; pub struct A(Deep);"),
        ("one/src/room.rs", "mod deep; pub use self::deep::*;"),
        (
            "one/src/room/deep.rs",
            "use crate::a; pub struct Deep(Vec<a::A>);",
        ),
    ]);
    assert_eq!(packages.cycles(), [["a.rs", "room/deep.rs"]]);
}

#[test]
fn a_name_of_the_own_module_goes_before_that_of_a_crate() {
    let packages = Packages::new(&[
        ("one/src/lib.rs", "mod a; mod two; mod b;"),
        ("one/src/a.rs", "pub struct A; fn f(_: crate::b::B) {}"),
        (
            "one/src/b.rs",
            "pub mod two { pub struct T(super::super::a::A); } fn f() { two::T(); } pub struct B;",
        ),
        ("one/src/two.rs", "pub struct T;"),
        ("two/src/lib.rs", "pub struct T;"),
    ]);
    let measures = packages.measures(&["one", "two"]);
    assert_eq!(
        cycles(&measures.crates[0], &packages.0.join("one/src")),
        [["a.rs", "b.rs"]]
    );
    assert!(measures.cycles_of_crates.is_empty());
}

#[test]
fn crates_that_use_each_other_are_a_cycle() {
    let packages = Packages::new(&[
        ("one/src/lib.rs", "pub struct A; pub fn f(_: two::B) {}"),
        ("two/src/lib.rs", "pub struct B; pub fn f(_: one::A) {}"),
    ]);
    assert_eq!(packages.measures(&["one", "two"]).cycles_of_crates.len(), 1);
}

#[test]
fn tests_count_for_nothing() {
    let packages = Packages::new(&[
        (
            "one/src/lib.rs",
            "#![allow(dead_code)]\nmod a; mod b;\n#[cfg(test)] mod tests;\n",
        ),
        ("one/src/a.rs", "use crate::b::B; pub struct A(B);"),
        (
            "one/src/b.rs",
            "pub struct B;\n#[cfg(all(test, not(loom)))]\nmod tests {\n    use crate::a::A;\n    fn long() {}\n}\n",
        ),
        ("one/src/tests.rs", "fn f() {}"),
    ]);
    let measures = packages.measures(&["one"]);
    assert!(measures.crates[0].cycles.is_empty());
    assert!(measures.functions.is_empty());
    // Two, one and one.
    assert_eq!((measures.crates[0].files, measures.crates[0].lines), (3, 4));
    assert_eq!(measures.crates[0].allows, 1);
}

#[test]
fn imports_that_lead_in_a_circle_name_nothing() {
    let packages = Packages::new(&[
        ("one/src/lib.rs", "mod a; mod b; fn f(_: a::X) {}"),
        ("one/src/a.rs", "pub use crate::b::X; pub use crate::b::*;"),
        ("one/src/b.rs", "pub use crate::a::X; pub use crate::a::*;"),
    ]);
    assert!(packages.cycles().is_empty());
}

#[test]
fn a_file_of_another_name_and_items_of_macros_are_found() {
    let packages = Packages::new(&[
        (
            "one/src/lib.rs",
            "mod a; #[cfg_attr(unix, path = \"b/on_unix.rs\")] mod b;",
        ),
        (
            "one/src/a.rs",
            "make! { pub struct A { x: u8 } } fn f(_: crate::b::B) {}",
        ),
        ("one/src/b/on_unix.rs", "pub struct B(crate::a::A);"),
    ]);
    assert_eq!(packages.cycles(), [["a.rs", "b/on_unix.rs"]]);
    assert_eq!(packages.measures(&["one"]).crates[0].paths, 1);
}

#[test]
fn switches_are_counted_wherever_they_stand() {
    let text =
        "#[cfg(feature = \"a\")] mod a; #[cfg_attr(not(feature = \"b\"), path = \"c.rs\")] mod b;
        #[cfg(unix)] fn f() { if cfg!(feature = \"c\") {} } #[path = \"d.rs\"] mod d;";
    let expected = Switches {
        features: 3,
        paths: 2,
    };
    assert_eq!(switches(text.parse().unwrap()), expected);
}

#[test]
fn a_function_that_is_never_inlined_needs_a_ceiling_and_a_comment() {
    let packages = Packages::new(&[(
        "one/src/lib.rs",
        "// Out of the loop.\n#[inline(never)]\nfn f() {}\n\n#[inline(never)]\nfn g() {}\n",
    )]);
    let values = packages.measures(&["one"]).values();
    assert_eq!(values.get("inline(never)", "one"), 2);
    assert_eq!(
        values.get("inline(never) without a comment above", "one"),
        1
    );
}

#[test]
fn functions_have_lines_and_branches() {
    let text = "
        #[inline]
        fn plain(x: u8) -> u8 {
            x
        }
        impl S {
            fn branches(&self, x: Option<u8>) -> Result<u8, ()> {
                let Some(x) = x else { return Err(()) };
                for _ in 0..x { if x > 1 && x < 9 { self.f()?; } }
                match x { 1 => Ok(1), 2 if x > 0 => Ok(2), _ => Err(()) }
            }
        }
        trait T { fn none(&self); fn one(&self) {} }
    ";
    let found = functions(&syn::parse_file(text).unwrap());
    let figures: Vec<_> = found
        .iter()
        .map(|it| (it.name.as_str(), it.lines, it.complexity))
        .collect();
    // let-else, for, if, &&, ?, two arms beyond the first, a guard.
    assert_eq!(
        figures,
        [("plain", 3, 1), ("branches", 5, 9), ("one", 1, 1)]
    );
}

/// A package of `folders`, each with files of these names.
fn package_of(folders: &[&str], names: &[String]) -> Packages {
    let declarations: String = names.iter().map(|it| format!("mod {it};")).collect();
    let modules: String = folders.iter().map(|it| format!("mod {it};")).collect();
    let mut files = vec![("one/src/lib.rs".to_owned(), modules)];
    for folder in folders {
        files.push((format!("one/src/{folder}/mod.rs"), declarations.clone()));
        let named = names.iter().map(|it| format!("one/src/{folder}/{it}.rs"));
        files.extend(named.map(|it| (it, String::new())));
    }
    let borrowed = files.iter().map(|(path, text)| (&**path, &**text));
    Packages::new(&borrowed.collect::<Vec<_>>())
}

#[test]
fn a_folder_with_more_than_fifteen_files_needs_a_ceiling() {
    let names: Vec<_> = (0..16).map(|it| format!("file_{it}")).collect();
    let full = package_of(&["a", "b"], &names[..15]).measures(&["one"]);
    assert_eq!(full.folders.most_files(), 15);
    assert_eq!(full.folders.crowded().count(), 0);

    let packages = package_of(&["a"], &names);
    let folder = packages.0.join("one/src/a").display().to_string();
    let crowded = packages.measures(&["one"]);
    assert_eq!(crowded.values().get("files in a folder", &folder), 16);
}

#[test]
fn a_file_name_in_more_than_five_folders_needs_a_ceiling() {
    let names = ["outcome", "error"].map(str::to_owned);
    let folders = ["a", "b", "c", "d", "e", "f"];
    let five = package_of(&folders[..5], &names).measures(&["one"]);
    assert_eq!(five.folders.most_folders(), 5);
    assert_eq!(five.folders.ambiguous().count(), 0);

    let six = package_of(&folders, &names).measures(&["one"]);
    let ambiguous: Vec<_> = six.folders.ambiguous().collect();
    assert_eq!(ambiguous, [("outcome.rs", 6)]);
    let values = six.values();
    assert_eq!(values.get("folders of a file name", "outcome.rs"), 6);
}
