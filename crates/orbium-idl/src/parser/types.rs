// SPDX-License-Identifier: MIT OR Apache-2.0
//! Type specifications and declarators.

use super::{Broken, Parse, Parser};
use crate::diagnostic::article::with_article;
use crate::model::Type;
use crate::syntax::ast::{Declarator, Expr, Item, ItemKind, TypeKind, TypeSpec};

/// The context of a type, which determines what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A typedef, member, case or box: all types.
    Anywhere,
    /// The element of a sequence: no type may be defined here.
    Element,
    /// A parameter, result or attribute: neither defined here nor anonymous.
    Parameter,
    /// A constant: `fixed` without digits.
    Constant,
}

/// A type of one word.
fn basic_type(word: &str) -> Option<Type> {
    Some(match word {
        "float" => Type::Float,
        "double" => Type::Double,
        "short" => Type::Short,
        "char" => Type::Char,
        "wchar" => Type::WChar,
        "boolean" => Type::Boolean,
        "octet" => Type::Octet,
        "any" => Type::Any,
        "Object" => Type::Object,
        "ValueBase" => Type::ValueBase,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn type_spec(&mut self, place: Place) -> Parse<TypeSpec> {
        self.annotations_of_type()?;
        self.repair_type_word();
        let token = self.peek().clone();
        let start = token.span;
        if self.at_name() || token.is("::") {
            if self.options.idl4 && token.is("map") {
                return self.map();
            }
            let name = self.scoped_name()?;
            if self.at("<") {
                return Ok(self.template_slip(&name.text(), start));
            }
            return Ok(TypeSpec {
                span: name.span,
                kind: TypeKind::Named(name),
            });
        }
        let word = if token.is_identifier() {
            &*token.text
        } else {
            ""
        };
        if matches!(word, "struct" | "union" | "enum") {
            return self.inline(place);
        }
        let basic = basic_type(word).map(TypeKind::Basic);
        if let Some(kind) = self.idl4_type(word).or(basic) {
            self.bump();
            return Ok(TypeSpec { kind, span: start });
        }
        match word {
            "map" => self.map(),
            "long" => {
                self.bump();
                let kind = self.after_long();
                Ok(TypeSpec {
                    kind: TypeKind::Basic(kind),
                    span: start.to(self.last_span()),
                })
            }
            "unsigned" => {
                self.bump();
                let kind = TypeKind::Basic(self.after_unsigned()?);
                Ok(TypeSpec {
                    kind,
                    span: start.to(self.last_span()),
                })
            }
            "string" | "wstring" => self.text_type(word == "wstring"),
            "fixed" => self.fixed(place),
            "sequence" => self.sequence(place),
            "void" => {
                self.report.error(
                    "void-type",
                    start,
                    "`void` is no type for a value: it is only the result of an operation",
                );
                Err(Broken)
            }
            "interface" | "exception" | "module" | "valuetype" | "typedef" | "const" => {
                self.unexpected("a type")
                    .help(format!("`{word}` cannot be declared here"));
                Err(Broken)
            }
            _ => {
                self.unexpected("a type");
                Err(Broken)
            }
        }
    }

    fn after_long(&mut self) -> Type {
        if self.eat("long") {
            return Type::LongLong;
        }
        if self.eat("double") {
            return Type::LongDouble;
        }
        Type::Long
    }

    fn after_unsigned(&mut self) -> Parse<Type> {
        if self.eat("short") {
            return Ok(Type::UShort);
        }
        if self.eat("long") {
            return Ok(if self.eat("long") {
                Type::ULongLong
            } else {
                Type::ULong
            });
        }
        if let Some(meant) = self.unsigned_slip() {
            return Ok(meant);
        }
        self.unexpected("illegal type specifier: `short` or `long`")
            .help("only `short`, `long` and `long long` can be unsigned");
        Err(Broken)
    }

    /// The IDL 4 integer names where they are keywords. Elsewhere they are resolved by name.
    fn idl4_type(&self, word: &str) -> Option<TypeKind> {
        idl4_integer(word)
            .filter(|_| self.options.idl4)
            .map(TypeKind::Basic)
    }

    fn text_type(&mut self, wide: bool) -> Parse<TypeSpec> {
        let start = self.bump().span;
        let bound = if self.eat("<") {
            let bound = self.bound_expression()?;
            self.close_angle()?;
            Some(bound)
        } else {
            None
        };
        Ok(TypeSpec {
            kind: TypeKind::Text { wide, bound },
            span: start.to(self.last_span()),
        })
    }

    /// An expression within angle brackets. In IDL 4, a `>>` in it closes two brackets unless it is
    /// in parentheses; before, it is a shift if it is followed by an operand.
    fn bound_expression(&mut self) -> Parse<Expr> {
        let before = std::mem::replace(&mut self.closing_shift, true);
        let result = self.nested(Self::expression);
        self.closing_shift = before;
        result
    }

    /// The `>` behind the contents of angle brackets, or the first half of a `>>`.
    fn close_angle(&mut self) -> Parse<()> {
        if !self.at(">>") {
            return self.expect(">").map(|_| ());
        }
        let token = &mut self.tokens[self.next];
        let span = token.span;
        token.text = ">".into();
        token.span.start += 1;
        let message = "`>>` is a shift token before IDL 4, and closes two brackets here";
        let draft = match (self.options.idl4, self.options.strict) {
            (true, _) => return Ok(()),
            (false, true) => self.report.error("shift-token", span, message),
            (false, false) => self.report.warning("shift-token", span, message),
        };
        draft.help("write `> >`");
        Ok(())
    }

    fn fixed(&mut self, place: Place) -> Parse<TypeSpec> {
        let start = self.bump().span;
        if place == Place::Constant {
            return Ok(TypeSpec {
                kind: TypeKind::Fixed(None),
                span: start,
            });
        }
        self.forbid_anonymous(place, "fixed", start)?;
        self.expect("<")?;
        let digits = self.nested(Self::expression)?;
        self.expect(",")?;
        let scale = self.bound_expression()?;
        self.close_angle()?;
        let kind = TypeKind::Fixed(Some((digits, scale)));
        Ok(TypeSpec {
            kind,
            span: start.to(self.last_span()),
        })
    }

    fn sequence(&mut self, place: Place) -> Parse<TypeSpec> {
        let start = self.bump().span;
        self.forbid_anonymous(place, "sequence", start)?;
        self.expect("<")?;
        let element = self.nested(|p| p.type_spec(Place::Element))?;
        let bound = if self.eat(",") {
            Some(self.bound_expression()?)
        } else {
            None
        };
        self.close_angle()?;
        let kind = TypeKind::Sequence {
            element: Box::new(element),
            bound,
        };
        Ok(TypeSpec {
            kind,
            span: start.to(self.last_span()),
        })
    }

    fn forbid_anonymous(
        &mut self,
        place: Place,
        what: &str,
        span: crate::source::Span,
    ) -> Parse<()> {
        if place != Place::Parameter {
            return Ok(());
        }
        let message = format!(
            "an anonymous `{what}` type is not allowed for a parameter, result or attribute"
        );
        self.report
            .error("anonymous-type", span, message)
            .help(format!("give it a name first: `typedef {what}<…> Name;`"));
        Err(Broken)
    }

    fn map(&mut self) -> Parse<TypeSpec> {
        let start = self.bump().span;
        self.expect("<")?;
        self.nested(|p| p.type_spec(Place::Element))?;
        self.expect(",")?;
        self.nested(|p| p.type_spec(Place::Element))?;
        if self.eat(",") {
            self.bound_expression()?;
        }
        self.close_angle()?;
        Ok(TypeSpec {
            kind: TypeKind::Unsupported("map"),
            span: start.to(self.last_span()),
        })
    }

    /// A struct, union or enum defined in place.
    fn inline(&mut self, place: Place) -> Parse<TypeSpec> {
        let start = self.peek().span;
        if place != Place::Anywhere {
            let word = self.peek().text.clone();
            let message = format!("{} cannot be defined here", with_article(&word));
            self.report
                .error("type-defined-here", start, message)
                .help("define it before, and name it here");
            return Err(Broken);
        }
        let kind = self.nested(Self::constructed)?;
        let span = start.to(self.last_span());
        if let ItemKind::StructForward { name, .. } = kind {
            self.unexpected(&format!("`{{` after `{}`", name.name));
            return Err(Broken);
        }
        let item = Item {
            annotations: Vec::new(),
            start,
            end: self.last_span(),
            kind,
        };
        Ok(TypeSpec {
            kind: TypeKind::Inline(Box::new(item)),
            span,
        })
    }

    pub(super) fn declarators(&mut self) -> Parse<Vec<Declarator>> {
        let mut declarators = vec![self.declarator()?];
        while self.eat(",") {
            declarators.push(self.declarator()?);
        }
        Ok(declarators)
    }

    pub(super) fn declarator(&mut self) -> Parse<Declarator> {
        let annotations = self.annotations()?;
        self.dimension_slip();
        let name = self.identifier("a name")?;
        let mut dimensions = Vec::new();
        while self.eat("[") {
            if self.at("]") {
                self.unexpected("the size of the array")
                    .help("name a `sequence<…>` for any number of elements");
                self.bump();
                continue;
            }
            dimensions.push(self.nested(Self::expression)?);
            self.expect("]")?;
        }
        Ok(Declarator {
            name,
            dimensions,
            annotations,
            end: self.last_span(),
        })
    }
}

/// The CORBA type for an IDL 4 integer name.
pub(crate) fn idl4_integer(name: &str) -> Option<Type> {
    Some(match name {
        "int8" => Type::Int8,
        "uint8" => Type::Octet,
        "int16" => Type::Short,
        "uint16" => Type::UShort,
        "int32" => Type::Long,
        "uint32" => Type::ULong,
        "int64" => Type::LongLong,
        "uint64" => Type::ULongLong,
        _ => return None,
    })
}
