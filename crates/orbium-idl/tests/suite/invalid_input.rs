// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every rule that makes IDL invalid: the mistake is reported, once, at its place, in words.

use std::path::Path;

use crate::catalogue::{CASES, Case};
use orbium_idl::{Compilation, Memory, Options, Severity, compile_source, compile_with};

fn mark_position(marked: &str) -> Option<(u32, u32)> {
    let before = marked.split_once('§')?.0;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    Some((u32::try_from(line).ok()?, u32::try_from(column).ok()?))
}

/// What is wrong with the diagnosis of a case, if anything.
fn problem(case: &Case, compilation: &Compilation) -> Option<String> {
    let severity = if case.warning {
        Severity::Warning
    } else {
        Severity::Error
    };
    let findings: Vec<_> = compilation
        .diagnostics
        .iter()
        .filter(|d| d.severity == severity)
        .collect();
    if compilation.model.is_some() != case.warning {
        return Some(format!("model: {}", compilation.model.is_some()));
    }
    let [finding] = findings.as_slice() else {
        return Some(format!("{} findings instead of one", findings.len()));
    };
    let place = finding.excerpt.as_ref().map(|e| (e.line, e.column));
    if place != mark_position(case.marked) {
        return Some(format!(
            "reported at {place:?}, not at {:?}",
            mark_position(case.marked)
        ));
    }
    let text = format!(
        "{} {}",
        finding.message,
        finding.help.as_deref().unwrap_or("")
    );
    let missing = case.says.iter().find(|words| !text.contains(**words))?;
    Some(format!("does not say `{missing}`"))
}

/// Conformance: IDL - every rule of the catalogue
#[test]
fn every_mistake_of_the_catalogue_is_reported_once_at_its_place() {
    let mut failures = String::new();
    for case in CASES {
        let compilation = compile_source(&Options::new(), "case.idl", &case.text());
        if let Some(problem) = problem(case, &compilation) {
            failures.push_str(&format!(
                "{}: {problem}\n{}\n{compilation}\n",
                case.number, case.marked
            ));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Conformance: IDL - many mistakes in one run, each once
#[test]
fn one_run_reports_many_mistakes_and_one_mistake_only_once() {
    let text = "
interface A {
  Missing one(in Missing a, out Missing b);
  void two(in long x)
  oneway long three();
};
struct Broken { unsigned float f; long ok; };
struct Holder { Broken b; Missing again; };
const short TOO = 99999;
const short FOLLOWS = TOO + 1;
";
    let compilation = compile_source(&Options::new(), "many.idl", text);
    let codes: Vec<_> = compilation.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(
        codes,
        [
            "undeclared-name",
            "missing-semicolon",
            "oneway-result",
            "syntax",
            "out-of-range"
        ],
        "{compilation}"
    );
}

/// Conformance: IDL - many mistakes in one run, each once
#[test]
fn a_name_that_may_be_declared_in_what_could_not_be_read_is_not_reported() {
    let text = "typedef unsigned float Speed;\nstruct Car { Speed top; };\n";
    let compilation = compile_source(&Options::new(), "car.idl", text);
    assert_eq!(compilation.diagnostics.len(), 1, "{compilation}");
}

const REOPENED: &str = "#pragma prefix \"a\"\nmodule M { typedef long T; };\n#pragma prefix \"b\"\nmodule M { typedef long U; };";

/// Conformance: IDL - older IDL, IDL 4
#[test]
fn options_decide_whether_common_mistakes_are_errors() {
    let lenient = Options {
        lenient_names: true,
        ..Options::new()
    };
    let strict = Options {
        strict: true,
        ..Options::new()
    };
    let cases = [
        (
            "typedef long Foo; interface I { void f(in Foo foo); };",
            lenient,
            Options::new(),
        ),
        (REOPENED, Options::new(), strict.clone()),
        (
            "interface A; interface B { void f(in A x); };",
            Options::new(),
            strict,
        ),
    ];
    for (text, warns, rejects) in cases {
        let rejected = compile_source(&rejects, "x.idl", text);
        assert!(rejected.model.is_none(), "{text}");
        let warned = compile_source(&warns, "x.idl", text);
        assert!(warned.model.is_some(), "{warned}");
        assert_eq!(warned.warnings().count(), 1, "{warned}");
    }
}

/// `typeprefix` may follow the second opening, or belong to a module around: there was an error
/// for every file of a project that sets its prefix this way.
#[test]
fn a_typeprefix_settles_under_which_prefix_a_module_is_reopened() {
    let pragma = "#pragma prefix \"a\"\n";
    let settled = [
        format!(
            "{pragma}module M {{ typedef long T; }};\n#pragma prefix \"\"\nmodule M {{ typeprefix M \"a\"; typedef long U; }};"
        ),
        format!(
            "{pragma}module M {{ module N {{ typedef long T; }}; }};\n#pragma prefix \"\"\nmodule M {{ module N {{ typedef long U; }}; }};\ntypeprefix M \"a\";"
        ),
    ];
    for text in settled {
        let compilation = compile_source(&Options::new(), "x.idl", &text);
        assert_eq!(compilation.to_string(), "", "{text}");
        let model = compilation.model.expect("there is no error");
        let names = ["M::T", "M::U", "M::N::T", "M::N::U"];
        for definition in names.iter().filter_map(|name| model.lookup(name)) {
            let repository_id = &definition.repository_id;
            assert!(repository_id.starts_with("IDL:a/M/"), "{repository_id}");
        }
    }
}

#[test]
fn modules_inside_of_a_reopened_one_are_not_reported_too() {
    let text = "#pragma prefix \"a\"\nmodule M { module N { typedef long T; }; };\n#pragma prefix \"b\"\nmodule M { module N { typedef long U; }; };";
    let compilation = compile_source(&Options::new(), "x.idl", text);
    let messages: Vec<_> = compilation.warnings().map(|d| d.message.clone()).collect();
    assert_eq!(
        messages,
        ["the module `M` is reopened with an inconsistent repository id"]
    );
}

/// Distributed files declare interfaces that another file defines, which is not always included.
#[test]
fn unused_forward_declarations_of_included_files_are_not_mentioned() {
    let included = "interface Unused; interface Used; interface A { void f(in Used u); };\n";
    let loader = Memory::new()
        .with("main.idl", "#include \"base.idl\"\ninterface B : A {};\n")
        .with("base.idl", included);
    let compilation = compile_with(&Options::new(), &loader, Path::new("main.idl"));
    let messages: Vec<_> = compilation
        .diagnostics
        .iter()
        .map(|d| d.message.clone())
        .collect();
    assert_eq!(
        messages,
        ["the interface `Used` is forward declared but never defined"]
    );
    assert!(compilation.model.is_some());
}

/// `UserExceptionBase` of the messaging specification is native and raised.
#[test]
fn a_native_type_may_be_raised() {
    let text = "native Base; local interface L { void f() raises(Base); };
        valuetype Holder { void raise_exception() raises(Base); };";
    let compilation = compile_source(&Options::new(), "x.idl", text);
    assert_eq!(compilation.to_string(), "");
    assert!(compilation.model.is_some());
}
