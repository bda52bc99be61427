// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions: all IDL constructs with a name and a repository id.

use crate::{ConstValue, DefId, Type};
use crate::{Excerpt, Location};

/// A named construct of an IDL file.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its own id.
    pub id: DefId,
    /// The name without the underscore of an escaped identifier.
    pub name: String,
    /// The names from file scope to this definition, its own last.
    pub path: Vec<String>,
    /// The enclosing module, interface, struct, …; none at file scope.
    pub parent: Option<DefId>,
    /// The repository id, such as `IDL:M/I:1.0`, after all pragmas, `typeid` and `typeprefix`.
    pub repository_id: String,
    /// The text of the comment that belongs to it (directly above, or trailing on its line),
    /// without the comment marks and common indentation.
    pub doc: Option<String>,
    /// The location of its name in its full declaration (or in the forward one, if there is no
    /// other).
    pub location: Location,
    /// Whether it was written in a file being compiled rather than in an included one. For a
    /// module, whether any of its openings was.
    pub in_main_file: bool,
    /// Annotations such as `@deadline(5)`, in order.
    pub annotations: Vec<Annotation>,
    /// The kind.
    pub kind: DefinitionKind,
}

impl Definition {
    /// The name from file scope with a leading `::`, such as `::Cubit::Cube`.
    pub fn scoped_name(&self) -> String {
        let mut name = String::new();
        for part in &self.path {
            name.push_str("::");
            name.push_str(part);
        }
        name
    }

    /// The annotation of that name, if it has one.
    pub fn annotation(&self, name: &str) -> Option<&Annotation> {
        self.annotations.iter().find(|a| a.name == name)
    }

    /// The [request](Annotation::wanted) of the last annotation of that name, if any.
    pub fn asks_for(&self, name: &str) -> Option<bool> {
        let named = self.annotations.iter().filter(|a| a.name == name);
        named.rev().find_map(Annotation::wanted)
    }

    /// Whether a repeated execution of the operation, or a repeated reading or writing of the
    /// attribute, has the same effect as one: `@idempotent`.
    pub fn is_idempotent(&self) -> bool {
        let Some(annotation) = self.annotation("idempotent") else {
            return false;
        };
        let denied = AnnotationValue::Const(ConstValue::Boolean(false));
        annotation.parameters.iter().all(|it| it.value != denied)
    }
}

/// Kind of a definition.
#[derive(Debug, Clone, PartialEq)]
pub enum DefinitionKind {
    /// `module`
    Module(Module),
    /// `interface`, plain, abstract or local
    Interface(Interface),
    /// An operation of an interface or value type
    Operation(Operation),
    /// An attribute of an interface or value type
    Attribute(Attribute),
    /// `struct`
    Struct(Struct),
    /// `union`
    Union(Union),
    /// `enum`
    Enum(Enum),
    /// `typedef`
    Alias(Alias),
    /// `const`
    Constant(Constant),
    /// `exception`
    Exception(Exception),
    /// `valuetype` with state or abstract
    ValueType(ValueType),
    /// `valuetype Name type`
    ValueBox(ValueBox),
    /// `native`
    Native,
    /// A construct that is parsed but has no mapping, such as `component`
    Unmapped(Unmapped),
}

impl DefinitionKind {
    /// The IDL keyword or noun for the kind, for messages.
    pub fn noun(&self) -> &'static str {
        match self {
            DefinitionKind::Module(_) => "module",
            DefinitionKind::Interface(_) => "interface",
            DefinitionKind::Operation(_) => "operation",
            DefinitionKind::Attribute(_) => "attribute",
            DefinitionKind::Struct(_) => "struct",
            DefinitionKind::Union(_) => "union",
            DefinitionKind::Enum(_) => "enum",
            DefinitionKind::Alias(_) => "typedef",
            DefinitionKind::Constant(_) => "constant",
            DefinitionKind::Exception(_) => "exception",
            DefinitionKind::ValueType(v) if v.event => "eventtype",
            DefinitionKind::ValueType(_) => "valuetype",
            DefinitionKind::ValueBox(_) => "value box",
            DefinitionKind::Native => "native type",
            DefinitionKind::Unmapped(u) => u.construct,
        }
    }
}

