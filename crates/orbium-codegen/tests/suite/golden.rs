// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL in, Rust out: `tests/golden/*.idl` and what must come of each.
//!
//! After a change that is meant, run with `ORBIUM_BLESS=1` and read the
//! difference before it is committed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use orbium_codegen::{Generated, Options, WarningKind, generate, stub};
use orbium_idl::model::Model;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn files() -> Vec<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../idl");
    let mut files: Vec<PathBuf> = [folder(), project]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "idl"))
        .collect();
    files.sort();
    assert!(files.len() > 8);
    files
}

fn model(file: &Path) -> Model {
    let compilation = orbium_idl::compile(&orbium_idl::Options::new(), file);
    let diagnostics = compilation.to_string();
    compilation.model.unwrap_or_else(|| panic!("{diagnostics}"))
}

fn options(file: &Path) -> Options {
    let options = Options::new(file.to_string_lossy())
        .native_type("::Local::Instant", "::std::time::Instant")
        .asynchronous(file.ends_with("asynchronous.idl"))
        .pollers(file.ends_with("pollers.idl"))
        .handlers(file.ends_with("handlers.idl"))
        .default_bodies(file.ends_with("components.idl"));
    match file.file_name().and_then(|name| name.to_str()) {
        Some("async_servants.idl") => options.async_servants("AsyncServants::*"),
        Some("handlers.idl") => options.async_servants("Handled::AMI_DialHandler"),
        Some("contexts.idl") => {
            let options = options.async_servants("Contexts::Served");
            options.pollers(true).handlers(true)
        }
        _ => options,
    }
}

fn generated(file: &Path) -> Generated {
    generate(&model(file), &options(file)).unwrap()
}

/// The code with the warnings in front, as it is kept.
fn shown(generated: &Generated) -> String {
    let warnings = generated
        .warnings
        .iter()
        .map(|warning| format!("//~ {}\n", warning.message));
    warnings.chain([generated.code.clone()]).collect()
}

/// Conformance: IDL - annotations of element types change no code
#[test]
fn annotations_of_element_types_change_no_code() {
    for name in ["types.idl", "interfaces.idl", "valuetypes.idl"] {
        let file = folder().join(name);
        let plain = fs::read_to_string(&file).unwrap();
        let annotated = plain.replace("sequence<", "sequence<@unit(\"m\") @::X::y() ");
        assert_ne!(annotated, plain);
        let code = |text: &str| {
            let options = orbium_idl::Options::new();
            let compilation = orbium_idl::compile_source(&options, &file.to_string_lossy(), text);
            let diagnostics = compilation.to_string();
            let model = compilation.model.unwrap_or_else(|| panic!("{diagnostics}"));
            generate(&model, &self::options(&file)).unwrap().code
        };
        assert_eq!(code(&annotated), code(&plain), "{name}");
    }
}

/// Conformance: IDL - the mapping to Rust
#[test]
fn generated_code_is_what_it_was() {
    let bless = std::env::var_os("ORBIUM_BLESS").is_some();
    for file in files().iter().filter(|file| file.starts_with(folder())) {
        let shown = shown(&generated(file));
        let golden = file.with_extension("rs");
        if bless {
            fs::write(&golden, shown).unwrap();
            continue;
        }
        let wanted = fs::read_to_string(&golden).unwrap_or_default();
        let difference = wanted
            .lines()
            .zip(shown.lines())
            .position(|(wanted, got)| wanted != got);
        let line = difference.unwrap_or(wanted.lines().count().min(shown.lines().count()));
        assert!(
            wanted == shown,
            "{} differs from line {}:\n{}\ninstead of\n{}",
            golden.display(),
            line + 1,
            shown.lines().nth(line).unwrap_or("(the end)"),
            wanted.lines().nth(line).unwrap_or("(the end)"),
        );
    }
}

/// Conformance: IDL - the mapping to Rust
#[test]
fn generated_code_is_the_same_from_run_to_run() {
    for file in files() {
        assert_eq!(generated(&file), generated(&file), "{}", file.display());
    }
}

/// Says that a test could not run, where `xtask test` looks for it.
pub(crate) fn skipped(what: &str) {
    assert!(std::env::var_os("ORBIUM_REQUIRE_PEERS").is_none(), "{what}");
    let line = format!("SKIPPED: {what}\n");
    eprint!("{line}");
    if let Some(log) = std::env::var_os("ORBIUM_SKIPPED_LOG") {
        let mut log = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(log)
            .unwrap();
        log.write_all(line.as_bytes()).unwrap();
    }
}

