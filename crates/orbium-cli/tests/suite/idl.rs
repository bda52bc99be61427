// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium idl` as its users meet it.

use std::path::Path;

use crate::program::{Folder, project_idl, run};

#[test]
fn good_idl_is_accepted_in_silence() {
    let ran = run([
        "idl",
        "check",
        &project_idl("cubit.idl"),
        &project_idl("ttcp.idl"),
    ]);
    ran.assert_done();
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr, "");
}

/// Conformance: IDL - diagnostics
#[test]
fn bad_idl_is_shown_with_its_line_and_a_caret() {
    let folder = Folder::new();
    let file = folder.file("bad.idl", "interface A {\n  void f(in Foo x);\n};\n");
    let ran = run(["idl", "check", &file]);
    assert_eq!(ran.status, Some(1));
    let expected = format!("{file}:2:13: error: `Foo` is not declared");
    assert!(ran.stderr.starts_with(&expected), "{ran:?}");
    assert!(
        ran.stderr
            .contains("2 |   void f(in Foo x);\n  |             ^^^\n"),
        "{ran:?}"
    );
    assert!(
        ran.stderr.ends_with("1 error and 0 warnings in 1 file\n"),
        "{ran:?}"
    );
    assert!(!ran.stderr.contains('\x1b'), "colour outside of a terminal");
}

#[test]
fn every_faulty_file_is_reported() {
    let folder = Folder::new();
    let first = folder.file("first.idl", "struct S { Foo x; };");
    let second = folder.file("second.idl", "struct S { Bar x; };");
    let ran = run(["idl", "check", &first, &second]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("`Foo`") && ran.stderr.contains("`Bar`"),
        "{ran:?}"
    );
}

#[test]
fn a_directory_stands_for_every_idl_file_below_it() {
    let folder = Folder::new();
    let below = Path::new(&folder.path("below")).join("deep");
    std::fs::create_dir_all(&below).unwrap();
    folder.file(
        "a.idl",
        "#include <below/deep/b.idl>\nstruct A { B part; };",
    );
    folder.file("below/deep/b.idl", "struct B { long l; };");
    folder.file("below/notes.txt", "no IDL");
    // A circle of links has no end.
    std::os::unix::fs::symlink(folder.path(""), below.join("circle")).unwrap();
    let ran = run(["idl", "check", &folder.path("")]);
    ran.assert_done();
    assert_eq!(ran.stderr, "0 errors and 0 warnings in 2 files\n");

    folder.file("below/c.idl", "struct C { Foo f; }; interface Never;");
    let ran = run(["idl", "check", &folder.path("")]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("`Foo` is not declared"), "{ran:?}");
    let summary = "1 error and 1 warning in 3 files\n";
    assert!(ran.stderr.ends_with(summary), "{ran:?}");
    let json = run(["idl", "check", "--json", &folder.path("")]).json();
    assert_eq!(json.as_array().map(Vec::len), Some(2));
}

#[test]
fn a_directory_without_idl_is_named() {
    let folder = Folder::new();
    folder.file("notes.txt", "no IDL");
    run(["idl", "check", &folder.path("")]).assert_failed_saying("there is no `.idl` file in");
}

#[test]
fn deviations_of_distributed_idl_are_errors_only_when_strict() {
    let folder = Folder::new();
    let file = folder.file("f.idl", "interface A; interface B { void f(in A x); };");
    run(["idl", "check", &file]).assert_done();
    assert_eq!(run(["idl", "check", "--strict", &file]).status, Some(1));
}

/// Conformance: IDL - diagnostics
#[test]
fn diagnostics_come_as_json_too() {
    let folder = Folder::new();
    let file = folder.file("bad.idl", "interface A {\n  void f(in Foo x);\n};\n");
    let ran = run(["idl", "check", "--json", &file]);
    assert_eq!(ran.status, Some(1));
    assert_eq!(ran.stderr, "");
    let all = ran.json();
    let only = &all[0];
    assert_eq!(all.as_array().map(Vec::len), Some(1));
    assert_eq!(only["file"], file.as_str());
    assert_eq!(
        (only["line"].as_u64(), only["column"].as_u64()),
        (Some(2), Some(13))
    );
    assert_eq!(only["severity"], "error");
    assert_eq!(only["code"], "undeclared-name");
    assert_eq!(only["message"], "`Foo` is not declared");
    assert!(only["help"].is_string());
}

