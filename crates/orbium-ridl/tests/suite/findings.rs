// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings of the analysis, with their places.

use orbium_ridl::Requirements;
use orbium_sched::{Options, Schedule};

use crate::{requirements, shown};

fn findings(requirements: &Requirements) -> Vec<String> {
    let repository = requirements.repository().unwrap();
    let schedule = Schedule::compute(&repository, &Options::default()).unwrap();
    shown(&requirements.findings(&schedule))
}

/// Conformance: RT 6 - RIDL: anomalies with line and caret
#[test]
fn a_missed_deadline_is_shown_at_the_annotation() {
    let read = requirements(
        "interface A {\n  @rt(period=\"50 ms\", wcet=\"30 ms\") void f();\n  \
         @rt(period=\"100 ms\", wcet=\"50 ms\") void g();\n};",
    );
    let schedule = Schedule::compute(&read.repository().unwrap(), &Options::default()).unwrap();
    let finding = read.findings(&schedule)[0].to_string();
    assert_eq!(
        finding,
        "a.idl:3:3: error: `A::g` can miss its deadline, 100 ms [misses-deadline]\n\
         3 |   @rt(period=\"100 ms\", wcet=\"50 ms\") void g();\n  \
         |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    );
}

#[test]
fn two_entry_points_are_shown_with_the_caller() {
    let read = requirements(
        "interface A {\n  @rt(wcet=\"1 ms\", period=\"1 s\", threads=1) void f();\n  \
         @rt(wcet=\"1 ms\", period=\"1 s\") @calls(operation=\"f\") void g();\n};",
    );
    let schedule = Schedule::compute(&read.repository().unwrap(), &Options::default()).unwrap();
    let finding = read.findings(&schedule)[0].to_string();
    assert!(
        finding.starts_with("a.idl:2:3: error: `A::f` has threads of its own"),
        "{finding}"
    );
    assert!(finding.contains("its caller"), "{finding}");
}

#[test]
fn a_root_that_nothing_runs_is_shown() {
    let found = findings(&requirements(
        "interface A { @rt(wcet=\"1 ms\") void f(); };",
    ));
    assert!(
        found[0].contains("a.idl:1:15: error: nothing calls `A::f`"),
        "{found:?}"
    );
}

#[test]
fn a_cycle_is_refused_at_an_operation_of_it() {
    let read = requirements(
        "interface A {\n @rt(wcet=\"1 ms\") @calls(operation=\"g\") void f();\n\
         @rt(wcet=\"1 ms\") @calls(operation=\"f\") void g(); };",
    );
    let mut repository = read.repository().unwrap();
    let error = repository
        .compute_scheduling(&Options::default())
        .unwrap_err();
    let refusal = read.refusal(&error);
    let excerpt = refusal.excerpt.as_ref().unwrap();
    assert_eq!((refusal.code, excerpt.line), ("cyclic-dependencies", 2));
    assert!(
        refusal.message.contains("A::f -> A::g -> A::f"),
        "{refusal}"
    );
}

#[test]
fn findings_of_a_table_are_shown_at_its_lines() {
    let text = "# a comment\n  operation f period=\"10 ms\" wcet=\"20 ms\"\n";
    let read = Requirements::listed("t.txt", text);
    let found = findings(&read);
    assert!(
        found[0].starts_with("t.txt:2:3: error: `f` can miss its deadline"),
        "{found:?}"
    );
}

#[test]
fn a_long_line_is_located_and_not_shown() {
    let text = format!("operation \"{}\" period=1", "x".repeat(5_000));
    let diagnostic = Requirements::listed("t.txt", &text).diagnostics[0].to_string();
    assert!(
        diagnostic.starts_with("t.txt:1:5014: error: "),
        "{diagnostic}"
    );
    assert!(diagnostic.len() < 300, "{diagnostic}");
}
