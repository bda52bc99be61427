// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask minor-codes`: generates `docs/minor-codes.md` from the table in `orbium-giop`,
//! which is also the source of `orbium explain`, and from `xtask/minor-codes.toml`, which has for
//! each code of the OMG the tests that prove that orbium raises it, or the reason why orbium does
//! not.

mod answers;
mod calls;
mod raises;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use answers::Answers;
use raises::screaming;
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

Of each code of the OMG the last column says which crates raise it and which test proves that, or why
orbium does not raise it: then it comes from another ORB alone. This page is written by
`cargo xtask minor-codes`; tests compare it with the table in the code, and with what the sources raise.
";

/// One entry of the table.
struct Code {
    minor: u32,
    text: String,
    page: String,
}

/// By exception.
type Codes = BTreeMap<String, Vec<Code>>;

/// A relevant token of the macro's input.
enum Token {
    Word(String),
    Text(String),
}

/// Writes the page.
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    if let Some(argument) = arguments.next() {
        return Err(format!("minor-codes: unknown argument {argument:?}"));
    }
    let answers = Answers::read()?;
    let faults = answers.faults(&omg_codes()?);
    if !faults.is_empty() {
        return Err(format!("minor-codes.toml: {}", faults.join("\n")));
    }
    let path = path();
    fs::write(&path, page(&answers)?).map_err(|error| format!("{}: {error}", path.display()))
}

fn path() -> PathBuf {
    shell::root().join("docs/minor-codes.md")
}

fn page(answers: &Answers) -> Outcome<String> {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## orbium's own\n");
    for (kind, codes) in read("own.rs", "codes! {")? {
        head(&mut page, &kind, "", "");
        for code in codes {
            let _ = writeln!(page, "{}", row(ORBIUM_PREFIX, &code));
        }
    }
    page.push_str("\n## The OMG's\n");
    for (kind, codes) in omg()? {
        head(&mut page, &kind, " in orbium |", "---|");
        for code in codes {
            let answer = cell(&answers.text(&kind, code.minor));
            let _ = writeln!(page, "{} {answer} |", row(OMG_PREFIX, &code));
        }
    }
    Ok(page)
}

/// The codes of the OMG.
fn omg() -> Outcome<Codes> {
    read("omg.rs", "pages! {")
}

/// Their exceptions and numbers.
fn omg_codes() -> Outcome<BTreeSet<(String, u32)>> {
    let mut codes = BTreeSet::new();
    for (kind, of_kind) in omg()? {
        codes.extend(of_kind.iter().map(|it| (kind.clone(), it.minor)));
    }
    Ok(codes)
}

fn head(page: &mut String, kind: &str, more: &str, line: &str) {
    let _ = writeln!(
        page,
        "\n### {kind}\n\n| code | meaning | what to do |{more}\n|---|---|---|{line}"
    );
}

fn row(prefix: u32, code: &Code) -> String {
    let (minor, whole) = (code.minor, prefix | code.minor);
    let (text, advice) = (cell(&code.text), cell(&code.page));
    format!("| {minor}<br>`{whole:#010X}` | {text} | {advice} |")
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

/// Parses rows of a kind, an optional name, a number, a meaning and a page.
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

/// Words, numbers and strings; other text is skipped.
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

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    /// Read once: all sources of the crates are parsed for it.
    static ANSWERS: LazyLock<Answers> = LazyLock::new(|| Answers::read().unwrap());

    #[test]
    fn the_page_on_minor_codes_is_what_the_table_says() {
        let written = fs::read_to_string(path()).unwrap_or_default();
        assert!(
            page(&ANSWERS).as_deref() == Ok(&written),
            "docs/minor-codes.md is out of date: cargo xtask minor-codes"
        );
        assert!(written.contains("| 32<br>`0x4F524020` | the connection was refused |"));
        assert!(written.contains("| 2<br>`0x4F4D0002` |"));
    }

    /// The last number of each exception that the OMG has assigned (omg/03-01-04, CORBA 3.3
    /// Part 1 annex A, ZIOP).
    const LAST: [(&str, u32); 26] = [
        ("ACTIVITY_COMPLETED", 1),
        ("ACTIVITY_REQUIRED", 1),
        ("BAD_CONTEXT", 2),
        ("BAD_INV_ORDER", 26),
        ("BAD_OPERATION", 2),
        ("BAD_PARAM", 44),
        ("BAD_TYPECODE", 3),
        ("CODESET_INCOMPATIBLE", 2),
        ("DATA_CONVERSION", 2),
        ("IMP_LIMIT", 1),
        ("INITIALIZE", 1),
        ("INTERNAL", 2),
        ("INTF_REPOS", 2),
        ("INVALID_ACTIVITY", 1),
        ("INV_OBJREF", 2),
        ("INV_POLICY", 3),
        ("MARSHAL", 9),
        ("NO_IMPLEMENT", 8),
        ("NO_RESOURCES", 2),
        ("NO_RESPONSE", 1),
        ("OBJECT_NOT_EXIST", 5),
        ("OBJ_ADAPTER", 7),
        ("TIMEOUT", 3),
        ("TRANSACTION_ROLLEDBACK", 4),
        ("TRANSIENT", 4),
        ("UNKNOWN", 3),
    ];

    #[test]
    fn every_code_of_the_omg_is_in_the_table() {
        let table = omg().unwrap();
        let numbers = |kind: &str| table.get(kind).map(|it| it.iter().map(|it| it.minor));
        for (kind, last) in LAST {
            let found: Option<Vec<u32>> = numbers(kind).map(Iterator::collect);
            assert_eq!(found, Some((1..=last).collect()), "{kind}");
        }
        assert_eq!(table.len(), LAST.len());
    }

    #[test]
    fn every_code_of_the_omg_is_answered_as_the_sources_have_it() {
        let faults = ANSWERS.faults(&omg_codes().unwrap());
        assert!(faults.is_empty(), "{}", faults.join("\n"));
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
