// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask minor-codes`: `docs/minor-codes.md` out of the table in `orbium-giop`, from
//! which `orbium explain` is made too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use xtask::outcome::Outcome;
use xtask::shell;

const ORBIUM_PREFIX: u32 = 0x4F52_4000;
const OMG_PREFIX: u32 = 0x4F4D_0000;

const INTRODUCTION: &str = "\
# Minor codes

A system exception has a kind and a minor code, which says what exactly went wrong. This page has
every code of orbium and of the OMG; `orbium explain KIND:CODE` prints the same (`orbium explain OMG:2`
for the OMG's), and `orbium explain 0x4F524020` finds the number that another ORB shows. The first bytes
of a code name its vendor: `0x4F524` is orbium, `0x4F4D0` the OMG, `0x41540` omniORB, `0x54410` TAO.
Codes of other vendors are in their documentation. [Errors](errors.md) says how to read an exception.

This page is written by `cargo xtask minor-codes`; a test compares it with the table in the code.
";

/// One entry of the table.
struct Code {
    minor: u32,
    text: String,
    page: String,
}

/// By exception.
type Codes = BTreeMap<String, Vec<Code>>;

/// A part of the macro's input that counts.
enum Token {
    Word(String),
    Text(String),
}

/// Writes the page.
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    if let Some(argument) = arguments.next() {
        return Err(format!("minor-codes: unknown argument {argument:?}"));
    }
    let path = path();
    fs::write(&path, page()?).map_err(|error| format!("{}: {error}", path.display()))
}

fn path() -> PathBuf {
    shell::root().join("docs/minor-codes.md")
}

fn page() -> Outcome<String> {
    let mut page = INTRODUCTION.to_owned();
    section(
        &mut page,
        "orbium's own",
        ORBIUM_PREFIX,
        &read("own.rs", "codes! {")?,
    );
    section(
        &mut page,
        "The OMG's",
        OMG_PREFIX,
        &read("omg.rs", "pages! {")?,
    );
    Ok(page)
}

fn section(page: &mut String, title: &str, prefix: u32, codes: &Codes) {
    let _ = writeln!(page, "\n## {title}");
    for (kind, codes) in codes {
        let _ = writeln!(
            page,
            "\n### {kind}\n\n| code | meaning | what to do |\n|---|---|---|"
        );
        for code in codes {
            let (minor, whole) = (code.minor, prefix | code.minor);
            let (text, advice) = (cell(&code.text), cell(&code.page));
            let _ = writeln!(page, "| {minor}<br>`{whole:#010X}` | {text} | {advice} |");
        }
    }
}

/// Text within a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn read(file: &str, begin: &str) -> Outcome<Codes> {
    let path = shell::root()
        .join("crates/orbium-giop/src/minor")
        .join(file);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows = text.rsplit_once(begin).map_or("", |(_, rows)| rows);
    parse(rows).ok_or_else(|| format!("{}: the table cannot be read", path.display()))
}

/// Rows of a kind, perhaps a name, a number, a meaning and a page.
fn parse(rows: &str) -> Option<Codes> {
    let mut codes = Codes::new();
    let (mut words, mut texts) = (Vec::new(), Vec::new());
    for token in tokens(rows) {
        match token {
            Token::Word(word) => words.push(word),
            Token::Text(text) => texts.push(text),
        }
        if texts.len() == 2 {
            let number: String = words.pop()?;
            let minor = match number.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            let (page, text) = (texts.pop()?, texts.pop()?);
            let kind = words
                .iter()
                .find(|word| word.contains(char::is_lowercase))?;
            let codes = codes.entry(screaming(kind)).or_default();
            codes.push(Code { minor, text, page });
            words.clear();
        }
    }
    (!codes.is_empty()).then_some(codes)
}

/// Words, numbers and strings; what stands between is passed over.
fn tokens(rows: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = rows.chars().peekable();
    while let Some(first) = rest.next() {
        if first == '"' {
            tokens.push(Token::Text(string(&mut rest)));
        } else if first.is_alphanumeric() {
            let mut word = String::from(first);
            while let Some(next) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(next);
            }
            if word != "ORBIUM_VMCID" && word != "OMG_VMCID" {
                tokens.push(Token::Word(word));
            }
        }
    }
    tokens
}

/// The rest of a string literal.
fn string(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(next) = rest.next() {
        match (next, rest.peek()) {
            ('"', _) => break,
            ('\\', Some('\n')) => while rest.next_if(|c| c.is_whitespace()).is_some() {},
            ('\\', Some(_)) => text.extend(rest.next()),
            _ => text.push(next),
        }
    }
    text
}

/// `NoResources` as the standard writes it: `NO_RESOURCES`.
fn screaming(kind: &str) -> String {
    let mut name = String::new();
    for c in kind.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_minor_codes_is_what_the_table_says() {
        let written = fs::read_to_string(path()).unwrap_or_default();
        assert!(
            page().as_deref() == Ok(&written),
            "docs/minor-codes.md is out of date: cargo xtask minor-codes"
        );
        assert!(written.contains("| 32<br>`0x4F524020` | the connection was refused |"));
        assert!(written.contains("| 2<br>`0x4F4D0002` |"));
    }

    #[test]
    fn rows_are_read_with_names_and_without() {
        let rows = "NoMemory FULL 0x10 \"a \\\"b\\\"\" \"c \\\n   d\"; Unknown 1 \"e\" \"f|g\"; }";
        let codes = parse(rows).unwrap();
        let code = &codes["NO_MEMORY"][0];
        assert_eq!(
            (code.minor, &*code.text, &*code.page),
            (16, "a \"b\"", "c d")
        );
        let code = &codes["UNKNOWN"][0];
        assert_eq!(
            (code.minor, &*code.text, &*cell(&code.page)),
            (1, "e", "f\\|g")
        );
        assert!(parse("nothing").is_none());
    }
}
