// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CORBA Component Model, which is parsed but not mapped, and IDL 4 constructs without an
//! equivalent in CORBA.

use super::{Broken, Parse, Parser};
use crate::syntax::ast::{Ident, Item, ItemKind, ScopedName, Unmapped};

impl Parser<'_> {
    /// `component`, `home` and the like; None if the word begins no known construct.
    pub(super) fn extension(&mut self, word: &str) -> Parse<Option<ItemKind>> {
        match word {
            "component" if !self.options.pre_corba3 => self.component().map(Some),
            "home" if !self.options.pre_corba3 => self.home().map(Some),
            "bitset" | "bitmask" | "connector" | "porttype" | "template" if self.options.idl4 => {
                let span = self.peek().span;
                let message = format!("`{word}` has no form in CORBA");
                self.report
                    .error("unsupported", span, message)
                    .help(match word {
                        "bitset" | "bitmask" => {
                            "IDL 4.2 leaves it out for CORBA: use an integer and constants"
                        }
                        _ => "leave it out with `#ifndef __ORBIUM_IDL__`",
                    });
                Err(Broken)
            }
            _ => Ok(None),
        }
    }

    fn component(&mut self) -> Parse<ItemKind> {
        self.bump();
        let name = self.identifier("the name of the component")?;
        let mut unmapped = empty("component", name);
        if self.at(";") {
            return Ok(ItemKind::Unmapped(unmapped));
        }
        if self.eat(":") {
            unmapped.references.push(self.scoped_name()?);
        }
        if self.eat("supports") {
            unmapped.references.append(&mut self.scoped_names()?);
        }
        let brace = self.expect("{")?;
        let mut items = Vec::new();
        while !self.at("}") && !self.at_end() && !self.report.is_exhausted() {
            let before = self.next;
            let read = if self.at_port() {
                self.port().map(|port| unmapped.ports.push(port))
            } else {
                self.export().map(|mut read| items.append(&mut read))
            };
            if read.is_err() {
                self.recover(before, false);
            }
            if self.next == before {
                self.bump();
            }
        }
        self.close_body(&unmapped.name.name, brace)?;
        unmapped.body = Some(items);
        Ok(ItemKind::Unmapped(unmapped))
    }

    fn at_port(&self) -> bool {
        ["provides", "uses", "emits", "publishes", "consumes"]
            .into_iter()
            .any(|word| self.at(word))
    }

    fn port(&mut self) -> Parse<(ScopedName, Ident)> {
        let word = self.bump().text;
        if &*word == "uses" {
            self.eat("multiple");
        }
        let ty = if self.at("Object") {
            let token = self.bump();
            let ident = Ident {
                name: token.text,
                span: token.span,
            };
            ScopedName {
                absolute: false,
                span: ident.span,
                parts: vec![ident],
            }
        } else {
            self.scoped_name()?
        };
        let name = self.identifier("the name of the port")?;
        self.semicolon()?;
        Ok((ty, name))
    }

    fn home(&mut self) -> Parse<ItemKind> {
        self.bump();
        let name = self.identifier("the name of the home")?;
        let mut unmapped = empty("home", name);
        if self.eat(":") {
            unmapped.references.push(self.scoped_name()?);
        }
        if self.eat("supports") {
            unmapped.references.append(&mut self.scoped_names()?);
        }
        self.expect("manages")?;
        unmapped.references.push(self.scoped_name()?);
        if self.eat("primarykey") {
            unmapped.references.push(self.scoped_name()?);
        }
        let body = self.body(&unmapped.name.name.clone(), Self::home_export)?;
        unmapped.body = Some(body);
        Ok(ItemKind::Unmapped(unmapped))
    }

    fn home_export(&mut self) -> Parse<Vec<Item>> {
        let start = self.peek().span;
        if self.at("factory") || self.at("finder") {
            self.bump();
            let operation = self.initializer()?;
            return self.finish(Vec::new(), start, ItemKind::Factory(operation));
        }
        self.export()
    }
}

fn empty(construct: &'static str, name: Ident) -> Unmapped {
    Unmapped {
        construct,
        name,
        references: Vec::new(),
        ports: Vec::new(),
        body: None,
    }
}