#[test]
fn json_of_good_idl_is_an_empty_array() {
    let ran = run(["idl", "check", "--json", &project_idl("cubit.idl")]);
    ran.assert_done();
    assert_eq!(ran.json(), serde_json::json!([]));
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    let file = folder.path("missing.idl");
    let ran = run(["idl", "check", &file]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains(&file) && ran.stderr.contains("no such file"),
        "{ran:?}"
    );
    let json = run(["idl", "check", "--json", &file]).json();
    assert_eq!(json[0]["file"], file.as_str());
    assert!(json[0]["line"].is_null());
}

#[test]
fn includes_are_searched_and_macros_defined() {
    let folder = Folder::new();
    folder.file("common.idl", "typedef long Foo;\n");
    let outside = Folder::new();
    let text = "#include <common.idl>\n#ifdef WIDE\ntypedef Foo Bar;\n#endif\nstruct S { Bar b; };";
    let file = outside.file("main.idl", text);
    let include = format!("-I{}", folder.path(""));
    run(["idl", "check", &include, "-DWIDE", &file]).assert_done();
    assert_eq!(run(["idl", "check", &include, &file]).status, Some(1));
    assert_eq!(run(["idl", "check", "-DWIDE", &file]).status, Some(1));
}

#[test]
fn a_macro_without_a_name_is_wrong_usage() {
    let ran = run(["idl", "check", "-D", "=1", "x.idl"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("the name of the macro is missing"),
        "{ran:?}"
    );
}

#[test]
fn rust_is_written_and_the_same_each_time() {
    let folder = Folder::new();
    let out = folder.path("made/for/it");
    let ran = run(["idl", "gen", &project_idl("cubit.idl"), "-o", &out]);
    ran.assert_done();
    let path = format!("{out}/cubit.rs");
    assert_eq!(ran.stdout.trim(), path);
    let first = std::fs::read_to_string(&path).unwrap();
    assert!(first.contains("pub mod cubit"));
    run(["idl", "gen", &project_idl("cubit.idl"), "-o", &out]).assert_done();
    assert_eq!(first, std::fs::read_to_string(&path).unwrap());
}

#[test]
fn definitions_without_a_mapping_are_left_out_or_refused() {
    let folder = Folder::new();
    let file = folder.file("v.idl", "component V {}; struct S { long l; };");
    let out = folder.path("out");
    let ran = run(["idl", "gen", &file, "-o", &out]);
    ran.assert_done();
    assert!(
        ran.stderr.contains("warning: component `::V` is left out"),
        "{ran:?}"
    );
    let refused = folder.path("refused");
    let ran = run(["idl", "gen", &file, "-o", &refused, "--deny-unmapped"]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("no mapping to Rust"), "{ran:?}");
    assert!(!std::path::Path::new(&refused).join("v.rs").exists());
}

#[test]
fn calls_that_do_not_wait_are_written_where_asked_for() {
    let folder = Folder::new();
    let file = project_idl("cubit.idl");
    for option in [
        None,
        Some("--asynchronous"),
        Some("--pollers"),
        Some("--handlers"),
    ] {
        let out = folder.path(option.unwrap_or("plain"));
        let arguments = ["idl", "gen", &file, "-o", &out].into_iter();
        let arguments: Vec<_> = arguments.chain(option).collect();
        run(arguments).assert_done();
        let code = std::fs::read_to_string(format!("{out}/cubit.rs")).unwrap();
        assert_eq!(code.contains("async cube_long_async"), option.is_some());
        let has_pollers = option == Some("--pollers");
        assert_eq!(code.contains("sendp_cube_long"), has_pollers);
        let has_handlers = option == Some("--handlers");
        assert_eq!(code.contains("sendc_cube_long"), has_handlers);
        assert_eq!(code.contains("pub struct AmiCubeHandler"), has_handlers);
    }
}

#[test]
fn generated_code_follows_the_options_for_servants_and_native_types() {
    let folder = Folder::new();
    let idl = "module M { native Moment; local interface Clock { void set(in Moment at); };\n\
               interface A { long f(); string g(); }; };";
    let file = folder.file("a.idl", idl);
    let out = folder.path("out");
    let options = [
        ("--handlers", ""),
        ("--native-type", "M::Moment=::std::time::Instant"),
        ("--async-servants", "M::AMI_AHandler"),
        ("--deferred-replies", "M::A::f"),
    ];
    let options = options.iter().flat_map(|(option, value)| [*option, *value]);
    let options = options.filter(|it| !it.is_empty());
    run(["idl", "gen", &file, "-o", &out].into_iter().chain(options)).assert_done();
    let code = std::fs::read_to_string(format!("{out}/a.rs")).unwrap();
    assert!(code.contains("at: &::std::time::Instant"), "{code}");
    assert!(code.contains("trait AmiAHandlerAsyncServant: orbium::messaging::"));
    assert!(
        code.contains("\"f\" { async f_async, deferred i32, };"),
        "{code}"
    );
    assert!(!code.contains("deferred String"), "{code}");
    let arguments = ["idl", "stub", &file, "--deferred-replies", "M::A::f"];
    let native = ["--native-type", "M::Moment=::std::time::Instant"];
    let ran = run(arguments.into_iter().chain(native));
    ran.assert_done();
    let deferred = ran.stdout.matches("DeferredReply<").count();
    assert_eq!(deferred, 1, "{ran:?}");
}

#[test]
fn several_files_are_one_project() {
    let folder = Folder::new();
    let shared = folder.file("shared.idl", "module M { struct Shared { long a; }; };");
    let own = "#include \"shared.idl\"\nmodule M { struct Own { Shared first; }; };";
    let own = folder.file("own.idl", own);
    let out = folder.path("out");
    let ran = run(["idl", "gen", &own, &shared, "-o", &out, "--name", "both"]);
    ran.assert_done();
    let code =
        std::fs::read_to_string(std::path::Path::new(&out).join("both.rs")).expect("written");
    assert_eq!(code.matches("pub struct Shared:").count(), 1);
    assert_eq!(code.matches("pub mod m {").count(), 1);
    assert!(code.contains("pub first: Shared,"));
    // What another file defines may be elsewhere.
    let external = "shared.idl=::shared";
    let ran = run(["idl", "gen", &own, "-o", &out, "--external", external]);
    ran.assert_done();
    let code = std::fs::read_to_string(std::path::Path::new(&out).join("own.rs")).expect("written");
    assert!(code.contains("pub first: ::shared::m::Shared,"));
    let ran = run(["idl", "gen", &own, "-o", &out, "--external", "M"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("`IDL=RUST` expected"), "{ran:?}");
}

#[test]
fn servants_to_be_filled_in_are_written_once() {
    let folder = Folder::new();
    let cubit = project_idl("cubit.idl");
    let ran = run(["idl", "stub", &cubit, "--in", "crate::generated"]);
    ran.assert_done();
    for line in [
        "use crate::generated::cubit;\n",
        "pub struct CubeImpl;\n",
        "impl cubit::CubeServant for CubeImpl {\n",
        "    fn cube_long(&self, call: &Call<'_>, v: i32) -> Result<i32, cubit::TooBigError> {\n        todo!()\n    }\n",
    ] {
        assert!(ran.stdout.contains(line), "{line}\n{ran:?}");
    }
    let own = folder.path("");
    run(["idl", "stub", &cubit, "-o", &own]).assert_done();
    let file = folder.path("servants.rs");
    // What a programmer has filled in is not lost.
    std::fs::write(&file, "filled in").expect("a file");
    run(["idl", "stub", &cubit, "-o", &own]).assert_failed_saying("`--force` replaces it");
    assert_eq!(std::fs::read_to_string(&file).expect("kept"), "filled in");
    run(["idl", "stub", &cubit, "-o", &file, "--force"]).assert_done();
    let written = std::fs::read_to_string(&file).expect("written");
    assert!(written.contains("pub struct CubeImpl;"), "{written}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    let file = folder.file("in-the-way", "");
    let ran = run(["idl", "gen", &project_idl("cubit.idl"), "-o", &file]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("cannot write") && ran.stderr.contains(&file),
        "{ran:?}"
    );
}

#[test]
fn nothing_to_do_is_wrong_usage() {
    for arguments in [
        vec![],
        vec!["idl"],
        vec!["idl", "check"],
        vec!["idl", "gen", "x.idl"],
        vec!["nonsense"],
    ] {
        assert_eq!(run(arguments).status, Some(2));
    }
}

#[test]
fn help_is_help_and_no_error() {
    for arguments in [
        vec!["--help"],
        vec!["idl", "check", "--help"],
        vec!["--version"],
    ] {
        let ran = run(arguments);
        ran.assert_done();
        assert_eq!(ran.stderr, "");
        assert!(ran.stdout.contains("orbium"), "{ran:?}");
    }
}
