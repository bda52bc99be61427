// SPDX-License-Identifier: MIT OR Apache-2.0
//! Build scripts: output files, dependencies, errors and warnings.

use std::fs;
use std::path::{Path, PathBuf};

use orbium_build::{Config, Error};

/// A folder of its own for each test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn config(&self) -> Config {
        Config::new().out_dir(self.0.join("out"))
    }
}

/// Conformance: complaint 30 - the IDL compiler needs Python
#[test]
fn a_file_becomes_rust_under_its_own_name_or_one_that_is_given() {
    let folder = Folder::new("names");
    let bank = folder.file("bank.idl", "module Bank { struct S { long a; }; };");
    let compiled = folder.config().try_compile(&bank).unwrap();
    let out = folder.0.join("out");
    assert_eq!(compiled.written, [out.join("bank.rs")]);
    let code = fs::read_to_string(out.join("bank.rs")).unwrap();
    assert!(code.contains("pub mod bank {"));
    assert_eq!(compiled.warnings, "");
    let named = folder.config().name("money").try_compile(bank).unwrap();
    assert_eq!(named.written, [out.join("money.rs")]);
}

/// The second of two files with one name replaced the code of the first.
#[test]
fn files_with_one_name_are_not_written_over_each_other() {
    let folder = Folder::new("one-name");
    let [a, b] = ["a", "b"].map(|name| {
        folder.file(
            &format!("{name}/types.idl"),
            &format!("typedef long {name};"),
        )
    });
    let written = folder.config().try_compile(&a).unwrap().written;
    let error = folder.config().try_compile(&b).unwrap_err();
    assert!(error.to_string().contains("`Config::name`"), "{error}");
    assert!(
        matches!(&error, Error::SameName { path, other } if *path == written[0] && *other == a)
    );
    // The same file again, and another name.
    folder.config().try_compile(&a).unwrap();
    let named = folder.config().name("b_types").try_compile(&b).unwrap();
    assert_ne!(named.written, written);
}

#[test]
fn every_file_read_is_reported() {
    let folder = Folder::new("read");
    folder.file(
        "common/types.idl",
        "#include \"deep.idl\"\ntypedef long Money;",
    );
    folder.file("common/deep.idl", "typedef long Deep;");
    let bank = folder.file("bank.idl", "#include <types.idl>\nstruct S { Money m; };");
    let config = folder.config().include(folder.0.join("common"));
    let compiled = config.try_compile(&bank).unwrap();
    let names: Vec<_> = compiled
        .read
        .iter()
        .filter_map(|path| path.file_name())
        .collect();
    assert_eq!(names, ["bank.idl", "deep.idl", "types.idl"]);
}

/// A line break in a path made two lines of one for Cargo.
#[test]
fn paths_with_line_breaks_are_refused() {
    let folder = Folder::new("line-breaks");
    let file = folder.file("a\ncargo:rustc-cfg=b.idl", "struct S { long a; };");
    let error = folder.config().try_compile(&file).unwrap_err();
    assert!(matches!(&error, Error::LineBreak { path } if *path == file));
    assert!(
        error.to_string().ends_with(r#"b.idl" has a line break"#),
        "{error}"
    );
    assert!(!folder.0.join("out").exists());
}

#[test]
fn macros_reach_the_front_end() {
    let folder = Folder::new("macros");
    let file = folder.file(
        "a.idl",
        "#ifdef ADMIN\nstruct Admin { long a; };\n#endif\nstruct S { long a; };",
    );
    let compiled = folder
        .config()
        .define("ADMIN", "1")
        .try_compile(&[file])
        .unwrap();
    assert!(
        fs::read_to_string(&compiled.written[0])
            .unwrap()
            .contains("pub struct Admin")
    );
}

#[test]
fn wrong_idl_is_shown_with_its_line() {
    let folder = Folder::new("wrong");
    let file = folder.file("wrong.idl", "struct S {\n  Nothing n;\n};");
    let error = folder.config().try_compile(&[file]).unwrap_err();
    let shown = error.to_string();
    assert!(matches!(error, Error::Idl { .. }));
    assert!(
        shown.contains("wrong.idl:2:3: error:") && shown.contains("^^^^^^^"),
        "{shown}"
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let folder = Folder::new("missing");
    let error = folder
        .config()
        .try_compile(&[folder.0.join("no.idl")])
        .unwrap_err();
    assert!(error.to_string().contains("no.idl"));
}

#[test]
fn definitions_without_a_mapping_warn_or_fail() {
    let folder = Folder::new("unmapped");
    let file = folder.file("v.idl", "component V {};\nstruct S { long a; };");
    let compiled = folder.config().try_compile(&file).unwrap();
    assert!(
        compiled
            .warnings
            .contains("v.idl:1:11: warning: component `::V` is left out")
    );
    let error = folder
        .config()
        .deny_unmapped(true)
        .try_compile(&file)
        .unwrap_err();
    assert!(matches!(error, Error::Unmapped { ref warnings, .. } if warnings.len() == 1));
}

#[test]
fn an_unchanged_result_is_not_written_again() {
    let folder = Folder::new("unchanged");
    let file = folder.file("a.idl", "struct S { long a; };");
    let config = folder.config();
    let path = config.try_compile(&file).unwrap().written.remove(0);
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    config.try_compile(&file).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
}

/// Conformance: complaint 31 - an old mapping; IDL types only with the ORB
#[test]
fn a_native_type_and_another_runtime_can_be_named() {
    let folder = Folder::new("native");
    let source = "module M { native Instant; local interface Clock { Instant now(); }; };";
    let file = folder.file("n.idl", source);
    let config = folder
        .config()
        .native_type("M::Instant", "::std::time::Instant")
        .runtime("my::orb");
    let compiled = config.try_compile(&[file]).unwrap();
    let code = fs::read_to_string(&compiled.written[0]).unwrap();
    assert!(code.contains("use my::orb as orb;"));
    assert!(code.contains("Result<::std::time::Instant, orb::SystemException>"));
}

#[test]
fn asynchronous_forms_are_asked_for() {
    let folder = Folder::new("asynchronous");
    let file = folder.file("i.idl", "interface I { void f(); };");
    for wanted in [false, true] {
        let config = folder.config().asynchronous(wanted);
        let compiled = config.try_compile(&file).unwrap();
        let code = fs::read_to_string(&compiled.written[0]).unwrap();
        assert_eq!(code.contains("async f_async,"), wanted);
    }
}