/// A module with all its openings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Module {
    /// The contents, in order.
    pub contents: Vec<DefId>,
}

/// Kind of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InterfaceKind {
    /// `interface`: objects that can be called remotely
    Plain,
    /// `abstract interface`: an object or a value
    Abstract,
    /// `local interface`: never leaves the process
    Local,
}

/// An interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Interface {
    /// Plain, abstract or local.
    pub kind: InterfaceKind,
    /// The direct bases in the order written. See [`crate::Model::all_bases`].
    pub bases: Vec<DefId>,
    /// Operations, attributes, types, constants and exceptions of its own, in order.
    pub contents: Vec<DefId>,
    /// Whether it was declared but never defined: only references to it can be passed.
    pub forward_only: bool,
}

/// The direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `in`: from caller to object
    In,
    /// `out`: from object to caller
    Out,
    /// `inout`: both directions
    InOut,
}

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, unescaped.
    pub name: String,
    /// The direction.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub location: Location,
}

/// An operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Whether no reply is sent. Then the result is void, all parameters are `in`, and there are no
    /// exceptions.
    pub oneway: bool,
    /// The result type, possibly [`Type::Void`].
    pub result: Type,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The user exceptions it may raise, in order, without duplicates. Native types may be
    /// among them, as `UserExceptionBase` of the messaging specification is.
    pub raises: Vec<DefId>,
    /// The names in its context clause.
    pub contexts: Vec<String>,
}

/// An attribute. `attribute long a, b;` makes two of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Whether it has no setter.
    pub readonly: bool,
    /// Its type.
    pub ty: Type,
    /// The exceptions of reading it.
    pub get_raises: Vec<DefId>,
    /// The exceptions of writing it.
    pub set_raises: Vec<DefId>,
}

/// A member of a struct or exception, or the content of a union case.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its name, unescaped.
    pub name: String,
    /// Its type, the array dimensions of its declarator included.
    pub ty: Type,
    /// Its comment.
    pub doc: Option<String>,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub location: Location,
}

/// A struct.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Struct {
    /// At least one member, in order.
    pub members: Vec<Member>,
    /// Types defined in place within it.
    pub contents: Vec<DefId>,
}

/// A union.
#[derive(Debug, Clone, PartialEq)]
pub struct Union {
    /// The discriminator as written: an integer type, char, boolean, or a name for one of these
    /// or for an enum.
    pub discriminator: Type,
    /// At least one case, in order.
    pub cases: Vec<Case>,
    /// Types defined in place within it.
    pub contents: Vec<DefId>,
}

impl Union {
    /// Index of the case marked `default`, if there is one.
    pub fn default_case(&self) -> Option<usize> {
        for (index, case) in self.cases.iter().enumerate() {
            if case.is_default {
                return Some(index);
            }
        }
        None
    }
}

/// One case of a union.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The labels, values of the discriminator's type; empty if it has only `default:`.
    pub labels: Vec<ConstValue>,
    /// Whether it has a `default:` (possibly with labels).
    pub is_default: bool,
    /// The member.
    pub member: Member,
}

impl Case {
    /// The labels in the form of a TypeCode: an `unsigned long long` as the signed number of the
    /// same bits, an enumerator as its index, `default:` as none.
    pub fn discriminators(&self) -> Vec<Option<i64>> {
        let ordinals = self.labels.iter().filter_map(ConstValue::ordinal);
        let mut discriminators: Vec<_> = ordinals.map(|it| Some(it as i64)).collect();
        if self.is_default {
            discriminators.push(None);
        }
        discriminators
    }
}

/// An enum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Enum {
    /// At least one; the marshalled value is the index.
    pub enumerators: Vec<Enumerator>,
}

/// An enumerator. Its scope is that of the enum.
#[derive(Debug, Clone, PartialEq)]
pub struct Enumerator {
    /// Its name, unescaped.
    pub name: String,
    /// Its comment.
    pub doc: Option<String>,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub location: Location,
}