/// Where there is a rustfmt, it has nothing to change.
///
/// Conformance: IDL - the mapping to Rust
#[test]
fn rustfmt_would_change_nothing() {
    if Command::new("rustfmt")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        skipped("rustfmt_would_change_nothing: no rustfmt on the path");
        return;
    }
    for file in files() {
        let (model, options) = (model(&file), options(&file));
        let asynchronous = options.clone().asynchronous(true);
        let default_bodies = options.clone().default_bodies(true);
        let all = [
            generate(&model, &options.clone().asynchronous(false).pollers(false)),
            generate(&model, &asynchronous),
            generate(&model, &options.clone().pollers(true)),
            generate(&model, &default_bodies),
            stub(&model, &options, "crate::generated"),
            generate(&model, &options.clone().handlers(true)),
        ];
        for generated in all {
            formatted(&file, &generated.unwrap().code);
        }
    }
}

#[track_caller]
fn formatted(file: &Path, code: &str) {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--check", "--config-path", "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    rustfmt
        .stdin
        .take()
        .unwrap()
        .write_all(code.as_bytes())
        .unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    let difference = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}:\n{difference}", file.display());
}

#[test]
fn no_path_gets_into_generated_code() {
    let folder = env!("CARGO_MANIFEST_DIR");
    for file in files() {
        assert!(
            !generated(&file).code.contains(folder),
            "{}",
            file.display()
        );
    }
}

#[test]
fn generated_code_has_no_unsafe() {
    for file in files() {
        assert!(
            !generated(&file).code.contains("unsafe"),
            "{}",
            file.display()
        );
    }
}

/// Conformance: IDL - values and components, understood though not mapped
#[test]
fn omissions_are_warned_of_once() {
    let generated = generated(&folder().join("unmapped.idl"));
    let mut left_out: Vec<&str> = generated
        .warnings
        .iter()
        .filter(|warning| warning.kind == WarningKind::LeftOut)
        .map(|warning| warning.message.as_str())
        .collect();
    let count = left_out.len();
    left_out.sort_unstable();
    left_out.dedup();
    assert_eq!(left_out.len(), count);
    for name in [
        "Point",
        "Text",
        "Describable",
        "Described",
        "UsesValue",
        "UsesMany",
        "Bad",
        "U",
    ] {
        let scoped = format!("`::Unmapped::{name}` is left out");
        assert!(
            left_out.iter().any(|message| message.contains(&scoped)),
            "{name}"
        );
    }
    // What lies inside of what is left out goes with it.
    assert!(
        !left_out
            .iter()
            .any(|message| message.contains("Point::within"))
    );
    assert!(generated.code.contains("fn stays("));
    assert!(generated.code.contains("pub struct Fine"));
}

/// Conformance: IDL - annotations reported
#[test]
fn annotations_without_effect_are_warned_of() {
    let generated = generated(&folder().join("unmapped.idl"));
    let ignored: Vec<_> = generated
        .warnings
        .iter()
        .filter(|warning| warning.kind == WarningKind::Ignored)
        .collect();
    assert_eq!(ignored.len(), 3);
    assert!(ignored[0].message.contains("@optional"));
}

/// Conformance: IDL - values and components, understood though not mapped
#[test]
fn unmapped_constructs_can_be_errors() {
    let file = folder().join("unmapped.idl");
    let denied = generate(&model(&file), &options(&file).deny_unmapped(true)).unwrap_err();
    assert!(denied.warnings.len() > 8);
    assert!(denied.to_string().contains("no mapping"));
    let fine = folder().join("types.idl");
    assert!(generate(&model(&fine), &options(&fine).deny_unmapped(true)).is_ok());
}

#[test]
fn annotations_do_not_count_as_unmapped() {
    let source = "struct S { @key long id; };";
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "s.idl", source);
    let options = Options::new("s.idl").deny_unmapped(true);
    let generated = generate(&compilation.model.unwrap(), &options).unwrap();
    assert_eq!(generated.warnings.len(), 1);
}

#[test]
fn a_module_from_elsewhere_is_named_and_not_generated() {
    let shared = "module Shared { struct S { long a; }; interface I { S f(); }; };";
    let own = "#include \"shared.idl\"
               module Own { struct T { Shared::S s; }; interface J : Shared::I { void g(); }; };";
    let loader = orbium_idl::Memory::new()
        .with("shared.idl", shared)
        .with("own.idl", own);
    let front = orbium_idl::Options::new();
    let compilation = orbium_idl::compile_with(&front, &loader, Path::new("own.idl"));
    let options = Options::new("own.idl").external_module("Shared", "::shared::idl");
    let code = generate(&compilation.model.unwrap(), &options)
        .unwrap()
        .code;
    assert!(!code.contains("pub mod shared"));
    assert!(code.contains("pub s: ::shared::idl::S,"));
    assert!(code.contains("pub trait JServant: ::shared::idl::IServant;"));
}

