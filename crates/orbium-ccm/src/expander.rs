// SPDX-License-Identifier: MIT OR Apache-2.0
//! The expander, which processes one declaration after the other.

use std::collections::HashMap;
use std::rc::Rc;

use crate::cursor::Cursor;
use crate::kept::Template;
use crate::scopes::Scopes;

use crate::expansion::{Expansion, Note, Token};

/// Words that begin a replaced declaration.
const BEGINNINGS: [&str; 5] = ["component", "connector", "eventtype", "home", "porttype"];

/// Maximum nesting of template module instances.
const MAX_NESTED_TEMPLATES: usize = 16;

/// Bytes of names and messages that are charged to the limit as one token.
const BYTES_PER_TOKEN: usize = 8;

/// The state of an expansion: declarations read so far, and the output.
pub(crate) struct Expander<'a> {
    pub(crate) scopes: Scopes,
    pub(crate) templates: HashMap<String, Rc<Template<'a>>>,
    port_types: HashMap<String, Rc<[Token<'a>]>>,
    out: Expansion<'a>,
    limit: usize,
    /// Work charged to the limit in addition to the tokens.
    spent: usize,
    /// Whether the module `Components` is declared.
    has_components: bool,
    depth: usize,
}

pub(crate) fn expand<'a>(tokens: &[&'a str], limit: usize) -> Option<Expansion<'a>> {
    let mut words = tokens.iter().enumerate();
    if !words.any(|(at, word)| BEGINNINGS.contains(word) || is_template(&tokens[at..])) {
        return None;
    }
    let mut given = Vec::with_capacity(tokens.len());
    for (at, text) in tokens.iter().enumerate() {
        let text = (*text).into();
        given.push(Token { text, at });
    }
    let mut expander = Expander {
        scopes: Scopes::default(),
        templates: HashMap::new(),
        port_types: HashMap::new(),
        out: Expansion::default(),
        limit: limit.max(tokens.len()),
        spent: 0,
        has_components: tokens.windows(2).any(|it| it == ["module", "Components"]),
        depth: 0,
    };
    expander.run(&given);
    Some(expander.out)
}

/// Whether a template module, or an instance of one, may begin here.
fn is_template(tokens: &[&str]) -> bool {
    match tokens {
        ["module", "::", ..] => true,
        ["module", _, next, ..] => matches!(*next, "<" | "::"),
        _ => false,
    }
}

