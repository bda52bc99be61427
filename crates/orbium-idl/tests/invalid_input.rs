// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every rule that makes IDL invalid: the mistake is reported, once, at its place, in words.

mod catalogue;

use catalogue::{CASES, Case};
use orbium_idl::{Compilation, Options, Severity, compile_source};

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

#[test]
fn a_name_that_may_be_declared_in_what_could_not_be_read_is_not_reported() {
    let text = "typedef unsigned float Speed;\nstruct Car { Speed top; };\n";
    let compilation = compile_source(&Options::new(), "car.idl", text);
    assert_eq!(compilation.diagnostics.len(), 1, "{compilation}");
}

#[test]
fn options_turn_common_mistakes_into_warnings() {
    let cases = [
        (
            "typedef long Foo; interface I { void f(in Foo foo); };",
            Options {
                lenient_names: true,
                ..Options::new()
            },
        ),
        (
            "#pragma prefix \"a\"\nmodule M { typedef long T; };\n#pragma prefix \"b\"\nmodule M { typedef long U; };",
            Options {
                lenient_prefixes: true,
                ..Options::new()
            },
        ),
        (
            "interface A; interface B { void f(in A x); };",
            Options {
                lenient_forwards: true,
                ..Options::new()
            },
        ),
    ];
    for (text, options) in cases {
        let strict = compile_source(&Options::new(), "x.idl", text);
        assert!(strict.model.is_none(), "{text}");
        let lenient = compile_source(&options, "x.idl", text);
        assert!(lenient.model.is_some(), "{lenient}");
        assert_eq!(lenient.warnings().count(), 1, "{lenient}");
    }
}
