// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of a line: `name`, `"a name"`, `field=value`, `field="a value"`.

/// A word with its position, in characters from 0.
#[derive(Debug)]
pub(super) struct Word {
    /// The text before `=`; none in a word without it.
    pub(super) field: Option<String>,
    /// The word, or the text behind `=`, without quotes and escapes.
    pub(super) value: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A position in a line with its error.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) message: String,
}

/// The words of a line; `#` outside of quotes begins a comment.
pub(super) fn words(line: &str) -> Result<Vec<Word>, Fault> {
    let letters: Vec<char> = line.chars().collect();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        match letter {
            '#' => break,
            it if it.is_whitespace() => at += 1,
            _ => {
                let word = word(&letters, at)?;
                at = word.end;
                words.push(word);
            }
        }
    }
    Ok(words)
}

fn word(letters: &[char], start: usize) -> Result<Word, Fault> {
    let (first, mut end) = piece(letters, start)?;
    let is_quoted = letters[start] == '"';
    let (mut field, mut value) = (None, first);
    if !is_quoted && letters.get(end) == Some(&'=') {
        let (second, behind) = piece(letters, end + 1)?;
        field = Some(std::mem::replace(&mut value, second));
        end = behind;
    }
    Ok(Word {
        field,
        value,
        start,
        end,
    })
}

/// A quoted text, or characters up to a blank, a `=` or a `#`; and its end.
fn piece(letters: &[char], start: usize) -> Result<(String, usize), Fault> {
    if letters.get(start) == Some(&'"') {
        return quoted(letters, start);
    }
    let rest = letters.get(start..).unwrap_or_default();
    let ends = |it: &char| it.is_whitespace() || ['=', '#', '"'].contains(it);
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    if length == 0 {
        return Err(Fault {
            start,
            end: start + 1,
            message: "a word or a quoted text is missing here".to_owned(),
        });
    }
    Ok((rest[..length].iter().collect(), start + length))
}

fn quoted(letters: &[char], start: usize) -> Result<(String, usize), Fault> {
    let mut text = String::new();
    let mut at = start + 1;
    while let Some(letter) = letters.get(at) {
        match letter {
            '"' => return Ok((text, at + 1)),
            '\\' => {
                text.push(escaped(letters, at)?);
                at += 2;
            }
            it => {
                text.push(*it);
                at += 1;
            }
        }
    }
    Err(Fault {
        start,
        end: letters.len(),
        message: "the quoted text does not end on its line".to_owned(),
    })
}

fn escaped(letters: &[char], at: usize) -> Result<char, Fault> {
    match letters.get(at + 1) {
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some(it @ ('"' | '\\')) => Ok(*it),
        _ => Err(Fault {
            start: at,
            end: at + 2,
            message: "the escapes are \\\", \\\\, \\n and \\r".to_owned(),
        }),
    }
}

/// A quoted text, in the form that [`words`] reads.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}