/// Two included files, and a third that reopens the module of the first.
fn reopened(options: &Options) -> Generated {
    let base =
        "module Shared { struct S { long a; }; exception E {}; interface I { S f() raises (E); };
                module Deep { struct D { long a; }; }; };";
    let more = "#include \"base.idl\"\nmodule Shared { struct More { S sub; }; };";
    let own = "#include \"base.idl\"\n#include \"sub/more.idl\"
               module Shared { struct Own { S sub; More m; Deep::D deepest; };
               interface J : I { S g(in Own what) raises (E); }; module Deep { struct Mine { D deepest; }; }; };
               struct Outer { Shared::Own o; Shared::More m; };";
    let loader = orbium_idl::Memory::new()
        .with("base.idl", format!("#ifndef B\n#define B\n{base}\n#endif"))
        .with("sub/more.idl", more.replace("base.idl", "../base.idl"))
        .with(
            "sub/../base.idl",
            format!("#ifndef B\n#define B\n{base}\n#endif"),
        )
        .with("own.idl", own);
    let compilation =
        orbium_idl::compile_with(&orbium_idl::Options::new(), &loader, Path::new("own.idl"));
    let diagnostics = compilation.to_string();
    let model = compilation.model.unwrap_or_else(|| panic!("{diagnostics}"));
    generate(&model, options).unwrap()
}

// What the file itself defined in an external module was dropped without a word.
#[test]
fn additions_of_a_file_to_a_module_from_elsewhere_are_generated() {
    let options = Options::new("own.idl").external_module("Shared", "::shared::idl");
    let Generated { code, warnings } = reopened(&options);
    assert_eq!(warnings, []);
    for wanted in [
        "pub mod shared {",
        "pub sub: ::shared::idl::S,",
        "pub m: ::shared::idl::More,",
        "pub deepest: ::shared::idl::deep::D,",
        "pub trait JServant: ::shared::idl::IServant;",
        "fn g(what: &Own) -> Result<::shared::idl::S, EError> = \"g\";",
        "pub struct J: ::shared::idl::I = ",
        "pub enum EError { E(::shared::idl::E) }",
        "pub struct Mine: MINE_TYPE = ",
        "pub o: shared::Own,",
    ] {
        assert!(code.contains(wanted), "{wanted}\n{code}");
    }
    assert!(!code.contains("pub struct S:") && !code.contains("pub struct More:"));
}

#[test]
fn a_file_from_elsewhere_is_named_and_not_generated() {
    let options = Options::new("own.idl").external_file("base.idl", "::base");
    let Generated { code, warnings } = reopened(&options);
    assert_eq!(warnings, []);
    assert!(code.contains("pub struct More:") && code.contains("pub struct Own:"));
    assert!(code.contains("pub sub: ::base::shared::S,"));
    assert!(code.contains("pub deepest: ::base::shared::deep::D,"));
    assert!(!code.contains("pub struct S:") && !code.contains("pub struct D:"));
}

#[test]
fn missing_definitions_cannot_come_from_elsewhere() {
    let options = Options::new("own.idl")
        .external_module("Shard", "::shared")
        .external_file("bas.idl", "::base");
    let messages: Vec<_> = reopened(&options)
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        messages,
        [
            "own.idl:1:1: warning: there is no module `::Shard` to come from elsewhere",
            "own.idl:1:1: warning: nothing is defined in a file `bas.idl` to come from elsewhere",
        ]
    );
}

#[test]
fn permitted_omissions_are_counted_in_one_line() {
    let file = folder().join("unmapped.idl");
    let all = [
        "valuetypes",
        "ValueBox",
        "value boxes",
        "abstract interface",
        "components",
        "homes",
        "eventtypes",
        "native types",
        "local types",
    ];
    let mut options = options(&file).deny_unmapped(true);
    for construct in all {
        options = options.allow_unmapped(construct);
    }
    let generated = generate(&model(&file), &options).unwrap();
    let notes: Vec<_> = generated
        .warnings
        .iter()
        .filter(|warning| warning.kind == WarningKind::Allowed)
        .map(|warning| warning.message.as_str())
        .collect();
    let [note] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    assert!(note.starts_with("left out, as allowed: "), "{note}");
    assert!(
        note.contains("3 components") && note.ends_with("that use such"),
        "{note}"
    );
    let of_no_use: Vec<_> = generated
        .warnings
        .iter()
        .filter(|warning| warning.message.starts_with('`'))
        .collect();
    assert_eq!(of_no_use.len(), 1);
    assert!(
        of_no_use[0]
            .message
            .contains("`ValueBox` is nothing that is left out")
    );
}