impl<'a> Expander<'a> {
    /// Copies tokens, and replaces declarations among them.
    fn run(&mut self, tokens: &[Token<'a>]) {
        let (mut next, mut before) = (0, ";");
        while let Some(token) = tokens.get(next) {
            let starts = matches!(before, ";" | "{" | "}");
            if starts && let Some(read) = self.replace(&tokens[next..]) {
                next += read;
                before = ";";
                continue;
            }
            if starts {
                self.enter(&tokens[next..]);
            }
            self.copy(token.clone());
            before = &token.text;
            next += 1;
        }
    }

    /// Replaces the declaration that begins here, if it is one to be replaced; returns the number
    /// of its tokens.
    fn replace(&mut self, tokens: &[Token<'a>]) -> Option<usize> {
        if !self.scopes.is_in_module() || self.is_full(0) {
            return None;
        }
        let mut cursor = Cursor::new(tokens);
        let (first, second) = (cursor.peek(), cursor.peek_at(1));
        let made = match first {
            "porttype" => self.port_type_declared(&mut cursor),
            "alias" => self.instance(&mut cursor),
            "module" => self.module(&mut cursor),
            _ => self.of_components((first, second), &mut cursor),
        }?;
        self.emit(tokens, &cursor, (first, second), &made);
        Some(cursor.read())
    }

    /// A template module, or an instance of one.
    fn module(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        let mut template = cursor.clone();
        match self.template_module(&mut template) {
            Some(nothing) => {
                *cursor = template;
                Some(nothing)
            }
            None => self.instance(cursor),
        }
    }

    /// A declaration based on the module `Components`.
    fn of_components(
        &mut self,
        begins: (&str, &str),
        cursor: &mut Cursor<'_, 'a>,
    ) -> Option<Vec<Token<'a>>> {
        if !self.has_components {
            return self.connector_without_base(cursor);
        }
        if self.scopes.is_within("Components") {
            return None;
        }
        match begins {
            ("component", _) => self.component(cursor),
            ("connector", _) => self.connector(cursor),
            ("home", _) => self.home(cursor),
            ("eventtype", _) | ("abstract" | "custom", "eventtype") => self.event_type(cursor),
            _ => None,
        }
    }

    /// Appends the replacement of the tokens that were read.
    fn emit(
        &mut self,
        tokens: &[Token<'a>],
        cursor: &Cursor<'_, 'a>,
        (first, name): (&str, &str),
        made: &[Token<'a>],
    ) {
        let start = self.out.tokens.len();
        if matches!(first, "module" | "alias") && self.depth < MAX_NESTED_TEMPLATES {
            self.depth += 1;
            self.run(made);
            self.depth -= 1;
        } else {
            for token in made {
                self.copy(token.clone());
            }
            self.declare_name(name);
        }
        if self.depth == 0 {
            let from = tokens[0].at;
            let given = from..from + cursor.read();
            self.out
                .replaced
                .push((given, start..self.out.tokens.len()));
        }
    }

    /// `porttype NAME { ports };`: stored until a component has such a port.
    fn port_type_declared(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        cursor.expect("porttype")?;
        let name = cursor.name()?;
        if cursor.eat(";") {
            return Some(Vec::new());
        }
        let body = cursor.braced()?.into();
        let full = self.scopes.full(&name.text);
        self.port_types.insert(full, body);
        Some(Vec::new())
    }

    /// The port type of that name, seen from a module or from here: its scoped name, and its ports.
    pub(crate) fn port_type(
        &self,
        name: &str,
        within: Option<&str>,
    ) -> Option<(String, Rc<[Token<'a>]>)> {
        let full = self
            .scopes
            .find(name, within, |it| self.port_types.contains_key(it))?;
        let body = Rc::clone(self.port_types.get(&full)?);
        Some((full, body))
    }

    /// Records the scopes and declarations of a copied declaration.
    fn enter(&mut self, tokens: &[Token<'a>]) {
        let word = |at: usize| tokens.get(at).map_or("", |it| &*it.text);
        match (word(0), word(1)) {
            ("module", name) if word(2) == "{" => self.scopes.begin(name),
            ("interface" | "valuetype" | "eventtype", name) if self.scopes.is_in_module() => {
                self.declare_name(name);
            }
            ("local", "interface") if self.scopes.is_in_module() => {
                self.scopes.declare_local(word(2));
            }
            ("abstract" | "custom", _) if self.scopes.is_in_module() => {
                self.declare_name(word(2));
            }
            _ => {}
        }
    }

    pub(crate) fn declare_name(&mut self, name: &str) {
        self.scopes.declare(name);
    }

    pub(crate) fn note(&mut self, name: &Token<'_>, message: &str) {
        self.charge(message.len());
        self.out.notes.push(Note {
            at: name.at,
            message: message.to_owned(),
        });
    }

    /// Charges work with names of that many bytes to the limit: ports and instances may expand to
    /// no tokens, or to few long ones.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.spent += 1 + bytes / BYTES_PER_TOKEN;
    }

    /// Whether the limit is reached, with so many tokens still to be added.
    pub(crate) fn is_full(&self, to_come: usize) -> bool {
        self.out.tokens.len() + self.spent + to_come > self.limit
    }

    fn copy(&mut self, token: Token<'a>) {
        self.scopes.pass(&token.text);
        self.out.tokens.push(token);
    }
}
