// SPDX-License-Identifier: MIT OR Apache-2.0
//! Annotations that are wrong.

use crate::{requirements, shown};

#[test]
fn every_mistake_is_shown_at_its_place() {
    for (annotation, expected) in [
        (
            "@rt(period=\"50\")",
            "1:27: error: `50` is no length of time",
        ),
        ("@rt(period=50)", "1:27: error: `50` is no length of time"),
        (
            "@rt(period=TRUE)",
            "1:27: error: `period` is no text, name or number",
        ),
        (
            "@rt(wcet=\"1 ms\", wcet=\"2 ms\")",
            "1:38: error: `wcet` is set twice",
        ),
        (
            "@rt(\"1 ms\")",
            "1:20: error: an argument of `@rt` has a name",
        ),
        (
            "@rt(criticality=URGENT)",
            "1:32: error: `URGENT` is none of VERY_LOW",
        ),
        (
            "@rt(rate=\"1 ms\")",
            "1:25: error: `rate` is none of period, wcet",
        ),
        (
            "@rt(threads=-1)",
            "1:28: error: `-1` is no number of threads",
        ),
        (
            "@rt(wcet=\"1 s\") @rt(wcet=\"1 s\")",
            "1:32: error: an operation has one `@rt`",
        ),
        (
            "@calls(times=2)",
            "1:16: error: `@calls` names no operation",
        ),
        (
            "@calls(operation=\"A::x\")",
            "1:33: error: there is no operation `A::x`",
        ),
        (
            "@calls(operation=\"A\")",
            "1:33: error: there is no operation `A`",
        ),
        (
            "@calls(operation=\"::\")",
            "1:33: error: there is no operation `::`",
        ),
        (
            "@calls(operation=f)",
            "1:33: error: `@calls` takes operation=\"NAME\"",
        ),
        (
            "@calls(operation=\"g\", times=0)",
            "1:44: error: 0 is no number of calls",
        ),
        (
            "@calls(operation=\"g\")",
            "1:33: warning: `A::g` is called and has no `@rt`",
        ),
    ] {
        let idl = format!("interface A {{  {annotation} void f(); void g(); }};");
        let shown = shown(&requirements(&idl).diagnostics);
        let expected = format!("a.idl:{expected}");
        assert!(
            shown.iter().any(|it| it.starts_with(&expected)),
            "{annotation}: {shown:?}"
        );
    }
}

#[test]
fn timing_belongs_to_operations() {
    for idl in [
        "@rt(wcet=\"1 ms\") struct S { long x; };",
        "@calls(operation=\"f\") interface A { void f(); };",
        "interface A { @rt(wcet=\"1 ms\") attribute long x; };",
    ] {
        let shown = shown(&requirements(idl).diagnostics);
        assert!(shown[0].contains("belongs to an operation"), "{shown:?}");
    }
}
