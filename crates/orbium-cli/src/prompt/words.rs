// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of a line.

/// Splits a line at spaces. JSON is one word, and so is text in single quotation marks.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => quoted(rest)?,
            '"' | '{' | '[' => json(rest)?,
            _ => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(length);
        if !after.is_empty() && !after.starts_with(char::is_whitespace) {
            return Err(format!("a space is missing after `{word}`"));
        }
        let word = match first {
            '\'' => &word[1..length - 1],
            _ => word,
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(words)
}

/// Bytes up to the end of a word in single quotation marks.
fn quoted(text: &str) -> Result<usize, String> {
    let end = text[1..].find('\'').map(|end| end + 2);
    end.ok_or_else(|| "a quotation mark ' is not closed".to_owned())
}

/// Bytes up to the end of a string, object or array.
fn json(text: &str) -> Result<usize, String> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, octet) in text.bytes().enumerate() {
        match octet {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !in_string {
            return Ok(at + 1);
        }
    }
    Err(if in_string {
        "a quotation mark \" is not closed".to_owned()
    } else {
        "a bracket is not closed".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_one_word() {
        let line = r#" swap {"a": [1, "} ' \" ]"]} [1, 2]  "two words" 'it is' @file -3 "#;
        let words = split(line).unwrap();
        let expected = [
            "swap",
            r#"{"a": [1, "} ' \" ]"]}"#,
            "[1, 2]",
            r#""two words""#,
            "it is",
            "@file",
            "-3",
        ];
        assert_eq!(words, expected);
        assert_eq!(split(" \t\n").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn malformed_words_are_an_error() {
        for line in ["a '", "a \"b", "a {\"b\": [1}", "a [", "a 'b'c", "{}{}"] {
            assert!(split(line).is_err(), "{line}");
        }
    }
}
