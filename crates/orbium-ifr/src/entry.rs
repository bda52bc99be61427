// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stored definitions: plain data that refers to other definitions by key.

use serde::{Deserialize, Serialize};

use crate::corba::{DefinitionKind, PrimitiveKind};

/// The identity of a definition in the store and in its reference, independent of its name and id.
pub(crate) type Key = u64;

/// The repository itself.
pub(crate) const ROOT: Key = 0;

/// The type of a member, parameter or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TypeDef {
    /// Ordinal of a `PrimitiveKind`.
    Primitive(u32),
    Entry(Key),
}

impl TypeDef {
    pub(crate) fn primitive(kind: PrimitiveKind) -> Self {
        Self::Primitive(kind as u32)
    }

    pub(crate) fn is(self, kind: PrimitiveKind) -> bool {
        self == Self::primitive(kind)
    }
}

/// A member of a struct, exception or factory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) ty: TypeDef,
}

/// A label of a union, with its member. Without a label it is the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) label: Option<i64>,
    pub(crate) name: String,
    pub(crate) ty: TypeDef,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Way {
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: TypeDef,
    pub(crate) way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum InterfaceKind {
    Plain,
    Abstract,
    Local,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Initializer {
    pub(crate) name: String,
    pub(crate) members: Vec<Member>,
    pub(crate) raises: Vec<Key>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) result: TypeDef,
    pub(crate) oneway: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) raises: Vec<Key>,
    pub(crate) contexts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attribute {
    pub(crate) ty: TypeDef,
    pub(crate) readonly: bool,
    pub(crate) get_raises: Vec<Key>,
    pub(crate) set_raises: Vec<Key>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Value {
    pub(crate) is_custom: bool,
    pub(crate) is_abstract: bool,
    pub(crate) is_truncatable: bool,
    /// An event type; older files of repositories lack this field.
    #[serde(default)]
    pub(crate) is_event: bool,
    pub(crate) base: Option<Key>,
    pub(crate) abstract_bases: Vec<Key>,
    pub(crate) supports: Vec<Key>,
    pub(crate) initializers: Vec<Initializer>,
}

impl Value {
    /// The part of it that a forward declaration contains.
    pub(crate) fn as_declared(&self) -> Self {
        Self {
            is_abstract: self.is_abstract,
            is_event: self.is_event,
            ..Self::default()
        }
    }
}

/// The content of a definition, by its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Body {
    Repository,
    Module,
    /// The value is an any in CDR.
    Constant {
        ty: TypeDef,
        value: Vec<u8>,
    },
    Struct(Vec<Member>),
    Union {
        discriminator: TypeDef,
        cases: Vec<Case>,
    },
    Enum(Vec<String>),
    Alias(TypeDef),
    Native,
    Exception(Vec<Member>),
    Interface {
        kind: InterfaceKind,
        bases: Vec<Key>,
    },
    Attribute(Attribute),
    Operation(Operation),
    Value(Value),
    ValueMember {
        ty: TypeDef,
        public: bool,
    },
    ValueBox(TypeDef),
    String(u32),
    Wstring(u32),
    Fixed {
        digits: u16,
        scale: i16,
    },
    Sequence {
        bound: u32,
        element: TypeDef,
    },
    Array {
        length: u32,
        element: TypeDef,
    },
}

impl Body {
    pub(crate) fn kind(&self) -> DefinitionKind {
        use DefinitionKind as Kind;
        match self {
            Self::Repository => Kind::DkRepository,
            Self::Module => Kind::DkModule,
            Self::Constant { .. } => Kind::DkConstant,
            Self::Struct(_) => Kind::DkStruct,
            Self::Union { .. } => Kind::DkUnion,
            Self::Enum(_) => Kind::DkEnum,
            Self::Alias(_) => Kind::DkAlias,
            Self::Native => Kind::DkNative,
            Self::Exception(_) => Kind::DkException,
            Self::Interface { kind, .. } => match kind {
                InterfaceKind::Plain => Kind::DkInterface,
                InterfaceKind::Abstract => Kind::DkAbstractInterface,
                InterfaceKind::Local => Kind::DkLocalInterface,
            },
            Self::Attribute(_) => Kind::DkAttribute,
            Self::Operation(_) => Kind::DkOperation,
            Self::Value(it) if it.is_event => Kind::DkEvent,
            Self::Value(_) => Kind::DkValue,
            Self::ValueMember { .. } => Kind::DkValueMember,
            Self::ValueBox(_) => Kind::DkValueBox,
            Self::String(_) => Kind::DkString,
            Self::Wstring(_) => Kind::DkWstring,
            Self::Fixed { .. } => Kind::DkFixed,
            Self::Sequence { .. } => Kind::DkSequence,
            Self::Array { .. } => Kind::DkArray,
        }
    }

    /// Whether it is an anonymous type, without name and container.
    pub(crate) fn is_anonymous(&self) -> bool {
        matches!(
            self,
            Self::String(_)
                | Self::Wstring(_)
                | Self::Fixed { .. }
                | Self::Sequence { .. }
                | Self::Array { .. }
        )
    }

    /// Whether it may have contents.
    pub(crate) fn is_container(&self) -> bool {
        let plain = Self::Enum(Vec::new());
        self.may_contain(&plain)
    }

    /// Whether it is a type: an `IDLType` of CORBA.
    pub(crate) fn is_type(&self) -> bool {
        self.is_anonymous()
            || self.is_typedef()
            || matches!(self, Self::Interface { .. } | Self::Value(_))
    }

    /// Whether it is a `TypedefDef` of CORBA.
    pub(crate) fn is_typedef(&self) -> bool {
        matches!(
            self,
            Self::Struct(_)
                | Self::Union { .. }
                | Self::Enum(_)
                | Self::Alias(_)
                | Self::Native
                | Self::ValueBox(_)
        )
    }

    /// Whether a definition of this kind may contain `inner`.
    pub(crate) fn may_contain(&self, inner: &Self) -> bool {
        let is_plain_type = matches!(inner, Self::Struct(_) | Self::Union { .. } | Self::Enum(_));
        let in_interface = is_plain_type
            || matches!(
                inner,
                Self::Constant { .. }
                    | Self::Alias(_)
                    | Self::Native
                    | Self::Exception(_)
                    | Self::Attribute(_)
                    | Self::Operation(_)
            );
        match self {
            Self::Repository | Self::Module => !matches!(
                inner,
                Self::Repository
                    | Self::Attribute(_)
                    | Self::Operation(_)
                    | Self::ValueMember { .. }
            ),
            Self::Interface { .. } => in_interface,
            Self::Value(_) => in_interface || matches!(inner, Self::ValueMember { .. }),
            Self::Struct(_) | Self::Union { .. } | Self::Exception(_) => is_plain_type,
            _ => false,
        }
    }

    /// The same with all types replaced by one.
    pub(crate) fn without_types(&self) -> Self {
        let mut body = self.clone();
        let none = TypeDef::Primitive(0);
        let clear = |members: &mut Vec<Member>| members.iter_mut().for_each(|it| it.ty = none);
        match &mut body {
            Self::Constant { ty, .. }
            | Self::Alias(ty)
            | Self::ValueBox(ty)
            | Self::ValueMember { ty, .. }
            | Self::Sequence { element: ty, .. }
            | Self::Array { element: ty, .. } => *ty = none,
            Self::Struct(members) | Self::Exception(members) => clear(members),
            Self::Union {
                discriminator,
                cases,
            } => {
                *discriminator = none;
                cases.iter_mut().for_each(|it| it.ty = none);
            }
            Self::Attribute(it) => it.ty = none,
            Self::Operation(it) => {
                it.result = none;
                it.parameters.iter_mut().for_each(|it| it.ty = none);
            }
            Self::Value(it) => it
                .initializers
                .iter_mut()
                .for_each(|it| clear(&mut it.members)),
            _ => {}
        }
        body
    }

    /// The types that it names.
    pub(crate) fn types(&self) -> Vec<TypeDef> {
        match self {
            Self::Constant { ty, .. }
            | Self::Alias(ty)
            | Self::ValueBox(ty)
            | Self::ValueMember { ty, .. } => vec![*ty],
            Self::Struct(members) | Self::Exception(members) => types_of(members),
            Self::Union {
                discriminator,
                cases,
            } => {
                let cases = cases.iter().map(|it| it.ty);
                std::iter::once(*discriminator).chain(cases).collect()
            }
            Self::Attribute(it) => vec![it.ty],
            Self::Operation(it) => {
                let parameters = it.parameters.iter().map(|it| it.ty);
                std::iter::once(it.result).chain(parameters).collect()
            }
            Self::Value(it) => {
                let initializers = it.initializers.iter();
                initializers.flat_map(|it| types_of(&it.members)).collect()
            }
            Self::Sequence { element, .. } | Self::Array { element, .. } => vec![*element],
            _ => Vec::new(),
        }
    }

    /// The other definitions that it refers to: bases, and raised exceptions.
    pub(crate) fn others(&self) -> Vec<Key> {
        match self {
            Self::Interface { bases, .. } => bases.clone(),
            Self::Attribute(it) => [&it.get_raises[..], &it.set_raises].concat(),
            Self::Operation(it) => it.raises.clone(),
            Self::Value(it) => {
                let mut others: Vec<Key> = it.base.into_iter().collect();
                others.extend(&it.abstract_bases);
                others.extend(&it.supports);
                for initializer in &it.initializers {
                    others.extend(&initializer.raises);
                }
                others
            }
            _ => Vec::new(),
        }
    }
}

fn types_of(members: &[Member]) -> Vec<TypeDef> {
    members.iter().map(|it| it.ty).collect()
}

/// A definition, or an anonymous type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Empty for an anonymous type, as are id and version.
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) version: String,
    /// `None` for the repository and for anonymous types.
    pub(crate) container: Option<Key>,
    /// In the order of definition.
    pub(crate) contents: Vec<Key>,
    pub(crate) body: Body,
}

impl Entry {
    pub(crate) fn anonymous(body: Body) -> Self {
        Self {
            name: String::new(),
            id: String::new(),
            version: String::new(),
            container: None,
            contents: Vec::new(),
            body,
        }
    }
}
