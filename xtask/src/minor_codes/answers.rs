// SPDX-License-Identifier: MIT OR Apache-2.0
//! `xtask/minor-codes.toml`: for each minor code of the OMG, the tests that prove that orbium
//! raises it, or the reason why it does not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;

use super::raises::{Code, Raises};
use crate::sources;
use xtask::outcome::Outcome;
use xtask::shell;

/// The entry of a code: tests, or a reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, untagged)]
enum Answer {
    /// `FILE::TEST`, from `crates`.
    Raised { tests: Vec<String> },
    /// The reason why orbium does not raise it.
    NotRaised { reason: String },
}

#[derive(Debug, Deserialize)]
struct File {
    /// The codes that a file computes: `BAD_PARAM 7`, by its path.
    computed: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    kinds: BTreeMap<String, BTreeMap<String, Answer>>,
}

/// The entries, and the codes that the sources raise.
#[derive(Debug)]
pub(super) struct Answers {
    answers: BTreeMap<Code, Answer>,
    computed: BTreeMap<String, Vec<String>>,
    raises: Raises,
}

impl Answers {
    /// # Errors
    /// The file or a source cannot be read.
    pub(super) fn read() -> Outcome<Self> {
        let path = shell::root().join("xtask/minor-codes.toml");
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        Self::of(&text, Raises::of(&sources_of_crates()?)?)
    }

    fn of(text: &str, mut raises: Raises) -> Outcome<Self> {
        let file: File =
            toml::from_str(text).map_err(|error| format!("minor-codes.toml: {error}"))?;
        let mut answers = BTreeMap::new();
        for (kind, of_kind) in file.kinds {
            for (number, answer) in of_kind {
                answers.insert(code_of(&format!("{kind} {number}"))?, answer);
            }
        }
        for (path, codes) in &file.computed {
            for code in codes {
                let files = raises.codes.entry(code_of(code)?).or_default();
                files.insert(path.clone());
            }
        }
        Ok(Self {
            answers,
            computed: file.computed,
            raises,
        })
    }

    /// The text of the page for a code.
    pub(super) fn text(&self, kind: &str, minor: u32) -> String {
        let code = (kind.to_owned(), minor);
        match self.answers.get(&code) {
            None => String::new(),
            Some(Answer::NotRaised { reason }) => format!("not raised: {reason}"),
            Some(Answer::Raised { tests }) => {
                let tests: Vec<String> = tests.iter().map(|it| link(it)).collect();
                format!("raised by {}; {}", self.crates(&code), tests.join(", "))
            }
        }
    }

    fn crates(&self, code: &Code) -> String {
        let files = self.raises.codes.get(code).into_iter().flatten();
        let crates: BTreeSet<&str> = files.filter_map(|it| it.split('/').nth(1)).collect();
        Vec::from_iter(crates).join(", ")
    }

    /// All errors: codes without entries, and entries that contradict the sources or the tests.
    pub(super) fn faults(&self, codes: &BTreeSet<Code>) -> Vec<String> {
        let mut faults = Vec::new();
        for (kind, minor) in codes {
            if !self.answers.contains_key(&(kind.clone(), *minor)) {
                faults.push(format!("{kind} {minor}: not answered"));
            }
        }
        for (code, answer) in &self.answers {
            let fault = if codes.contains(code) {
                self.fault(code, answer)
            } else {
                Some("is none of the OMG's".to_owned())
            };
            faults.extend(fault.map(|fault| format!("{} {}: {fault}", code.0, code.1)));
        }
        for (kind, minor) in self.raises.codes.keys() {
            if !codes.contains(&(kind.clone(), *minor)) {
                faults.push(format!("{kind} {minor}: raised, and none of the OMG's"));
            }
        }
        let listed: BTreeSet<String> = self.computed.keys().cloned().collect();
        let computed = listed.symmetric_difference(&self.raises.computed);
        faults.extend(computed.map(|file| format!("{file}: listed as computed, or computes")));
        faults
    }

    fn fault(&self, code: &Code, answer: &Answer) -> Option<String> {
        let files = self.raises.codes.get(code);
        match (answer, files) {
            (Answer::Raised { .. }, None) => Some("no source raises it".to_owned()),
            (Answer::NotRaised { .. }, Some(files)) => Some(format!("raised by {files:?}")),
            (Answer::NotRaised { .. }, None) => None,
            (Answer::Raised { tests }, _) if tests.is_empty() => Some("no test".to_owned()),
            (Answer::Raised { tests }, _) => tests.iter().find_map(|it| missing(it)),
        }
    }
}

