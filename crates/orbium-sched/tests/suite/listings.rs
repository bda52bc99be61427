// SPDX-License-Identifier: MIT OR Apache-2.0
//! RT_Infos as text.

use orbium_sched::{
    Criticality, DependencyKind, EnableState, Importance, InfoKind, Repository, Time, Timing,
    listing, parse,
};
use proptest::prelude::*;

use crate::book::ms;

#[test]
fn a_table_is_read_with_every_field() {
    let text = concat!(
        "# times in ms\n",
        "operation \"A::a\" period=\"50 ms\" wcet=\"10 ms\" typical=\"8 ms\" cached=\"1 ms\" ",
        "quantum=\"2 ms\" criticality=HIGH importance=LOW threads=3 kind=CONJUNCTION\n",
        "\n",
        "operation b # reactive\n",
        "calls \"A::a\" operation=b times=4\n",
        "consumes b operation=\"A::a\"\n",
    );
    let table = parse(text).unwrap();
    assert_eq!(table.lines, [2, 4]);
    let infos = table.repository.infos();
    let timing = Timing {
        worst_case_execution_time: ms(10),
        typical_execution_time: ms(8),
        cached_execution_time: ms(1),
        period: ms(50),
        criticality: Criticality::High,
        importance: Importance::Low,
        quantum: ms(2),
        threads: 3,
        kind: InfoKind::Conjunction,
    };
    assert_eq!((&*infos[0].entry_point, infos[0].timing), ("A::a", timing));
    assert_eq!(infos[1].timing, Timing::default());
    let call = infos[0].dependencies[0];
    assert_eq!(
        (call.on, call.calls, call.kind),
        (infos[1].handle, 4, DependencyKind::TwoWayCall)
    );
    let data = infos[1].dependencies[0];
    assert_eq!(
        (data.on, data.calls, data.kind),
        (infos[0].handle, 1, DependencyKind::OneWayCall)
    );
}

#[test]
fn a_wrong_line_is_an_error_with_its_place() {
    for (text, line, column, width, message) in [
        ("\nperform x", 2, 1, 7, "`calls` or `consumes` expected"),
        ("operation", 1, 1, 9, "the name of an operation is missing"),
        ("operation a period=5", 1, 13, 8, "the unit is one of"),
        ("operation a wcet=", 1, 18, 1, "is missing here"),
        (
            "operation a color=red",
            1,
            13,
            9,
            "`color` is none of period",
        ),
        ("operation a threads=-1", 1, 13, 10, "no number of threads"),
        ("operation a kind=ODD", 1, 13, 8, "is none of OPERATION"),
        ("operation a quick", 1, 13, 5, "a field such as"),
        (
            "operation a wcet=\"1 s\" wcet=\"1 s\"",
            1,
            24,
            10,
            "set twice",
        ),
        (
            "operation a period=\"300 s\"",
            1,
            11,
            1,
            "longer than 214.7 s",
        ),
        ("operation a\noperation a", 2, 11, 1, "registered already"),
        ("operation \"a", 1, 11, 2, "does not end"),
        ("operation \"\\x\"", 1, 12, 2, "the escapes are"),
        (
            "operation a\ncalls a operation=b",
            2,
            9,
            11,
            "no operation `b`",
        ),
        ("operation a\ncalls a", 2, 7, 1, "operation=NAME is missing"),
        (
            "operation a\ncalls a operation=a times=0",
            2,
            21,
            7,
            "from 1 to",
        ),
        (
            "operation a\ncalls a operation=a operation=a",
            2,
            21,
            11,
            "once",
        ),
        (
            "calls period=a",
            1,
            7,
            8,
            "the name of an operation expected",
        ),
    ] {
        let error = parse(text).unwrap_err();
        let place = (error.line, error.column, error.width);
        assert_eq!(place, (line, column, width), "{text}: {error}");
        assert!(error.to_string().contains(message), "{text}: {error}");
    }
}

fn timing() -> impl Strategy<Value = Timing> {
    let ticks = || prop_oneof![Just(0), 0..40_u64, 0..2_000_000_000_u64].prop_map(Time::from_ticks);
    let times = (ticks(), ticks(), ticks(), ticks(), ticks());
    let rest = (0..5_usize, 0..5_usize, 0..4_usize, 0..9_u32);
    (times, rest).prop_map(|(times, (criticality, importance, kind, threads))| Timing {
        period: times.0,
        worst_case_execution_time: times.1,
        typical_execution_time: times.2,
        cached_execution_time: times.3,
        quantum: times.4,
        criticality: Criticality::ALL[criticality],
        importance: Importance::ALL[importance],
        threads,
        kind: InfoKind::ALL[kind],
    })
}

fn repositories() -> impl Strategy<Value = Repository> {
    let operations = prop::collection::hash_map(".{0,12}", timing(), 1..8);
    let edges = prop::collection::vec(
        (
            any::<usize>(),
            any::<usize>(),
            1..9_u32,
            any::<bool>(),
            0..3_usize,
        ),
        0..8,
    );
    (operations, edges).prop_map(|(operations, edges)| {
        let mut repository = Repository::new();
        let handles: Vec<_> = operations
            .into_iter()
            .map(|(name, timing)| repository.register(&name, timing).unwrap())
            .collect();
        for (one, other, calls, is_call, state) in edges {
            let (one, other) = (one % handles.len(), other % handles.len());
            let kind = if is_call {
                DependencyKind::TwoWayCall
            } else {
                DependencyKind::OneWayCall
            };
            let added = repository.add_dependency(handles[one], handles[other], calls, kind);
            added.unwrap();
            let (edge, state) = ((handles[other], calls, kind), EnableState::ALL[state]);
            let set = repository.set_dependency_enable_state(handles[one], edge, state);
            set.unwrap();
            repository.set_enable_state(handles[one], state).unwrap();
        }
        repository
    })
}

proptest! {
    #[test]
    fn written_text_is_read_again(repository in repositories()) {
        let read = parse(&listing(&repository)).unwrap();
        prop_assert_eq!(read.repository.infos(), repository.infos());
    }

    #[test]
    fn no_text_is_more_than_an_error(text in "(operation|calls|consumes|[ \"a=\\\\#\n]){0,40}") {
        if let Err(error) = parse(&text) {
            let line = text.lines().nth(error.line as usize - 1).unwrap();
            prop_assert!(error.column as usize <= line.chars().count() + 1);
        }
    }
}
