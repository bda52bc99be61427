// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions in modules, and the constructed types.

use super::keyword;
use super::types::Place;
use super::{Broken, Parse, Parser};
use crate::source::Span;
use crate::syntax::ast::{
    Annotation, Case, CaseLabel, Enumerator, Field, Import, Item, ItemKind, Union,
};
use crate::syntax::token::TokenKind;

impl Parser<'_> {
    /// One definition of a module or file, its `;` included.
    pub(super) fn definition(&mut self) -> Parse<Vec<Item>> {
        let start = self.peek().span;
        if self.at("@") && self.peek_at(1).is("annotation") {
            return self.annotation_definition();
        }
        let annotations = self.annotations()?;
        self.access_slip();
        let word = self.peek().text.clone();
        let kind = match &*word {
            _ if !self.peek().is_identifier() => return self.no_definition(),
            "module" => self.module()?,
            "import" if !self.options.pre_corba3 => self.import()?,
            _ => match self.common(&word)? {
                Some(kind) => kind,
                None => match self.large(&word)? {
                    Some(kind) => kind,
                    None => return self.no_definition(),
                },
            },
        };
        self.finish(annotations, start, kind)
    }

    /// Parses the `;` and builds the item.
    pub(super) fn finish(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
        kind: ItemKind,
    ) -> Parse<Vec<Item>> {
        let end = match self.semicolon() {
            Ok(end) => end,
            Err(Broken) => {
                // The parsed part is valid; only the following text is skipped.
                self.recover(self.next, false);
                self.last_span()
            }
        };
        Ok(vec![Item {
            annotations,
            start,
            end,
            kind,
        }])
    }

    fn no_definition(&mut self) -> Parse<Vec<Item>> {
        if self.at(";") {
            self.unexpected("a definition").help("remove this `;`");
            self.bump();
            return Ok(Vec::new());
        }
        if self.at("}") {
            self.unexpected("a definition")
                .help("there is no open `{` that this could close");
            self.bump();
            self.eat(";");
            return Ok(Vec::new());
        }
        let meant = keyword::misspelt(&self.peek().text);
        let draft = self.unexpected("a definition");
        match meant {
            Some(word) => draft.help(format!("did you mean `{word}`?")),
            None => draft.help(
                "operations and attributes can be declared in interfaces and value types only; at this place \
                 stand definitions such as `module`, `interface`, `struct`, `typedef`, `const`",
            ),
        };
        Err(Broken)
    }

    /// Definitions that are also allowed in interfaces.
    pub(super) fn common(&mut self, word: &str) -> Parse<Option<ItemKind>> {
        let kind = match word {
            "typedef" => {
                self.bump();
                let ty = self.type_spec(Place::Anywhere)?;
                ItemKind::Typedef {
                    ty,
                    declarators: self.declarators()?,
                }
            }
            "struct" | "union" | "enum" => self.nested(Self::constructed)?,
            "const" => self.constant()?,
            "exception" => {
                self.bump();
                let name = self.identifier("the name of the exception")?;
                let members = self.nested(|p| p.fields(&name.name))?;
                ItemKind::Exception { name, members }
            }
            "native" => {
                self.bump();
                ItemKind::Native {
                    name: self.identifier("the name of the native type")?,
                }
            }
            "typeid" if !self.options.pre_corba3 => {
                self.bump();
                let name = self.scoped_name()?;
                let (id, span) = self.plain_string("a repository id in quotes")?;
                ItemKind::TypeId { name, id, span }
            }
            "typeprefix" if !self.options.pre_corba3 => {
                self.bump();
                let name = if self.peek().kind == TokenKind::Text {
                    None
                } else if self.at("::") && self.peek_at(1).kind == TokenKind::Text {
                    // `::` alone is the file scope.
                    self.bump();
                    None
                } else {
                    Some(self.scoped_name()?)
                };
                let (prefix, span) = self.plain_string("a prefix in quotes")?;
                ItemKind::TypePrefix { name, prefix, span }
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn module(&mut self) -> Parse<ItemKind> {
        self.bump();
        let name = self.identifier("the name of the module")?;
        let brace = self.expect("{")?;
        let items = self.nested(|p| {
            let before = p.next;
            let items = p.items(false, Self::definition);
            if p.next == before && p.at("}") && items.is_empty() {
                let message = format!("the module `{}` is empty", name.name);
                p.report
                    .error("empty-module", name.span, message)
                    .help("a module must define something");
            }
            Ok(items)
        })?;
        self.close_body(&name.name, brace)?;
        Ok(ItemKind::Module { name, items })
    }

    /// The `}` of a body, after its items.
    pub(super) fn close_body(&mut self, name: &str, brace: Span) -> Parse<()> {
        if self.eat("}") {
            return Ok(());
        }
        self.unexpected("`}`")
            .label(brace, "this `{` is not closed")
            .help(format!("the body of `{name}` is not closed"));
        Err(Broken)
    }

    fn import(&mut self) -> Parse<ItemKind> {
        self.bump();
        if self.peek().kind == TokenKind::Text {
            let (id, span) = self.plain_string("a repository id in quotes")?;
            return Ok(ItemKind::Import(Import::RepositoryId(
                String::from_utf16_lossy(&id),
                span,
            )));
        }
        Ok(ItemKind::Import(Import::Scope(self.scoped_name()?)))
    }

    fn constant(&mut self) -> Parse<ItemKind> {
        self.bump();
        let ty = self.type_spec(Place::Constant)?;
        let name = self.identifier("the name of the constant")?;
        self.expect("=")?;
        Ok(ItemKind::Constant {
            ty,
            name,
            value: self.expression()?,
        })
    }

    /// `struct`, `union` or `enum`, without the following declarators.
    pub(super) fn constructed(&mut self) -> Parse<ItemKind> {
        let word = self.bump().text;
        match &*word {
            "enum" => self.enumeration(),
            "union" => self.union(),
            _ => self.structure(),
        }
    }

    fn structure(&mut self) -> Parse<ItemKind> {
        let name = self.tag("struct")?;
        if self.at(";") {
            return Ok(ItemKind::StructForward { name, union: false });
        }
        let base = if self.eat(":") {
            Some(self.scoped_name()?)
        } else {
            None
        };
        let before = self.report.has_errors();
        let members = self.fields(&name.name)?;
        if members.is_empty() && base.is_none() && before == self.report.has_errors() {
            let message = format!("the struct `{}` is empty", name.name);
            self.report
                .error("empty-struct", name.span, message)
                .help("a struct must have a member");
        }
        Ok(ItemKind::Struct {
            name,
            members,
            base,
        })
    }

    /// `{ type declarators; … }`
    fn fields(&mut self, name: &str) -> Parse<Vec<Field>> {
        let brace = self.expect("{")?;
        let mut fields = Vec::new();
        while !self.at("}") && !self.at_end() && !self.report.is_exhausted() {
            let before = self.next;
            match self.field() {
                Ok(field) => fields.push(field),
                Err(Broken) => self.recover(before, false),
            }
            if self.next == before {
                self.bump();
            }
        }
        self.close_body(name, brace)?;
        Ok(fields)
    }

    fn field(&mut self) -> Parse<Field> {
        let start = self.peek().span;
        let annotations = self.annotations()?;
        let ty = self.type_spec(Place::Anywhere)?;
        let declarators = self.declarators()?;
        self.value_slip(
            "a member",
            "remove it: the program that makes the value sets its members",
        );
        let end = self.semicolon()?;
        Ok(Field {
            annotations,
            start,
            end,
            ty,
            declarators,
        })
    }

    fn enumeration(&mut self) -> Parse<ItemKind> {
        let name = self.tag("enum")?;
        let brace = self.expect("{")?;
        if self.at("}") {
            let message = format!("the enum `{}` is empty", name.name);
            self.report
                .error("empty-enum", name.span, message)
                .help("an enum must have an enumerator");
            self.bump();
            return Ok(ItemKind::Enum {
                name,
                enumerators: Vec::new(),
            });
        }
        let mut enumerators = Vec::new();
        loop {
            let start = self.peek().span;
            let annotations = self.annotations()?;
            let name = self.identifier("an enumerator")?;
            enumerators.push(Enumerator {
                annotations,
                start,
                name,
            });
            self.value_slip(
                "an enumerator",
                "remove it: enumerators are numbered from 0 in the order written; constants have values",
            );
            if !self.eat(",") {
                break;
            }
            if self.at("}") {
                self.unexpected("an enumerator").help("remove the last `,`");
                break;
            }
        }
        if !self.eat("}") {
            self.unexpected("`,` or `}`")
                .label(brace, "this `{` is not closed");
            return Err(Broken);
        }
        Ok(ItemKind::Enum { name, enumerators })
    }

    fn union(&mut self) -> Parse<ItemKind> {
        let name = self.tag("union")?;
        if self.at(";") {
            return Ok(ItemKind::StructForward { name, union: true });
        }
        self.expect("switch")?;
        self.expect("(")?;
        let switch = self.type_spec(Place::Anywhere)?;
        self.expect(")")?;
        let brace = self.expect("{")?;
        let before = self.report.has_errors();
        let mut cases = Vec::new();
        while !self.at("}") && !self.at_end() && !self.report.is_exhausted() {
            let start = self.next;
            match self.case() {
                Ok(case) => cases.push(case),
                Err(Broken) => self.recover(start, false),
            }
            if self.next == start {
                self.bump();
            }
        }
        self.close_body(&name.name, brace)?;
        if cases.is_empty() && before == self.report.has_errors() {
            let message = format!("the union `{}` is empty", name.name);
            self.report
                .error("empty-union", name.span, message)
                .help("a union must have a case");
        }
        Ok(ItemKind::Union(Union {
            name,
            switch,
            cases,
        }))
    }

    fn case(&mut self) -> Parse<Case> {
        let start = self.peek().span;
        let mut annotations = self.annotations()?;
        let mut labels = Vec::new();
        loop {
            if self.at("default") {
                labels.push(CaseLabel::Default(self.bump().span));
            } else if self.eat("case") {
                labels.push(CaseLabel::Value(self.expression()?));
            } else {
                break;
            }
            self.expect(":")?;
        }
        if labels.is_empty() {
            self.unexpected("`case` or `default`");
            return Err(Broken);
        }
        annotations.append(&mut self.annotations()?);
        let ty = self.type_spec(Place::Anywhere)?;
        let declarator = self.declarator()?;
        let end = self.semicolon()?;
        Ok(Case {
            labels,
            annotations,
            ty,
            declarator,
            start,
            end,
        })
    }

    /// `@annotation Foo { … };` is parsed and ignored.
    fn annotation_definition(&mut self) -> Parse<Vec<Item>> {
        self.bump();
        self.bump();
        self.identifier("the name of the annotation")?;
        self.expect("{")?;
        let mut braces = 1usize;
        while braces > 0 && !self.at_end() {
            let token = self.bump();
            braces += usize::from(token.is("{"));
            braces -= usize::from(token.is("}"));
        }
        self.semicolon()?;
        Ok(Vec::new())
    }
}