/// A code from its text, `BAD_PARAM 7`.
fn code_of(text: &str) -> Outcome<Code> {
    let parts = text
        .split_once(' ')
        .map(|(kind, minor)| (kind, minor.parse()));
    match parts {
        Some((kind, Ok(minor))) => Ok((kind.to_owned(), minor)),
        _ => Err(format!("minor-codes.toml: {text:?} is no minor code")),
    }
}

fn sources_of_crates() -> Outcome<Vec<(String, String)>> {
    let root = shell::root();
    let mut texts = Vec::new();
    for package in sources::packages()? {
        if !package.folder.starts_with(root.join("crates")) {
            continue;
        }
        for path in sources::rust_files(&package.folder.join("src"))? {
            let text = fs::read_to_string(&path);
            let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path.strip_prefix(&root).unwrap_or(&path);
            texts.push((name.display().to_string(), text));
        }
    }
    Ok(texts)
}

/// A test as a link of the page.
fn link(test: &str) -> String {
    let (file, name) = test.split_once("::").unwrap_or((test, ""));
    format!("[{name}](../crates/{file})")
}

/// The reason why there is no such test.
fn missing(test: &str) -> Option<String> {
    let (file, name) = test.split_once("::").unwrap_or((test, ""));
    let text = fs::read_to_string(shell::root().join("crates").join(file));
    match text {
        Err(error) => Some(format!("{file}: {error}")),
        Ok(text) if has_test(&text, name) => None,
        Ok(_) => Some(format!("{file} has no test {name}")),
    }
}

/// Whether a text has a function of that name with the attribute `#[test]`.
fn has_test(text: &str, name: &str) -> bool {
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else {
        return false;
    };
    let attributes = before.lines().rev().map(str::trim);
    let mut attributes =
        attributes.take_while(|it| it.is_empty() || it.starts_with("#[") || it.starts_with("//"));
    attributes.any(|it| it == "#[test]")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str =
        "orbium-giop/tests/suite/object_urls.rs::a_bad_stringified_reference_is_minor_10";

    fn faults(text: &str, source: &str) -> Vec<String> {
        let files = [("crates/a/src/b.rs".to_owned(), source.to_owned())];
        let answers = Answers::of(text, Raises::of(&files).unwrap()).unwrap();
        answers.faults(&BTreeSet::from([("BAD_PARAM".to_owned(), 10)]))
    }

    #[test]
    fn an_answer_fits_the_sources_and_the_tests() {
        let raising = "fn f() { E::omg(Kind::BadParam, 10, No) }";
        let proven = format!("[computed]\n[BAD_PARAM]\n10 = {{ tests = [\"{TEST}\"] }}");
        assert_eq!(faults(&proven, raising), [""; 0]);
        assert_eq!(faults(&proven, ""), ["BAD_PARAM 10: no source raises it"]);
        let renamed = proven.replace("_10\"", "_9\"");
        assert!(faults(&renamed, raising)[0].contains("has no test a_bad"));
        let reason = "[computed]\n[BAD_PARAM]\n10 = { reason = \"why\" }";
        assert_eq!(faults(reason, ""), [""; 0]);
        assert!(faults(reason, raising)[0].contains("raised by"));
        assert_eq!(faults("[computed]", ""), ["BAD_PARAM 10: not answered"]);
    }

    #[test]
    fn wrong_or_computed_codes_are_a_fault() {
        let reason = "[BAD_PARAM]\n10 = { reason = \"why\" }\n";
        let other = format!("[computed]\n{reason}11 = {{ reason = \"why\" }}");
        assert_eq!(faults(&other, ""), ["BAD_PARAM 11: is none of the OMG's"]);
        let raising = "fn f() { E::omg(Kind::BadParam, 45, No) }";
        let plain = format!("[computed]\n{reason}");
        assert_eq!(
            faults(&plain, raising),
            ["BAD_PARAM 45: raised, and none of the OMG's"]
        );
        let computing = "fn f() { E::omg(kind, 1, No) }";
        assert!(faults(&plain, computing)[0].starts_with("crates/a/src/b.rs: listed"));
    }

    #[test]
    fn a_function_is_a_test_by_its_attribute() {
        let text = "fn a() {}\n#[test]\n// Why.\nfn b() {}";
        assert!(has_test(text, "b"));
        assert!(!has_test(text, "a"));
        assert!(!has_test(text, "c"));
    }
}