// Of an interface of 45 operations each had to be written, served or not.
#[test]
fn servants_may_have_default_bodies() {
    let source =
        "exception E {}; interface I { long f(in long call, in string s) raises (E); void g(); };";
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "i.idl", source);
    let options = Options::new("i.idl").default_bodies(true);
    let code = generate(&compilation.model.unwrap(), &options)
        .unwrap()
        .code;
    assert!(
        code.contains("pub trait IServant = not_implemented;"),
        "{code}"
    );
}

/// Operations of two bases with one name in Rust were two functions of that name.
#[test]
fn functions_of_one_trait_or_handle_have_different_names() {
    let source = "interface Knob { attribute long turns; };
        interface Dial { void set_turns(in long to); };
        local interface Panel : Knob, Dial {};
        abstract interface Left { attribute long turns; };
        abstract interface Right { void set_turns(in long to); };
        valuetype Both supports Left, Right { public long at; };
        abstract valuetype Upper { long aB(); };
        abstract valuetype Lower { long a_b(); };
        valuetype Mixed : Upper, Lower { public long at; };";
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "i.idl", source);
    let generated = generate(&compilation.model.unwrap(), &Options::new("i.idl")).unwrap();
    let within = |start: &str| {
        let (_, found) = generated.code.split_once(start).unwrap();
        let (inside, _) = found.split_once("\n}").unwrap();
        let functions = inside.split("fn ").skip(1);
        let names: Vec<_> = functions.map(|it| it.split('(').next().unwrap()).collect();
        names.join(" ")
    };
    assert_eq!(within("pub trait Panel:"), "set_turns turns set_turns_");
    let both = "turns set_turns set_turns_";
    assert_eq!(within("pub trait BothOperations:"), both);
    assert_eq!(within("impl Both {"), format!("with_operations {both}"));
    assert_eq!(within("impl Mixed {"), "with_operations a_b a_b_");
    for call in ["UpperOperations::a_b(", "LowerOperations::a_b("] {
        assert!(generated.code.contains(call), "{call}");
    }
}

#[test]
fn another_runtime_can_be_named() {
    let source = "module M { struct S { long a; }; };";
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "m.idl", source);
    let options = Options::new("some/where/m.idl").runtime("crate::my_orb");
    let code = generate(&compilation.model.unwrap(), &options)
        .unwrap()
        .code;
    assert!(code.starts_with("// Generated by orbium from m.idl."));
    assert!(code.contains("    use crate::my_orb as orb;\n"));
}

/// The name of a file was written into a comment as it was, and could end it.
#[test]
fn names_of_files_stay_in_their_comments() {
    let source = "interface I {};";
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "i.idl", source);
    let model = compilation.model.unwrap();
    let options = Options::new("x/n\nfn evil() {}\r\u{202e}.idl");
    let generated = generate(&model, &options).unwrap();
    let stub = stub(&model, &options, "crate").unwrap();
    for code in [generated.code, stub.code] {
        let first = code.lines().next().unwrap();
        assert!(first.contains(r"n\nfn evil() {}\r\u{202e}.idl"), "{first}");
    }
}

/// A native type that has a Rust type is still no exception that could be raised.
#[test]
fn operations_that_raise_a_native_type_are_left_out() {
    let source =
        "module M { native Oops; local interface L { void f() raises(Oops); void stays(); }; };";
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "m.idl", source);
    let options = Options::new("m.idl").native_type("::M::Oops", "::std::io::Error");
    let generated = generate(&compilation.model.unwrap(), &options).unwrap();
    let messages: Vec<_> = generated.warnings.iter().map(|w| &w.message).collect();
    assert!(
        messages
            .iter()
            .any(|m| m.contains("it raises the native type `::M::Oops`")),
        "{messages:?}"
    );
    assert!(generated.code.contains("fn stays("));
}

/// The watch object of orbium-core is this compiler's work, kept in its sources: a
/// crate below the façade cannot compile IDL when it is built.
#[test]
fn the_watch_of_the_core_is_what_comes_of_its_idl() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let options = Options::new("watch.idl").runtime("crate::metrics::exposition::watch::runtime");
    let code = generate(&model(&project.join("idl/watch.idl")), &options)
        .unwrap()
        .code;
    let kept = project.join("crates/orbium-core/generated/watch.rs");
    if std::env::var_os("ORBIUM_BLESS").is_some() {
        fs::write(&kept, &code).unwrap();
    }
    let expected = fs::read_to_string(&kept).unwrap_or_default();
    assert!(
        expected == code,
        "run with ORBIUM_BLESS=1: {}",
        kept.display()
    );
}
