// SPDX-License-Identifier: MIT OR Apache-2.0
//! Syntax tree of the parser, before names are resolved.

use std::rc::Rc;

use crate::model::{Direction, InterfaceKind, Type, ValueKind};
use crate::source::Span;
use crate::syntax::literal::Number;

/// An identifier without its escaping underscore.
#[derive(Debug, Clone)]
pub(crate) struct Ident {
    pub(crate) name: Rc<str>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) struct ScopedName {
    pub(crate) absolute: bool,
    /// At least one.
    pub(crate) parts: Vec<Ident>,
    pub(crate) span: Span,
}

impl ScopedName {
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            if self.absolute || index > 0 {
                text.push_str("::");
            }
            text.push_str(&part.name);
        }
        text
    }
}

/// An expression in reverse Polish notation: its evaluation needs no recursion.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) steps: Vec<(Step, Span)>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Name(ScopedName),
    Number(Number),
    Char(u16),
    WideChar(u16),
    Text(Vec<u16>),
    WideText(Vec<u16>),
    Boolean(bool),
    /// An invalid literal, which has been reported.
    Poison,
    Unary(char),
    Binary(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct TypeSpec {
    pub(crate) kind: TypeKind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum TypeKind {
    Basic(Type),
    Text {
        wide: bool,
        bound: Option<Expr>,
    },
    /// Digits and scale; none in `const fixed`.
    Fixed(Option<(Expr, Expr)>),
    Sequence {
        element: Box<TypeSpec>,
        bound: Option<Expr>,
    },
    Named(ScopedName),
    /// A struct, union or enum defined at its use.
    Inline(Box<Item>),
    /// An invalid type, which has been reported.
    Wrong,
    /// An IDL 4 type without a CORBA form.
    Unsupported(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct Declarator {
    pub(crate) name: Ident,
    pub(crate) dimensions: Vec<Expr>,
    pub(crate) annotations: Vec<Annotation>,
    /// The whole declarator up to the token after it.
    pub(crate) end: Span,
}

#[derive(Debug, Clone)]
pub(crate) struct Annotation {
    pub(crate) name: Rc<str>,
    pub(crate) parameters: Vec<(Option<Rc<str>>, Expr)>,
    pub(crate) span: Span,
}

/// A declaration with its annotations and extent.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) annotations: Vec<Annotation>,
    /// First token, annotations included.
    pub(crate) start: Span,
    /// Last token, the semicolon included.
    pub(crate) end: Span,
    pub(crate) kind: ItemKind,
}

#[derive(Debug, Clone)]
pub(crate) enum ItemKind {
    Module {
        name: Ident,
        items: Vec<Item>,
    },
    Interface(Interface),
    Value(Value),
    ValueBox {
        name: Ident,
        ty: TypeSpec,
    },
    Constant {
        ty: TypeSpec,
        name: Ident,
        value: Expr,
    },
    Typedef {
        ty: TypeSpec,
        declarators: Vec<Declarator>,
    },
    Struct {
        name: Ident,
        members: Vec<Field>,
        base: Option<ScopedName>,
    },
    StructForward {
        name: Ident,
        union: bool,
    },
    Union(Union),
    Enum {
        name: Ident,
        enumerators: Vec<Enumerator>,
    },
    Native {
        name: Ident,
    },
    Exception {
        name: Ident,
        members: Vec<Field>,
    },
    Operation(Operation),
    Attribute(Attribute),
    State {
        public: bool,
        field: Field,
    },
    Factory(Operation),
    TypeId {
        name: ScopedName,
        id: Vec<u16>,
        span: Span,
    },
    TypePrefix {
        name: Option<ScopedName>,
        prefix: Vec<u16>,
        span: Span,
    },
    Import(Import),
    Unmapped(Unmapped),
    Pragma(Pragma),
    EnterFile,
    LeaveFile,
}

#[derive(Debug, Clone)]
pub(crate) enum Import {
    Scope(ScopedName),
    RepositoryId(String, Span),
}

#[derive(Debug, Clone)]
pub(crate) enum Pragma {
    Prefix(String),
    Id(ScopedName, String, Span),
    Version(ScopedName, String, Span),
}

#[derive(Debug, Clone)]
pub(crate) struct Interface {
    pub(crate) kind: InterfaceKind,
    pub(crate) name: Ident,
    pub(crate) bases: Vec<ScopedName>,
    /// None for a forward declaration.
    pub(crate) body: Option<Vec<Item>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) kind: ValueKind,
    /// Whether it is an `eventtype` rather than a `valuetype`.
    pub(crate) event: bool,
    pub(crate) name: Ident,
    pub(crate) truncatable: Option<Span>,
    pub(crate) bases: Vec<ScopedName>,
    pub(crate) supports: Vec<ScopedName>,
    /// None for a forward declaration.
    pub(crate) body: Option<Vec<Item>>,
}

/// `type name, name[2];` in a struct, exception or value.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) start: Span,
    pub(crate) end: Span,
    pub(crate) ty: TypeSpec,
    pub(crate) declarators: Vec<Declarator>,
}

#[derive(Debug, Clone)]
pub(crate) struct Union {
    pub(crate) name: Ident,
    pub(crate) switch: TypeSpec,
    pub(crate) cases: Vec<Case>,
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) labels: Vec<CaseLabel>,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) ty: TypeSpec,
    pub(crate) declarator: Declarator,
    pub(crate) start: Span,
    pub(crate) end: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum CaseLabel {
    Value(Expr),
    Default(Span),
}

#[derive(Debug, Clone)]
pub(crate) struct Enumerator {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) start: Span,
    pub(crate) name: Ident,
}

#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) oneway: Option<Span>,
    /// None for `void` and for factories.
    pub(crate) result: Option<TypeSpec>,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) raises: Vec<ScopedName>,
    pub(crate) contexts: Vec<(Vec<u16>, Span)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) direction: Direction,
    pub(crate) direction_span: Span,
    pub(crate) ty: TypeSpec,
    pub(crate) name: Ident,
}

#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) readonly: bool,
    pub(crate) ty: TypeSpec,
    pub(crate) names: Vec<(Ident, Span)>,
    pub(crate) get_raises: Vec<ScopedName>,
    pub(crate) set_raises: Vec<ScopedName>,
}

/// `component` and `home`; `eventtype` is a [`Value`].
#[derive(Debug, Clone)]
pub(crate) struct Unmapped {
    pub(crate) construct: &'static str,
    pub(crate) name: Ident,
    /// All references in its head: bases, supported interfaces, the managed component.
    pub(crate) references: Vec<ScopedName>,
    /// Ports: their types, and their names.
    pub(crate) ports: Vec<(ScopedName, Ident)>,
    /// None for a forward declaration.
    pub(crate) body: Option<Vec<Item>>,
}
