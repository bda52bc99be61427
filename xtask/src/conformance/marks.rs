// SPDX-License-Identifier: MIT OR Apache-2.0
//! The marks of tests: paragraphs of their documentation that begin with `Conformance:`.
//!
//! `Conformance: CHAPTER CLAUSE - BEHAVIOUR - NOTE`, with clause and note optional. Several tests
//! of one behaviour have the same mark; a note distinguishes one of them.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::frame::Frame;

/// The beginning of a mark.
pub(super) const BEGIN: &str = "Conformance:";

/// The folder in which functions become tests by a macro, not by an attribute.
const SUITE: &str = "crates/orbium-testkit/src/transport_suite/";

/// A mark, and its test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) chapter: String,
    /// Empty if there is none.
    pub(super) clause: String,
    pub(super) behaviour: String,
    /// Empty if there is none.
    pub(super) note: String,
    /// The path from the root of the repository.
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) test: String,
}

/// The marks of a file.
///
/// # Errors
/// The errors of malformed marks.
pub(super) fn of(file: &str, text: &str, frame: &Frame) -> Result<Vec<Mark>, Vec<String>> {
    let tokens: TokenStream = match text.parse() {
        Ok(tokens) => tokens,
        Err(error) => return Err(vec![format!("{file}: {error}")]),
    };
    let mut marked = Vec::new();
    collect(tokens, file.starts_with(SUITE), &mut marked);
    let (mut marks, mut faults) = (Vec::new(), Vec::new());
    for item in marked {
        for text in &item.marks {
            match item.mark(file, text, frame) {
                Ok(mark) => marks.push(mark),
                Err(fault) => faults.push(format!("{file}:{}: {fault}: {text}", item.line)),
            }
        }
    }
    if faults.is_empty() {
        Ok(marks)
    } else {
        Err(faults)
    }
}

/// An item with marks.
struct Marked {
    marks: Vec<String>,
    line: usize,
    /// The name of the test, if it is one.
    test: Option<String>,
}

impl Marked {
    fn mark(&self, file: &str, text: &str, frame: &Frame) -> Result<Mark, String> {
        let test = self.test.clone().ok_or("stands on no test")?;
        let mut fields = text.splitn(3, " - ").map(str::trim);
        let head = fields.next().unwrap_or_default();
        let behaviour = fields.next().ok_or("has no behaviour behind \" - \"")?;
        let note = fields.next().unwrap_or_default();
        let (table, clause) = frame.table_of(head).ok_or("names no chapter")?;
        table.check_clause(clause)?;
        if behaviour.is_empty() {
            return Err("has no behaviour".to_owned());
        }
        Ok(Mark {
            chapter: table.chapter.clone(),
            clause: clause.to_owned(),
            behaviour: behaviour.to_owned(),
            note: note.to_owned(),
            file: file.to_owned(),
            line: self.line,
            test,
        })
    }
}

/// Traverses tokens, including those of macros: attributes, and the items behind them.
fn collect(tokens: TokenStream, in_suite: bool, marked: &mut Vec<Marked>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut attributes = Attributes::default();
    while let Some(token) = tokens.next() {
        if is_punct(&token, '#') {
            if tokens.peek().is_some_and(|it| is_punct(it, '!')) {
                tokens.next();
            }
            if let Some(TokenTree::Group(group)) = tokens.next_if(is_bracket) {
                attributes.add(&group);
            }
            continue;
        }
        if let TokenTree::Group(group) = token {
            // The group of `pub(crate)` is between the attributes and the name.
            if group.delimiter() != Delimiter::Parenthesis || attributes.doc.is_empty() {
                attributes.end(None, marked);
                collect(group.stream(), in_suite, marked);
            }
            continue;
        }
        let word = token.to_string();
        if matches!(word.as_str(), "pub" | "async" | "const" | "unsafe") {
            continue;
        }
        let next = tokens.peek().map(ToString::to_string).unwrap_or_default();
        let name = match word.as_str() {
            "fn" => (attributes.is_test || in_suite).then_some(next),
            // An entry of a macro that generates tests.
            _ => (next == ":").then_some(word),
        };
        attributes.end(name, marked);
    }
    attributes.end(None, marked);
}

fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == punct)
}

fn is_bracket(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(it) if it.delimiter() == Delimiter::Bracket)
}

/// The attributes before an item.
#[derive(Default)]
struct Attributes {
    /// The lines of its documentation.
    doc: Vec<String>,
    line: usize,
    is_test: bool,
}

impl Attributes {
    fn add(&mut self, group: &Group) {
        let mut tokens = group.stream().into_iter();
        let name = tokens.next().map(|it| it.to_string()).unwrap_or_default();
        match (name.as_str(), tokens.nth(1)) {
            ("doc", Some(TokenTree::Literal(text))) => {
                if self.doc.is_empty() {
                    self.line = text.span().start().line;
                }
                let text = syn::parse_str::<syn::LitStr>(&text.to_string());
                let text = text.map(|it| it.value()).unwrap_or_default();
                self.doc.extend(text.lines().map(|it| it.trim().to_owned()));
                if text.is_empty() {
                    self.doc.push(String::new());
                }
            }
            ("test", None) => self.is_test = true,
            _ => {}
        }
    }

    /// Ends the attributes of an item with this name, if it is a test.
    fn end(&mut self, test: Option<String>, marked: &mut Vec<Marked>) {
        let Self { doc, line, .. } = std::mem::take(self);
        let marks = paragraphs(&doc);
        if !marks.is_empty() {
            marked.push(Marked { marks, line, test });
        }
    }
}

/// The marks of a documentation, each on one line.
fn paragraphs(doc: &[String]) -> Vec<String> {
    let mut marks: Vec<String> = Vec::new();
    let mut within = false;
    for line in doc {
        if let Some(mark) = line.strip_prefix(BEGIN) {
            marks.push(mark.trim().to_owned());
            within = true;
        } else if line.is_empty() {
            within = false;
        } else if let (true, Some(mark)) = (within, marks.last_mut()) {
            mark.push(' ');
            mark.push_str(line);
        }
    }
    marks
}
