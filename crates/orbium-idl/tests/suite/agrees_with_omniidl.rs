// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same files given to omniidl: both accept or both reject.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::catalogue::CASES;
use orbium_idl::{Options, compile, compile_source};

/// The file of that name on the program search path.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// omniidl, or a note that it is not there. It may be required.
fn omniidl() -> Option<PathBuf> {
    let found = on_path("omniidl");
    if found.is_none() {
        eprintln!("SKIPPED: omniidl is not installed");
        let required = std::env::var("ORBIUM_REQUIRE_PEERS").is_ok_and(|v| v == "1");
        assert!(!required, "omniidl is required but not installed");
    }
    found
}

/// The folder of IDL files that comes with omniidl: `share/idl/omniORB` next to its `bin`.
fn idl_folder(omniidl: &Path) -> Option<PathBuf> {
    let prefix = omniidl.parent()?.parent()?;
    let folders = ["share/idl/omniORB", "share/idl"];
    folders
        .iter()
        .map(|f| prefix.join(f))
        .find(|folder| folder.join("orb.idl").is_file())
}

fn accepted_by(omniidl: &Path, includes: &[PathBuf], file: &Path) -> bool {
    let mut command = Command::new(omniidl);
    command
        .arg("-bdump")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for folder in includes {
        command.arg(format!("-I{}", folder.display()));
    }
    command.arg(file).status().expect("omniidl runs").success()
}

fn idl_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path());
    let mut files: Vec<_> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "idl"))
        .collect();
    files.sort();
    files
}

/// Conformance: IDL - the same verdict as omniidl, both ways
#[test]
fn on_every_file_that_comes_with_it() {
    let Some(omniidl) = omniidl() else { return };
    let Some(folder) = idl_folder(&omniidl) else {
        eprintln!("SKIPPED: the IDL files of omniORB are not installed");
        let required = std::env::var("ORBIUM_REQUIRE_PEERS").is_ok_and(|v| v == "1");
        assert!(
            !required,
            "the IDL files of omniORB are required but not installed"
        );
        return;
    };
    let includes = [folder.clone(), folder.join("COS")];
    let options = includes.iter().fold(Options::new(), Options::include);
    let mut files = idl_files(&folder);
    files.extend(idl_files(&folder.join("COS")));
    assert!(files.len() > 10, "{files:?}");
    let mut disagreements = String::new();
    let mut accepted = 0;
    for file in &files {
        let theirs = accepted_by(&omniidl, &includes, file);
        let compilation = compile(&options, file);
        let ours = compilation.model.is_some();
        accepted += usize::from(ours);
        if ours != theirs {
            disagreements.push_str(&format!(
                "{}: omniidl {theirs}, orbium {ours}\n{compilation}\n",
                file.display()
            ));
        }
    }
    assert!(disagreements.is_empty(), "{disagreements}");
    assert!(
        accepted > files.len() / 2,
        "only {accepted} of {}",
        files.len()
    );
}

/// Conformance: IDL - the same verdict as omniidl, both ways
#[test]
fn on_every_mistake_of_the_catalogue() {
    let Some(omniidl) = omniidl() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agrees_with_omniidl");
    std::fs::create_dir_all(&folder).expect("a folder for the cases");
    let mut disagreements = String::new();
    for case in CASES.iter().filter(|c| c.peers) {
        let file = folder.join(format!("case_{}.idl", case.number));
        std::fs::write(&file, case.text()).expect("the case is written");
        let ours = compile(&Options::new(), &file).model.is_some();
        let theirs = accepted_by(&omniidl, &[], &file);
        if ours || theirs {
            disagreements.push_str(&format!(
                "{}: omniidl {theirs}, orbium {ours}: {}\n",
                case.number, case.marked
            ));
        }
    }
    assert!(disagreements.is_empty(), "{disagreements}");
}

/// Conformance: IDL - the same verdict as omniidl, both ways
#[test]
fn on_probes_of_names_and_scopes() {
    let Some(omniidl) = omniidl() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agrees_with_omniidl");
    std::fs::create_dir_all(&folder).expect("a folder for the probes");
    let mut disagreements = String::new();
    for (number, text) in PROBES.iter().enumerate() {
        let file = folder.join(format!("probe_{number}.idl"));
        std::fs::write(&file, text).expect("the probe is written");
        let compilation = compile_source(&Options::new(), "probe.idl", text);
        let ours = compilation.model.is_some();
        let theirs = accepted_by(&omniidl, &[], &file);
        if ours != theirs {
            disagreements.push_str(&format!(
                "omniidl {theirs}, orbium {ours}: {text}\n{compilation}\n"
            ));
        }
    }
    assert!(disagreements.is_empty(), "{disagreements}");
}

