// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parsing and formatting of values.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The parsed value of a text, or its error in a sentence.
pub(crate) type Read<T> = Result<T, String>;

/// A value of a type that implements `FromStr`.
///
/// # Errors
/// The sentence of its error.
pub(crate) fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Read<T> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A number in digits, which may be grouped by underscores.
///
/// # Errors
/// It is not a number, or outside the range of its type.
pub(crate) fn number<T: FromStr>(text: &str) -> Read<T> {
    let read = text.replace('_', "").parse();
    read.map_err(|_| format!("`{text}` is no number that can be here: write digits, as in 100"))
}

/// `true`, `yes`, `on`, `1`, and their opposites.
///
/// # Errors
/// It is none of them.
pub(crate) fn flag(text: &str) -> Read<bool> {
    match text {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither true nor false")),
    }
}

/// Splits a text into a number and a unit.
fn with_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '_')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.replace('_', "").parse().ok()?, unit.trim()))
}

/// A size in bytes: `4096`, `64 KiB`, `1 MiB`, `2 GiB`.
///
/// # Errors
/// It is not such a number.
pub(crate) fn octets(text: &str) -> Read<usize> {
    let read = || {
        let (number, unit) = with_unit(text)?;
        let factor = match unit {
            "" => 1,
            "KiB" | "k" | "K" => 1 << 10,
            "MiB" | "m" | "M" => 1 << 20,
            "GiB" | "g" | "G" => 1 << 30,
            _ => return None,
        };
        usize::try_from(number.checked_mul(factor)?).ok()
    };
    read().ok_or_else(|| {
        format!("`{text}` is no number of octets: write 4096, 64 KiB, 1 MiB or 2 GiB")
    })
}

/// A size in the largest unit without a remainder.
#[must_use]
pub(crate) fn show_octets(octets: usize) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if octets > 0 && octets.is_multiple_of(unit) {
            return format!("{} {name}", octets / unit);
        }
    }
    octets.to_string()
}

/// A span of time: `20 ms`, `5 s`, `100 us`, `2 min`.
///
/// # Errors
/// It has no unit, or an unknown one.
pub(crate) fn span(text: &str) -> Read<Duration> {
    let read = || {
        let (number, unit) = with_unit(text)?;
        match unit {
            "us" | "µs" => Some(Duration::from_micros(number)),
            "ms" => Some(Duration::from_millis(number)),
            "s" => Some(Duration::from_secs(number)),
            "min" => Some(Duration::from_secs(number.checked_mul(60)?)),
            _ => None,
        }
    };
    read().ok_or_else(|| {
        format!("`{text}` is no span of time: write a number and a unit, as in 100 us, 20 ms, 5 s or 2 min")
    })
}

/// Milliseconds as a span of time: omniORB and TAO write only a number.
///
/// # Errors
/// It is not a number.
pub(crate) fn milliseconds(text: &str) -> Read<String> {
    number::<u64>(text).map(|number| format!("{number} ms"))
}

/// Seconds as a span of time: omniORB writes only a number.
///
/// # Errors
/// It is not a number.
pub(crate) fn seconds(text: &str) -> Read<String> {
    number::<u64>(text).map(|number| format!("{number} s"))
}

/// A span of time in the largest unit without a remainder.
#[must_use]
pub(crate) fn show_span(span: Duration) -> String {
    let whole = span.as_micros();
    for (unit, name) in [(60_000_000, "min"), (1_000_000, "s"), (1_000, "ms")] {
        if whole > 0 && whole.is_multiple_of(unit) {
            return format!("{} {name}", whole / unit);
        }
    }
    format!("{whole} us")
}

/// A value, or `none`.
///
/// # Errors
/// It is neither.
pub(crate) fn optional<T>(text: &str, read: impl Fn(&str) -> Read<T>) -> Read<Option<T>> {
    if text == "none" {
        return Ok(None);
    }
    read(text)
        .map(Some)
        .map_err(|why| format!("{why}, or none"))
}

/// The text of a value, or `none`.
pub(crate) fn show_optional<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "none".to_owned(), show)
}

/// The text of a list, or `none`.
pub(crate) fn list<T>(all: &[T], show: impl Fn(&T) -> String) -> String {
    match all {
        [] => "none".to_owned(),
        all => all.iter().map(show).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_spans_are_read_as_they_are_shown() {
        for text in ["0", "100", "64 KiB", "1 MiB", "2 GiB", "1025"] {
            assert_eq!(show_octets(octets(text).unwrap()), text);
        }
        for text in ["0 us", "100 us", "20 ms", "5 s", "90 s", "2 min"] {
            assert_eq!(show_span(span(text).unwrap()), text);
        }
        assert_eq!(octets("64k"), Ok(65_536));
        assert_eq!(span("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(number("1_000"), Ok(1_000));
    }

    #[test]
    fn times_without_a_unit_or_with_a_strange_one_are_refused() {
        for text in [
            "",
            "5",
            "s",
            "5 h",
            "-5 s",
            "5.5 s",
            "99999999999999999999 s",
        ] {
            assert!(
                span(text)
                    .unwrap_err()
                    .contains("write a number and a unit")
            );
        }
        for text in ["", "KiB", "1 kB", "-1", "99999999999 GiB"] {
            assert!(octets(text).unwrap_err().contains("write 4096"));
        }
        assert!(flag("maybe").is_err());
    }
}