/// A typedef. `typedef long A, B[2];` makes two of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// The aliased type, the array dimensions of its declarator included.
    pub ty: Type,
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The type as written; for `const fixed`, the digits and scale of the value.
    pub ty: Type,
    /// The value, in the range of the type.
    pub value: ConstValue,
}

/// A user exception.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exception {
    /// Its members, possibly none.
    pub members: Vec<Member>,
    /// Types defined in place within it.
    pub contents: Vec<DefId>,
}

/// Kind of a value type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// State is marshalled by the ORB
    Plain,
    /// `abstract`: no state
    Abstract,
    /// `custom`: marshals itself
    Custom,
}

/// A value type other than a box.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueType {
    /// Plain, abstract or custom.
    pub kind: ValueKind,
    /// Whether it is an `eventtype` rather than a `valuetype`: they differ only in the TypeCode.
    pub event: bool,
    /// Whether a receiver may truncate it to its concrete base, which is the first of `bases`.
    pub truncatable: bool,
    /// The value types it inherits; a concrete one comes first.
    pub bases: Vec<DefId>,
    /// The interfaces it supports; a non-abstract one comes first.
    pub supports: Vec<DefId>,
    /// Its own state, in order.
    pub members: Vec<StateMember>,
    /// Its factories, in order.
    pub factories: Vec<Factory>,
    /// Operations, attributes, types, constants and exceptions of its own, in order.
    pub contents: Vec<DefId>,
    /// Whether it was declared but never defined.
    pub forward_only: bool,
}

/// A member of a value type's state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateMember {
    /// Whether it is `public` rather than `private`.
    pub public: bool,
    /// Name and type.
    pub member: Member,
}

/// A factory of a value type.
#[derive(Debug, Clone, PartialEq)]
pub struct Factory {
    /// Its name, unescaped.
    pub name: String,
    /// Its parameters, all `in`.
    pub parameters: Vec<Parameter>,
    /// The exceptions.
    pub raises: Vec<DefId>,
    /// Its comment.
    pub doc: Option<String>,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub location: Location,
}

/// A value box.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueBox {
    /// The boxed type; never a value type.
    pub ty: Type,
}

/// A construct of IDL that orbium parses but does not map.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmapped {
    /// Its keyword: `component`, `home`, `eventtype`, …
    pub construct: &'static str,
    /// Definitions within it, in order.
    pub contents: Vec<DefId>,
}

/// An annotation, `@name(…)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The name as written, without `@`; scoped names keep their `::`.
    pub name: String,
    /// The arguments in order.
    pub parameters: Vec<AnnotationParameter>,
    /// The location.
    pub excerpt: Excerpt,
}

impl Annotation {
    /// The argument of that name, or the only unnamed one when `name` is `value`.
    pub fn parameter(&self, name: &str) -> Option<&AnnotationValue> {
        let mut unnamed = None;
        for parameter in &self.parameters {
            match &parameter.name {
                Some(known) if known == name => return Some(&parameter.value),
                None if name == "value" => unnamed = unnamed.or(Some(&parameter.value)),
                _ => {}
            }
        }
        unnamed
    }

    /// The request of an annotation with a boolean argument or none, which is TRUE; `None` for any
    /// other argument.
    pub fn wanted(&self) -> Option<bool> {
        match self.parameters.first().map(|parameter| &parameter.value) {
            None => Some(true),
            Some(AnnotationValue::Const(ConstValue::Boolean(wanted))) => Some(*wanted),
            Some(_) => None,
        }
    }
}

/// An argument of an annotation.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationParameter {
    /// `min` of `@range(min = 1)`; none in `@id(3)`.
    pub name: Option<String>,
    /// The value.
    pub value: AnnotationValue,
    /// The location of the value.
    pub excerpt: Excerpt,
}

/// The value of an annotation's argument.
#[derive(Debug, Clone, PartialEq)]
pub enum AnnotationValue {
    /// A constant expression, evaluated.
    Const(ConstValue),
    /// A name that is not a constant, such as `FINAL` of `@extensibility(FINAL)`.
    Name(String),
}
