// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages that explain exceptions and minor codes, and the queries for them.

use core::fmt::{self, Write as _};
use core::str::FromStr;

use super::{COUNT, MinorCode, TABLE, omg, own, vendor};
use crate::ExceptionKind;

/// Columns of a page.
const WIDTH: usize = 80;

impl MinorCode {
    /// Its meaning, its usual causes, and the remedy: a paragraph.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        let place = TABLE.iter().position(|it| it == self).unwrap_or(COUNT);
        match place.checked_sub(omg::PAGES.len()) {
            Some(place) => own::PAGES.get(place).copied().unwrap_or_default(),
            None => omg::PAGES[place],
        }
    }

    /// The page that explains it, as `orbium explain` prints it: its names, its meaning,
    /// and the advice.
    #[must_use]
    pub fn page(&self) -> String {
        let (kind, low) = (self.kind, self.minor & 0xFFF);
        let vendor = vendor(self.minor).map_or("unknown", |vendor| vendor.name);
        let head = format!(
            "{kind}:{vendor}:{low} ({:#010x}): {}",
            self.minor, self.text
        );
        format!("{}\n\n{}", wrapped(&head), wrapped(self.advice()))
    }
}

/// The page of an exception: its meaning and its minor codes.
fn page_of_kind(kind: ExceptionKind) -> String {
    let mut page = wrapped(&format!("{kind}: {}", kind.text()));
    page.push_str("\n\n");
    page.push_str(&wrapped(
        "Completed NO: nothing was done, calling again is safe. YES: it was done. MAYBE: \
         it is not known; call again only if doing it twice does no harm.",
    ));
    let mut codes = TABLE.iter().filter(|code| code.kind == kind).peekable();
    if codes.peek().is_some() {
        page.push_str("\n\nMinor codes:\n");
    }
    for code in codes {
        let vendor = vendor(code.minor).map_or("unknown", |vendor| vendor.name);
        let name = format!("{vendor}:{}", code.minor & 0xFFF);
        // Writing to a string cannot fail.
        let _ = write!(page, "\n  {name:<11} {}", code.text);
    }
    page
}

/// Subject of an explanation: an exception, a minor code, or both.
///
/// ```
/// use orbium_giop::minor::Question;
/// for text in ["TRANSIENT:32", "TRANSIENT:orbium:32", "orbium:32", "0x4F524020"] {
///     let question: Question = text.parse()?;
///     assert!(question.answer().ok_or("no page")?.contains("the connection was refused"));
/// }
/// let all: Question = "transient".parse()?;
/// assert!(all.answer().ok_or("no page")?.contains("OMG:2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    kind: Option<ExceptionKind>,
    /// First minor code of the range of a vendor.
    vmcid: Option<u32>,
    /// The whole code; with a vendor or without a prefix its lower part.
    minor: Option<u32>,
}

impl Question {
    /// The pages; `None` if the code is unknown.
    #[must_use]
    pub fn answer(&self) -> Option<String> {
        if let (Some(kind), None, None) = (self.kind, self.vmcid, self.minor) {
            return Some(page_of_kind(kind));
        }
        let pages: Vec<String> = self.codes().map(super::MinorCode::page).collect();
        (!pages.is_empty()).then(|| pages.join("\n\n"))
    }

    /// The codes that match the query.
    pub fn codes(&self) -> impl Iterator<Item = &'static MinorCode> {
        let Self { kind, vmcid, minor } = *self;
        TABLE.iter().filter(move |code| {
            let is_low = |minor: u32| minor <= 0xFFF && code.minor & 0xFFF == minor;
            kind.is_none_or(|kind| kind == code.kind)
                && vmcid.is_none_or(|vmcid| code.minor & !0xFFF == vmcid)
                && minor.is_none_or(|minor| code.minor == minor || is_low(minor))
        })
    }
}

/// A text that names neither an exception nor a minor code.
#[derive(Clone, PartialEq, Eq)]
pub struct NotAMinorCode(String);

impl fmt::Display for NotAMinorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` names neither an exception nor a minor code; write `TRANSIENT`, \
             `TRANSIENT:32`, `OMG:2` or `0x4F524020`",
            self.0.escape_debug()
        )
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for NotAMinorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for NotAMinorCode {}

impl FromStr for Question {
    type Err = NotAMinorCode;

    fn from_str(text: &str) -> Result<Self, NotAMinorCode> {
        let refused = || NotAMinorCode(text.to_owned());
        let mut question = Self {
            kind: None,
            vmcid: None,
            minor: None,
        };
        for part in text.trim().trim_start_matches("CORBA::").split(':') {
            let part = part.trim();
            let kind = ExceptionKind::from_name(&part.to_ascii_uppercase());
            let known = super::VENDORS.iter();
            let vendor = known.clone().find(|it| it.name.eq_ignore_ascii_case(part));
            match (kind, vendor, number(part)) {
                (Some(_), ..) if question.kind.is_none() => question.kind = kind,
                (_, Some(vendor), _) if question.vmcid.is_none() => {
                    question.vmcid = Some(vendor.vmcid);
                }
                (.., Some(minor)) if question.minor.is_none() => question.minor = Some(minor),
                _ => return Err(refused()),
            }
        }
        // A small number alone matches any vendor and any exception.
        match question {
            Self {
                kind: None,
                vmcid: None,
                minor: Some(0..=0xFFF),
            } => Err(refused()),
            _ => Ok(question),
        }
    }
}

/// A decimal or hexadecimal number.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Text in lines.
fn wrapped(text: &str) -> String {
    let (mut page, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let len = word.chars().count();
        if column > 0 && column + 1 + len > WIDTH {
            page.push('\n');
            column = 0;
        } else if column > 0 {
            page.push(' ');
            column += 1;
        }
        page.push_str(word);
        column += len;
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_page_of_its_own() {
        assert_eq!(TABLE.len(), omg::PAGES.len() + own::PAGES.len());
        for code in TABLE {
            let page = code.page();
            assert!(
                page.contains(code.text.split(' ').next().unwrap()),
                "{page}"
            );
            assert!(code.advice().len() > 30, "{page}");
            assert!(code.advice().ends_with('.'), "{page}");
            assert!(
                page.lines().all(|line| line.chars().count() <= WIDTH),
                "{page}"
            );
            // The full name of a code matches no other code.
            let name = format!("{}:{:#010x}", code.kind, code.minor);
            let question: Question = name.parse().unwrap();
            assert_eq!(question.codes().collect::<Vec<_>>(), [code]);
            assert_eq!(question.answer(), Some(page));
        }
    }

    #[test]
    fn each_exception_has_a_page_that_lists_its_codes() {
        for kind in ExceptionKind::ALL {
            let question: Question = kind.name().to_lowercase().parse().unwrap();
            let page = question.answer().unwrap();
            assert!(
                page.starts_with(&format!("{kind}: {}", kind.text())),
                "{page}"
            );
            for code in TABLE.iter().filter(|code| code.kind == *kind) {
                assert!(page.contains(code.text), "{page}");
            }
        }
    }

    #[test]
    fn unknown_codes_are_refused_or_have_no_page() {
        for text in [
            "",
            "NOTHING",
            "2",
            "TRANSIENT:",
            "TRANSIENT:2:2",
            "TRANSIENT:x",
            "0x",
        ] {
            text.parse::<Question>().unwrap_err();
        }
        for text in ["TRANSIENT:4095", "0x12345678", "TAO:2"] {
            assert_eq!(text.parse::<Question>().unwrap().answer(), None);
        }
    }
}
