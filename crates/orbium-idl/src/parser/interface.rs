// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces and value types, and their contents.

use super::types::Place;
use super::{Broken, Parse, Parser};
use crate::model::{Direction, InterfaceKind, ValueKind};
use crate::source::Span;
use crate::syntax::ast::{
    Attribute, Interface, Item, ItemKind, Operation, Parameter, ScopedName, Value,
};

impl Parser<'_> {
    /// Interfaces, value types and components: definitions that are not allowed in an interface.
    pub(super) fn large(&mut self, word: &str) -> Parse<Option<ItemKind>> {
        let next = self.peek_at(1).text.clone();
        let kind = match (word, &*next) {
            ("interface", _) => self.interface(InterfaceKind::Plain)?,
            ("abstract", "interface") => {
                self.bump();
                self.interface(InterfaceKind::Abstract)?
            }
            ("local", "interface") => {
                self.bump();
                self.interface(InterfaceKind::Local)?
            }
            ("valuetype" | "eventtype", _) if self.is_value_word(word) => {
                self.value(ValueKind::Plain)?
            }
            ("abstract", "valuetype" | "eventtype") => {
                self.bump();
                self.value(ValueKind::Abstract)?
            }
            ("custom", "valuetype" | "eventtype") => {
                self.bump();
                self.value(ValueKind::Custom)?
            }
            ("abstract" | "local" | "custom", _) => {
                self.bump();
                self.unexpected("`interface` or `valuetype`");
                return Err(Broken);
            }
            _ => return self.extension(word),
        };
        Ok(Some(kind))
    }

    fn is_value_word(&self, word: &str) -> bool {
        word == "valuetype" || !self.options.pre_corba3
    }

    fn interface(&mut self, kind: InterfaceKind) -> Parse<ItemKind> {
        self.bump();
        let name = self.identifier("the name of the interface")?;
        if self.at(";") {
            return Ok(ItemKind::Interface(Interface {
                kind,
                name,
                bases: Vec::new(),
                body: None,
            }));
        }
        let inherits = self.eat(":") || self.word_slip(&["extends", "inherits", "implements"], ":");
        let bases = if inherits { self.bases()? } else { Vec::new() };
        let body = self.body(&name.name, Self::export)?;
        Ok(ItemKind::Interface(Interface {
            kind,
            name,
            bases,
            body: Some(body),
        }))
    }

    /// Base names. `Object` is the root of all interfaces and cannot be named.
    fn bases(&mut self) -> Parse<Vec<ScopedName>> {
        let mut bases = Vec::new();
        loop {
            if self.at("Object") || self.at("ValueBase") {
                let token = self.bump();
                let message = format!(
                    "`{}` cannot be named as a base: it is the base of everything",
                    token.text
                );
                self.report
                    .error("root-as-base", token.span, message)
                    .help("leave it out");
            } else {
                bases.push(self.scoped_name()?);
            }
            if !self.eat(",") {
                return Ok(bases);
            }
        }
    }

    pub(super) fn body(
        &mut self,
        name: &str,
        item: fn(&mut Self) -> Parse<Vec<Item>>,
    ) -> Parse<Vec<Item>> {
        let brace = self.expect("{")?;
        let items = self.nested(|p| Ok(p.items(false, item)))?;
        self.close_body(name, brace)?;
        Ok(items)
    }

    fn value(&mut self, kind: ValueKind) -> Parse<ItemKind> {
        let event = self.at("eventtype");
        self.bump();
        let name = self.identifier("the name of the value type")?;
        if self.at(";") {
            return Ok(ItemKind::Value(Value {
                kind,
                event,
                name,
                truncatable: None,
                bases: Vec::new(),
                supports: Vec::new(),
                body: None,
            }));
        }
        let inherits = self.at(":") || self.at("supports") || self.at("{");
        if !inherits && kind == ValueKind::Plain && !event {
            let ty = self.type_spec(Place::Anywhere)?;
            return Ok(ItemKind::ValueBox { name, ty });
        }
        let mut truncatable = None;
        let mut bases = Vec::new();
        if self.eat(":") {
            if self.at("truncatable") {
                truncatable = Some(self.bump().span);
            }
            bases = self.bases()?;
        }
        let supports = if self.eat("supports") {
            self.bases()?
        } else {
            Vec::new()
        };
        let body = self.body(&name.name, Self::value_element)?;
        Ok(ItemKind::Value(Value {
            kind,
            event,
            name,
            truncatable,
            bases,
            supports,
            body: Some(body),
        }))
    }

    fn value_element(&mut self) -> Parse<Vec<Item>> {
        let start = self.peek().span;
        let annotations = self.annotations()?;
        match &*self.peek().text.clone() {
            word @ ("public" | "private") => {
                self.bump();
                let ty = self.type_spec(Place::Anywhere)?;
                let declarators = self.declarators()?;
                let field = crate::syntax::ast::Field {
                    annotations: annotations.clone(),
                    start,
                    end: self.last_span(),
                    ty,
                    declarators,
                };
                let kind = ItemKind::State {
                    public: word == "public",
                    field,
                };
                self.finish(annotations, start, kind)
            }
            "factory" => {
                self.bump();
                let operation = self.initializer()?;
                self.finish(annotations, start, ItemKind::Factory(operation))
            }
            _ => self.export_rest(annotations, start),
        }
    }

    /// `name(parameters) raises(…)` of a factory or finder.
    pub(super) fn initializer(&mut self) -> Parse<Operation> {
        let name = self.identifier("the name of the factory")?;
        let parameters = self.parameters()?;
        let raises = self.raises("raises")?;
        Ok(Operation {
            oneway: None,
            result: None,
            name,
            parameters,
            raises,
            contexts: Vec::new(),
        })
    }

    /// One item of an interface body.
    pub(super) fn export(&mut self) -> Parse<Vec<Item>> {
        let start = self.peek().span;
        let annotations = self.annotations()?;
        self.export_rest(annotations, start)
    }

    fn export_rest(
        &mut self,
        annotations: Vec<crate::syntax::ast::Annotation>,
        start: Span,
    ) -> Parse<Vec<Item>> {
        self.access_slip();
        let word = self.peek().text.clone();
        if self.at(";") {
            self.unexpected("an operation, attribute or definition")
                .help("remove this `;`");
            self.bump();
            return Ok(Vec::new());
        }
        if matches!(
            &*word,
            "module" | "interface" | "valuetype" | "abstract" | "local" | "custom"
        ) {
            let message = format!("`{word}` cannot stand inside an interface or value type");
            self.report
                .error("misplaced-definition", start, message)
                .help("move it out to the module");
            // Parsed nevertheless, so that its body is not misinterpreted.
            return self.definition().map(|_| Vec::new());
        }
        let kind = match &*word {
            "readonly" | "attribute" => self.attribute()?,
            _ => match self.common(&word)? {
                Some(kind) => kind,
                None => ItemKind::Operation(self.operation()?),
            },
        };
        self.finish(annotations, start, kind)
    }

    fn attribute(&mut self) -> Parse<ItemKind> {
        let readonly = self.eat("readonly");
        self.expect("attribute")?;
        let ty = self.type_spec(Place::Parameter)?;
        let mut names = Vec::new();
        loop {
            let name = self.identifier("the name of the attribute")?;
            names.push((name, self.last_span()));
            self.value_slip(
                "an attribute",
                "remove it: the servant decides what it is; `const` declares a constant",
            );
            if !self.eat(",") {
                break;
            }
        }
        let span = self.peek().span;
        let plain = self.raises("raises")?;
        let mut get_raises = self.raises("getraises")?;
        let set_span = self.peek().span;
        let set_raises = self.raises("setraises")?;
        if readonly && !set_raises.is_empty() {
            let message = "a readonly attribute has no `setraises`: it cannot be set";
            self.report
                .error("attribute-raises", set_span, message)
                .help("write `raises(…)`");
        }
        if readonly && !get_raises.is_empty() {
            let message = "a readonly attribute has no `getraises`";
            self.report
                .error("attribute-raises", span, message)
                .help("write `raises(…)`");
        }
        if !readonly && !plain.is_empty() {
            let message = "`raises` belongs to readonly attributes only";
            self.report
                .error("attribute-raises", span, message)
                .help("write `getraises(…) setraises(…)`");
        }
        let raises = !plain.is_empty() || !get_raises.is_empty() || !set_raises.is_empty();
        if raises && names.len() > 1 {
            let message =
                "an attribute that raises needs a single declarator: one name per declaration";
            self.report
                .error("attribute-raises", span, message)
                .help("declare each attribute by itself");
        }
        if readonly {
            get_raises = plain;
        }
        Ok(ItemKind::Attribute(Attribute {
            readonly,
            ty,
            names,
            get_raises,
            set_raises,
        }))
    }

    fn operation(&mut self) -> Parse<Operation> {
        let oneway = self.at("oneway").then(|| self.bump().span);
        if self.peek().text.eq_ignore_ascii_case("void") && !self.at("void") {
            let token = self.peek().clone();
            self.report
                .error(
                    "undeclared-name",
                    token.span,
                    format!("`{}` is not declared", token.text),
                )
                .help("did you mean `void`?");
            self.tokens[self.next].text = "void".into();
        }
        let result = if self.eat("void") {
            None
        } else {
            Some(self.type_spec(Place::Parameter)?)
        };
        let name = self.identifier("the name of the operation")?;
        let parameters = self.parameters()?;
        let raises = self.raises("raises")?;
        let mut contexts = Vec::new();
        if self.eat("context") {
            self.expect("(")?;
            loop {
                contexts.push(self.plain_string("a context name in quotes")?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Ok(Operation {
            oneway,
            result,
            name,
            parameters,
            raises,
            contexts,
        })
    }

    /// `word(names)`; empty if the word is absent.
    pub(super) fn raises(&mut self, word: &'static str) -> Parse<Vec<ScopedName>> {
        let there = self.eat(word) || word == "raises" && self.word_slip(&["throws"], word);
        if !there {
            return Ok(Vec::new());
        }
        self.expect("(")?;
        let names = self.scoped_names()?;
        self.expect(")")?;
        Ok(names)
    }

    fn parameters(&mut self) -> Parse<Vec<Parameter>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.eat(")") || self.void_parameters_slip() {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(parameters)
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let annotations = self.annotations()?;
        let direction_span = self.peek().span;
        let direction = match &*self.peek().text {
            "in" => Some(Direction::In),
            "out" => Some(Direction::Out),
            "inout" => Some(Direction::InOut),
            _ => None,
        };
        match direction {
            Some(_) => {
                self.bump();
            }
            None => {
                let found = self.peek().describe();
                let message = format!("the direction of the parameter is missing before {found}");
                self.report
                    .error("missing-direction", direction_span, message)
                    .help("write `in`, `out` or `inout` before the type");
                self.eat("const");
            }
        }
        let ty = self.type_spec(Place::Parameter)?;
        self.reference_slip(direction.is_none());
        let declarator = self.declarator()?;
        self.value_slip("a parameter", "remove it: IDL has no default arguments");
        if !declarator.dimensions.is_empty() {
            let message = "an array declarator is not allowed in a parameter";
            let span = declarator.name.span.to(declarator.end);
            self.report
                .error("array-parameter", span, message)
                .help("name the array type first: `typedef long Name[3];`");
        }
        let direction = direction.unwrap_or(Direction::In);
        Ok(Parameter {
            annotations,
            direction,
            direction_span,
            ty,
            name: declarator.name,
        })
    }
}
