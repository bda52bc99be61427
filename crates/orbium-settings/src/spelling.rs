// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suggestions for unknown names, and the syntax of values in files.

/// The sentence for an unknown name, with the most similar known one.
#[must_use]
pub(crate) fn not_there<'n>(what: &str, name: &str, all: impl Iterator<Item = &'n str>) -> String {
    let close = |other: &&str| distance(&name.to_lowercase(), &other.to_lowercase());
    // A prefix common to all arguments does not make them similar.
    let own = name.strip_prefix("-ORB").unwrap_or(name);
    match all.min_by_key(close) {
        Some(nearest) if close(&nearest) <= own.len() / 3 + 1 => {
            format!("there is no {what} `{name}`: did you mean `{nearest}`?")
        }
        _ => format!("there is no {what} `{name}`: see docs/configuration.md for all there are"),
    }
}

/// The edit distance of two names: letters to add, remove or change.
fn distance(a: &str, b: &str) -> usize {
    // A longer name is unknown, and not worth the time.
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// A value in TOML syntax: a number and a flag bare, any other text quoted.
#[must_use]
pub(crate) fn toml_value(text: &str) -> String {
    let is_number = text
        .parse::<i64>()
        .is_ok_and(|number| number.to_string() == text);
    match text {
        "true" | "false" => text.to_owned(),
        _ if is_number => text.to_owned(),
        _ if text.contains(['"', '\\']) && !text.contains('\'') => format!("'{text}'"),
        _ => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spelled_as_toml_reads_them() {
        for (text, spelled) in [
            ("12", "12"),
            ("007", "\"007\""),
            ("true", "true"),
            ("on", "\"on\""),
            ("20 ms", "\"20 ms\""),
            ("a\\b", "'a\\b'"),
            ("a\\'\"b", "\"a\\\\'\\\"b\""),
        ] {
            assert_eq!(toml_value(text), spelled);
        }
    }

    #[test]
    fn changes_are_counted() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
    }
}