/// Files on which opinions could differ.
const PROBES: &[&str] = &[
    "typedef long T; interface I { struct S { T x; }; typedef short T; };",
    "typedef long T; module M { interface I { typedef T U; }; typedef short T; };",
    "typedef long T; module M { struct S { T x; }; typedef short T; };",
    "module M { typedef long T; interface I { typedef T U; void T(); }; };",
    "interface A { typedef long T; }; interface B : A { void f(in T x); typedef short T; };",
    "interface A { typedef long T; }; interface B : A { typedef T U; typedef short T; };",
    "interface A { typedef long T; }; interface B : A { struct S { T x; }; typedef short T; };",
    "interface A { typedef long T; }; interface B { typedef short T; }; interface C : A, B { typedef char T; void f(in T x); };",
    "interface A { typedef long T; }; interface B { void T(); }; interface C : A, B {};",
    "interface A { void f(); }; interface B : A { typedef long f; };",
    "interface A { typedef long f; }; interface B : A { void f(); };",
    "interface A { enum E { x, y }; }; interface B : A { enum F { x, z }; };",
    "interface A { const long N = 1; }; interface B : A { const long N = 2; };",
    "interface A { exception E {}; }; interface B : A { void f() raises(E); exception E {}; };",
    "module M { enum E { x, y }; }; union U switch(M::E) { case x: long a; };",
    "module M { enum E { x, y }; }; union U switch(M::E) { case M::x: long a; };",
    "enum E { x, y }; union U switch(E) { case x: long x; };",
    "enum E { x, y }; union U switch(E) { case x: long e; };",
    "struct S { enum E { a } e; };",
    "typedef long Foo; interface I { attribute Foo foo; };",
    "typedef long Foo; interface I { Foo foo(); };",
    "exception E {}; interface I { void e() raises(E); };",
    "exception E {}; interface I { void f() raises(E); void e(); };",
    "module A { typedef long T; }; module B { typedef A::T U; typedef long A; };",
    "module A { typedef long T; }; module B { typedef ::A::T U; typedef long A; };",
    "module A { typedef long T; }; interface I { void f(in A::T t, in long a); };",
    "module A { typedef long T; }; interface I { void f(in ::A::T t, in long a); };",
    "module A { typedef long T; module B { typedef long U; }; }; typedef A::B::T X;",
    "module M { struct S { long x; }; }; module M { typedef S T; };",
    "interface I { void f(in long I); };",
    "interface I { void f(in long f); };",
    "module M { enum E { M }; };",
    "enum E { E, b };",
    "struct S { long S; };",
    "struct A; typedef sequence<A> As; struct B { As a; }; struct A { long x; };",
    "struct A; typedef A B; struct A { long x; };",
    "struct A; interface I { void f(in A x); }; struct A { long x; };",
    "struct S { sequence<S> x[3]; };",
    "struct S { struct T { sequence<S> s; } t2; };",
    "union U switch (long) { case 1: sequence<U> us; };",
    "#pragma prefix \"a\"\ninterface I;\n#pragma prefix \"b\"\ninterface I {};",
    "interface A {};\n#pragma version A 1.1\n#pragma ID A \"IDL:A:1.1\"\n",
    "#pragma ID Foo \"IDL:A:1.1\"\n",
    "valuetype V; interface I { void f(in V v); };",
    "interface A {}; interface B : A {}; valuetype V supports A {}; valuetype W : V supports B {};",
    "interface A {}; interface B {}; valuetype V supports A {}; valuetype W : V supports B {};",
    "valuetype A {}; abstract valuetype B {}; valuetype C : B, A {};",
    "custom valuetype A {}; valuetype B : truncatable A {};",
    "valuetype A long; valuetype B A;",
    "valuetype V { public long x; void x(); };",
    "valuetype V { public long x; }; valuetype W : V { public long x; };",
    "valuetype V { factory f(); }; valuetype W : V { factory f(); };",
    "local interface L {}; exception E { L x; }; interface I { void f() raises(E); };",
    "local interface L {}; interface I { attribute L x; };",
    "local interface L {}; valuetype V { public L x; };",
    "const long X = 'a';",
    "const boolean X = TRUE | FALSE;",
    "const double X = 1.0 + 1.0d;",
    "const unsigned short X = ~0;",
    "const unsigned long X = -1 + 2;",
    "const wchar X = 'a';",
    "const string X = \"a\" L\"b\";",
    "typedef fixed<5,2> F; const F X = 12345.2d;",
    "typedef fixed<5,2> F; const F X = 1.234d;",
    "module M { typedef long T;; };",
    "interface I { void f();; };",
    "enum E { a, b, };",
    "module M { typedef long T; }\ninterface I {};",
    "const long X = 09;",
    "typedef long caf\u{e9};",
    "const string caf = \"caf\u{e9}\"; // caf\u{e9}",
    "interface A {}; typedef A B; interface C : B {};",
    "exception E {}; typedef E F;",
    "interface A { attribute long x; }; interface B : A { void X(); };",
    "interface A { void f(); }; interface B : A {}; interface C : A {}; interface D : B, C {};",
    "abstract interface A { void f(); }; interface B { void f(); }; interface C : A, B {};",
    "interface I { readonly attribute long x; void _get_x(); };",
    "#define T long\ntypedef T U;",
    "const long N = 1; interface I { struct S { long x[N]; }; const long N = 2; };",
    "const long N = 1; interface I { struct S { string<N> x; }; typedef long N; };",
    "module A { typedef long T; }; interface I { struct S { A::T x; }; typedef long A; };",
    "module A { typedef long T; }; interface I { void f(in A::T x); typedef long A; };",
    "module A { exception E {}; }; interface I { void f() raises(A::E); typedef long A; };",
    "enum C { r, g }; interface I { union U switch(C) { case r: long x; }; const long r = 1; };",
    "enum C { r, g }; interface I { union U switch(C) { case r: long x; }; void R(); };",
    "exception E {}; interface I { void f() raises(E); exception E {}; };",
    "interface I; interface J { void f(in I x); void i(); }; interface I {};",
    "exception E {}; valuetype V { factory make() raises(E); void e(); };",
    "exception E {}; interface B { void f(in long x) raises(E); void g(in long e); };",
];
