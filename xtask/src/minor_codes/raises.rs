// SPDX-License-Identifier: MIT OR Apache-2.0
//! Raises of the OMG's minor codes in the sources.
//!
//! A code is raised by `omg(KIND, NUMBER, …)`, by an expression `OMG_VMCID | NUMBER` behind the
//! kind in the same parentheses, or by a function or closure that passes its parameter `minor` on
//! to `omg`: then the integers in its calls count, in the same folder. Any other computation of the
//! number is a computed raise, listed with its codes in `minor-codes.toml`.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenTree;

use super::calls::{self, Call};

/// An exception, as the standard writes it, and a number.
pub(super) type Code = (String, u32);

/// The codes raised by the sources.
#[derive(Debug, Default)]
pub(super) struct Raises {
    /// The files that raise each code, from the root of the repository.
    pub(super) codes: BTreeMap<Code, BTreeSet<String>>,
    /// The files that compute codes.
    pub(super) computed: BTreeSet<String>,
}

/// A function that passes a number on to `omg`.
#[derive(Debug)]
struct Helper {
    name: String,
    /// The folder of its file.
    folder: String,
    /// `None`: determined by its first argument.
    kind: Option<String>,
}

/// The argument with which `omg` is called.
enum Raised {
    Code(Code),
    /// The parameter of a helper; with the exception unless that is a parameter too.
    Passed(Option<String>),
    Computed,
}

impl Raises {
    /// The codes of files: their paths, and their texts.
    ///
    /// # Errors
    /// A text is not Rust.
    pub(super) fn of(files: &[(String, String)]) -> Result<Self, String> {
        let mut calls = Vec::new();
        for (file, text) in files {
            let found = calls::of(text).map_err(|error| format!("{file}: {error}"))?;
            calls.extend(found.into_iter().map(|call| (file.as_str(), call)));
        }
        let mut raises = Self::default();
        let mut helpers = Vec::new();
        for (file, call) in &calls {
            raises.add(file, call, &mut helpers);
        }
        for (file, call) in &calls {
            let folder = folder_of(file);
            let helper = helpers
                .iter()
                .find(|it| it.name == call.name && folder.starts_with(&it.folder));
            if let Some(helper) = helper {
                raises.add_all(file, helper.codes(call));
            }
        }
        Ok(raises)
    }

    fn add(&mut self, file: &str, call: &Call, helpers: &mut Vec<Helper>) {
        self.add_all(file, combined(call));
        if call.name != "omg" {
            return;
        }
        match raised(call) {
            Raised::Code(code) => self.add_all(file, vec![code]),
            Raised::Passed(kind) => helpers.push(Helper {
                name: call.within.clone(),
                folder: folder_of(file).to_owned(),
                kind,
            }),
            Raised::Computed => {
                self.computed.insert(file.to_owned());
            }
        }
    }

    fn add_all(&mut self, file: &str, codes: Vec<Code>) {
        for code in codes {
            self.codes.entry(code).or_default().insert(file.to_owned());
        }
    }
}

impl Helper {
    /// The codes raised by a call of it.
    fn codes(&self, call: &Call) -> Vec<Code> {
        let mut arguments = call.arguments.iter();
        let kind = match &self.kind {
            Some(kind) => Some(kind.clone()),
            None => arguments.next().and_then(|it| kind_of(it)),
        };
        let numbers = arguments.flat_map(|it| numbers_in(it));
        kind.map_or_else(Vec::new, |kind| {
            numbers.map(|number| (kind.clone(), number)).collect()
        })
    }
}

fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn raised(call: &Call) -> Raised {
    let [kind, minor, ..] = &call.arguments[..] else {
        return Raised::Computed;
    };
    match (kind_of(kind), number_of(minor), minor.as_slice()) {
        (Some(kind), Some(number), _) => Raised::Code((kind, number)),
        (kind, None, [TokenTree::Ident(name)]) if name == "minor" => Raised::Passed(kind),
        _ => Raised::Computed,
    }
}

