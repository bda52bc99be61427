// SPDX-License-Identifier: MIT OR Apache-2.0
//! Overheads as text.

use orbium_sched::{Overhead, TextError, Time};
use proptest::prelude::*;

/// Conformance: RT 6 - `orbium sched calibrate`: the overhead of a host as a file, hostile ones - as text
#[test]
fn an_overhead_is_read_with_every_field_in_any_order() {
    let text =
        "# measured\n\ncontext-switch=\"2.5 us\" # a comment\nblocking=\"1 ms\" call=\"35 us\"\n";
    let overhead = Overhead {
        call: Time::from_micros(35),
        context_switch: Time::from_ticks(25),
        blocking: Time::from_millis(1),
    };
    assert_eq!(text.parse(), Ok(overhead));
    let without_blocking = "call=\"35 us\" context-switch=\"2.5 us\"".parse();
    let expected = Overhead {
        blocking: Time::ZERO,
        ..overhead
    };
    assert_eq!(without_blocking, Ok(expected));
}

/// Conformance: RT 6 - `orbium sched calibrate`: the overhead of a host as a file, hostile ones - as text
#[test]
fn a_wrong_overhead_is_an_error_with_its_place() {
    for (text, line, column, message) in [
        ("", 1, 1, "`call` is missing"),
        ("# none\n\n", 2, 1, "`call` is missing"),
        (
            "\ncall=\"1 us\"\n",
            2,
            1,
            "`context-switch` is missing, such as context-switch=\"20 us\"",
        ),
        ("call", 1, 1, "a field such as call=\"20 us\" expected"),
        ("call = \"1 us\"", 1, 6, "missing here"),
        ("calls=\"1 us\"", 1, 1, "`calls` is none of call, context"),
        (
            "call=\"1 us\"\n  call=\"1 us\"",
            2,
            3,
            "`call` is set twice",
        ),
        ("call=soon", 1, 1, "call: `soon` is no length of time"),
        ("blocking=\"-1 us\"", 1, 1, "blocking: `-1 us` is no"),
        ("call=\"1 us\" call=\"50 ns\"", 1, 13, "no multiple"),
        ("call=\"99999999999999999999 s\"", 1, 1, "too large"),
        ("call=\"1 us", 1, 6, "does not end"),
        ("call=", 1, 6, "missing here"),
    ] {
        let error: TextError = text.parse::<Overhead>().unwrap_err();
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{text}: {error}"
        );
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn a_written_overhead_is_read_again(times in prop::array::uniform3(0..1_u64 << 50)) {
        let [call, context_switch, blocking] = times.map(Time::from_ticks);
        let overhead = Overhead { call, context_switch, blocking };
        prop_assert_eq!(overhead.to_string().parse(), Ok(overhead));
    }

    #[test]
    fn no_text_is_more_than_an_error(text in "(call|blocking|context-switch|1 us|[ \"a=\\\\#\n]){0,40}") {
        let _ = text.parse::<Overhead>();
    }
}
