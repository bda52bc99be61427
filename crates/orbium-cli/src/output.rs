// SPDX-License-Identifier: MIT OR Apache-2.0
//! Standard output and standard error.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde_json::Value;

use crate::failure::Failure;

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const PLAIN: &str = "\x1b[0m";

/// Writes to standard output, and flushes it.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::OutputClosed),
        Err(error) => Err(Failure::because(format!(
            "standard output cannot be written: {error}"
        ))),
    }
}

/// Writes a JSON document to standard output, indented.
pub fn print_json(value: &Value) -> Result<(), Failure> {
    print(&json_text(value))
}

/// The text of an indented JSON document.
pub(crate) fn json_text(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Prints a text that may remain unread: a closed output does not end a command that has more to do,
/// or that judges by its exit status.
pub(crate) fn announce(text: &str) -> Result<(), Failure> {
    match print(text) {
        Ok(()) | Err(Failure::OutputClosed) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Writes to standard error. Errors are ignored.
pub(crate) fn write_error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes one sentence to standard error, as an error.
pub(crate) fn error(sentence: &str) {
    // Some are of several lines, such as those of a compiler.
    let lines: Vec<String> = sentence.lines().map(printable).collect();
    write_error(&format!(
        "{}: {}\n",
        coloured("error", RED, is_colourful()),
        lines.join("\n")
    ));
}

/// The text of a server or a reference in one line, without control characters, which could steer a
/// terminal.
pub(crate) fn printable(text: &str) -> String {
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(visible).collect()
}

/// Writes the reason of a failure to standard error, and returns the exit status.
#[must_use]
pub fn report(failure: Failure) -> ExitCode {
    match failure {
        Failure::Because(sentence) => {
            error(&sentence);
            ExitCode::FAILURE
        }
        Failure::WrongUsage(sentence) => {
            error(&sentence);
            ExitCode::from(2)
        }
        Failure::Shown => ExitCode::FAILURE,
        Failure::ProblemsFound => ExitCode::from(3),
        Failure::OutputClosed => ExitCode::SUCCESS,
    }
}

/// Writes compiler diagnostics to standard error, with the severities coloured on a terminal.
pub(crate) fn diagnostics(text: &str) {
    if !is_colourful() {
        return write_error(text);
    }
    let mut painted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let header = [("error", RED), ("warning", YELLOW)]
            .iter()
            .find_map(|(word, colour)| Some((heading(line, word)?, *word, *colour)));
        match header {
            Some((at, word, colour)) => {
                let after = &line[at + word.len()..];
                let word = coloured(word, colour, true);
                let _ = write!(painted, "{}{word}{after}", &line[..at]);
            }
            None => painted.push_str(line),
        }
    }
    write_error(&painted);
}

/// The position of the severity in the first line of a diagnostic. Source lines are behind a
/// margin, so neither they nor help start at the left edge.
fn heading(line: &str, word: &str) -> Option<usize> {
    if line.starts_with(' ') || line.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let at = line.find(&format!("{word}: "))?;
    (at == 0 || line[..at].ends_with(": ")).then_some(at)
}

fn coloured(word: &str, colour: &str, is_colourful: bool) -> String {
    if is_colourful {
        format!("{colour}{word}{PLAIN}")
    } else {
        word.to_owned()
    }
}

/// Whether standard error is a terminal and `NO_COLOR` is not set.
fn is_colourful() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::{heading, printable};

    #[test]
    fn control_characters_of_a_server_do_not_reach_the_terminal() {
        assert_eq!(
            printable("a\x1b]0;b\u{9b}\nc ä"),
            "a\u{fffd}]0;b\u{fffd}\u{fffd}c ä"
        );
    }

    #[test]
    fn only_the_first_line_of_a_diagnostic_has_a_heading() {
        assert_eq!(heading("a.idl:1:2: error: no\n", "error"), Some(11));
        assert_eq!(heading("error: no\n", "error"), Some(0));
        assert_eq!(heading("12 | // error: no\n", "error"), None);
        assert_eq!(heading("   = help: error: no\n", "error"), None);
        assert_eq!(heading("terror: no\n", "error"), None);
    }
}