/// The code of `(KIND, …, OMG_VMCID | NUMBER, …)`.
fn combined(call: &Call) -> Vec<Code> {
    let mut codes = Vec::new();
    let Some(kind) = call.arguments.first().and_then(|it| kind_of(it)) else {
        return codes;
    };
    for argument in &call.arguments[1..] {
        for three in argument.windows(3) {
            if three[0].to_string() == "OMG_VMCID" && three[1].to_string() == "|" {
                codes.extend(number_of(&three[2..]).map(|number| (kind.clone(), number)));
            }
        }
    }
    codes
}

/// The exception of a path.
fn kind_of(path: &[TokenTree]) -> Option<String> {
    let TokenTree::Ident(name) = path.last()? else {
        return None;
    };
    let name = name.to_string();
    let is_variant = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    is_variant.then(|| screaming(&name))
}

/// `NoResources` in the standard's spelling: `NO_RESOURCES`.
pub(super) fn screaming(kind: &str) -> String {
    let mut name = String::new();
    for c in kind.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_uppercase());
    }
    name
}

fn number_of(argument: &[TokenTree]) -> Option<u32> {
    match argument {
        [TokenTree::Literal(literal)] => literal.to_string().parse().ok(),
        _ => None,
    }
}

/// The integers in an expression.
fn numbers_in(argument: &[TokenTree]) -> Vec<u32> {
    let mut numbers = Vec::new();
    for token in argument {
        match token {
            TokenTree::Literal(literal) => numbers.extend(literal.to_string().parse::<u32>()),
            TokenTree::Group(group) => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                numbers.extend(numbers_in(&inner));
            }
            _ => {}
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raises(text: &str) -> Raises {
        Raises::of(&[("crates/a/src/b.rs".to_owned(), text.to_owned())]).unwrap()
    }

    fn codes(text: &str) -> Vec<Code> {
        raises(text).codes.into_keys().collect()
    }

    fn code(kind: &str, number: u32) -> Code {
        (kind.to_owned(), number)
    }

    #[test]
    fn raises_with_a_number_are_found() {
        let text = "fn f() { Err(SystemException::omg(ExceptionKind::BadParam, 14, No))?; }
                    fn g() { match e { A => (Marshal, minor::OMG_VMCID | 4), B => (Marshal, 5) } }";
        assert_eq!(codes(text), [code("BAD_PARAM", 14), code("MARSHAL", 4)]);
    }

    #[test]
    fn raises_by_helpers_are_found() {
        let text = "fn late(minor: u32) -> E { E::omg(ExceptionKind::Timeout, minor, No) }
                    fn f() { let refused = |minor| E::omg(Kind::IntfRepos, minor, No);
                             a.map_err(|_| refused(1))?; late(match b { C => 2, D => 3 }) }
                    const fn no(kind: Kind, minor: u32) -> E { E::omg(kind, minor, No) }
                    const BAD: E = no(Kind::BadParam, 2);";
        let expected = [
            code("BAD_PARAM", 2),
            code("INTF_REPOS", 1),
            code("TIMEOUT", 2),
            code("TIMEOUT", 3),
        ];
        assert_eq!(codes(text), expected);
        assert!(raises(text).computed.is_empty());
    }

    #[test]
    fn computed_raises_are_noted() {
        let text = "fn f(&self) -> E { E::omg(Kind::Timeout, self.minor, No) }";
        assert_eq!(raises(text).computed.len(), 1);
        let text = "fn f(kind: Kind) -> E { E::omg(kind, 1, No) }";
        assert_eq!(raises(text).computed.len(), 1);
    }

    #[test]
    fn tests_within_the_sources_raise_nothing() {
        let text = "#[cfg(test)] mod tests { fn f() { E::omg(Kind::Timeout, 2, No); } }";
        assert!(raises(text).codes.is_empty());
    }
}
