// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments that represent a text: the text, `@FILE`, or `-` for standard input.

use std::io::Read;

use crate::failure::Failure;

/// Maximum length of a file or of standard input, in bytes.
const MAX_INPUT_LENGTH: u64 = 1 << 30;

/// The text of an argument.
pub(crate) fn text(given: &str) -> Result<String, Failure> {
    let read = match given.strip_prefix('@') {
        Some(path) => std::fs::File::open(path).and_then(read),
        None if given == "-" => read(std::io::stdin().lock()),
        None => return Ok(given.to_owned()),
    };
    read.map_err(|error| Failure::because(format!("cannot read `{given}`: {error}")))
}

fn read(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(MAX_INPUT_LENGTH).read_to_string(&mut text)?;
    Ok(text)
}
